// The key `campaign.servers`: whose hits go to which of Campaign's servers.
internal import CampaignSink
internal import ConfigurationKeys
internal import Credentials
internal import WireFormat
internal import Yams

/// Reads the value of `campaign.servers`, such as
/// `[{tenant: acme, standard: 'https://acme.campaign.adobe.com'}]`.
struct CampaignServerList {
    private(set) var servers: [String: CampaignServers] = [:]
    /// What is wrong, each after the words "campaign.servers is …, but".
    private(set) var problems: [String] = []

    private static let names = ["tenant", "standard", "classic"]
    private static let example =
        "[{tenant: default, standard: 'https://example.campaign.adobe.com'}]"

    /// The keys of the campaign sink, of which the list is read here: YAML and the names of tenants
    /// are nothing that a sink knows.
    static let keys = ServerConfiguration.keys(ofSink: CampaignConfiguration.self).map { key in
        guard key.name == CampaignConfiguration.name(of: \.servers) else { return key }
        return ServerConfiguration.Key(
            key.name, key.standard, key.meaning, unit: key.unit,
            set: { text, whole in
                whole[CampaignConfiguration.self].servers = CampaignServerList(text).servers
            },
            problems: { CampaignServerList($0).problems })
    }

    /// Reads a list; an empty text is an empty list.
    init(_ text: String) {
        let list = MappingList(text, names: Self.names, example: Self.example)
        self.problems = list.problems
        for item in list.items {
            self.problems += item.problems
            if let mapping = item.mapping { self.read(mapping, item.place) }
        }
    }

    private mutating func read(_ mapping: Node.Mapping, _ place: String) {
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
        if let url = CampaignServers.url(text) { return url }
        let shown = UserInfo.hidden(in: text)
        self.problems.append(
            "\(place): \(key) is \"\(shown)\", and has to be https:// and a host, with a port "
                + "where it is not 443, and without a path (campaign.path); http is taken on "
                + "loopback alone, since the requests name people")
        return nil
    }
}
