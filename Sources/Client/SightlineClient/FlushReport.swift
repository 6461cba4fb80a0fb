/// The outcome of a `flush` or `close` for the events that were sent before it.
public struct FlushReport: Sendable, Equatable {
    /// The number of events that got their verdict during the call.
    public let acknowledgedCount: Int
    /// The number of events without a verdict.
    public let pendingCount: Int

    /// Creates a report.
    package init(acknowledgedCount: Int, pendingCount: Int) {
        self.acknowledgedCount = acknowledgedCount
        self.pendingCount = pendingCount
    }
}
