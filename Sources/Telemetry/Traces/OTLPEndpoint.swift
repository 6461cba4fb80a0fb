internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix

/// The address of an OTLP receiver (gRPC).
package struct OTLPEndpoint: Sendable, Equatable {
    /// A host name, an IPv4 address, or an IPv6 address without brackets.
    package let host: String
    /// 1 to 65535.
    package let port: Int
    /// Whether to use TLS.
    package let isEncrypted: Bool

    /// The default port.
    package static let standardPort = 4317

    /// Parses `http://HOST[:PORT]` or `https://HOST[:PORT]`; nil if malformed. gRPC allows no path
    /// other than `/`.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts[1].isEmpty, parts.count == 3 || parts[3].isEmpty
        else { return nil }
        switch parts[0].lowercased() {
        case "http:": self.isEncrypted = false
        case "https:": self.isEncrypted = true
        default: return nil
        }
        let authority = parts[2]
        var host = authority
        var port: Int? = Self.standardPort
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        if let colon = authority[end...].lastIndex(of: ":") {
            host = authority[..<colon]
            let digits = authority[colon...].dropFirst()
            port = digits.allSatisfy { $0.isASCII && $0.isNumber } ? Int(digits) : nil
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        if isBracketed { host = host.dropFirst().dropLast() }
        guard let port, (1...65535).contains(port), !host.isEmpty,
            host.contains(":") == isBracketed, host.allSatisfy(Self.isHostCharacter)
        else { return nil }
        self.host = String(host)
        self.port = port
    }

    private static func isHostCharacter(_ character: Character) -> Bool {
        character.isASCII
            && (character.isLetter || character.isNumber || "-._:".contains(character))
    }

    var target: any ResolvableTarget {
        if self.host.contains(":") { return .ipv6(address: self.host, port: self.port) }
        let isIPv4 = self.host.allSatisfy { $0.isNumber || $0 == "." }
        if isIPv4 { return .ipv4(address: self.host, port: self.port) }
        return .dns(host: self.host, port: self.port)
    }
}
