/// Counts of events by verdict, grouped as in an ack.
package struct Tally: Sendable, Equatable {
    /// Accepted events.
    package var accepted = 0
    /// Suppressed events, for any reason.
    package var suppressed = 0
    /// Events whose hits the window already held.
    package var duplicate = 0
    /// Rejected events.
    package var rejected = 0
    /// Events that the client has to send again.
    package var retryLater = 0

    /// Creates a tally of zeros.
    package init() {}

    /// Counts an event.
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

    /// Adds the counts of `other`.
    package static func += (tally: inout Tally, other: Tally) {
        tally.accepted &+= other.accepted
        tally.suppressed &+= other.suppressed
        tally.duplicate &+= other.duplicate
        tally.rejected &+= other.rejected
        tally.retryLater &+= other.retryLater
    }
}
