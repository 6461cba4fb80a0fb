// Where all sinks are, and what that lets go.

/// The cursors, those that no checkpoint holds yet, and since when every sink has had its groups.
struct SinkCursors {
    private var all: [String: SinkCursor]
    private(set) var changed: [String: SinkCursor] = [:]
    /// The sinks whose cursors hold groups back.
    private let sinks: [String]
    private var times: RetentionTimes

    /// The cursors that earlier runs left: what they delivered has been with the sinks since now at
    /// the latest.
    init(
        _ cursors: [String: SinkCursor], of sinks: [String], retention: Duration,
        now: ContinuousClock.Instant
    ) {
        self.all = cursors
        self.sinks = sinks
        self.times = RetentionTimes(retention: retention)
        self.times.note(self.delivered, at: now)
    }

    /// The newest sequence that every sink has.
    var delivered: Int64 { self.sinks.map { self.all[$0]?.sequence ?? 0 }.min() ?? 0 }

    /// The newest group that every sink has had for long enough.
    var expired: Int64 { self.times.expired }

    subscript(sink: String) -> SinkCursor { self.all[sink] ?? SinkCursor() }

    /// Moves a cursor on; it never goes back this way.
    mutating func advance(_ sink: String, to cursor: SinkCursor, at time: ContinuousClock.Instant) {
        guard cursor.sequence > self[sink].sequence else { return }
        self.move(sink, to: cursor)
        self.times.note(self.delivered, at: time)
    }

    /// A sink has lost what it had: its cursor goes back to the start, and its time starts anew.
    mutating func rewind(_ sink: String) {
        self.move(sink, to: SinkCursor())
        self.times.reset()
    }

    private mutating func move(_ sink: String, to cursor: SinkCursor) {
        self.all[sink] = cursor
        self.changed[sink] = cursor
    }

    /// Notes that a checkpoint holds these cursors.
    mutating func noteSaved(_ cursors: [String: SinkCursor]) {
        for (sink, cursor) in cursors where self.changed[sink] == cursor {
            self.changed[sink] = nil
        }
    }
}
