// Each sink's cursor, which groups they release, and the gaps: groups released before a sink had
// them.

/// The cursors and gaps of all sinks, which of them no checkpoint holds yet, and since when each
/// sink has had its groups.
struct SinkCursors {
    private var cursors: [String: SinkCursor]
    /// The sinks in use, by name.
    private var sinks: [String: JournalSink] = [:]
    private var gaps: [String: Gaps]
    /// The names whose cursor or gap differs from the durable checkpoint's.
    private var changed: Set<String> = []
    /// The names whose cursor and gap the durable checkpoint still has, but must not.
    private(set) var forgotten: Set<String> = []
    /// For the sinks in use, by name.
    private var times: [String: RetentionTimes] = [:]
    /// The minimum retention of every sink; nil: nothing is retained.
    private let retention: Duration?
    /// Whether a new sink begins after groups that are kept. Its cursor has to be durable before
    /// the next group is: otherwise a later process would begin the sink after that group too.
    private(set) var hasBegun = false
    /// The newest row released since the start.
    private(set) var releasedThrough: Int64 = 0

    /// The groups that were released before a sink had them.
    private struct Gaps {
        /// The forwarder has the groups up to here in memory, or has a report of their gap.
        var takenThrough: Int64 = 0
        /// The released groups up to `takenThrough`.
        var taken: SinkGap?
        /// The released groups after it, not yet reported.
        var unreported: SinkGap?

        var all: SinkGap? { .joining(self.taken, self.unreported) }
    }

    /// What a checkpoint stores of one sink.
    struct Saved: Equatable {
        var cursor: SinkCursor
        /// What is missing after the cursor.
        var gap: SinkGap?
    }

    /// Restores the cursors and gaps of earlier runs. The retention of confirmed rows starts over.
    ///
    /// - Parameters:
    ///   - kept: the group before the oldest that is kept.
    ///   - last: the newest group.
    ///   - retention: how long groups are kept after a sink has them, if it does not ask for more;
    ///     nil: nothing is retained, even if a sink asks for it.
    init(
        _ saved: [String: Saved], of sinks: [JournalSink], kept: Int64, last: Int64,
        retention: Duration?, now: ContinuousClock.Instant
    ) {
        self.cursors = saved.mapValues(\.cursor)
        self.gaps = saved.compactMapValues { saved in saved.gap.map { Gaps(unreported: $0) } }
        self.retention = retention
        self.use(sinks, kept: kept, last: last, at: now)
    }

    /// Keeps groups for these sinks and no others. A removed sink's cursor stays where it is, and
    /// groups that are released from now on are added to its gap.
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
                // Groups released before the sink existed are not part of its gap.
                let isLate = sink.start == .newest
                self.move(sink.name, to: SinkCursor(sequence: isLate ? last : kept))
                self.hasBegun = self.hasBegun || isLate
            }
            self.times[sink.name] = self.times(of: sink, known[sink.name], at: now)
        }
    }

    /// The known times, or those of a sink that has the groups up to its cursor since now.
    private func times(
        of sink: JournalSink, _ known: RetentionTimes?, at now: ContinuousClock.Instant
    ) -> RetentionTimes {
        let retention = self.retention.map { max($0, sink.retention) } ?? .zero
        if let known, known.retention == retention { return known }
        var times = RetentionTimes(retention: retention)
        times.note(self[sink.name].sequence, at: now)
        return times
    }

    /// The names of the sinks whose cursors are stored, in use or not.
    var names: [String] { self.cursors.keys.sorted() }

    /// The names of removed sinks, whose cursors are still stored.
    var former: [String] { self.cursors.keys.filter { self.sinks[$0] == nil }.sorted() }

    /// Deletes the cursor and the gap of a removed sink.
    ///
    /// - Returns: false if there is none of that name.
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

    /// Whether a row is retained for a sink that has it, since the sink's backend may lose it.
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

    /// Moves the cursor of a sink whose backend has lost hits back to the oldest kept group, and
    /// restarts the retention. If a gap follows the cursor, nothing before the gap is kept: the
    /// cursor stays, and the gap is reported first.
    ///
    /// - Parameter kept: the group before the oldest that is kept.
    mutating func rewind(_ name: String, to kept: Int64) {
        let gap = self.gaps[name]?.all
        self.move(name, to: SinkCursor(sequence: gap == nil ? kept : self[name].sequence))
        self.gaps[name] = gap.map { Gaps(unreported: $0) }
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

    /// Registers the groups up to `sequence` with a forwarder that has them in memory and is about
    /// to deliver them. It replaces what the forwarder took before.
    ///
    /// - Returns: the gap after the sink's cursor, if there is one. Then the forwarder must report
    ///   the gap first, and not deliver those groups.
    mutating func take(_ name: String, through sequence: Int64) -> SinkGap? {
        let missing = self.gaps[name]?.all
        self.gaps[name] = Gaps(takenThrough: missing?.through ?? sequence, taken: missing)
        return missing
    }

    /// The hits in the gap after a sink's cursor.
    func missedHits(of name: String) -> Int { self.gaps[name]?.all?.hits ?? 0 }

    /// Whether a row is held for a sink that is not required and does not have it.
    ///
    /// - Parameters:
    ///   - left: bytes of this row and of all that follow it.
    ///   - maxBytes: the journal's limit. A reload may have raised a sink's lag beyond half of it;
    ///     the limit itself changes at a restart only.
    func holds(_ row: StoredRow, left: Int, maxBytes: Int) -> Bool {
        self.sinks.values.contains { sink in
            guard let maxLagBytes = sink.maxLagBytes else { return false }
            return left <= min(maxLagBytes, maxBytes / 2) && self[sink.name].sequence < row.sequence
        }
    }

    /// Adds a released row to the gap of every sink that does not have it.
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
            gaps.unreported = .adding(row, to: gaps.unreported)
        }
        self.gaps[name] = gaps
        self.changed.insert(name)
    }

    // MARK: Checkpoints

    /// The cursors and gaps that no checkpoint holds yet, by name.
    var unsaved: [String: Saved] {
        self.changed.reduce(into: [:]) { $0[$1] = self.saved($1) }
    }

    private func saved(_ name: String) -> Saved {
        Saved(cursor: self[name], gap: self.gaps[name]?.all)
    }

    /// Records that a durable checkpoint holds these, and no longer the forgotten ones.
    mutating func noteSaved(_ saved: [String: Saved], forgotten: Set<String>) {
        for (name, saved) in saved where self.saved(name) == saved { self.changed.remove(name) }
        self.forgotten.subtract(forgotten)
    }
}
