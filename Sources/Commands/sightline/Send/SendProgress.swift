/// The progress of a `send`.
package struct SendProgress: Sendable {
    /// Events that just got their final verdict, in the order of their verdicts.
    package var outcomes: [EventOutcome] = []
    /// The number of events read so far.
    package var readCount = 0
    /// The number of events with a final verdict.
    package var settledCount = 0
    /// The stream that just broke, if any.
    package var interruption: Interruption?

    /// Why a stream broke, and when the sender reconnects.
    package struct Interruption: Sendable {
        /// The reason as text.
        package var reason: String
        /// The delay before the sender reconnects.
        package var delay: Duration
    }
}
