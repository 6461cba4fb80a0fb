internal import DeliveryDiagnosis
internal import TrackingReport
internal import WireFormat

/// What a sender told of a delivery, for people: how much was sent, and why the rest was not.
struct SendLines {
    /// A line for each of sent, failed and skipped that there is.
    let lines: [String]

    init(_ rows: [DeliveryAccountLine.Row]) {
        let own = rows.filter { !$0.delivery.isEmpty }
        let counts = [
            ("sent", "sent"), ("send_failed", "failed"), ("send_skipped", "skipped"),
        ].map { kind, word in
            let events = own.filter { $0.verdict == "accepted" && $0.detail == kind }
                .reduce(UInt64(0)) { $0 + $1.events }
            return (kind: kind, word: word, events: events)
        }
        let sentAndFailed = own.filter { $0.verdict == "sent_and_failed" }
            .reduce(UInt64(0)) { $0 + $1.events }
        self.lines = counts.filter { $0.events > 0 }.map { kind, word, events in
            let parts = own.filter { $0.verdict == "send" && $0.detail == "accepted " + kind }
            // By reason nobody knows: the ledger counts facts, and not whose they are.
            let note =
                kind == "send_failed" && sentAndFailed > 0
                ? " (\(Self.grouped(sentAndFailed)) of these "
                    + (sentAndFailed == 1 ? "was sent later)" : "were sent later)") : ""
            return Self.line(word, events, of: parts) + note
        }
    }

    /// A line such as "failed 410: unregistered 400, throttled 10".
    private static func line(
        _ word: String, _ count: UInt64, of rows: [DeliveryAccountLine.Row]
    ) -> String {
        var counts: [ExactText: UInt64] = [:]
        for row in rows {
            let name = row.sendReason ?? row.display.map { "shown by \($0)" } ?? ""
            counts[ExactText(name == "shown by silent" ? "silent" : name), default: 0] += row.events
        }
        let parts = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\($0.key.text) \(Self.grouped($0.value))"
        }
        let told = parts.isEmpty ? "" : ": " + parts.joined(separator: ", ")
        return "\(word) \(Self.grouped(count))\(told)"
    }

    private static func grouped(_ count: UInt64) -> String { Figure.grouped(Int(clamping: count)) }
}
