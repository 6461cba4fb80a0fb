// From a host to the addresses that may be connected to.
internal import SinkKit

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
        do {
            return try HostLookup.addresses(of: host)
        } catch {
            throw WebhookFailure("the host of webhook.url is not found: \(error)")
        }
    }
}
