internal import SightlineProtos
internal import TrackingReport

/// Counts events by verdict, and keeps the first rejections, for the table that `send` prints.
package struct VerdictTable: Sendable {
    /// The maximum number of rejections that are listed.
    package static let maxRejections = 20

    /// The number of events with a final verdict.
    package private(set) var eventCount = 0
    private var counts: [String: Int] = [:]
    private var rejectedCount = 0
    private var rejections: [EventOutcome] = []

    /// The order of the contract: successes first, errors last.
    private static let order: [Sightline_V1_Verdict] = [
        .accepted, .suppressedFlagOff, .suppressedFlagUnknown, .suppressedConsent,
        .suppressedTestMessage, .suppressedDisplay, .duplicate, .rejected,
    ]

    /// Creates an empty table.
    package init() {}

    /// Counts an outcome; keeps it if it is one of the first rejections.
    package mutating func add(_ outcome: EventOutcome) {
        self.eventCount += 1
        self.counts[outcome.result.verdict.name, default: 0] += 1
        guard outcome.result.verdict == .rejected else { return }
        self.rejectedCount += 1
        if self.rejections.count < Self.maxRejections {
            self.rejections.append(outcome)
        }
    }

    /// The lines: a count for each verdict that occurred, the sum, and the rejections.
    package func lines() -> [String] {
        var table = TextTable([("verdict", .left), ("events", .right)])
        let known = Self.order.map(\.name)
        for name in known + self.counts.keys.filter({ !known.contains($0) }).sorted() {
            if let count = self.counts[name] { table.add([name, "\(count)"]) }
        }
        table.add(["total", "\(self.eventCount)"])
        guard self.rejectedCount > 0 else { return table.lines() }
        let shown =
            self.rejections.count < self.rejectedCount
            ? ", the first \(self.rejections.count)" : ""
        return table.lines() + ["", "rejected (\(self.rejectedCount)\(shown)):"]
            + self.rejectionLines()
    }

    private func rejectionLines() -> [String] {
        var table = TextTable([
            ("where", .left), ("event", .left), ("field", .left), ("rule", .left),
            ("description", .left),
        ])
        for outcome in self.rejections {
            let start = [outcome.origin.description, outcome.result.eventID]
            if outcome.result.violations.isEmpty {
                table.add(start + ["-", "-", "the server gave no reason"])
            }
            for violation in outcome.result.violations {
                let field = violation.field.isEmpty ? "-" : violation.field
                table.add(start + [field, violation.code.name, violation.description_p])
            }
        }
        return table.lines()
    }
}
