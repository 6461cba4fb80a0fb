package import TrackingRules

/// A refused event that is kept.
package struct QuarantinedEvent: Sendable, Equatable {
    /// The tenant that sent it.
    package let tenant: String
    /// When it was received, in microseconds since 1970.
    package let receiveTime: Int64
    /// Rejected, or suppressed for its unknown flag.
    package var verdict: Verdict
    /// The rules that it breaks.
    package var violations: [Violation]
    /// The event as it was sent.
    package let event: [UInt8]
    /// The app, for searches.
    package let appID: String
    /// The delivery or the in-app message, for searches; empty if it may be something else.
    package let deliveryID: String
    /// The recipient's id; empty if it has none. Also empty in a row read from the file, which does
    /// not store it separately.
    package let subjectID: String

    /// The bytes counted for an event in addition to its own.
    private static let fixedBytes = 256

    /// Creates an event.
    package init(
        tenant: String, receiveTime: Int64, verdict: Verdict, violations: [Violation],
        event: [UInt8], appID: String, deliveryID: String, subjectID: String = ""
    ) {
        self.tenant = tenant
        self.receiveTime = receiveTime
        self.verdict = verdict
        self.violations = violations
        self.event = event
        self.appID = appID
        self.deliveryID = deliveryID
        self.subjectID = subjectID
    }

    /// The bytes that it takes in memory and, roughly, in the file.
    var bytes: Int { Self.bytes(self.event.count, self.violations) }

    /// The bytes counted for an event of `count` bytes.
    static func bytes(_ count: Int, _ violations: [Violation]) -> Int {
        violations.reduce(Self.fixedBytes + count) { $0 + $1.field.utf8.count + 16 }
    }
}

extension [Violation] {
    /// A line per violation with code and field, as stored. The description is left out: it may
    /// quote the event, and another build may word it differently.
    var lines: String {
        self.map { "\($0.code.name) \($0.field)" }.joined(separator: "\n")
    }
}
