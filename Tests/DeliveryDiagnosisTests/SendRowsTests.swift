// What a sender told, counted by reason.
internal import DeliveryDiagnosis
internal import Testing

struct SendRowsTests {
    @Test("what failed is told by reason, the most first, without what was skipped or has no id")
    func reasons() {
        func fact(
            _ reason: String, _ events: UInt64, _ detail: String = "accepted send_failed",
            delivery: String = "56c4"
        ) -> DeliveryAccountLine.Row {
            .init(
                app: "com.example.app", delivery: delivery, platform: "android",
                product: "standard", hour: 0, verdict: "send", detail: detail, appVersion: "",
                sendReason: reason, isOther: false, events: events)
        }
        let rows = [
            fact("throttled", 3), fact("network", 2), fact("throttled", 1), fact("expired", 2),
            fact("no_consent", 9, "accepted send_skipped"), fact("other", 9, delivery: ""),
        ]
        let told = rows.sends(of: "send_failed") { $0.sendReason ?? "" }
        #expect(told.map(\.name) == ["throttled", "expired", "network"])
        #expect(told.map(\.events) == [4, 2, 2])
    }

    @Test("counts beyond 64 bits, as a damaged answer may have, end no process")
    func overflow() {
        let row = DeliveryAccountLine.Row(
            app: "com.example.app", delivery: "56c4", platform: "android", product: "standard",
            hour: 0, verdict: "send", detail: "accepted send_failed", sendReason: "throttled",
            isOther: false, events: .max)
        let told = [row, row].sends(of: "send_failed") { $0.sendReason ?? "" }
        #expect(told.map(\.events) == [.max - 1])
    }

    @Test("each finding has fixed words of its own, short enough for a line of the page")
    func summaries() {
        let summaries = DeliveryFinding.Code.allCases.map(\.summary)
        #expect(Set(summaries).count == DeliveryFinding.Code.allCases.count)
        #expect(summaries.allSatisfy { (1...80).contains($0.utf8.count) })
    }
}
