/// The maximum size of a delivery. Groups of the journal are joined until either limit is reached;
/// a single group is delivered even if it exceeds them. So a delivery holds at most the limit or
/// one group, whichever is larger.
package struct BatchLimit: Sendable, Equatable {
    /// The number of hits.
    package var hits: Int
    /// The bytes of payload.
    package var bytes: Int

    /// Creates a limit.
    package init(hits: Int, bytes: Int) {
        self.hits = hits
        self.bytes = bytes
    }

    /// 50,000 hits and 8 MiB: enough to spread the cost of a transaction over many rows.
    package static let standard = Self(hits: 50_000, bytes: 8 << 20)

    /// Never joins: each group is a delivery of its own.
    package static let oneGroup = Self(hits: 0, bytes: 0)

    /// The lower of both limits.
    package func lowered(to other: Self) -> Self {
        Self(hits: min(self.hits, other.hits), bytes: min(self.bytes, other.bytes))
    }
}
