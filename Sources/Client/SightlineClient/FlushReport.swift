/// The outcome of a `flush` or `close` for the events that were sent before it.
public struct FlushReport: Sendable, Equatable {
    /// The number of events that got their verdict during the call.
    public let acknowledgedCount: Int
    /// The number of events without a verdict.
    public let pendingCount: Int
    /// Why these have none: the last failure of a stream, or that the server answers every event
    /// with RETRY_LATER. Nil if there are none, or if neither is so.
    public let lastFailure: String?

    /// Creates a report.
    package init(acknowledgedCount: Int, pendingCount: Int, lastFailure: String? = nil) {
        self.acknowledgedCount = acknowledgedCount
        self.pendingCount = pendingCount
        self.lastFailure = lastFailure
    }
}
