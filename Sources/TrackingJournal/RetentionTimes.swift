// Since when the sinks have had their groups: a backend may lose what it took last, and groups that
// are still here can be fed to it again.
internal import DequeModule

/// Tells which groups every sink has had for the time of retention. Time only counts while sinks
/// take something: groups that were delivered shortly before an outage outlast it.
struct RetentionTimes {
    private let retention: Duration
    private var spans: Deque<Span> = []

    /// What was delivered in a hundredth of the retention: a group stays that much longer at most.
    private struct Span {
        let start: ContinuousClock.Instant
        var end: ContinuousClock.Instant
        var sequence: Int64
    }

    /// The newest group that has been retained for long enough.
    private(set) var expired: Int64 = 0

    init(retention: Duration) { self.retention = retention }

    /// Spans that are remembered.
    var spanCount: Int { self.spans.count }

    /// Records that every sink has all rows up to `sequence`.
    mutating func note(_ sequence: Int64, at time: ContinuousClock.Instant) {
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

    /// Forgets everything: a sink is fed again, and its time starts anew.
    mutating func reset() { self = RetentionTimes(retention: self.retention) }
}
