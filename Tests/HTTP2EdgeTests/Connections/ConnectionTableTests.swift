// The caps on connections, at the limit and one beyond, and what counts as one address.
@testable internal import HTTP2Edge
internal import NIOCore
internal import Synchronization
internal import Testing

struct ConnectionTableTests {
    private func address(_ text: String) throws -> PeerAddress? {
        PeerAddress(try SocketAddress(ipAddress: text, port: 1))
    }

    /// A table to which new connections may come as fast as they like.
    private func table(maxCount: Int, maxPerAddress: Int) -> ConnectionTable {
        ConnectionTable(
            maxCount: maxCount, maxPerAddress: maxPerAddress, newPerSecond: 1_000_000_000)
    }

    @Test("as many as the cap in all, of whatever address; one beyond is not taken")
    func inAll() throws {
        let table = self.table(maxCount: 3, maxPerAddress: 2)
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
        let table = self.table(maxCount: 100, maxPerAddress: 2)
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

    @Test("new ones of an address come at their rate, after as many at once as it may have")
    func newOnes() throws {
        let now = Mutex<UInt64>(5_000_000_000)
        let table = ConnectionTable(maxCount: 100, maxPerAddress: 3, newPerSecond: 2) {
            now.withLock { $0 }
        }
        let address = try self.address("10.0.0.1")
        func comeAndGo() -> ConnectionEnd? {
            let end = table.admit(address)
            if end == nil { table.release(address) }
            return end
        }
        for _ in 1...3 { #expect(comeAndGo() == nil) }
        #expect(comeAndGo() == .tooManyNew)
        #expect(table.admit(try self.address("10.0.0.2")) == nil)
        now.withLock { $0 += 499_999_999 }
        #expect(comeAndGo() == .tooManyNew)
        now.withLock { $0 += 1 }
        #expect(comeAndGo() == nil)
        #expect(comeAndGo() == .tooManyNew)
        now.withLock { $0 += 1_500_000_000 }
        for _ in 1...3 { #expect(comeAndGo() == nil) }
        #expect(comeAndGo() == .tooManyNew)
    }

    @Test("addresses that have gone are forgotten once they are twice what connections may be")
    func forgotten() throws {
        let table = ConnectionTable(maxCount: 2, maxPerAddress: 1, newPerSecond: 1) { 0 }
        let stays = try self.address("10.0.1.1")
        #expect(table.admit(stays) == nil)
        for number in 1...3 {
            let address = try self.address("10.0.0.\(number)")
            #expect(table.admit(address) == nil)
            table.release(address)
        }
        #expect(table.addressCount == 4)
        #expect(table.admit(try self.address("10.0.0.1")) == .tooManyNew)
        #expect(table.admit(try self.address("10.0.0.4")) == nil)
        #expect(table.addressCount == 2)
        #expect(table.admit(stays) == .tooMany)
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

    @Test(
        "a block holds the addresses that begin with its bits, IPv4 also as IPv6 writes it",
        arguments: [
            ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("10.1.2.3/32", "10.1.2.3", true), ("10.1.2.3/32", "10.1.2.2", false),
            ("10.1.2.4/31", "10.1.2.5", true), ("10.1.2.4/31", "10.1.2.6", false),
            ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("0.0.0.0/0", "192.0.2.1", true),
            ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "10.0.0.1", false),
            ("fd00::/8", "fd12::1", true), ("fd00::/8", "fe80::1", false),
            ("2001:db8::1/128", "2001:db8::1", true), ("2001:db8::1/128", "2001:db8::2", false),
        ])
    func block(_ text: String, _ address: String, _ isIn: Bool) throws {
        let block = try #require(AddressBlock(text))
        #expect(block.contains(try SocketAddress(ipAddress: address, port: 1)) == isIn)
    }

    @Test(
        "what is no block, or has bits beyond its prefix, is none",
        arguments: [
            "", "/", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8",
            "10.0.0.1/8", "::/129", "fd00::1/8", "/8", "balancer/8", "10.0.0.0/8/8", "10.0.0/8",
        ])
    func noBlock(_ text: String) {
        #expect(AddressBlock(text) == nil)
    }

    @Test("a socket that is no IP socket has no address to count by")
    func unixSocket() throws {
        #expect(PeerAddress(try SocketAddress(unixDomainSocketPath: "/tmp/socket")) == nil)
    }
}
