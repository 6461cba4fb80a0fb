// What tenants and their connections have of a bound: a lone one has all of it, and nobody is
// refused because of others.
internal import Foundation
internal import Pacing
internal import TestSupport
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct SharedBoundTests {
    private let bound = SharedBound(1200)

    /// The share of a tenant on a connection of its own.
    private func share(_ tenant: String) -> SharedBound.Share {
        self.bound.share(of: tenant.utf8, on: SharedBound.Connection())
    }

    @Test(
        "a lone connection has the whole bound and nothing beyond, and has room for what it gives")
    func lone() {
        let share = self.share("a")
        #expect(share.take(1200))
        #expect(!share.take(1))
        share.remove(100)
        #expect(!share.take(101) && share.take(100))
        share.remove(1200)
        #expect(self.bound.used == 0)
        #expect(share.take(1200))
    }

    @Test("a tenant has its part of a bound that others have used up, at the limit and not beyond")
    func tenants() {
        let shares = ["a", "b", "c"].map(self.share)
        #expect(shares[0].take(1200))
        #expect(!shares[1].take(601) && shares[1].take(600))
        #expect(!shares[2].take(401) && shares[2].take(400))
        for share in shares { #expect(!share.take(1)) }
        // The first gives back: it has nothing more until it has less than a third.
        shares[0].remove(800)
        #expect(!shares[0].take(1))
        shares[0].remove(1)
        #expect(shares[0].take(1))
        // Who has nothing any more does not count.
        shares[2].remove(400)
        #expect(shares[0].take(200) && !shares[0].take(1))
        for (share, amount) in zip(shares, [600, 600]) { share.remove(amount) }
        #expect(self.bound.used == 0)
    }

    @Test("beside a connection with the whole bound each of N has a quarter of the N-th part")
    func connections() {
        let shares = (0..<4).map { _ in self.share("a") }
        #expect(shares[0].take(1200))
        for (number, share) in shares.enumerated().dropFirst() {
            let part = 1200 / 4 / (number + 1)
            #expect(!share.take(part + 1) && share.take(part))
        }
        // Another tenant's half is not less for all of them.
        let other = self.share("b")
        #expect(!other.take(601) && other.take(600))
    }

    @Test(
        "the limit of a share is its percent, and who has nothing has room",
        arguments: [(1, 12), (50, 600), (80, 960), (100, 1200)])
    func percent(_ percent: Int, _ amount: Int) {
        let (share, late) = (self.share("a"), self.share("a"))
        share.add(amount)
        #expect(share.hasRoom(percent: percent))
        share.add(1)
        #expect(!share.hasRoom(percent: percent) && late.hasRoom(percent: percent))
        late.add(1200 * percent / 100 / 8 + 1)
        #expect(!late.hasRoom(percent: percent))
    }

    @Test("a connection remembers its first tenant, and no tenant is remembered that nobody holds")
    func names() {
        do {
            let connection = SharedBound.Connection()
            #expect(connection.firstShare == nil)
            let first = self.bound.share(of: "a".utf8, on: connection)
            let other = self.bound.share(of: "b".utf8, on: connection)
            let third = self.bound.share(of: "b".utf8, on: connection)
            let stranger = self.bound.share(ofStranger: [0], on: SharedBound.Connection())
            withExtendedLifetime([first, other, third, stranger]) {
                #expect(connection.firstShare == first && first != other)
                #expect(self.bound.share(of: "a".utf8, on: connection) == first)
                #expect(self.bound.heldTenants == 3)
                // Two shares of one tenant, as if they were of two connections.
                #expect(other != third && other.take(1200))
                #expect(!third.take(151) && third.take(150))
                #expect(!stranger.take(601) && stranger.take(600))
                for (share, amount) in [(other, 1200), (third, 150), (stranger, 600)] {
                    share.remove(amount)
                }
            }
        }
        #expect(self.bound.heldTenants == 0 && self.bound.used == 0)
    }

    @Test("whatever they take and give, who has less than its part gets it, and the sum is bounded")
    func walk() {
        var dice = Dice(seed: Dice.runSeed)
        let (tenants, connections) = (6, 8)
        let shares = (0..<tenants).map { tenant in
            (0..<connections).map { _ in self.share("tenant-\(tenant)") }
        }
        var parts = Array(repeating: Array(repeating: 0, count: connections), count: tenants)
        // 1 + ½ + … of each level, a quarter of it for connections.
        let most = 1200 * (2 + log(Double(tenants))) * (1 + log(Double(connections)) / 4)
        for _ in 0..<20_000 {
            let (tenant, connection) = (dice.below(tenants), dice.below(connections))
            let own = parts[tenant][connection]
            if dice.chance(30) {
                let amount = dice.below(own + 1)
                shares[tenant][connection].remove(amount)
                parts[tenant][connection] -= amount
                continue
            }
            let amount = dice.below(100) + 1
            let isTaken = shares[tenant][connection].take(amount)
            let sums = parts.map { $0.reduce(0, +) }
            let others = sums.indices.count { $0 != tenant && sums[$0] > 0 }
            let siblings = parts[tenant].indices.count {
                $0 != connection && parts[tenant][$0] > 0
            }
            let limit = 1200 / (others + 1)
            let isDue =
                sums[tenant] + amount <= limit || own + amount <= limit / 4 / (siblings + 1)
            #expect(isTaken || !isDue, "seed \(Dice.runSeed)")
            if isTaken { parts[tenant][connection] += amount }
            #expect(Double(self.bound.used) <= most, "seed \(Dice.runSeed)")
            #expect(self.bound.used == parts.joined().reduce(0, +), "seed \(Dice.runSeed)")
        }
    }

    @Test("nothing is left of what many take and give at once")
    func manyAtOnce() async {
        let connections = (0..<4).map { _ in SharedBound.Connection() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    for _ in 0..<200 {
                        let share = self.bound.share(
                            of: "tenant-\(number % 3)".utf8, on: connections[number % 4])
                        guard share.take(100) else { continue }
                        await Task.yield()
                        share.remove(100)
                    }
                }
            }
        }
        #expect(self.bound.used == 0)
        // Nobody counts as having something.
        let share = self.share("a")
        #expect(share.take(1200) && !share.take(1))
    }
}
