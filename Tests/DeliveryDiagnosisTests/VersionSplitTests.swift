// The split of a delivery's counts by version, and what a sender told by reason.
internal import DeliveryDiagnosis
internal import Testing

struct VersionSplitTests {
    private static func row(
        _ version: String, _ detail: String, _ events: UInt64, platform: String = "android",
        verdict: String = "version", delivery: String = "56c4", reason: String? = nil
    ) -> DeliveryAccountLine.Row {
        .init(
            app: "com.example.app", delivery: delivery, platform: platform, product: "standard",
            hour: 0, verdict: verdict, detail: detail, appVersion: version, sendReason: reason,
            isOther: false, events: events)
    }

    @Test(
        "a version differs if a figure is twice or half that of the others' rate, and 20 away",
        arguments: [(20, true), (21, false), (79, false), (80, true)])
    func threshold(_ impressions: UInt64, differs: Bool) {
        // At the rate of the others, 100 sends give 40 impressions.
        let split = VersionSplit([
            Self.row("3.1", "accepted sent", 100), Self.row("3.1", "accepted impression", 40),
            Self.row("3.2", "accepted sent", 100),
            Self.row("3.2", "accepted impression", impressions),
        ])
        #expect(split.versions.contains { $0.name == "3.2" && $0.differs } == differs)
        #expect(split.versions.isEmpty == !differs)
    }

    @Test("a split has all versions with their counts, and each platform's by itself")
    func counts() {
        let split = VersionSplit([
            Self.row("3.1", "accepted sent", 100), Self.row("3.1", "accepted impression", 90),
            Self.row("3.1", "duplicate impression", 5), Self.row("3.1", "rejected", 2),
            Self.row("3.1", "accepted click,open", 30), Self.row("3.2", "accepted sent", 60),
            Self.row("3.2", "accepted send_failed", 9),
            Self.row("1.0", "accepted impression", 50, platform: "ios"),
            // Of no delivery, and no row by version.
            Self.row("3.3", "accepted sent", 99, delivery: ""),
            Self.row("3.3", "sent", 99, verdict: "accepted"),
        ])
        let told = split.versions.map { version in
            "\(version.platform) \(version.name) \(version.sent) \(version.reports) "
                + "\(version.refused) \(version.impressions) \(version.clicks) \(version.opens)"
                + (version.differs ? " differs" : "")
        }
        #expect(
            told == [
                "android 3.1 100 127 2 90 30 30 differs", "android 3.2 60 0 0 0 0 0 differs",
                "ios 1.0 0 50 0 50 0 0",
            ])
    }

    @Test("what failed is told by reason, the most first, without what was skipped or has no id")
    func reasons() {
        func fact(
            _ reason: String, _ events: UInt64, _ detail: String = "accepted send_failed",
            delivery: String = "56c4"
        ) -> DeliveryAccountLine.Row {
            Self.row("", detail, events, verdict: "send", delivery: delivery, reason: reason)
        }
        let rows = [
            fact("throttled", 3), fact("network", 2), fact("throttled", 1), fact("expired", 2),
            fact("no_consent", 9, "accepted send_skipped"), fact("other", 9, delivery: ""),
        ]
        let told = rows.sends(of: "send_failed") { $0.sendReason ?? "" }
        #expect(told.map(\.name) == ["throttled", "expired", "network"])
        #expect(told.map(\.events) == [4, 2, 2])
    }

    @Test("each finding has fixed words of its own, short enough for a line of the page")
    func summaries() {
        let summaries = DeliveryFinding.Code.allCases.map(\.summary)
        #expect(Set(summaries).count == DeliveryFinding.Code.allCases.count)
        #expect(summaries.allSatisfy { (1...80).contains($0.utf8.count) })
    }
}
