internal import GRPCCore
package import GRPCNIOTransportHTTP2Posix

/// The host and port of a server.
public struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    /// A host name, an IPv4 address, or an IPv6 address without brackets.
    public let host: String
    /// 1 to 65535.
    public let port: Int

    /// Parses `host:port` or `[v6]:port`.
    ///
    /// - Throws: `SightlineClientError.badAddress`.
    public init(_ text: String) throws(SightlineClientError) {
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (1...65535).contains(port)
        else { throw .badAddress(text) }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            throw .badAddress(text)
        }
        // Neither a user nor a password: no server is asked for them in its address.
        guard !host.isEmpty, !host.contains("@") else { throw .badAddress(text) }
        self.host = String(host)
        self.port = port
    }

    /// `host:port`, with brackets around an IPv6 address.
    public var description: String {
        self.host.contains(":") ? "[\(self.host)]:\(self.port)" : "\(self.host):\(self.port)"
    }

    /// The target for the transport; each connection resolves a host name again.
    package var target: any ResolvableTarget {
        if self.host.contains(":") { return .ipv6(address: self.host, port: self.port) }
        let isIPv4 = self.host.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ".") }
        if isIPv4 { return .ipv4(address: self.host, port: self.port) }
        return .dns(host: self.host, port: self.port)
    }
}
