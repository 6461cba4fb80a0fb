// The key `campaign.servers`: whose hits go to which of Campaign's servers.
internal import CampaignSink
internal import ConfigurationKeys
internal import Credentials
internal import Foundation
internal import Yams

/// Reads the value of `campaign.servers`, such as
/// `[{tenant: acme, standard: 'https://acme.campaign.adobe.com'}]`.
struct CampaignServerList {
    private(set) var servers: [String: CampaignServers] = [:]
    /// What is wrong, each after the words "campaign.servers is …, but".
    private(set) var problems: [String] = []

    private static let maxItems = 1000
    private static let keys = ["tenant", "standard", "classic"]
    private static let example =
        "[{tenant: default, standard: 'https://example.campaign.adobe.com'}]"

    static let key = ServerConfiguration.Key(
        "campaign.servers", .text(""),
        "each tenant's servers: a list with tenant, standard (Campaign Standard's server, such as "
            + "'https://example.campaign.adobe.com') and classic (Campaign Classic's tracking "
            + "server), or one of the two; https, or http on loopback",
        unit: "list"
    ) { text, whole in whole.campaign.servers = CampaignServerList(text).servers }

    /// Reads a list; an empty text is an empty list.
    init(_ text: String) {
        if text.isEmpty { return }
        // A text that is no YAML is no list either.
        guard let items = try? Yams.compose(yaml: text)?.sequence else {
            self.problems = ["it has to be a list, as in \(Self.example)"]
            return
        }
        guard items.count <= Self.maxItems else {
            self.problems = ["it has \(items.count) items, and may have \(Self.maxItems) at most"]
            return
        }
        for (index, item) in items.enumerated() { self.read(item, "item \(index + 1)") }
    }

    private mutating func read(_ item: Node, _ place: String) {
        guard let mapping = item.mapping else {
            self.problems.append("\(place) has to have keys, as in \(Self.example)")
            return
        }
        for (key, _) in mapping {
            let name = key.scalar?.string ?? "?"
            if Self.keys.contains(name) { continue }
            self.problems.append(
                "\(place) has \"\(name)\", which is none of its keys"
                    + NearestName.suggestion(for: name, among: Self.keys))
        }
        guard let tenant = Tenant(mapping["tenant"]?.scalar?.string ?? "") else {
            self.problems.append("\(place): tenant has to have \(Tenant.rule)")
            return
        }
        if self.servers[tenant.name] != nil {
            self.problems.append("\(place) is the second one of the tenant \(tenant)")
        }
        let servers = CampaignServers(
            standard: self.url(mapping, "standard", place),
            classic: self.url(mapping, "classic", place))
        self.servers[tenant.name] = servers
        if mapping["standard"] == nil, mapping["classic"] == nil {
            self.problems.append("\(place) has neither standard nor classic")
        }
    }

    /// A server's URL without its path; nil if there is none, or if it is wrong.
    private mutating func url(
        _ mapping: Node.Mapping, _ key: String, _ place: String
    ) -> String? {
        guard let node = mapping[key] else { return nil }
        let text = node.scalar?.string ?? "?"
        if let url = Self.url(text) { return url }
        let shown = ShownValue.withoutUserInfo(text)
        self.problems.append(
            "\(place): \(key) is \"\(shown)\", and has to be https:// and a host, with a port "
                + "where it is not 443, and without a path (campaign.path); http is taken on "
                + "loopback alone, since the requests name people")
        return nil
    }

    private static func url(_ text: String) -> String? {
        guard let url = URLComponents(string: text, encodingInvalidCharacters: false),
            let host = url.host, !host.isEmpty, url.user == nil, url.password == nil,
            url.query == nil, url.fragment == nil, url.path.isEmpty || url.path == "/",
            url.port.map((1...65535).contains) ?? true,
            url.scheme == "https" || (url.scheme == "http" && Self.isLoopback(host))
        else { return nil }
        return url.path.isEmpty ? text : String(text.dropLast())
    }

    private static func isLoopback(_ host: String) -> Bool {
        ["localhost", "::1", "[::1]"].contains(host)
            || (host.hasPrefix("127.") && ConfigurationValues.isAddress(host))
    }

    /// Refuses values of `campaign.*` that are wrong in more ways than their type tells.
    static func check(_ values: inout ConfigurationValues) {
        for problem in CampaignServerList(values.text("campaign.servers")).problems {
            values.refuse("campaign.servers", problem)
        }
        let path = values.text("campaign.path")
        let isPath = path.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
        if !isPath || !path.hasPrefix("/") {
            values.refuse(
                "campaign.path", "has to begin with / and to have letters, digits, -, ., _ and /")
        }
    }
}

extension ServerConfiguration {
    /// Checks the keys of the campaign sink, those of each listed one too.
    func checkCampaigns(_ values: inout ConfigurationValues) {
        CampaignServerList.check(&values)
        for sink in self.sinks where sink.kind == .campaign {
            if !sink.settings.isEmpty {
                values.check(sink.settings, setBy: "sinks") { values in
                    CampaignServerList.check(&values)
                }
            }
            let servers = sink.configuration(in: self).campaign.servers
            if servers.isEmpty, values.problems.isEmpty {
                values.refuse(
                    "campaign.servers",
                    "the sink \(sink.name) needs one: else all its hits become dead letters")
            }
        }
    }
}
