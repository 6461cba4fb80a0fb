// What may name the host of a request.
@testable internal import HTTPDoor
internal import HTTPTypes
internal import Testing

struct HostRuleTests {
    @Test(
        "a host is a name or an address, and maybe a port",
        arguments: [
            ("", true), ("example.com", true), ("Example.COM:8080", true), ("a_b-c.d~e", true),
            ("example.com:", true), (":80", true), ("a:99999999", true), ("192.0.2.1:80", true),
            ("a%2Fb", true), ("!$&'()*+,;=", true), ("[::1]", true), ("[2001:DB8::1]:443", true),
            ("[::ffff:192.0.2.1]:", true), ("a b", false), ("a, b", false), (" a", false),
            ("a/b", false), ("a?b", false), ("a#b", false), ("a\\b", false), ("u@b", false),
            ("u:p@b", false), ("a:80:80", false), ("a:8o", false), ("a:-1", false), ("a%2", false),
            ("a%", false), ("a%2g", false), ("é", false), ("\u{212A}.example", false),
            ("a\u{7f}", false), ("a\0", false), ("<a>", false), ("\"a\"", false), ("[", false),
            ("[]", false), ("[::1", false), ("::1", false), ("[::1]80", false), ("[1]", false),
            ("[::1]a:80", false), ("[fe80::1%25eth0]", false), ("[a.example:1]", false),
            ("a[::1]", false),
        ])
    func host(_ text: String, _ isHost: Bool) {
        #expect(HostRule.isHost(text) == isHost)
    }

    private static let requests: [(String?, [String], Bool)] = [
        ("a.example", [], true), ("", [], true), (nil, [], true), (nil, ["a.example"], true),
        ("A.example:443", ["a.example"], true), ("[::1]", ["[::1]:80"], true),
        ("a.example", ["b.example"], false), ("a.example", [""], false),
        ("", ["a.example"], false), ("u@a.example", [], false), (nil, ["a/b"], false),
        (nil, ["a.example", "a.example"], false),
        ("a.example", ["a.example", "a.example"], false),
    ]

    @Test(
        "a request of HTTP/2 names one host, by its authority, by a field, or by both",
        arguments: Self.requests)
    func oneHost(_ authority: String?, _ hosts: [String], _ isInOrder: Bool) throws {
        let name = try #require(HTTPField.Name("host"))
        var head = HTTPRequest(method: .get, scheme: "https", authority: authority, path: "/")
        for host in hosts { head.headerFields.append(HTTPField(name: name, value: host)) }
        #expect(HostRule.isOfOneHost(head) == isInOrder)
    }

    @Test(
        "white space behind a value is no part of it",
        arguments: [
            ("a", "a"), ("a ", "a"), ("a \t ", "a"), (" a b", " a b"), ("", ""), (" ", ""),
        ])
    func value(_ field: String, _ value: String) {
        #expect(HostRule.value(field) == value)
    }
}
