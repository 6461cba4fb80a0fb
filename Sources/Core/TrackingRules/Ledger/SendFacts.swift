/// What a sender has told of notifications, as the ledger counts it: facts, each once for a
/// notification (D60). docs/figures.md has the formulas.
package struct SendFacts: Sendable, Equatable {
    /// Notifications that a push service took.
    package var sent: UInt64
    /// Notifications of which an attempt failed, whatever became of later ones.
    package var failed: UInt64
    /// Notifications that are both.
    package var sentAndFailed: UInt64

    /// Creates facts; none unless they are given.
    package init(sent: UInt64 = 0, failed: UInt64 = 0, sentAndFailed: UInt64 = 0) {
        self.sent = sent
        self.failed = failed
        self.sentAndFailed = sentAndFailed
    }

    /// Notifications that the sender tried to send.
    package var attempted: UInt64 { self.sent &+ self.undelivered }

    /// Notifications that the sender tried to send, and that no push service took. The ledger may
    /// keep the later of two facts longer than the earlier.
    package var undelivered: UInt64 { self.failed - min(self.failed, self.sentAndFailed) }

    /// Notifications that a push service took, per attempted one; nil without these.
    package var deliveredRate: Double? {
        self.attempted > 0 ? Double(self.sent) / Double(self.attempted) : nil
    }

    /// The facts of both.
    package static func + (left: SendFacts, right: SendFacts) -> SendFacts {
        SendFacts(
            sent: left.sent &+ right.sent, failed: left.failed &+ right.failed,
            sentAndFailed: left.sentAndFailed &+ right.sentAndFailed)
    }
}
