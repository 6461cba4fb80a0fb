// Names of hosts, and addresses.
@testable internal import SinkKit
internal import Testing

struct HostTests {
    @Test(
        "a host's name has letters, digits, hyphens and underscores in labels of 1 to 63 bytes",
        arguments: [
            ("a", true), ("Z-9_0.example", true), ("", false), (".", false), ("a.", false),
            ("a..b", false), ("a b", false), ("a:1", false), ("a/b", false), ("[a]", false),
            ("@", false), ("{", false), ("é", false),
            (String(repeating: "a", count: 63), true), (String(repeating: "a", count: 64), false),
        ])
    func name(_ text: String, isValid: Bool) {
        #expect(HostName.isValid(text) == isValid)
    }

    @Test("a host's name has at most 253 bytes", arguments: [(253, true), (254, false)])
    func nameLength(_ count: Int, isValid: Bool) {
        let text = String(repeating: "a.", count: 126) + String(repeating: "a", count: count - 252)
        #expect(HostName.isValid(text) == isValid)
    }

    @Test(
        "an address is read from its text, and shown as one writes it",
        arguments: [
            ("192.0.2.1", [192, 0, 2, 1], "192.0.2.1"),
            ("::1", [UInt8](repeating: 0, count: 15) + [1], "::1"),
            (
                "2001:DB8:0::5", [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [5],
                "2001:db8::5"
            ),
        ])
    func address(_ text: String, _ bytes: [UInt8], _ shown: String) throws {
        let address = try #require(NetworkAddress(text))
        #expect(address.bytes == bytes)
        #expect(address.isIPv4 == (bytes.count == 4))
        #expect(address.text == shown)
    }

    @Test(
        "what is no address is none",
        arguments: ["", "localhost", "1.2.3", "1.2.3.256", "fe80::1%lo", "[::1]", "::1::"])
    func noAddress(_ text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test("the system finds this machine's addresses, and says why a host has none")
    func lookup() throws {
        #expect(try HostLookup.addresses(of: "192.0.2.1") == [NetworkAddress("192.0.2.1")])
        let found = try HostLookup.addresses(of: "localhost")
        #expect(!found.isEmpty && found.allSatisfy(\.isLoopback))
        let failure = #expect(throws: HostLookup.Failure.self) {
            try HostLookup.addresses(of: "no-such-host.invalid")
        }
        #expect(failure?.description.isEmpty == false)
    }
}
