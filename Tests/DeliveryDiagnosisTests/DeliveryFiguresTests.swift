// What was sent of a delivery and what became of it, by its rows.
internal import DeliveryDiagnosis
internal import Testing

struct DeliveryFiguresTests {
    private static func row(
        _ detail: String, _ events: UInt64, platform: String = "android",
        product: String = "standard", verdict: String = "accepted", delivery: String = "56c4"
    ) -> DeliveryAccountLine.Row {
        .init(
            app: "com.example.app", delivery: delivery, platform: platform, product: product,
            hour: 0, verdict: verdict, detail: detail, isOther: false, events: events)
    }

    private static func figures(_ rows: [DeliveryAccountLine.Row]) -> DeliveryFigures? {
        DeliveryAccountLine(
            tenant: "shop", delivery: "56c4", findings: [], rows: rows, isTruncated: false
        ).figures
    }

    @Test("D16, D20: rates are of what a push service took, on all platforms")
    func rates() throws {
        let figures = try #require(
            Self.figures([
                Self.row("sent", 6), Self.row("sent", 2, platform: "ios"),
                Self.row("send_failed", 3), Self.row("send_skipped", 1, platform: ""),
                Self.row("send_failed", 1, platform: "ios"),
                Self.row("", 2, verdict: "sent_and_failed"),
                Self.row("", 9, verdict: "sent_and_failed", delivery: ""),
                Self.row("impression", 3), Self.row("impression", 2, platform: "ios"),
                Self.row("click,open", 1), Self.row("click", 1), Self.row("open", 1),
                Self.row("click,open", 1, platform: "ios"),
                Self.row("sent", 9, verdict: "duplicate"),
                Self.row("sent", 9, delivery: ""),
            ]))
        #expect(figures.hasSends)
        #expect([figures.others.sent, figures.ios.sent] == [6, 2])
        #expect([figures.others.failed, figures.others.skipped] == [3, 1])
        #expect([figures.others.attempted, figures.ios.attempted] == [7, 3])
        #expect([figures.others.undelivered, figures.ios.undelivered] == [1, 1])
        #expect(
            [
                figures.attempted, figures.sent, figures.failed, figures.skipped,
                figures.undelivered,
            ] == [10, 8, 4, 1, 2])
        #expect(figures.deliveredRate == 0.8)
        #expect(figures.impressionsOfDelivered == 0.5)
        #expect(figures.openRate == 0.375 && figures.clickThroughRate == 0.375)
    }

    @Test("D63: an impression that showed nothing is no impression of the figures")
    func nothingShown() throws {
        let figures = try #require(
            Self.figures([
                Self.row("sent", 8), Self.row("impression", 5),
                Self.row("nothing_shown", 3, verdict: "warning"),
                Self.row("impression_unreliable", 1, verdict: "warning"),
                Self.row("impression", 1, platform: "ios"),
                // The ledger has no longer one of these impressions.
                Self.row("nothing_shown", 2, platform: "ios", verdict: "warning"),
            ]))
        #expect([figures.others.impressions, figures.ios.impressions] == [2, 0])
        #expect(figures.impressionsOfDelivered == 0.25)
    }

    @Test(
        "D12: Classic has no open rate; without a sender's facts there is no rate, and in-app none")
    func absent() throws {
        let classic = try #require(
            Self.figures([
                Self.row("sent", 4, product: "classic"), Self.row("click", 1, product: "classic"),
            ]))
        #expect(classic.openRate == nil && classic.clickThroughRate == 0.25)
        let silent = try #require(Self.figures([Self.row("click,open", 3)]))
        #expect(!silent.hasSends && silent.openRate == nil && silent.clickThroughRate == nil)
        #expect(silent.attempted == nil && silent.sent == nil && silent.deliveredRate == nil)
        #expect(Self.figures([Self.row("in_app_click", 3, product: "firebase")]) == nil)
    }
}
