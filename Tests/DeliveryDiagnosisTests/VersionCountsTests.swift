// Where a version of a delivery's apps differs from the others.
internal import DeliveryDiagnosis
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct VersionCountsTests {
    private static let sent = LedgerOutcome.accepted(HitKinds(.sent))
    private static let impression = LedgerOutcome.accepted(HitKinds(.impression))

    /// The lines of rows by version: platform, version, what became of the events, and how many.
    private static func lines(
        _ rows: [(Platform?, String, LedgerOutcome, UInt64)]
    ) -> [DeliveryAccountLine.Row] {
        rows.map { platform, version, counted, count in
            DeliveryAccountLine.Row(
                DeliveryDiagnosisTests.row(
                    .version, count, platform, counted: counted, version: version))
        }
    }

    /// The versions that differ.
    private static func differing(
        _ rows: [(Platform?, String, LedgerOutcome, UInt64)]
    ) -> [String] {
        VersionCounts.split(Self.lines(rows)).filter(\.differs).map(\.appVersion)
    }

    @Test(
        "a version differs if a figure is twice or half of that of the others, and 20 more or less",
        arguments: [
            // At the rate of the others, 0.8, 50 sends give 40 impressions.
            (50, 20, true), (50, 21, false), (50, 79, false), (50, 80, true),
            // And 25 sends give 20.
            (25, 0, true), (24, 0, false), (25, 40, true), (25, 39, false),
        ] as [(UInt64, UInt64, Bool)])
    func threshold(_ sends: UInt64, impressions: UInt64, differs: Bool) {
        let differing = Self.differing([
            (.android, "3.1", Self.sent, 1000), (.android, "3.1", Self.impression, 800),
            (.android, "3.2", Self.sent, sends), (.android, "3.2", Self.impression, impressions),
        ])
        #expect(differing.contains("3.2") == differs)
    }

    @Test("without sends a version is compared by its reports, of which some are refused")
    func reports() {
        let rows: [(Platform?, String, LedgerOutcome, UInt64)] = [
            (.ios, "3.1", Self.impression, 400),
            (.ios, "3.2", Self.impression, 60), (.ios, "3.2", .refused(.rejected), 40),
            (.ios, "3.2", .duplicate(HitKinds(.impression)), 7),
        ]
        #expect(Self.differing(rows).contains("3.2"))
        let split = VersionCounts.split(Self.lines(rows))
        #expect(split.map(\.reports) == [400, 107] && split.map(\.refused) == [0, 40])
        #expect(split.map(\.impressions) == [400, 60])
    }

    @Test("versions are compared on their own platform alone, and two spellings are two versions")
    func places() {
        let rows: [(Platform?, String, LedgerOutcome, UInt64)] = [
            (.android, "3.1", Self.sent, 100), (.android, "3.1", Self.impression, 80),
            (.ios, "3.1", Self.sent, 100),
        ]
        #expect(VersionCounts.split(Self.lines(rows)).isEmpty)
        let spelled =
            rows + [
                (.ios, "caf\u{e9}", Self.sent, 100), (.ios, "cafe\u{301}", Self.sent, 100),
                (.ios, "cafe\u{301}", Self.impression, 90),
            ]
        let split = VersionCounts.split(Self.lines(spelled))
        #expect(split.map(\.platform) == ["android", "ios", "ios", "ios"])
        #expect(split.map(\.sent) == [100, 100, 100, 100])
        #expect(
            split.filter(\.differs).map { Array($0.appVersion.utf8) }
                .contains(Array("cafe\u{301}".utf8)))
        #expect(!split[0].differs)
    }

    /// A ledger of rows by version: tenant, delivery, version, what became of the events, and how
    /// many.
    private static func ledger(
        _ rows: [(String, String, String, LedgerOutcome, UInt32)]
    ) -> Ledger {
        var delta = LedgerDelta()
        for (tenant, delivery, version, counted, count) in rows {
            let subject = "app".withBytes { app in
                delivery.withBytes {
                    LedgerSubject(
                        platform: .android, product: .standard, app: app, delivery: $0
                    ).bytes
                }
            }
            let detail = String(decoding: [counted.rawValue], as: UTF8.self) + version
            delta.add(
                tenant.withBytes {
                    LedgerKey(
                        hour: 500_000, tenant: $0, subject: subject, outcome: .version,
                        detail: detail)
                }, count)
        }
        var ledger = Ledger()
        ledger.apply(delta)
        return ledger
    }

    @Test("the deliveries of which a version differs are split, the most events first")
    func splits() {
        // Version 3.1 has an impression of each that was sent.
        func rows(
            _ tenant: String, _ delivery: String, sent: UInt32, impressions: UInt32
        ) -> [(String, String, String, LedgerOutcome, UInt32)] {
            [
                (tenant, delivery, "3.1", Self.sent, 100),
                (tenant, delivery, "3.1", Self.impression, 100),
                (tenant, delivery, "3.2", Self.sent, sent),
                (tenant, delivery, "3.2", Self.impression, impressions),
            ]
        }
        let ledger = Self.ledger(
            rows("a", "56c4", sent: 50, impressions: 25)
                + rows("b", "56c4", sent: 90, impressions: 1)
                + rows("a", "77", sent: 900, impressions: 900)
                + rows("a", "", sent: 500, impressions: 1)
                + rows("a", "caf\u{e9}", sent: 60, impressions: 30)
                + rows("a", "cafe\u{301}", sent: 60, impressions: 60))
        let all = ledger.versionSplits(limit: 9)
        #expect(all.map(\.tenant) == ["b", "a", "a"])
        #expect(
            all.map { Array($0.delivery.utf8) }
                == ["56c4", "caf\u{e9}", "56c4"].map { Array($0.utf8) })
        #expect(all[0].versions.map(\.sent) == [100, 90])
        #expect(all[0].versions.map(\.impressions) == [100, 1])
        #expect(all[0].versions.last?.differs == true)
        #expect(ledger.versionSplits(limit: 1) == Array(all.prefix(1)))
        #expect(ledger.versionSplits(tenant: "a", limit: 9).count == 2)
        #expect(ledger.versionSplits(tenant: "b", delivery: "77", limit: 9).isEmpty)
        #expect(ledger.versionSplits(delivery: "cafe\u{301}", limit: 9).isEmpty)
        #expect(ledger.versionSplits(delivery: "caf\u{e9}", limit: 9).count == 1)
    }
}
