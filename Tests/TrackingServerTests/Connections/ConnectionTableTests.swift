// The caps on connections, at the limit and one beyond, and what counts as one address.
internal import NIOCore
internal import Testing

@testable internal import TrackingServer

struct ConnectionTableTests {
    private func address(_ text: String) throws -> PeerAddress? {
        PeerAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    @Test("as many as the cap in all, of whatever address; one beyond is not taken")
    func inAll() throws {
        let table = ConnectionTable(maxCount: 3, maxPerAddress: 2)
        #expect(table.admit(try self.address("10.0.0.1")) == nil)
        #expect(table.admit(try self.address("10.0.0.2")) == nil)
        #expect(table.admit(nil) == nil)
        #expect(table.admit(try self.address("10.0.0.3")) == .tooMany)
        table.release(nil)
        #expect(table.admit(try self.address("10.0.0.3")) == nil)
        #expect(table.count == 3)
    }

    @Test("as many of one address as its cap; one beyond is not taken, and harms no other address")
    func perAddress() throws {
        let table = ConnectionTable(maxCount: 100, maxPerAddress: 2)
        let address = try self.address("10.0.0.1")
        #expect(table.admit(address) == nil)
        #expect(table.admit(address) == nil)
        #expect(table.admit(address) == .tooManyOfAddress)
        #expect(table.admit(try self.address("10.0.0.2")) == nil)
        table.release(address)
        #expect(table.admit(address) == nil)
        #expect(table.admit(address) == .tooManyOfAddress)
        #expect(table.count == 3)
    }

    @Test(
        "an IPv4 address is one, also as IPv6 writes it; of IPv6 a /64 is one",
        arguments: [
            ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false),
            ("10.0.0.1", "::ffff:10.0.0.1", true), ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
            ("2001:db8::1", "2001:db8::ffff:2", true), ("2001:db8::1", "2001:db8:0:1::1", false),
            ("::1", "10.0.0.1", false),
        ])
    func sameAddress(_ one: String, _ other: String, _ isSame: Bool) throws {
        #expect((try self.address(one) == self.address(other)) == isSame)
    }

    @Test("a socket that is no IP socket has no address to count by")
    func unixSocket() throws {
        #expect(PeerAddress(try SocketAddress(unixDomainSocketPath: "/tmp/socket")) == nil)
    }
}
