// Where all sinks are, what that lets go, and what the journal let go before a sink had it.

/// The cursors, those that no checkpoint holds yet, and since when each sink has had its groups.
struct SinkCursors {
    private var cursors: [String: SinkCursor]
    /// By the names of the sinks that there are.
    private var sinks: [String: JournalSink] = [:]
    private var gaps: [String: Gaps]
    /// The names whose cursor or gap differs from the durable checkpoint's.
    private var changed: Set<String> = []
    /// The names whose cursor and gap the durable checkpoint still has, but must not.
    private(set) var forgotten: Set<String> = []
    /// By the names of the sinks that there are.
    private var times: [String: RetentionTimes] = [:]
    /// The least that any sink's retention is; nil where nothing is retained.
    private let retention: Duration?
    /// Whether a new sink begins after groups that are kept. That has to be durable before the next
    /// group is: a later process would let the sink begin after that one too.
    private(set) var hasBegun = false
    /// The newest row released since the start.
    private(set) var releasedThrough: Int64 = 0

    /// What a sink has missed, or will have if the process ends now.
    private struct Gaps {
        /// Up to here the forwarder has groups in memory, or has been told of a gap.
        var takenThrough: Int64 = 0
        /// Groups up to there that are in the journal no more.
        var taken: SinkGap?
        /// Those after them.
        var untold: SinkGap?

        var all: SinkGap? { .joining(self.taken, self.untold) }
    }

    /// What a checkpoint holds of one sink.
    struct Saved: Equatable {
        var cursor: SinkCursor
        /// What is missing after the cursor.
        var gap: SinkGap?
    }

    /// Restores what earlier runs left. The retention of delivered rows starts over now.
    ///
    /// - Parameters:
    ///   - kept: the group before the oldest that is kept.
    ///   - last: the newest group.
    ///   - retention: how long groups are kept after a sink has them, if it does not ask for more;
    ///     nil: whatever a sink asks for, none is.
    init(
        _ saved: [String: Saved], of sinks: [JournalSink], kept: Int64, last: Int64,
        retention: Duration?, now: ContinuousClock.Instant
    ) {
        self.cursors = saved.mapValues(\.cursor)
        self.gaps = saved.compactMapValues { saved in saved.gap.map { Gaps(untold: $0) } }
        self.retention = retention
        self.use(sinks, kept: kept, last: last, at: now)
    }

    /// Keeps groups for these sinks and no others. The cursor of one that is no longer among them
    /// stays where it is, and what goes from now on is counted as its gap.
    ///
    /// - Parameters:
    ///   - kept: the group before the oldest that is kept.
    ///   - last: the newest group.
    mutating func use(
        _ sinks: [JournalSink], kept: Int64, last: Int64, at now: ContinuousClock.Instant
    ) {
        self.sinks = [:]
        let known = self.times
        self.times = [:]
        for sink in sinks {
            self.sinks[sink.name] = sink
            if self.cursors[sink.name] == nil {
                // What went before is none of its gap.
                let isLate = sink.start == .newest
                self.move(sink.name, to: SinkCursor(sequence: isLate ? last : kept))
                self.hasBegun = self.hasBegun || isLate
            }
            self.times[sink.name] = self.times(of: sink, known[sink.name], at: now)
        }
    }

    /// The times that are known, or those of a sink that has all up to its cursor from now on.
    private func times(
        of sink: JournalSink, _ known: RetentionTimes?, at now: ContinuousClock.Instant
    ) -> RetentionTimes {
        let retention = self.retention.map { max($0, sink.retention) } ?? .zero
        if let known, known.retention == retention { return known }
        var times = RetentionTimes(retention: retention)
        times.note(self[sink.name].sequence, at: now)
        return times
    }

    /// The names of sinks that groups were kept for earlier.
    var former: [String] { self.cursors.keys.filter { self.sinks[$0] == nil }.sorted() }

    /// Forgets a former sink: under its name a new one begins.
    ///
    /// - Returns: false if there is none with that name.
    mutating func forget(_ name: String) -> Bool {
        guard self.sinks[name] == nil, self.cursors.removeValue(forKey: name) != nil else {
            return false
        }
        self.gaps[name] = nil
        self.changed.remove(name)
        self.forgotten.insert(name)
        return true
    }

    /// The newest sequence that every required sink has confirmed.
    var delivered: Int64 {
        let required = self.sinks.values.lazy.filter(\.isRequired)
        return required.map { self[$0.name].sequence }.min() ?? 0
    }

