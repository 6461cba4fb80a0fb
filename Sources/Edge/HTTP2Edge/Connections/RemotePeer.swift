internal import NIOCore

/// The peer of an RPC, as gRPC names it: `ipv4:10.0.0.1:50000`, `ipv6:[fd00::1]:50000`.
package enum RemotePeer {
    /// The key by which peers share what needs no credentials: the same as that by which
    /// connections are limited. A name without an IP address is a key itself.
    package static func key(of name: String) -> [UInt8] {
        let start = name.firstIndex(of: ":").map { name.index(after: $0) } ?? name.startIndex
        let end = name.lastIndex(of: ":") ?? name.endIndex
        guard start < end else { return Array(name.utf8) }
        let host = String(name[start..<end].filter { $0 != "[" && $0 != "]" })
        // Fails if it is no address.
        let address = try? SocketAddress(ipAddress: host, port: 0)
        return address.flatMap { PeerAddress($0) }?.bytes ?? Array(name.utf8)
    }
}
