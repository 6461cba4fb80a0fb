// Totals beside facts: where both are there and are not about the same.
@testable internal import DeliveryDiagnosis
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct TotalsDifferTests {
    private typealias Rows = DeliveryDiagnosisTests

    private static func finding(_ delivered: Int?, _ rows: [LedgerRow]) -> DeliveryFinding? {
        var totals = DeliveryTotals(tenant: "default", delivery: "56c4")
        totals.platforms = [.init(platform: .android, sent: 9_999_999, delivered: delivered)]
        return DeliveryDiagnosis(of: "56c4", rows: rows, unnamed: [], hour: 500_000, totals: totals)
            .findings
            .first { $0.code == .totalsDiffer }
    }

    @Test(
        "20 messages and a hundredth are a difference, more or less of them, and one fewer is none",
        arguments: [
            (1000, 1019, false), (1000, 1020, true), (1020, 1000, true), (1019, 1000, false),
            (10_000, 10_101, true), (10_000, 10_099, false), (0, 20, true), (0, 19, false),
        ])
    func threshold(_ totals: Int, facts: UInt64, differs: Bool) {
        let finding = Self.finding(totals, [Rows.hits(facts, .sent)])
        #expect((finding != nil) == differs)
    }

    @Test("it says both numbers, those of all platforms together")
    func sentence() throws {
        let rows = [
            Rows.hits(3000, .sent), Rows.hits(900, .sent, on: .ios), Rows.hits(50, .sendFailed),
            Rows.hits(2000, .impression),
        ]
        let finding = try #require(Self.finding(4100, rows))
        #expect(
            finding.sentence.hasPrefix(
                "4,100 messages were delivered by the totals that were put, and 3,900 by the facts")
        )
        #expect(finding.figures.map(\.value) == [200, 4100, 3900])
    }

    @Test("the troubles of all deliveries have it too, each tenant's by its own totals")
    func troubles() {
        var delta = LedgerDelta()
        let subject = "app".withBytes { app in
            "56c4".withBytes {
                LedgerSubject(platform: .ios, product: .standard, app: app, delivery: $0).bytes
            }
        }
        for tenant in ["a", "b", "c"] {
            delta.add(
                tenant.withBytes {
                    LedgerKey(
                        hour: 500_000, tenant: $0, subject: subject,
                        outcome: .accepted(HitKinds(.sent)), detail: "")
                }, 100)
        }
        var ledger = Ledger()
        ledger.apply(delta)
        let totals = [("a", 120), ("b", 119)].map { tenant, delivered in
            var totals = DeliveryTotals(tenant: tenant, delivery: "56c4")
            totals.platforms = [.init(delivered: delivered)]
            return totals
        }
        #expect(ledger.deliveriesToCompare() == ["56c4"])
        #expect(ledger.deliveriesToCompare("77") == ["77"])
        for (tenant, found) in [(nil, ["a"]), ("a", ["a"]), ("b", [])] as [(String?, [String])] {
            let troubles = ledger.troubles(tenant: tenant, limit: 9, totals: totals, hour: 500_000)
            #expect(troubles.map(\.tenant) == found)
            #expect(troubles.allSatisfy { $0.code == "TOTALS_DIFFER" && $0.events == 20 })
        }
        #expect(ledger.troubles(limit: 9, hour: 500_000).isEmpty)
    }

    @Test("without facts of a sender, or without a number delivered, nothing differs")
    func missing() {
        #expect(Self.finding(4100, [Rows.hits(2000, .impression)]) == nil)
        #expect(Self.finding(nil, [Rows.hits(2000, .sent)]) == nil)
        #expect(Self.finding(4100, []) == nil)
        // Failures alone are facts too.
        #expect(Self.finding(4100, [Rows.hits(50, .sendFailed)]) != nil)
        let rows = [Rows.hits(2000, .sent)]
        let findings = DeliveryDiagnosis(of: "56c4", rows: rows, unnamed: [], hour: 500_000)
            .findings
        #expect(!findings.contains { $0.code == .totalsDiffer })
    }
}
