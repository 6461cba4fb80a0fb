// A bound that tenants share: a lone one has all of it, and no other is refused because of it.
internal import Foundation
internal import Pacing
internal import TestSupport
internal import Testing

struct TenantSharesTests {
    private static func tenant(_ number: Int) -> [UInt8] { [UInt8]("tenant-\(number)".utf8) }

    @Test("a lone tenant has the whole bound and nothing beyond it, and has room for what it gives")
    func alone() {
        var shares = TenantShares(bound: 10)
        let a = Self.tenant(1)
        #expect(shares.take(9, for: a) == true)
        #expect(shares.take(2, for: a) == false)
        #expect(shares.take(1, for: a) == true)
        #expect(shares.take(1, for: a) == false)
        shares.giveBack(3, of: a)
        #expect(shares.take(4, for: a) == false)
        #expect(shares.take(3, for: a) == true)
        shares.giveBack(10, of: a)
        #expect(shares.take(10, for: a) == true)
        // What it does not have, it cannot give.
        shares.giveBack(1, of: Self.tenant(2))
        #expect(shares.take(1, for: a) == false)
    }

    @Test("a tenant has its share of a bound that another has used up, at the limit and not beyond")
    func shares() {
        var shares = TenantShares(bound: 12)
        #expect(shares.take(12, for: Self.tenant(1)) == true)
        #expect(shares.take(7, for: Self.tenant(2)) == false)
        #expect(shares.take(6, for: Self.tenant(2)) == true)
        #expect(shares.take(5, for: Self.tenant(3)) == false)
        #expect(shares.take(4, for: Self.tenant(3)) == true)
        for number in 1...3 { #expect(shares.take(1, for: Self.tenant(number)) == false) }
        // The first gives back: until it has less than a third, it gets nothing.
        shares.giveBack(8, of: Self.tenant(1))
        #expect(shares.take(1, for: Self.tenant(1)) == false)
        shares.giveBack(1, of: Self.tenant(1))
        #expect(shares.take(1, for: Self.tenant(1)) == true)
        // Who has nothing any more does not count.
        shares.giveBack(4, of: Self.tenant(3))
        shares.giveBack(4, of: Self.tenant(1))
        #expect(shares.take(6, for: Self.tenant(1)) == true)
    }

    @Test("no bound gives nothing to anybody")
    func none() {
        var shares = TenantShares(bound: 0)
        #expect(shares.take(1, for: Self.tenant(1)) == false)
    }

    @Test(
        "whatever tenants take and give, the sum is bounded, and who has less than a share gets one"
    )
    func walk() {
        var dice = Dice(seed: Dice.runSeed)
        let (bound, tenants) = (1000, 20)
        var shares = TenantShares(bound: bound)
        var parts = Array(repeating: 0, count: tenants)
        let most = Double(bound) * (2 + log(Double(tenants)))
        for _ in 0..<20_000 {
            let number = dice.below(tenants)
            if dice.chance(30) {
                let amount = dice.below(parts[number] + 1)
                shares.giveBack(amount, of: Self.tenant(number))
                parts[number] -= amount
            } else {
                let amount = dice.below(100) + 1
                let others = parts.indices.count { $0 != number && parts[$0] > 0 }
                let isTaken = shares.take(amount, for: Self.tenant(number))
                let isDue = parts[number] + amount <= bound / (others + 1)
                #expect(isTaken || !isDue, "seed \(Dice.runSeed)")
                if isTaken { parts[number] += amount }
            }
            #expect(Double(parts.reduce(0, +)) <= most, "seed \(Dice.runSeed)")
        }
    }

    @Test(
        "beyond a bound those give who have most, down to the same",
        arguments: [
            ([5], 5, [0]), ([6], 5, [1]), ([9, 1], 5, [5, 0]), ([9, 9, 1], 7, [6, 6, 0]),
            ([9, 9, 9], 10, [6, 6, 5]), ([3, 3], 0, [3, 3]), ([], 0, []),
            ([2, 4, 8], 14, [0, 0, 0]),
            ([2, 4, 8], 13, [0, 0, 1]), ([2, 4, 8], 9, [0, 1, 4]),
        ] as [([Int], Int, [Int])])
    func excess(_ parts: [Int], _ bound: Int, _ expected: [Int]) {
        let named = parts.enumerated().map { (Self.tenant($0.offset), $0.element) }
        let excess = TenantShares.excess(of: Dictionary(uniqueKeysWithValues: named), over: bound)
        #expect(named.map { excess[$0.0] ?? 0 } == expected)
        #expect(excess.values.allSatisfy { $0 > 0 })
    }
}
