// The balancers in front of the server, a list that can be wrong in each of its parts.
internal import HTTP2Edge

extension ConnectionConfiguration {
    /// Reads `connections.trusted_proxies`.
    mutating func read(_ values: inout ConfigurationValues) {
        let proxies = values.text("connections.trusted_proxies").split { ", ".contains($0) }
        self.trustedProxies = proxies.compactMap { AddressBlock($0) }
        if let wrong = proxies.first(where: { AddressBlock($0) == nil }) {
            values.refuse(
                "connections.trusted_proxies",
                "each of its parts has to be \(AddressBlock.rule): \"\(wrong)\" is not")
        }
    }
}
