/// A time by the retention clock: both bounds are the same, unless the clock is in doubt.
package struct RetentionTime: Sendable, Equatable {
    /// The time by which stored data is deleted.
    package let earliest: Int64
    /// The time under which data is stored that has no other, so that it is kept for long enough.
    package let latest: Int64

    /// Creates a time from its bounds.
    package init(earliest: Int64, latest: Int64) {
        (self.earliest, self.latest) = (earliest, latest)
    }

    /// The oldest time of data that is kept.
    ///
    /// - Parameter span: how old it may become.
    package func oldest(keeping span: Int64) -> Int64 {
        let (oldest, isTooSmall) = self.earliest.subtractingReportingOverflow(span)
        return isTooSmall ? .min : oldest
    }

    /// Whether data is to be deleted, as it is older than that.
    package func isOver(_ time: Int64, keeping span: Int64) -> Bool {
        time < self.oldest(keeping: span)
    }
}
