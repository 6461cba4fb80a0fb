package import SightlineProtos

/// Progress of a sender.
package struct SendProgress: Sendable {
    /// Events that just got their final verdict, in the order of their requests.
    package var outcomes: [EventOutcome] = []
    /// The number of events read so far.
    package var readCount = 0
    /// The number of events with a final verdict.
    package var settledCount = 0
    /// The broken stream, if one just broke.
    package var interruption: Interruption?

    /// Why a stream broke, and when the sender reconnects.
    package struct Interruption: Sendable {
        /// The reason as text.
        package var reason: String
        /// The delay before the sender reconnects.
        package var delay: Duration
    }
}

/// The result of a sender.
package struct SendSummary: Sendable, Equatable {
    /// Counts of events by verdict.
    package var verdicts: [Sightline_V1_Verdict: Int] = [:]
    /// The number of streams opened after the first.
    package var reconnectionCount = 0
    /// The number of requests that were sent again.
    package var resentRequestCount = 0
    /// The number of events with a final verdict.
    package var settledCount: Int { self.verdicts.values.reduce(0, +) }

    /// Creates an empty summary.
    package init() {}
}
