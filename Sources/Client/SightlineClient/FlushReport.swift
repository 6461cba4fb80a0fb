/// The outcome of a `flush` or `close` for the events that were sent before it.
public struct FlushReport: Sendable, Equatable {
    /// The number of events that got their verdict during the call.
    public let acknowledgedCount: Int
    /// The number of events without a verdict.
    public let pendingCount: Int
    /// Why these have none: the last failure of a stream. Nil if there are none, or if no stream
    /// has failed.
    public let lastFailure: String?

    /// Creates a report.
    package init(acknowledgedCount: Int, pendingCount: Int, lastFailure: String? = nil) {
        self.acknowledgedCount = acknowledgedCount
        self.pendingCount = pendingCount
        self.lastFailure = lastFailure
    }
}
