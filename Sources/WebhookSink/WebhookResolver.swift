// From a host to the addresses that may be connected to.
internal import Glibc
internal import TrackingSinks

/// Why nothing can be sent; the text goes into the log, and never holds the URL's path.
struct WebhookFailure: Error, Equatable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Looks a host up, and lets the guard judge each address.
struct WebhookResolver: Sendable {
    /// Every address of a host. Blocks for as long as the system's resolver does.
    typealias Lookup = @Sendable (String) throws(WebhookFailure) -> [NetworkAddress]

    private let url: WebhookURL
    private let addressGuard: AddressGuard
    private let lookup: Lookup

    init(_ url: WebhookURL, _ addressGuard: AddressGuard, lookup: @escaping Lookup) {
        self.url = url
        self.addressGuard = addressGuard
        self.lookup = lookup
    }

    /// The addresses that may be connected to, in the resolver's order.
    ///
    /// - Throws: `WebhookFailure` if there is none.
    func addresses() throws(WebhookFailure) -> [NetworkAddress] {
        let all = try self.lookup(self.url.host)
        var allowed: [NetworkAddress] = []
        var refusals: [String] = []
        for address in all {
            if let name = self.addressGuard.refusal(of: address, host: self.url.host) {
                refusals.append("\(address.text) (\(name))")
            } else if !self.url.isSecure, !address.isLoopback {
                refusals.append("\(address.text) (http is for loopback only)")
            } else {
                allowed.append(address)
            }
        }
        guard allowed.isEmpty else { return allowed }
        throw WebhookFailure(
            "the host of webhook.url has no address that may be connected to: "
                + refusals.prefix(4).joined(separator: ", ")
                + "; list it in webhook.allow if that is meant")
    }

    /// Asks the system.
    static let system: Lookup = { host throws(WebhookFailure) in
        if let address = NetworkAddress(host) { return [address] }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard status == 0 else {
            throw WebhookFailure(
                "the host of webhook.url is not found: " + String(cString: gai_strerror(status)))
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
