internal import Pacing

/// The clocks by which hits.db deletes.
struct HitRetention {
    /// For the rows, by their days of receipt.
    var rows: RetentionClock
    /// For the index, by the days on which its entries were added.
    var index: RetentionClock

    /// - Parameter clock: one that has trusted no time yet, for each of them.
    init(_ clock: RetentionClock) { (self.rows, self.index) = (clock, clock) }
}
