// Where a webhook may be: URLs, addresses and the list of what is allowed besides.
internal import SinkKit
internal import Testing
internal import WebhookSink

struct WebhookAddressTests {
    @Test(
        "an address that is not public is refused",
        arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0",
            "100.127.255.255", "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254",
            "172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.1", "192.88.99.1",
            "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.1",
            "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255",
            "::", "::1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::8.8.8.8", "64:ff9b::8.8.8.8",
            "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1", "2001:1ff:ffff::", "2001:db8::1",
            "2002:7f00:1::", "3fff::1", "3fff:fff:ffff::", "4000::1", "5f00::1", "fc00::1",
            "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ffff::",
        ])
    func refused(_ text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(AddressGuard().refusal(of: address, host: text) != nil)
        // What is listed is meant.
        #expect(AddressGuard(allowed: "a.example, \(text)").refusal(of: address, host: "b") == nil)
        #expect(AddressGuard(allowed: "10.9.9.9,b").refusal(of: address, host: "b") == nil)
        #expect(AddressGuard(allowed: "9.9.9.9").refusal(of: address, host: "b") != nil)
    }

    @Test(
        "a public address is not, up to the edges of what is refused",
        arguments: [
            "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
            "126.255.255.255", "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255",
            "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.167.255.255",
            "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2000::",
            "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1", "3ffe::1",
            "3fff:1000::",
        ])
    func passed(_ text: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(AddressGuard().refusal(of: address, host: text) == nil)
    }

    @Test("a listed network holds its addresses and no other")
    func networks() throws {
        let list = AddressGuard(allowed: "10.1.0.0/16,172.16.0.0/15,fd00:1::/31,192.168.7.9")
        for (text, isAllowed) in [
            ("10.1.0.0", true), ("10.1.255.255", true), ("10.0.255.255", false),
            ("10.2.0.0", false), ("172.17.255.255", true), ("172.18.0.0", false),
            ("fd00::1", true), ("fd00:1::1", true), ("fd00:2::1", false), ("192.168.7.9", true),
            ("192.168.7.8", false), ("::ffff:10.1.0.0", false),
        ] {
            let address = try #require(NetworkAddress(text))
            #expect((list.refusal(of: address, host: "h") == nil) == isAllowed, "\(text)")
        }
    }

    @Test(
        "a word of webhook.allow is a host, an address or a network",
        arguments: [
            ("", nil), ("10.0.0.0/8, hooks.example ,::1", nil), ("10.0.0.0/33", "10.0.0.0/33"),
            ("fd00::/129", "fd00::/129"), ("10.0.0.0/-1", "10.0.0.0/-1"),
            ("10.0.0.0/", "10.0.0.0/"),
            ("a,b/c", "b/c"), ("a..b", "a..b"), ("http://a", "http://a"),
        ] as [(String, String?)])
    func words(_ list: String, _ bad: String?) {
        #expect(AddressGuard.badWord(in: list) == bad)
    }

    @Test(
        "a URL is taken apart, and requested in one form",
        arguments: [
            ("https://example.com", "https://example.com/", "example.com", 443),
            ("HTTPS://H.COM:8443/A?b=C", "https://h.com:8443/A?b=C", "h.com", 8443),
            ("https://example.com?a=1", "https://example.com/?a=1", "example.com", 443),
            ("https://[2606:4700:0::1]:1/x", "https://[2606:4700::1]:1/x", "2606:4700::1", 1),
            ("https://8.8.8.8:65535/", "https://8.8.8.8:65535/", "8.8.8.8", 65_535),
            ("http://localhost:80/a", "http://localhost:80/a", "localhost", 80),
            ("http://127.9.9.9/a", "http://127.9.9.9/a", "127.9.9.9", 80),
            ("http://[::1]/a@b", "http://[::1]/a@b", "::1", 80),
        ])
    func urls(_ text: String, _ requested: String, _ host: String, _ port: Int) throws {
        let url = try WebhookURL(text)
        #expect(url.text == requested)
        #expect(url.host == host)
        #expect(url.effectivePort == port)
    }

    @Test(
        "a URL that is not safe is refused by a rule that does not quote it",
        arguments: [
            ("", "have 1 to 2048 bytes"), ("ftp://h/", "begin with https://"),
            ("https:/h/", "begin with https://"), ("//h/", "begin with https://"),
            ("http://example.com/", "begin with https://, unless"),
            ("http://10.0.0.1/", "begin with https://, unless"),
            ("http://localhost.example/", "begin with https://, unless"),
            ("http://127.1/", "begin with https://, unless"),
            ("https://user:secret@h/", "have no user name"), ("https://a@h/", "have no user name"),
            ("https://h/#a", "have no fragment"), ("https://h#a", "have no fragment"),
            ("https://h:0/", "have a port"), ("https://h:65536/", "have a port"),
            ("https://h:+1/", "have a port"), ("https://h:/", "have a port"),
            ("https:///a", "have a host"), ("https://.h/", "have a host"),
            ("https://h./", "have a host"), ("https://a%2fb/", "have a host"),
            ("https://[::1", "have a host"), ("https://[fe80::1%25eth0]/", "have an IPv6 address"),
            ("https://[1.2.3.4]/", "have an IPv6 address"), ("https://h/ a", "be printable ASCII"),
            ("https://h/\r\na: b", "be printable ASCII"), ("https://hä/", "be printable ASCII"),
            ("https://h\\@evil/", "be printable ASCII"),
        ])
    func badURLs(_ text: String, _ words: String) {
        let error = #expect(throws: WebhookURL.Refusal.self) { try WebhookURL(text) }
        #expect(error?.description.hasPrefix(words) == true, "\(String(describing: error))")
    }

    @Test("a URL has as many bytes as it may, and not one more")
    func length() {
        let text = "https://h/" + String(repeating: "a", count: WebhookURL.maxBytes - 10)
        #expect(throws: Never.self) { try WebhookURL(text) }
        #expect(throws: WebhookURL.Refusal.self) { try WebhookURL(text + "a") }
    }
}
