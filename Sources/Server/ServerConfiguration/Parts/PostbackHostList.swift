// The key `postback.hosts`: whose apps send postbacks to which host name.
internal import ConfigurationKeys
internal import Credentials
internal import HTTPDoor
internal import TrackingRules
internal import WireFormat
internal import Yams

/// Reads the value of `postback.hosts`, such as
/// `[{host: acme.campaign.adobe.com, tenant: acme, product: standard}]`.
struct PostbackHostList {
    private(set) var hosts: [ExactText: PostbackHost] = [:]
    /// What is wrong, each after the words "postback.hosts is …, but".
    private(set) var problems: [String] = []

    private static let names = ["host", "tenant", "app", "product", "upstream"]
    private static let products: [Product] = [.standard, .classic]
    private static let example = "[{host: track.example.com, tenant: default, product: standard}]"

    /// The keys of postbacks, of which the list is read here: YAML is nothing that a door knows.
    static let keys = ServerConfiguration.keys(of: \.postback).map { key in
        guard key.name == PostbackConfiguration.name(of: \.hosts) else { return key }
        return ServerConfiguration.Key(
            key.name, key.standard, key.meaning, unit: key.unit,
            set: { text, whole in whole.postback.hosts = PostbackHostList(text).hosts },
            problems: { PostbackHostList($0).problems })
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
        let text = mapping["host"]?.scalar?.string ?? ""
        let host = PostbackConfiguration.hostName(text)
        if let host, self.hosts[ExactText(host)] != nil {
            self.problems.append("\(place) is the second one of the host \(host)")
        } else if host == nil {
            self.refuse(
                place, "host", text, "a name of letters, digits, - and ., without a port or path")
        }
        let tenant = Tenant(mapping["tenant"]?.scalar?.string ?? "")
        if tenant == nil { self.problems.append("\(place): tenant has to have \(Tenant.rule)") }
        let (app, product) = (self.app(mapping, place), self.product(mapping, place))
        let upstream = self.upstream(mapping, place)
        guard let host, let tenant, let product else { return }
        self.hosts[ExactText(host)] = PostbackHost(
            tenant: tenant, app: app, product: product, upstream: upstream)
    }

    private mutating func product(_ mapping: Node.Mapping, _ place: String) -> Product? {
        let text = mapping["product"]?.scalar?.string ?? ""
        if let product = Self.products.first(where: { $0.name == text }) { return product }
        let names = Self.products.map(\.name)
        self.refuse(
            place, "product", text,
            "one of: " + names.joined(separator: ", ")
                + NearestName.suggestion(for: text, among: names))
        return nil
    }

    private mutating func app(_ mapping: Node.Mapping, _ place: String) -> String {
        guard let node = mapping["app"] else { return "" }
        let text = node.scalar?.string ?? "?"
        if (1...Limits.nameBytes).contains(text.utf8.count) { return text }
        self.refuse(place, "app", text, "1 to \(Limits.nameBytes) bytes")
        return ""
    }

    private mutating func upstream(_ mapping: Node.Mapping, _ place: String) -> String? {
        guard let node = mapping["upstream"] else { return nil }
        let text = node.scalar?.string ?? "?"
        if let url = PostbackConfiguration.url(text) { return url }
        self.refuse(place, "upstream", text, PostbackConfiguration.urlRule)
        return nil
    }

    private mutating func refuse(_ place: String, _ key: String, _ text: String, _ rule: String) {
        let shown = UserInfo.hidden(in: text)
        self.problems.append("\(place): \(key) is \"\(shown)\", and has to be \(rule)")
    }
}
