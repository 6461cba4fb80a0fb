// Since when a sink has had its groups: its backend may lose what it took last, and groups that are
// still here can be fed to it again.
internal import DequeModule

/// Tells which groups a sink has had for less than the time of retention. Time only counts while it
/// takes something: groups that were delivered shortly before an outage outlast it.
struct RetentionTimes {
    let retention: Duration
    private var spans: Deque<Span> = []

    /// What was delivered in a hundredth of the retention: a group stays that much longer at most.
    private struct Span {
        let start: ContinuousClock.Instant
        var end: ContinuousClock.Instant
        var sequence: Int64
    }

    /// The newest group that has been retained for long enough.
    private var expired: Int64 = 0
    /// The newest group that the sink ever had.
    private var newest: Int64 = 0

    init(retention: Duration) { self.retention = retention }

    /// Spans that are remembered.
    var spanCount: Int { self.spans.count }

    /// Whether a group has to stay: the sink has it, or had it before it was fed again, and not for
    /// long enough.
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

    /// The sink is fed again with what is still here: the time of all of it starts anew.
    mutating func reset() {
        self.spans = []
        self.expired = 0
    }
}
