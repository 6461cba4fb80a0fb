// From a host to its addresses, by the system.
internal import Glibc

/// Asks the system's resolver.
package enum HostLookup {
    /// Why a host has no addresses, in the resolver's words.
    package struct Failure: Error, CustomStringConvertible {
        /// As in "Name or service not known".
        package let description: String
    }

    /// Every address of a host, in the resolver's order. Blocks for as long as the resolver does.
    ///
    /// - Throws: `Failure` if it has none.
    package static func addresses(of host: String) throws(Failure) -> [NetworkAddress] {
        if let address = NetworkAddress(host) { return [address] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            throw Failure(description: String(cString: gai_strerror(status)))
        }
        var addresses: [NetworkAddress] = []
        var next = list
        while let entry = next {
            next = entry.pointee.ai_next
            if let address = Self.address(entry.pointee), !addresses.contains(address) {
                addresses.append(address)
            }
        }
        return addresses
    }

    private static func address(_ entry: addrinfo) -> NetworkAddress? {
        guard let socket = entry.ai_addr else { return nil }
        let raw = UnsafeRawPointer(socket)
        switch entry.ai_family {
        case AF_INET:
            let address = raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: address) { [UInt8]($0) })
        case AF_INET6:
            let address = raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            return NetworkAddress(bytes: withUnsafeBytes(of: address) { [UInt8]($0) })
        default: return nil
        }
    }
}
