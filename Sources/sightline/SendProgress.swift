internal import EventFiles

/// Progress of a `send`.
struct SendProgress: Sendable {
    /// Events that just got their final verdict, in the order of their verdicts.
    var outcomes: [EventOutcome] = []
    /// The number of events read so far.
    var readCount = 0
    /// The number of events with a final verdict.
    var settledCount = 0
    /// The broken stream, if one just broke.
    var interruption: Interruption?

    /// Why a stream broke, and when the sender reconnects.
    struct Interruption: Sendable {
        /// The reason as text.
        var reason: String
        /// The delay before the sender reconnects.
        var delay: Duration
    }
}
