// What `why` shows of a delivery, as lines.
internal import DeliveryDiagnosis
internal import Testing
internal import WireFormat
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

    @Test("two apps whose ids Unicode takes for equal have a line each")
    func spellings() {
        let apps = ["caf\u{e9}", "cafe\u{301}"]
        let lines = Self.lines(apps.map { Self.row("accepted", "open", app: $0, 3) })
        for app in apps {
            let own = lines.filter { line in
                line.split(separator: " ").contains { String($0).equals(app) }
            }
            #expect(own.count == 1, "\(lines)")
        }
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
