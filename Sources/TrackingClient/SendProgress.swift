// What the sender tells while it works, and at its end.
package import SightlineProtos

/// News of a sender.
package struct SendProgress: Sendable {
    /// Events that have just got their final verdict, in order of their requests.
    package var outcomes: [EventOutcome] = []
    /// Events read from the source so far.
    package var readCount = 0
    /// Events that have their final verdict.
    package var settledCount = 0
    /// Why the stream broke, where it just did, and how long the sender waits.
    package var interruption: Interruption?

    /// A broken stream.
    package struct Interruption: Sendable {
        /// In words.
        package var reason: String
        /// How long the sender waits before it connects again.
        package var delay: Duration
    }
}

/// What a sender has done.
package struct SendSummary: Sendable, Equatable {
    /// Events by verdict.
    package var verdicts: [Sightline_V1_Verdict: Int] = [:]
    /// Streams that had to be opened after the first.
    package var reconnectionCount = 0
    /// Requests that were sent again after a break.
    package var resentRequestCount = 0
    /// Events with a final verdict.
    package var settledCount: Int { self.verdicts.values.reduce(0, +) }

    /// Starts with nothing done.
    package init() {}
}
