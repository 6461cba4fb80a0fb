// Which addresses a webhook may be at: a URL must not make the server send to its own network.
package import SinkKit

/// Decides whether the server may connect to an address: to every public one, and to those that the
/// operator lists.
package struct AddressGuard: Sendable, Equatable {
    private var hosts: Set<String> = []
    private var networks: [Network] = []

    /// A guard that lets nothing pass but public addresses, and what `allowed` lists.
    ///
    /// - Parameter allowed: hosts, addresses and networks such as `10.1.0.0/16`, with commas
    ///   between them.
    package init(allowed: String = "") {
        for word in Self.words(of: allowed) {
            if let network = Network(word) {
                self.networks.append(network)
            } else {
                self.hosts.insert(word.lowercased())
            }
        }
    }

    /// The first word of a list that is neither a host, nor an address, nor a network.
    package static func badWord(in allowed: String) -> String? {
        Self.words(of: allowed).first { Network($0) == nil && !HostName.isValid($0) }
    }

    private static func words(of allowed: String) -> [String] {
        allowed.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
    }

    /// Why the server may not connect to an address; nil if it may.
    ///
    /// - Parameter host: whose address it is, in lower case.
    package func refusal(of address: NetworkAddress, host: String) -> String? {
        if self.hosts.contains(host) || self.networks.contains(where: { $0.contains(address) }) {
            return nil
        }
        let table = address.isIPv4 ? Self.ipv4 : Self.ipv6
        if let row = table.first(where: { $0.network.contains(address) }) { return row.name }
        // Nothing else of IPv6 is given to anybody.
        if !address.isIPv4, address.bytes[0] & 0xe0 != 0x20 { return "not a public address" }
        return nil
    }

    /// Networks that are no public destination (the special-purpose registries of IANA).
    private static let ipv4 = Self.table([
        ("0.0.0.0/8", "this network"), ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared by a carrier's customers"), ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"), ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "of protocols"), ("192.0.2.0/24", "for documentation"),
        ("192.88.99.0/24", "of 6to4 relays"), ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "for benchmarks"), ("198.51.100.0/24", "for documentation"),
        ("203.0.113.0/24", "for documentation"), ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    ])

    private static let ipv6 = Self.table([
        ("::/128", "unspecified"), ("::1/128", "loopback"), ("::ffff:0:0/96", "IPv4 within IPv6"),
        ("::/96", "IPv4 within IPv6"), ("64:ff9b::/96", "IPv4 through NAT64"),
        ("64:ff9b:1::/48", "IPv4 through NAT64"), ("100::/64", "discarded"),
        ("2001::/23", "of protocols"), ("2001:db8::/32", "for documentation"),
        ("2002::/16", "IPv4 through 6to4"), ("3fff::/20", "for documentation"),
        ("fc00::/7", "private"), ("fe80::/10", "link-local"), ("fec0::/10", "site-local"),
        ("ff00::/8", "multicast"),
    ])

    private static func table(
        _ rows: [(String, String)]
    ) -> [(network: Network, name: String)] {
        rows.compactMap { text, name in Network(text).map { ($0, name) } }
    }
}
