package import NIOCore

/// A range of IP addresses in CIDR notation (RFC 4632, RFC 4291 section 2.3).
package struct AddressBlock: Hashable, Sendable {
    /// The rule for its text, for error messages.
    package static let rule =
        "an address, a slash and the number of its leading bits, with no other bit set, as in "
        + "10.0.0.0/8 or fd00::/8"

    private let bytes: [UInt8]
    private let bits: Int

    /// Parses a block such as `10.0.0.0/8`; nil if the text is malformed.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let bits = Int(parts[1]),
            let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0),
            let bytes = address.ipBytes, bits <= bytes.count * 8
        else { return nil }
        self.bytes = bytes
        self.bits = bits
        guard Self.masked(bytes, to: bits) == bytes else { return nil }
    }

    /// Whether the block contains an address. An IPv4-mapped address, which a dual-stack socket
    /// reports for an IPv4 client, counts as IPv4.
    func contains(_ address: SocketAddress) -> Bool {
        guard let bytes = address.ipBytes, bytes.count == self.bytes.count else { return false }
        return Self.masked(bytes, to: self.bits) == self.bytes
    }

    private static func masked(_ bytes: [UInt8], to bits: Int) -> [UInt8] {
        bytes.enumerated().map { index, byte in
            let kept = min(8, max(0, bits - index * 8))
            return byte & ~(UInt8.max >> UInt8(kept))
        }
    }
}

extension SocketAddress {
    /// The address as 4 or 16 bytes; nil if it is not an IP address.
    package var ipBytes: [UInt8]? {
        switch self {
        case .v4(let address):
            // struct sockaddr_in: two bytes of family, two of port, then the address.
            return withUnsafeBytes(of: address.address) { Array($0[4..<8]) }
        case .v6(let address):
            // struct sockaddr_in6 has four bytes of flow label in between.
            let bytes = withUnsafeBytes(of: address.address) { Array($0[8..<24]) }
            // An IPv4-mapped address: ::ffff:0:0/96 (RFC 4291, 2.5.5.2).
            let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10..<12] == [0xFF, 0xFF]
            return isMapped ? Array(bytes[12...]) : bytes
        case .unixDomainSocket: return nil
        }
    }
}
