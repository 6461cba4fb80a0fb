@testable internal import HTTPDoor
internal import Synchronization
internal import Testing

struct AddressQuotasTests {
    /// A monotonic clock that the test moves.
    private final class Time: Sendable {
        private let nanoseconds = Mutex<UInt64>(1)
        func pass(milliseconds: UInt64) {
            self.nanoseconds.withLock { $0 += milliseconds * 1_000_000 }
        }
        var now: UInt64 { self.nanoseconds.withLock { $0 } }
    }

    private let time = Time()

    private func quotas(_ rate: Int, maxAddresses: Int = 10) -> AddressQuotas {
        AddressQuotas(rate: rate, maxAddresses: maxAddresses, now: { [time] in time.now })
    }

    private static func peer(_ address: String) -> DoorPeer { DoorPeer(address: address) }

    @Test("an address has its rate, and not one more until time has passed")
    func rate() {
        let quotas = self.quotas(3)
        let peer = Self.peer("ipv4:192.0.2.1:1")
        #expect((0..<4).map { _ in quotas.takes(peer) } == [true, true, true, false])
        // Another port is the same address, and another address has a rate of its own.
        #expect(!quotas.takes(Self.peer("ipv4:192.0.2.1:2")))
        #expect(quotas.takes(Self.peer("ipv4:192.0.2.2:1")))
        self.time.pass(milliseconds: 334)
        #expect(quotas.takes(peer) && !quotas.takes(peer))
    }

    @Test("the addresses of a /64 are one, as for connections")
    func block() {
        let quotas = self.quotas(1)
        #expect(quotas.takes(Self.peer("ipv6:[2001:db8::1]:1")))
        #expect(!quotas.takes(Self.peer("ipv6:[2001:db8::2]:1")))
        #expect(quotas.takes(Self.peer("ipv6:[2001:db8:0:1::1]:1")))
    }

    @Test("0 is no limit, and remembers nobody")
    func unlimited() {
        let quotas = self.quotas(0)
        for _ in 0..<1000 { #expect(quotas.takes(Self.peer("ipv4:192.0.2.1:1"))) }
        #expect(quotas.count == 0)
    }

    @Test("addresses beyond the table's bound share one rate, until those in it may be forgotten")
    func bound() {
        let quotas = self.quotas(2, maxAddresses: 2)
        for last in 1...2 { #expect(quotas.takes(Self.peer("ipv4:192.0.2.\(last):1"))) }
        #expect(
            (3...5).map { quotas.takes(Self.peer("ipv4:192.0.2.\($0):1")) } == [true, true, false])
        #expect(quotas.count == 2)
        // Those in the table keep what they have.
        #expect(quotas.takes(Self.peer("ipv4:192.0.2.1:1")))
        self.time.pass(milliseconds: 1001)
        #expect(quotas.takes(Self.peer("ipv4:192.0.2.6:1")))
        #expect(quotas.count == 1)
    }

    @Test("a table in which few may be forgotten is looked through once a second, not more often")
    func sweeps() {
        let count = 100
        let quotas = self.quotas(1, maxAddresses: count)
        // Once the table is full, one address after another may be forgotten, each in its turn.
        let taken = (0..<2 * count).map { number in
            self.time.pass(milliseconds: 10)
            return quotas.takes(Self.peer("ipv4:192.0.2.\(number):1"))
        }
        #expect(quotas.count == count && taken.prefix(count).allSatisfy { $0 })
        // One has the place of an address that was forgotten, and the next the rate of all others.
        #expect(taken.dropFirst(count).count { $0 } == 2)
        self.time.pass(milliseconds: 1000)
        #expect(quotas.takes(Self.peer("ipv4:192.0.2.250:1")))
        #expect(quotas.count < count, "all but a few were forgotten")
    }
}
