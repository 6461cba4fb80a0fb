// Whose connection it is, as far as its address tells.
internal import NIOCore

/// What connections are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, since
/// one host commonly has a whole /64.
struct PeerAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The address of an IP socket; nil for any other.
    init?(_ address: SocketAddress) {
        guard let bytes = address.ipBytes else { return nil }
        self.bytes = Array(bytes.prefix(8))
    }
}
