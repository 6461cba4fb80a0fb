// Addresses and networks, as numbers that can be compared.
internal import Glibc

/// An IPv4 or IPv6 address.
package struct NetworkAddress: Sendable, Equatable {
    /// 4 or 16 bytes, in network order.
    package let bytes: [UInt8]

    /// An address from its text; nil for anything but four decimal numbers, or an IPv6 address
    /// without a zone.
    package init?(_ text: String) {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 {
                self.bytes = bytes
                return
            }
        }
        return nil
    }

    /// An address from its bytes; nil unless they are 4 or 16.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Whether it is an IPv4 address.
    package var isIPv4: Bool { self.bytes.count == 4 }

    /// The address as text, as in `192.0.2.1` or `2001:db8::1`.
    package var text: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = self.isIPv4 ? AF_INET : AF_INET6
        inet_ntop(family, self.bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

/// The addresses that begin with the same bits.
package struct Network: Sendable, Equatable {
    private let address: NetworkAddress
    private let bits: Int

    /// A network from its text, as in `10.0.0.0/8` or `fd00::/8`; an address alone is a network of
    /// one. Nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let address = NetworkAddress(String(parts[0])) else { return nil }
        let all = address.bytes.count * 8
        self.address = address
        if parts.count == 1 {
            self.bits = all
        } else {
            let isNumber = parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard parts.count == 2, isNumber, let bits = Int(parts[1]), bits <= all else {
                return nil
            }
            self.bits = bits
        }
    }

    /// Whether an address is one of the network's.
    package func contains(_ other: NetworkAddress) -> Bool {
        guard other.bytes.count == self.address.bytes.count else { return false }
        let (whole, rest) = self.bits.quotientAndRemainder(dividingBy: 8)
        guard self.address.bytes[..<whole] == other.bytes[..<whole] else { return false }
        guard rest > 0 else { return true }
        return (self.address.bytes[whole] ^ other.bytes[whole]) >> UInt8(8 - rest) == 0
    }
}

extension NetworkAddress {
    /// Whether it is the machine itself.
    package var isLoopback: Bool {
        self.isIPv4
            ? self.bytes[0] == 127 : self.bytes == [UInt8](repeating: 0, count: 15) + [1]
    }
}
