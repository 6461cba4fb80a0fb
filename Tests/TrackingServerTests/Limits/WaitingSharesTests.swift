// Who goes on after a release of bytes: its own share, and others in turn.
internal import Pacing
internal import TestSupport
internal import Testing
@testable internal import TrackingServer

struct WaitingSharesTests {
    private let bound = SharedBound(10_000)

    /// The share of a connection of its own, with an amount.
    private func share(_ amount: Int, of tenant: String = "a") -> SharedBound.Share {
        let share = self.bound.share(of: tenant.utf8, on: SharedBound.Connection())
        share.add(amount)
        return share
    }

    @Test(
        "a release looks at eight shares without room, and the next one at those behind them",
        arguments: [(blocked: 7, releases: 1), (8, 2), (15, 2), (16, 3)])
    func looks(_ row: (blocked: Int, releases: Int)) {
        let (loud, released) = (self.share(10_001), self.share(1))
        let blocked = (0..<row.blocked).map { _ in self.share(5000) }
        // One of so many has a quarter of its part of the bound, as soon as there is one less.
        let part = 10_000 / 4 / (row.blocked + 2)
        let last = self.share(part)
        var waiting = WaitingShares<String>()
        for (number, share) in blocked.enumerated() {
            waiting.add("blocked", id: UInt64(number), of: share)
        }
        waiting.add("last", id: 100, of: last)
        #expect(!last.hasRoom())
        released.remove(1)
        #expect(last.hasRoom() && blocked.allSatisfy { !$0.hasRoom() })
        for release in 1...row.releases {
            let ready = waiting.takeReady(after: released)
            #expect(ready == (release == row.releases ? ["last"] : []))
        }
        // Room for all is given to all at once.
        for share in blocked + [loud] { share.remove(5000) }
        loud.remove(5001)
        let all = waiting.takeReady(after: loud)
        #expect(all == blocked.map { _ in "blocked" })
        #expect(waiting.takeReady(after: loud) == [])
    }

    @Test("a share that releases what it has goes on, whoever else waits, with all its waiters")
    func own() {
        let loud = self.share(10_001)
        let shares = (0..<30).map { _ in self.share(500) }
        var waiting = WaitingShares<Int>()
        for (number, share) in shares.enumerated() {
            waiting.add(number, id: UInt64(number), of: share)
            waiting.add(number, id: UInt64(number + 100), of: share)
        }
        for number in [29, 17, 0] {
            shares[number].remove(500)
            #expect(waiting.takeReady(after: shares[number]) == [number, number])
        }
        withExtendedLifetime(loud) {}
    }

    @Test("whoever waits is taken once, with room for its share, and nobody is left in the end")
    func walk() throws {
        var dice = Dice(seed: Dice.runSeed)
        let shares = (0..<40).map { self.share(0, of: "tenant-\($0 % 3)") }
        var amounts = shares.map { _ in 0 }
        var waiting = WaitingShares<UInt64>()
        // The share of each that waits, by its id.
        var expected: [UInt64: Int] = [:]
        func release(_ amount: Int, of number: Int) {
            shares[number].remove(amount)
            amounts[number] -= amount
            for id in waiting.takeReady(after: shares[number]) {
                let owner = expected.removeValue(forKey: id)
                #expect(owner.map { shares[$0].hasRoom() } == true, "seed \(Dice.runSeed)")
            }
            let isLeft = expected.values.contains(number) && shares[number].hasRoom()
            #expect(!isLeft, "seed \(Dice.runSeed)")
        }
        for id in UInt64(0)..<5000 {
            let number = dice.below(shares.count)
            let amount = dice.below(400)
            if dice.chance(40) {
                release(dice.below(amounts[number] + 1), of: number)
            } else if dice.chance(10), !expected.isEmpty {
                let gone = dice.pick(expected.keys.sorted())
                let owner = shares[try #require(expected[gone])]
                expected[gone] = nil
                #expect(waiting.remove(gone, of: owner) == gone, "seed \(Dice.runSeed)")
                #expect(waiting.remove(gone, of: owner) == nil, "seed \(Dice.runSeed)")
            } else {
                shares[number].add(amount)
                amounts[number] += amount
                guard !shares[number].hasRoom() else { continue }
                waiting.add(id, id: id, of: shares[number])
                expected[id] = number
            }
        }
        for number in shares.indices { release(amounts[number], of: number) }
        #expect(expected.isEmpty && self.bound.used == 0, "seed \(Dice.runSeed)")
    }
}
