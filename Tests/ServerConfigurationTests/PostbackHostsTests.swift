// The keys `postback.*`.
internal import ConfigurationKeys
internal import Credentials
internal import HTTPDoor
@testable internal import ServerConfiguration
internal import Testing
internal import TrackingRules
internal import WireFormat

struct PostbackHostsTests {
    /// No request comes without it.
    private static let listen = "http.listen=127.0.0.1:0"

    private static let text =
        "[{host: Acme.Example, tenant: acme, app: com.example.app, product: standard}, "
        + "{host: t.example, tenant: b, product: classic, upstream: 'https://t.adobe.example/'}]"

    private static func hosts() throws -> [ExactText: PostbackHost] {
        [
            ExactText("acme.example"): PostbackHost(
                tenant: try #require(Tenant("acme")), app: "com.example.app", product: .standard),
            ExactText("t.example"): PostbackHost(
                tenant: try #require(Tenant("b")), product: .classic,
                upstream: "https://t.adobe.example"),
        ]
    }

    @Test("hosts in lines of a file, in one line, in the environment and by a flag are the same")
    func sources() async throws {
        let lines = """
            postback:
              hosts:
                - host: Acme.Example
                  tenant: acme
                  app: com.example.app
                  product: standard
                - host: t.example
                  tenant: b
                  product: classic
                  upstream: https://t.adobe.example/
            """
        let hosts = try Self.hosts()
        for yaml in [lines, "postback:\n  hosts: \(Self.text)"] {
            let read = try await Configurations.read(assignments: [Self.listen], yaml: yaml)
            #expect(read.postback.hosts == hosts)
        }
        let environment = [
            "SIGHTLINE_POSTBACK_HOSTS": Self.text, "SIGHTLINE_HTTP_LISTEN": "127.0.0.1:0",
        ]
        #expect(try await Configurations.read(environment: environment).postback.hosts == hosts)
        let set = try await Configurations.read(assignments: [
            Self.listen, "postback.hosts=\(Self.text)",
        ])
        #expect(set.postback.hosts == hosts)
    }

    @Test("without a key the door is shut, and passes nothing on")
    func standard() async throws {
        let read = try await Configurations.read()
        #expect(read.postback == PostbackConfiguration() && read.postback.hosts.isEmpty)
        #expect(read.postback.upstream.isEmpty && !read.postback.isMirroring)
    }

    @Test(
        "what is wrong with the hosts stops the start, and says which item is wrong, and how",
        arguments: [
            ("acme", "it has to be a list, as in [{host: track.example.com"),
            ("[acme]", "item 1 has to have keys, as in [{host: track.example.com"),
            ("[{tenant: a, product: standard}]", "item 1: host is \"\", and has to be a name"),
            (
                "[{host: 'https://a.example', tenant: a, product: standard}]",
                "item 1: host is \"https://a.example\", and has to be a name"
            ),
            ("[{host: 'a.example:443', tenant: a, product: standard}]", "without a port or path"),
            ("[{host: a.example, product: standard}]", "item 1: tenant has to have 1 to 64"),
            ("[{host: a.example, tenant: A, product: classic}]", "item 1: tenant has to have 1 to"),
            (
                "[{host: a.example, tenant: a}]",
                "item 1: product is \"\", and has to be one of: standard, classic"
            ),
            (
                "[{host: a.example, tenant: a, product: clasic}]",
                "has to be one of: standard, classic; did you mean classic?"
            ),
            ("[{host: a.example, tenant: a, product: firebase}]", "one of: standard, classic"),
            (
                "[{host: a.example, tenent: a, product: standard}]",
                "item 1 has \"tenent\", which is none of its keys; did you mean tenant?"
            ),
            (
                "[{host: a.example, tenant: a, product: standard}, "
                    + "{host: A.example, tenant: b, product: standard}]",
                "item 2 is the second one of the host a.example"
            ),
            (
                "[{host: a.example, tenant: a, product: standard, app: ''}]",
                "item 1: app is \"\", and has to be 1 to 256 bytes"
            ),
            (
                "[{host: a.example, tenant: a, product: standard, upstream: 'http://b.example'}]",
                "item 1: upstream is \"http://b.example\", and has to be https://"
            ),
            (
                "[{host: a.example, tenant: a, product: standard, upstream: 'https://a.example'}]",
                "a.example is its own upstream"
            ),
        ])
    func problems(_ row: (text: String, problem: String)) async throws {
        let problems = try await Configurations.problems(
            assignments: [Self.listen, "postback.hosts=\(row.text)"])
        #expect(problems.count >= 1)
        #expect(problems.contains { $0.contains(row.problem) }, "\(problems)")
        #expect(problems.allSatisfy { $0.contains("postback.hosts is ") })
    }

    @Test("1,000 hosts, and not one more")
    func bound() async throws {
        func problems(_ count: Int) async throws -> [String] {
            let items = (0..<count).map { "{host: h\($0).example, tenant: a, product: standard}" }
            return try await Configurations.problems(
                assignments: [
                    Self.listen, "postback.hosts=[\(items.joined(separator: ", "))]",
                ])
        }
        #expect(try await problems(1000) == [])
        #expect(try await problems(1001).first?.contains("may have 1000 at most") == true)
    }

    @Test("a host's name has 253 bytes, and an app 256, and not one more")
    func sizes() async throws {
        func problems(host: Int, app: Int) async throws -> Int {
            let (host, app) = (
                String(repeating: "h", count: host), String(repeating: "a", count: app)
            )
            return try await Configurations.problems(
                assignments: [
                    Self.listen,
                    "postback.hosts=[{host: \(host), tenant: a, product: standard, app: \(app)}]",
                ]
            ).count
        }
        #expect(try await problems(host: 253, app: 256) == 0)
        #expect(try await problems(host: 254, app: 256) == 1)
        #expect(try await problems(host: 253, app: 257) == 1)
    }

    @Test(
        "an upstream is https and a host, or http on this machine",
        arguments: [
            ("https://a.example", "https://a.example"), ("https://a.example/", "https://a.example"),
            ("https://a.example:8443", "https://a.example:8443"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("http://localhost:80", "http://localhost:80"), ("http://[::1]:1", "http://[::1]:1"),
            ("http://a.example", nil), ("https://", nil), ("a.example", nil),
            ("https://a.example/path", nil), ("https://a.example?q", nil),
            ("https://u:p@a.example", nil), ("https://a.example:70000", nil), ("ftp://a", nil),
        ])
    func upstreams(_ row: (text: String, url: String?)) async throws {
        #expect(PostbackConfiguration.url(row.text) == row.url)
        let problems = try await Configurations.problems(
            assignments: ["postback.upstream=\(row.text)"])
        #expect(problems.isEmpty == (row.url != nil), "\(problems)")
    }

    @Test("a mirror needs hosts, and a server for each of them")
    func mirror() async throws {
        let row = "{host: a.example, tenant: a, product: standard"
        for (hosts, upstream, isRight) in [
            ("", "", false), ("", "https://b.example", false), ("[\(row)}]", "", false),
            ("[\(row)}]", "https://b.example", true),
            ("[\(row), upstream: 'https://b.example'}]", "", true),
            (
                "[\(row), upstream: 'https://b.example'}, "
                    + "{host: c.example, tenant: a, product: classic}]", "", false
            ),
        ] {
            let problems = try await Configurations.problems(
                assignments: [
                    Self.listen, "postback.mirror=true", "postback.hosts=\(hosts)",
                    "postback.upstream=\(upstream)",
                ])
            #expect(problems.isEmpty == isRight, "\(hosts), \(upstream): \(problems)")
            #expect(problems.allSatisfy { $0.contains("postback.mirror is \"true\", but needs") })
        }
    }

    @Test("hosts need the HTTP port")
    func port() async throws {
        let problems = try await Configurations.problems(
            assignments: ["postback.hosts=\(Self.text)"])
        #expect(problems.count == 1)
        #expect(problems.first?.contains("but needs http.listen too") == true)
    }
}