    /// The newest sequence that every sink has confirmed, required or not.
    var confirmed: Int64 { self.sinks.keys.lazy.map { self[$0].sequence }.min() ?? 0 }

    /// Whether a row has to stay for a sink that has it, and may lose it again.
    func retains(_ row: StoredRow) -> Bool {
        self.times.values.contains { $0.retains(row.sequence) }
    }

    subscript(name: String) -> SinkCursor { self.cursors[name] ?? SinkCursor() }

    // MARK: Cursors

    /// Moves a cursor forward; ignores a lower sequence.
    mutating func advance(_ name: String, to cursor: SinkCursor, at time: ContinuousClock.Instant) {
        guard cursor.sequence > self[name].sequence else { return }
        self.move(name, to: cursor)
        self.times[name]?.note(cursor.sequence, at: time)
    }

    /// A sink's backend has lost hits: moves its cursor back and restarts the retention. Where a
    /// gap follows the cursor, nothing before it is kept: the cursor stays, and the gap is told
    /// first.
    ///
    /// - Parameter kept: the group before the oldest that is kept.
    mutating func rewind(_ name: String, to kept: Int64) {
        let gap = self.gaps[name]?.all
        self.move(name, to: SinkCursor(sequence: gap == nil ? kept : self[name].sequence))
        self.gaps[name] = gap.map { Gaps(untold: $0) }
        self.times[name]?.reset()
    }

    private mutating func move(_ name: String, to cursor: SinkCursor) {
        self.cursors[name] = cursor
        if let taken = self.gaps[name]?.taken, taken.through <= cursor.sequence {
            self.gaps[name]?.taken = nil
        }
        self.changed.insert(name)
    }

    // MARK: Gaps

    /// Notes that a forwarder has groups up to `sequence` in memory, and will deliver them. What it
    /// took before it has no more.
    ///
    /// - Returns: what is missing after the sink's cursor. The sink has to be told of that first,
    ///   and its forwarder must not deliver those groups.
    mutating func take(_ name: String, through sequence: Int64) -> SinkGap? {
        let missing = self.gaps[name]?.all
        self.gaps[name] = Gaps(takenThrough: missing?.through ?? sequence, taken: missing)
        return missing
    }

    /// The hits that are missing after a sink's cursor.
    func missedHits(of name: String) -> Int { self.gaps[name]?.all?.hits ?? 0 }

    /// Whether a row has to stay for a sink that is not required.
    ///
    /// - Parameters:
    ///   - left: bytes of this row and of all that follow it.
    ///   - maxBytes: the journal's. A reload may have raised a sink's lag beyond half of it, which
    ///     only a restart raises.
    func holds(_ row: StoredRow, left: Int, maxBytes: Int) -> Bool {
        self.sinks.values.contains { sink in
            guard let maxLagBytes = sink.maxLagBytes else { return false }
            return left <= min(maxLagBytes, maxBytes / 2) && self[sink.name].sequence < row.sequence
        }
    }

    /// Counts a row that goes, for every sink that does not have it.
    mutating func noteReleased(_ row: StoredRow) {
        self.releasedThrough = row.sequence
        for (name, cursor) in self.cursors where cursor.sequence < row.sequence {
            self.noteMissed(row, by: name)
        }
        for name in self.sinks.keys where self.cursors[name] == nil {
            self.noteMissed(row, by: name)
        }
    }

    private mutating func noteMissed(_ row: StoredRow, by name: String) {
        var gaps = self.gaps[name] ?? Gaps()
        if row.sequence <= gaps.takenThrough {
            gaps.taken = .adding(row, to: gaps.taken)
        } else {
            gaps.untold = .adding(row, to: gaps.untold)
        }
        self.gaps[name] = gaps
        self.changed.insert(name)
    }

    // MARK: Checkpoints

    /// What no checkpoint holds yet, by name.
    var unsaved: [String: Saved] {
        self.changed.reduce(into: [:]) { $0[$1] = self.saved($1) }
    }

    private func saved(_ name: String) -> Saved {
        Saved(cursor: self[name], gap: self.gaps[name]?.all)
    }

    /// Records that a durable checkpoint holds these, and the forgotten ones no more.
    mutating func noteSaved(_ saved: [String: Saved], forgotten: Set<String>) {
        for (name, saved) in saved where self.saved(name) == saved { self.changed.remove(name) }
        self.forgotten.subtract(forgotten)
    }
}
