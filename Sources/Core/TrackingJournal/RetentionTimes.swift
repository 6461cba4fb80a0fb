// Since when a sink has had its groups: its backend may lose the newest ones, and groups that are
// still kept can be delivered again.
internal import DequeModule

/// Decides which groups a sink has had for less than the retention. Time only counts while the sink
/// confirms groups: groups that were delivered shortly before an outage outlast it.
struct RetentionTimes {
    let retention: Duration
    private var spans: Deque<Span> = []

    /// The groups confirmed within a hundredth of the retention: a group is retained longer by that
    /// much at most.
    private struct Span {
        let start: ContinuousClock.Instant
        var end: ContinuousClock.Instant
        var sequence: Int64
    }

    /// The newest group that has been retained for long enough.
    private var expired: Int64 = 0
    /// The newest group that the sink has ever confirmed.
    private var newest: Int64 = 0

    init(retention: Duration) { self.retention = retention }

    /// The number of spans in memory.
    var spanCount: Int { self.spans.count }

    /// Whether a group is retained: the sink has it, or had it before `reset`, and not for long
    /// enough.
    func retains(_ sequence: Int64) -> Bool {
        sequence > self.expired && sequence <= self.newest
    }

    /// Records that the sink has all groups up to `sequence`.
    mutating func note(_ sequence: Int64, at time: ContinuousClock.Instant) {
        self.newest = max(self.newest, sequence)
        if let last = self.spans.indices.last,
            self.spans[last].start.duration(to: time) < self.retention / 100
        {
            self.spans[last].end = time
            self.spans[last].sequence = sequence
        } else {
            self.spans.append(Span(start: time, end: time, sequence: sequence))
        }
        while let first = self.spans.first, first.end.duration(to: time) >= self.retention {
            self.expired = first.sequence
            self.spans.removeFirst()
        }
    }

    /// Restarts the time of all groups, as the sink gets the kept ones again.
    mutating func reset() {
        self.spans = []
        self.expired = 0
    }
}
