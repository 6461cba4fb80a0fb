internal import NIOCore

/// The key by which connections are limited: an IPv4 address, or the /64 of an IPv6 address, since
/// one host usually has a whole /64.
struct PeerAddress: Hashable, Sendable {
    let bytes: [UInt8]

    /// The key of an IP address; nil for other addresses.
    init?(_ address: SocketAddress) {
        guard let bytes = address.ipBytes else { return nil }
        self.bytes = Array(bytes.prefix(8))
    }
}
