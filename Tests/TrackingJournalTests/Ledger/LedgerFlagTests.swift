internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

/// The values of unknown flags that the ledger tells apart, held against a walk over all its rows.
struct LedgerFlagTests {
    private static let unknown = LedgerOutcome.refused(.suppressedFlagUnknown)

    private static func key(_ dice: inout Dice, hour: UInt32) -> LedgerKey {
        let (tenant, app) = (dice.pick(["a", "b"]), dice.pick(["x", "y", "z"]))
        let (delivery, detail) = (dice.pick(["56c4", "56c5"]), "v\(dice.below(12))")
        let outcome = dice.chance(90) ? Self.unknown : .refused(.rejected)
        return tenant.withBytes { tenant in
            app.withBytes { app in
                delivery.withBytes { delivery in
                    LedgerKey(
                        hour: hour, tenant: tenant,
                        subject: LedgerSubject(
                            platform: .android, product: .standard, app: app, delivery: delivery
                        ).bytes, outcome: outcome, detail: detail)
                }
            }
        }
    }

    /// The detail that an event is counted with, by all rows that there are.
    private static func detail(of row: LedgerRow, among rows: [LedgerRow]) -> String {
        let own = rows.filter {
            $0.tenant == row.tenant && $0.delivery == row.delivery && $0.outcome == row.outcome
                && !$0.isOther
        }
        let same = own.filter { $0.app == row.app && $0.hour == row.hour }
        if row.outcome != Self.unknown || same.contains(where: { $0.detail == row.detail }) {
            return row.detail
        }
        let values = Set(own.map(\.detail)).subtracting([Ledger.otherValue])
        let hasMany = !values.contains(row.detail) && values.count >= Ledger.maxFlagValues
        return hasMany || same.contains { $0.detail == Ledger.otherValue }
            ? Ledger.otherValue : row.detail
    }

    @Test("also as hours go by and the table is tidied up, a ninth value is `other`")
    func values() throws {
        var configuration = LedgerConfiguration()
        (configuration.maxRows, configuration.retainDays) = (200, 1)
        var (ledger, hour) = (Ledger(configuration), UInt32(500_000))
        var (dice, last) = (Dice(seed: Dice.runSeed), UInt32(0))
        var others = 0
        for step in 0..<6000 {
            if dice.chance(1) { hour += UInt32(dice.below(20)) }
            let key = Self.key(&dice, hour: hour)
            let before = ledger.all
            var delta = LedgerDelta()
            delta.add(key, 1)
            ledger.apply(delta)
            // A new hour tidies up first: what there was then is not known here.
            defer { last = hour }
            guard last == hour else { continue }
            let changed = ledger.all.filter { !before.contains($0) }
            let row = try #require(changed.first)
            #expect(changed.count == 1)
            if row.isOther { continue }
            if row.detail == Ledger.otherValue { others += 1 }
            let expected = Self.detail(of: LedgerRow(key, count: 1), among: before)
            #expect(row.detail == expected, "seed \(Dice.runSeed), step \(step)")
        }
        #expect(others > 100, "seed \(Dice.runSeed)")
    }
}
