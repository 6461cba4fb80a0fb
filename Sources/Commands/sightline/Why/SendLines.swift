internal import DeliveryDiagnosis
internal import TrackingReport

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
                .reduce(UInt64(0)) { $0 &+ $1.events }
            return (kind: kind, word: word, events: events)
        }
        let sentAndFailed = own.filter { $0.verdict == "sent_and_failed" }
            .reduce(UInt64(0)) { $0 &+ $1.events }
        self.lines = counts.filter { $0.events > 0 }.map { kind, word, events in
            // By reason nobody knows: the ledger counts facts, and not whose they are.
            let note =
                kind == "send_failed" && sentAndFailed > 0
                ? " (\(Self.grouped(sentAndFailed)) of these "
                    + (sentAndFailed == 1 ? "was sent later)" : "were sent later)") : ""
            return Self.line(word, events, of: own.sends(of: kind, by: Self.name)) + note
        }
    }

    /// A line such as "failed 410: unregistered 400, throttled 10".
    private static func line(
        _ word: String, _ count: UInt64, of parts: [(name: String, events: UInt64)]
    ) -> String {
        let texts = parts.map { "\($0.name) \(Self.grouped($0.events))" }
        let told = texts.isEmpty ? "" : ": " + texts.joined(separator: ", ")
        return "\(word) \(Self.grouped(count))\(told)"
    }

    /// The reason, or who shows it.
    private static func name(of row: DeliveryAccountLine.Row) -> String {
        if row.display == "silent" { return "silent" }
        return row.sendReason ?? row.display.map { "shown by \($0)" } ?? ""
    }

    private static func grouped(_ count: UInt64) -> String { Figure.grouped(Int(clamping: count)) }
}
