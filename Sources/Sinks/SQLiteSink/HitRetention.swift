internal import Pacing

/// The clocks by which hits.db deletes and folds.
struct HitRetention {
    /// For the rows, by their days of receipt.
    var rows: RetentionClock
    /// For the index, by the days on which its entries were added.
    var index: RetentionClock
    /// For counts, by the day up to which they are folded. That of a new file is long ago, so the
    /// first time is doubted there too: what is folded stays so.
    var folding: RetentionClock

    /// - Parameter clock: one that has trusted no time yet, for each of them.
    init(_ clock: RetentionClock) {
        (self.rows, self.index, self.folding) = (clock, clock, clock)
    }
}
