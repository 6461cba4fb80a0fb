// Whose connection it is, as far as its address tells.
internal import NIOCore

/// What connections are counted by: an IPv4 address, or the first 64 bits of an IPv6 address, since
/// one host commonly has a whole /64.
struct PeerAddress: Hashable, Sendable {
    private let bytes: [UInt8]

    /// The address of an IP socket; nil for any other.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address):
            // struct sockaddr_in: two bytes of family, two of port, then the address.
            self.bytes = withUnsafeBytes(of: address.address) { Array($0[4..<8]) }
        case .v6(let address):
            // struct sockaddr_in6: the same, then four bytes of flow label, then the address.
            let bytes = withUnsafeBytes(of: address.address) { Array($0[8..<24]) }
            // An IPv4 client of a socket that listens on both: ::ffff:0:0/96 (RFC 4291, 2.5.5.2).
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xFF, 0xFF]
            self.bytes = Array(isMapped ? bytes[12...] : bytes[..<8])
        case .unixDomainSocket: return nil
        }
    }
}
