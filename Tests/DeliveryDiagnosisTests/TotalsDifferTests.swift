// Totals beside facts: where both are there and are not about the same.
@testable internal import DeliveryDiagnosis
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

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
