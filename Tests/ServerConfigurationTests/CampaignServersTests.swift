// The keys `campaign.*`.
internal import CampaignSink
@testable internal import ServerConfiguration
internal import Testing

struct CampaignServersTests {
    private static let text =
        "[{tenant: acme, standard: 'https://acme.campaign.adobe.com', classic: "
        + "'https://t.acme.example:8443/'}, {tenant: b, classic: 'http://127.0.0.1:8080'}]"
    private static let servers = [
        "acme": CampaignServers(
            standard: "https://acme.campaign.adobe.com", classic: "https://t.acme.example:8443"),
        "b": CampaignServers(classic: "http://127.0.0.1:8080"),
    ]

    @Test("servers in lines of a file, in one line, in the environment and by a flag are the same")
    func sources() async throws {
        let lines = """
            campaign:
              servers:
                - tenant: acme
                  standard: https://acme.campaign.adobe.com
                  classic: https://t.acme.example:8443/
                - tenant: b
                  classic: http://127.0.0.1:8080
            """
        for yaml in [lines, "campaign:\n  servers: \(Self.text)"] {
            let read = try await Configurations.read(yaml: yaml)
            #expect(read[CampaignConfiguration.self].servers == Self.servers)
        }
        let environment = ["SIGHTLINE_CAMPAIGN_SERVERS": Self.text]
        let fromEnvironment = try await Configurations.read(environment: environment)
        #expect(fromEnvironment[CampaignConfiguration.self].servers == Self.servers)
        let set = try await Configurations.read(assignments: ["campaign.servers=\(Self.text)"])
        #expect(set[CampaignConfiguration.self].servers == Self.servers)
    }

    @Test("a listed sink has servers of its own, or those of the section")
    func listed() async throws {
        let yaml = """
            campaign:
              servers: [{tenant: a, standard: 'https://a.example'}]
            sinks:
              - type: campaign
              - type: campaign
                name: other
                max_in_flight: 1
                servers:
                  - tenant: b
                    standard: https://b.example
            """
        let read = try await Configurations.read(yaml: yaml)
        let own = read.sinks.map { $0.configuration(in: read)[CampaignConfiguration.self] }
        #expect(own.map { Array($0.servers.keys) } == [["a"], ["b"]])
        #expect(own.map(\.maxInFlight) == [32, 1])
    }

    @Test(
        "what is wrong with the servers stops the start, and says which item is wrong, and how",
        arguments: [
            ("acme", "it has to be a list, as in [{tenant: default"),
            ("[acme]", "item 1 has to have keys, as in [{tenant: default"),
            ("[{standard: 'https://a.example'}]", "item 1: tenant has to have 1 to 64"),
            ("[{tenant: A, standard: 'https://a.example'}]", "item 1: tenant has to have 1 to 64"),
            ("[{tenant: a}]", "item 1 has neither standard nor classic"),
            (
                "[{tenant: a, clasic: 'https://a.example'}]",
                "item 1 has \"clasic\", which is none of its keys; did you mean classic?"
            ),
            (
                "[{tenant: a, classic: 'https://a'}, {tenant: a, standard: 'https://a'}]",
                "item 2 is the second one of the tenant a"
            ),
        ])
    func wrong(_ text: String, _ rule: String) async throws {
        let problems = try await Configurations.problems(
            assignments: ["campaign.servers=\(text)"])
        #expect(problems.contains { $0.contains("campaign.servers is ") && $0.contains(rule) })
    }

    @Test(
        "a server is https and a host, or http on loopback, and nothing more",
        arguments: [
            ("https://a.example", true), ("https://a.example/", true), ("https://a:1", true),
            ("https://a:65535", true), ("https://a:65536", false), ("https://a:0", false),
            ("http://127.0.0.1", true), ("http://127.1.2.3:80", true), ("http://[::1]:80", true),
            ("http://localhost:80", true), ("http://127.0.0.1.example", false),
            ("http://a.example", false), ("http://10.0.0.1", false), ("a.example", false),
            ("ftp://127.0.0.1", false), ("https://", false), ("https://a.example/r/", false),
            ("https://a.example?x=1", false), ("https://a.example#x", false),
            ("https://u:p@a.example", false), ("https://a b", false), ("", false),
        ])
    func url(_ text: String, isTaken: Bool) async throws {
        let problems = try await Configurations.problems(
            assignments: ["campaign.servers=[{tenant: a, standard: '\(text)'}]"])
        #expect(problems.isEmpty == isTaken, "\(problems)")
        // Whoever is named there may stand beside a password.
        let shown = text.replacing("u:p@", with: "•••@")
        #expect(problems.allSatisfy { $0.contains("item 1: standard is \"\(shown)\", and has") })
        #expect(!problems.contains { $0.contains("u:p") })
    }

    @Test("a list has 1000 servers at most", arguments: [(1000, true), (1001, false)])
    func count(_ count: Int, isTaken: Bool) async throws {
        let items = (1...count).map { "{tenant: t\($0), standard: 'https://a'}" }
        let problems = try await Configurations.problems(
            assignments: ["campaign.servers=[\(items.joined(separator: ", "))]"])
        #expect(problems.isEmpty == isTaken)
        #expect(problems.allSatisfy { $0.contains("it has 1001 items, and may have 1000 at most") })
    }

    @Test(
        "every limit takes what is at it, and nothing beyond",
        arguments: [
            ("standard_timeout_seconds", 1, 300), ("classic_timeout_seconds", 1, 300),
            ("max_in_flight", 1, 1024), ("max_retry_after_seconds", 0, 3600),
        ])
    func limits(_ name: String, _ lowest: Int, _ highest: Int) async throws {
        for (value, isTaken) in [
            (lowest, true), (highest, true), (lowest - 1, false), (highest + 1, false),
        ] {
            let problems = try await Configurations.problems(
                assignments: ["campaign.\(name)=\(value)"])
            #expect(problems.isEmpty == isTaken, "\(name) \(value): \(problems)")
        }
    }

    @Test(
        "the path begins with a slash, and needs no escape",
        arguments: [
            ("/r/", true), ("/r", true), ("/", true), ("/a-b._/C9/", true), ("r/", false),
            ("/r?", false), ("/r#", false), ("/r%20", false), ("/r r", false), ("/é", false),
        ])
    func path(_ path: String, isTaken: Bool) async throws {
        let problems = try await Configurations.problems(assignments: ["campaign.path=\(path)"])
        #expect(problems.isEmpty == isTaken, "\(problems)")
    }

    @Test("a campaign sink without any server stops the start, and so does a wrong one of its own")
    func needed() async throws {
        for assignment in ["sink=campaign", "sinks=[{type: sqlite}, {type: campaign, name: x}]"] {
            let problems = try await Configurations.problems(assignments: [assignment])
            #expect(problems.count == 1)
            #expect(problems.first?.contains("needs one") == true, "\(problems)")
        }
        let own = try await Configurations.problems(assignments: [
            "sinks=[{type: campaign, servers: [{tenant: a, standard: 'http://a'}]}]"
        ])
        #expect(own.count == 1)
        #expect(own.first?.contains("item 1: standard is \"http://a\"") == true, "\(own)")
    }
}
