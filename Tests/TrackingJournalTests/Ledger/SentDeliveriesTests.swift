// The deliveries of which senders have told something, as they are compared with their totals.
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct SentDeliveriesTests {
    private static func ledger(_ rows: [(delivery: String, outcome: LedgerOutcome)]) -> Ledger {
        var delta = LedgerDelta()
        for (tenant, row) in rows.enumerated().map({ ($0.offset.isMultiple(of: 2), $0.element) }) {
            let subject = "app".withBytes { app in
                row.delivery.withBytes {
                    LedgerSubject(platform: .ios, product: .standard, app: app, delivery: $0).bytes
                }
            }
            delta.add(
                (tenant ? "a" : "b").withBytes {
                    LedgerKey(
                        hour: 500_000, tenant: $0, subject: subject, outcome: row.outcome,
                        detail: "")
                }, 1)
        }
        var ledger = Ledger()
        ledger.apply(delta)
        return ledger
    }

    @Test("each id once, whatever its sender has told, and none of which only devices have")
    func kinds() {
        let ledger = Self.ledger([
            ("1", .accepted(HitKinds(.sent))), ("1", .accepted(HitKinds(.sent))),
            ("2", .accepted(HitKinds(.sendFailed))), ("3", .accepted(HitKinds(.sendSkipped))),
            ("4", .accepted(HitKinds(.impression))), ("5", .duplicate(HitKinds(.sent))),
            ("", .accepted(HitKinds(.sent))), ("6", .sentAndFailed),
        ])
        #expect(ledger.sentDeliveries() == ["1", "2", "3"])
        #expect(Ledger().sentDeliveries() == [])
    }

    @Test("1,000 deliveries are compared with their totals, and of one more the oldest is not")
    func bound() {
        for (count, oldest) in [(Ledger.maxCompared, "d1000"), (Ledger.maxCompared + 1, "d1001")] {
            let ledger = Self.ledger(
                (1000..<1000 + count).map { ("d\($0)", .accepted(HitKinds(.sent))) })
            let found = ledger.sentDeliveries()
            #expect(found.count == Ledger.maxCompared && Ledger.maxCompared == 1000)
            #expect(found.first == oldest)
        }
    }
}
