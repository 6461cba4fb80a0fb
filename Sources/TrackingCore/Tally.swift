// Counts of events by what became of them.

/// Events by verdict, as the ack's Tally groups them.
package struct Tally: Sendable, Equatable {
    /// Accepted.
    package var accepted = 0
    /// Suppressed, for any reason.
    package var suppressed = 0
    /// Already known.
    package var duplicate = 0
    /// Rejected.
    package var rejected = 0
    /// To be sent again.
    package var retryLater = 0

    /// No events.
    package init() {}

    /// Counts one event.
    package mutating func count(_ verdict: Verdict) {
        switch verdict {
        case .accepted: self.accepted &+= 1
        case .duplicate: self.duplicate &+= 1
        case .rejected: self.rejected &+= 1
        case .retryLater: self.retryLater &+= 1
        case .suppressedFlagOff, .suppressedFlagUnknown, .suppressedConsent,
            .suppressedTestMessage, .suppressedDisplay:
            self.suppressed &+= 1
        }
    }

    /// Adds another's counts.
    package static func += (tally: inout Tally, other: Tally) {
        tally.accepted &+= other.accepted
        tally.suppressed &+= other.suppressed
        tally.duplicate &+= other.duplicate
        tally.rejected &+= other.rejected
        tally.retryLater &+= other.retryLater
    }
}
