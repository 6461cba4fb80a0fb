// What only the sender's facts and the devices' reports together show: each mistake, and the same
// just below its threshold.
@testable internal import DeliveryDiagnosis
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

extension DeliveryDiagnosisTests {
    /// 3,000 of 4,000 were seen, and all came with the flag.
    private static let delivered =
        Self.sent(4000) + [
            Self.hits(3000, .impression), Self.hits(500, .click, .open),
        ]

    static let sends: [Mistake] = [
        Mistake(
            "sent, and nothing reported", Self.sent(4100, shownBy: .app), [.nothingReported],
            "4,100 were sent 6 hours ago or earlier, and no app has reported anything"),
        Mistake(
            "shown by the system", Self.sent(4100, shownBy: .system) + [Self.hits(40, .impression)],
            [.impressionsMissing],
            "40 impressions (7) of 4,100 that were sent on Android 6 hours ago or earlier: 4,100 "
                + "were shown by the system, and then the app's code never runs"),
        Mistake(
            "shown by the app", Self.sent(4100, shownBy: .app) + [Self.hits(40, .impression)],
            [.impressionsMissing], "4,100 were for the app to show, so it has to report each"),
        Mistake(
            "shown by nobody knows whom", Self.sent(4100) + [Self.hits(40, .impression)],
            [.impressionsMissing], "what the system shows never reaches the app's code"),
        Mistake(
            "reported twice", Self.delivered + [Self.hits(1200, .impression)],
            [.moreImpressionsThanSent],
            "4,200 impressions (7) on Android, and 4,000 were sent: an app reports one notification "
                + "under several ids"),
        Mistake(
            "a version that reports nothing",
            Self.version("3.1", sent: 800, impressions: 600)
                + Self.version("3.2", sent: 200, impressions: 0), [.versionWithoutReports],
            "200 were sent to version 3.2 on Android 6 hours ago or earlier, and it reports nothing, "
                + "while others gave 600 reports of 800"),
        Mistake(
            "tokens that are registered no more",
            Self.delivered + Self.notSent(500, .unregistered), [.tokensUnregistered],
            "500 of 4,500 attempts on Android had a token that is registered no more"),
        Mistake(
            "throttled more than before", Self.delivered + Self.notSent(400, .throttled),
            before: Self.sent(4000, delivery: "56c3")
                + Self.notSent(40, .throttled, delivery: "56c3"),
            [.sendReasonGrew],
            "400 of 4,400 sends on Android were not made for `throttled`, 9.1 %, and 1.0 % of those "
                + "of the delivery before, 56c3: send more slowly"),
        Mistake(
            "without the flag", Self.delivered + [Self.warning(.flagAssumedOn, 3000)],
            [.sentWithoutFlag],
            "3,000 of 3,500 reports on Android came without _acsDeliveryTracking"),
    ]

    /// Rows just below a threshold, of which the last is the row that is one event short, or with
    /// `less` one event too much; and the delivery before.
    struct Edge: Sendable {
        let code: DeliveryFinding.Code
        let rows: [LedgerRow]
        var last: LedgerRow
        var before: [LedgerRow] = []
        var isLess = false
    }

    private static func edges() -> [Edge] {
        let unregistered = LedgerOutcome.accepted(HitKinds(.sendFailed))
        func reason(_ reason: SendReason, _ count: UInt64) -> LedgerRow {
            Self.row(.send, count, counted: unregistered, mark: SendMark(reason: reason))
        }
        let others = Self.version("1", sent: 400, impressions: 400)
        return [
            Edge(code: .nothingReported, rows: [], last: Self.sent(19)[0]),
            Edge(
                code: .impressionsMissing, rows: [Self.hits(10, .impression)],
                last: Self.sent(99)[0]),
            Edge(
                code: .impressionsMissing, rows: Self.sent(200), last: Self.hits(100, .impression),
                isLess: true),
            Edge(
                code: .moreImpressionsThanSent, rows: Self.sent(20),
                last: Self.hits(39, .impression)),
            Edge(
                code: .moreImpressionsThanSent, rows: Self.sent(1000),
                last: Self.hits(1049, .impression)),
            Edge(
                code: .versionWithoutReports,
                rows: others + [Self.row(.accepted(HitKinds(.sent)), 20)],
                last: Self.row(
                    .version, 19, counted: .accepted(HitKinds(.sent)), version: "2")),
            Edge(
                code: .versionWithoutReports,
                rows: others + Self.version("2", sent: 50, impressions: 0),
                last: Self.hits(20, .click), isLess: true),
            Edge(
                code: .tokensUnregistered,
                rows: Self.delivered + [Self.row(unregistered, 500)],
                last: reason(.unregistered, 449)),
            Edge(
                code: .tokensUnregistered, rows: Self.sent(50) + [Self.hits(50, .impression)],
                last: reason(.unregistered, 19)),
            Edge(
                code: .sendReasonGrew, rows: Self.delivered, last: reason(.network, 199),
                before: Self.sent(100)),
            Edge(
                code: .sendReasonGrew, rows: Self.delivered, last: reason(.network, 399),
                before: Self.sent(950) + Self.notSent(50, .network)),
            Edge(
                code: .sentWithoutFlag, rows: Self.delivered,
                last: Self.warning(.flagAssumedOn, 349)),
        ]
    }

