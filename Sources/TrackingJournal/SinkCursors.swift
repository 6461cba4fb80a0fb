// Where all sinks are, and what that lets go.

/// The cursors, those that no checkpoint holds yet, and since when every sink has had its groups.
struct SinkCursors {
    private var all: [String: SinkCursor]
    private(set) var changed: [String: SinkCursor] = [:]
    /// The sinks whose cursors hold groups back.
    private let sinks: [String]
    private var times: RetentionTimes

    /// Restores the cursors of earlier runs. The retention of delivered rows starts over now.
    init(
        _ cursors: [String: SinkCursor], of sinks: [String], retention: Duration,
        now: ContinuousClock.Instant
    ) {
        self.all = cursors
        self.sinks = sinks
        self.times = RetentionTimes(retention: retention)
        self.times.note(self.delivered, at: now)
    }

    /// The newest sequence that every sink has confirmed.
    var delivered: Int64 { self.sinks.map { self.all[$0]?.sequence ?? 0 }.min() ?? 0 }

    /// The newest group that every sink has had for long enough.
    var expired: Int64 { self.times.expired }

    subscript(sink: String) -> SinkCursor { self.all[sink] ?? SinkCursor() }

    /// Moves a cursor forward; ignores a lower sequence.
    mutating func advance(_ sink: String, to cursor: SinkCursor, at time: ContinuousClock.Instant) {
        guard cursor.sequence > self[sink].sequence else { return }
        self.move(sink, to: cursor)
        self.times.note(self.delivered, at: time)
    }

    /// A sink's backend has lost hits: moves its cursor to the start and restarts the retention.
    mutating func rewind(_ sink: String) {
        self.move(sink, to: SinkCursor())
        self.times.reset()
    }

    private mutating func move(_ sink: String, to cursor: SinkCursor) {
        self.all[sink] = cursor
        self.changed[sink] = cursor
    }

    /// Records that a durable checkpoint holds these cursors.
    mutating func noteSaved(_ cursors: [String: SinkCursor]) {
        for (sink, cursor) in cursors where self.changed[sink] == cursor {
            self.changed[sink] = nil
        }
    }
}
