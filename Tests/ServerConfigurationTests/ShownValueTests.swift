// What errors and `sightline config print` show of values that may hold secrets.
internal import ConfigurationKeys
internal import TestSupport
internal import Testing

@testable internal import ServerConfiguration

@Suite("a value as it is shown")
struct ShownValueTests {
    private func shown(_ name: String, _ text: String) throws -> String {
        try #require(ServerConfiguration.keys.first { $0.name == name }).shown(text)
    }

    @Test(
        "has neither who is named in a URL nor what a secret key of a sink has",
        arguments: [
            ("listen", "twelve", "twelve"),
            ("postgresql.url", "postgresql://a@b/c", "•••"),
            ("postgresql.url", "", ""),
            ("nats.servers", "nats://a:b@c:4222,tls://d", "nats://•••@c:4222,tls://d"),
            // A password may have any character.
            ("nats.servers", "nats://a:b/c d@e@f:4222", "nats://•••@f:4222"),
            // Without a scheme.
            ("nats.servers", "a:b@c:4222,tls://d", "•••@c:4222,tls://d"),
            ("nats.servers", "a@c:4222", "•••@c:4222"),
            ("grpc.target", "a:b/c d@e:1", "•••@e:1"),
            ("kafka.brokers", "a:b@c", "•••@c"),
            ("listen", "a:b@c:1", "•••@c:1"),
            // Neither is an address with a password.
            ("kafka.sasl.user", "writer@example.com", "writer@example.com"),
            ("nats.credentials_file", "/a/b@c.creds", "/a/b@c.creds"),
            ("campaign.servers", "[{standard: 'https://a:b@c'}]", "[{standard: 'https://•••@c'}]"),
            ("campaign.servers", #"[{standard: "a:b@c"}]"#, #"[{standard: "•••@c"}]"#),
            (
                "sinks", "[{type: webhook, url: https://a/b?c, x: 1}]",
                "[{type: webhook, url: •••, x: 1}]"
            ),
            (
                "sinks", #"[{"type":"webhook","url":"https://a/\"b","x":1}]"#,
                #"[{"type":"webhook","url":•••,"x":1}]"#
            ),
            ("sinks", "[{url: 'https://a/''b', x: 'url: c'}]", "[{url: •••, x: 'url: •••}]"),
            ("sinks", "[{type: webhook, url: 'https://a", "[{type: webhook, url: •••"),
            ("sinks", "[{type: sqlite}, {type: nats}]", "[{type: sqlite}, {type: nats}]"),
        ])
    func shown(_ name: String, _ text: String, _ shown: String) throws {
        #expect(try self.shown(name, text) == shown)
    }

    @Test("every secret key of a sink has its name among those that are hidden in a list")
    func names() throws {
        #expect(ShownValue.secretNames == ["url"])
        for name in ShownValue.secretNames {
            #expect(try self.shown("sinks", "[{\(name): secret}]") == "[{\(name): •••}]")
        }
    }
}
