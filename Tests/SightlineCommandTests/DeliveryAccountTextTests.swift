// What `why` shows of a delivery, as lines.
internal import DeliveryDiagnosis
internal import Testing
@testable internal import sightline

struct DeliveryAccountTextTests {
    private static func row(
        _ verdict: String, _ detail: String, app: String = "com.example.app", _ events: UInt64
    ) -> DeliveryAccountLine.Row {
        DeliveryAccountLine.Row(
            app: app, delivery: "56c4", platform: "android", product: "standard", hour: 0,
            verdict: verdict, detail: detail, isOther: false, events: events)
    }

    private static func lines(_ rows: [DeliveryAccountLine.Row]) -> [String] {
        DeliveryAccountText(
            DeliveryAccountLine(
                tenant: "default", delivery: "56c4", findings: [], rows: rows, isTruncated: false)
        ).lines
    }

    @Test("counts beyond 64 bits, as a damaged answer may have, end no process")
    func overflow() {
        let rows = [
            Self.row("accepted", "sent", .max), Self.row("accepted", "send_failed", .max),
            Self.row("sent_and_failed", "", .max),
        ]
        let lines = Self.lines(rows + rows)
        #expect(lines.contains { $0.contains("com.example.app") }, "\(lines)")
    }
}
