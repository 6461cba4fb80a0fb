/// What became of the events that were sent before a `flush` or `close`.
public struct FlushReport: Sendable, Equatable {
    /// The number that have had no verdict before and have theirs now.
    public let acknowledgedCount: Int
    /// The number without a verdict.
    public let pendingCount: Int

    /// Creates a report.
    package init(acknowledgedCount: Int, pendingCount: Int) {
        self.acknowledgedCount = acknowledgedCount
        self.pendingCount = pendingCount
    }
}