    @Test("what both sides show needs its events too, and not one less")
    func sendThresholds() {
        for edge in Self.edges() {
            func finds(_ last: LedgerRow) -> Bool {
                Self.findings(edge.rows + [last], [], before: edge.before)
                    .contains { $0.code == edge.code }
            }
            #expect(!finds(edge.last), "\(edge.code) \(edge.last.count)")
            let count = edge.isLess ? edge.last.count - 1 : edge.last.count + 1
            let more = Self.row(
                edge.last.outcome, count, counted: edge.last.counted,
                version: edge.last.appVersion, mark: edge.last.mark)
            #expect(finds(more), "\(edge.code) \(count)")
        }
        let grown = Self.delivered + Self.notSent(400, .network)
        let few = Self.findings(grown, [], before: Self.sent(99))
        #expect(few == [], "the delivery before was too small")
    }

    @Test("what was sent less than six hours ago may still be reported")
    func settling() {
        let version =
            Self.version("3.1", sent: 800, impressions: 600)
            + Self.version("3.2", sent: 200, impressions: 0)
        let recent: [[LedgerRow]] = [
            Self.sent(4100), Self.sent(4100) + [Self.hits(40, .impression)], version,
            Self.sent(100) + [Self.hits(400, .impression)],
        ]
        for rows in recent {
            // What was sent at the end of an hour is five hours old when the sixth after it begins.
            #expect(Self.findings(rows, [], hoursLater: 6) == [])
            #expect(Self.findings(rows, [], hoursLater: 7).count == 1)
        }
    }

    /// Deliveries with sends that nothing is wrong with.
    private static let soundSends: [[LedgerRow]] = [
        Self.delivered, Self.delivered + Self.notSent(200, .unregistered),
        // iOS does not report impressions (D16).
        Self.sent(4000, on: .ios) + [Self.hits(30, .impression, on: .ios)],
        // Nobody sees them.
        Self.sent(4000, shownBy: .silent),
        Self.sent(4000, shownBy: .silent) + [Self.hits(9, .open)],
        // The sender, or the app, does not tell the platform.
        Self.sent(4000, on: nil) + [Self.hits(3000, .impression)],
        Self.sent(50) + Self.sent(4000, on: nil) + [Self.hits(3000, .impression)],
        Self.sent(4000) + [Self.hits(3000, .impression, on: nil)],
        // Apps that tell no version, and recipients who have updated.
        Self.sent(800) + [Self.hits(700, .impression)]
            + Self.version("2", sent: 200, impressions: 0),
        Self.version("1", sent: 800, impressions: 600)
            + Self.version("2", sent: 9, impressions: 90),
        // Reports that come again make no version's rate.
        Self.version("1", sent: 400, impressions: 300) + [
            Self.row(.duplicate(HitKinds(.impression)), 900),
            Self.row(.version, 900, counted: .duplicate(HitKinds(.impression)), version: "1"),
        ] + Self.version("2", sent: 20, impressions: 0),
        // Deliveries of before 21.1 have no sends.
        [Self.hits(300, .impression), Self.warning(.flagAssumedOn, 300)],
    ]

    @Test("nothing is said of sends that nothing is wrong with", arguments: soundSends)
    func healthySends(_ rows: [LedgerRow]) {
        #expect(Self.findings(rows, [], before: Self.delivered) == [])
    }

    @Test("a flag's share is one of the reports, and sends without consent's reports stay silent")
    func reports() {
        let findings = Self.findings(Self.delivered + [Self.flag("ON", 500)], [])
        #expect(findings.map(\.figures.last?.value) == [4000])
        let unnamed = [Self.row(.refused(.suppressedConsent), 900, delivery: "")]
        let silent = Self.findings(Self.sent(4100), unnamed)
        #expect(silent.map(\.code) == [.nothingReported, .consentMissing])
        // A sender's mistake is no report.
        let broken = Self.row(.refused(.rejected), 9, detail: "push_send.reason required")
        #expect(
            Self.findings(Self.sent(4100) + [broken], []).map(\.code)
                == [.nothingReported, .rejected])
    }
}
