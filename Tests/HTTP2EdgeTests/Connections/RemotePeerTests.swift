// By what peers are told apart that have no credentials.
@testable internal import HTTP2Edge
internal import Testing

struct RemotePeerTests {
    @Test(
        "a peer is its IPv4 address, or the /64 of its IPv6 address, and no port",
        arguments: [
            ("ipv4:10.0.0.1:50000", [10, 0, 0, 1]),
            ("ipv6:[fd00::1]:50000", [0xfd, 0, 0, 0, 0, 0, 0, 0]),
            ("ipv6:[fd00:0:0:1:2:3:4:5]:1", [0xfd, 0, 0, 0, 0, 0, 0, 1]),
            ("ipv6:[::ffff:10.0.0.1]:50000", [10, 0, 0, 1]),
        ] as [(String, [UInt8])])
    func addresses(_ name: String, _ key: [UInt8]) {
        #expect(RemotePeer.key(of: name) == key)
    }

    @Test(
        "what has no address is a key as it is",
        arguments: ["<unknown>", "unix:/run/a", "", ":", "ipv4::", "ipv4:x:1", "ipv6:[]:1"])
    func others(_ name: String) {
        #expect(RemotePeer.key(of: name) == Array(name.utf8))
    }
}
