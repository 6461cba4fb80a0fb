internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix

/// The address of an OTLP receiver.
package struct OTLPEndpoint: Sendable, Equatable {
    /// A host name, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    /// 1 to 65535; nil if the URL has none.
    package let port: Int?
    /// Whether to use TLS.
    package let isEncrypted: Bool
    /// The part after the address, with its slash; empty if there is none.
    package let path: String

    /// The port of OTLP over gRPC.
    package static let grpcPort = 4317
    /// The port of OTLP over HTTP.
    package static let httpPort = 4318
    /// The path of spans over HTTP.
    package static let tracesPath = "/v1/traces"

    /// Parses `http://HOST[:PORT][/PATH]` or the same with https; nil if malformed.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[1].isEmpty else { return nil }
        switch parts[0].lowercased() {
        case "http:": self.isEncrypted = false
        case "https:": self.isEncrypted = true
        default: return nil
        }
        self.path = parts.count > 3 ? "/" + parts[3] : ""
        guard self.path.allSatisfy(Self.isPathCharacter) else { return nil }
        let authority = parts[2]
        var host = authority
        var port: Int?
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[end...].lastIndex(of: ":") {
            host = authority[..<colon]
            let digits = authority[colon...].dropFirst()
            guard digits.allSatisfy({ $0.isASCII && $0.isNumber }), let number = Int(digits),
                (1...65535).contains(number)
            else { return nil }
            port = number
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard !host.isEmpty, host.contains(":") == isBracketed,
            host.allSatisfy(Self.isHostCharacter)
        else { return nil }
        self.host = String(host)
        self.port = port
    }

    private static func isHostCharacter(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || "-._:".contains(character))
    }

    private static func isPathCharacter(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber
                || "/-._~%!$&'()*+,;=:@".contains(character))
    }

    /// Whether its port or its path shows that it speaks OTLP over HTTP.
    package var isHTTP: Bool { self.port == Self.httpPort || !["", "/"].contains(self.path) }

    /// The URL of calls over HTTP; without a path it gets the one for spans.
    var url: String {
        let host = self.host.contains(":") ? "[\(self.host)]" : self.host
        let port = self.port.map { ":\($0)" } ?? ""
        let path = self.path.isEmpty ? Self.tracesPath : self.path
        return "\(self.isEncrypted ? "https" : "http")://\(host)\(port)\(path)"
    }

    /// The target of calls over gRPC.
    var target: any ResolvableTarget {
        let port = self.port ?? Self.grpcPort
        if self.host.contains(":") { return .ipv6(address: self.host, port: port) }
        let isIPv4 = self.host.allSatisfy { $0.isNumber || $0 == "." }
        if isIPv4 { return .ipv4(address: self.host, port: port) }
        return .dns(host: self.host, port: port)
    }
}
