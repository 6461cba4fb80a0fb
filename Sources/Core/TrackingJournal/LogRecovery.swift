internal import Glibc
internal import Storage

/// Reads the segments of earlier runs, in any order, and finds the records that are still needed.
struct LogRecovery {
    private let checkpoint: CheckpointStore.Contents
    private var found: [FoundSegment] = []
    private var spares: [Segment] = []
    private let now: Int64

    /// What was found, in the order of the records.
    struct Outcome {
        /// Segments with records that are, or may be, still needed.
        var segments: [Segment] = []
        /// Segments without needed records.
        var spares: [Segment] = []
        /// The records that are still needed. A row without a place represents missing or
        /// unreadable records.
        var rows: [StoredRow] = []
        /// Incomplete records that were erased.
        var tornRecords = 0
        /// The losses that rows without a place represent, by sequence.
        var losses: [Int64: LostRecords] = [:]
        /// The newest sequence in use.
        var lastSequence: Int64 = 0
        /// The number of events in all records up to it, modulo 2³².
        var eventTotal: UInt32 = 0
    }

    /// - Parameter now: the time given to rows for lost records, in microseconds since 1970.
    init(after checkpoint: CheckpointStore.Contents, now: Int64) {
        self.checkpoint = checkpoint
        self.now = now
    }

    /// Reads one segment.
    mutating func read(_ segment: Segment) throws(JournalError) {
        let found = try FoundSegment(segment, after: self.checkpoint)
        if found.lastSequence > self.checkpoint.releasedThrough || found.mayHoldMore {
            self.found.append(found)
        } else {
            self.spares.append(segment)
        }
    }

    /// Orders the segments, erases unacknowledged records, and makes sure that the last record is
    /// on disk.
    ///
    /// - Parameter onChanges: called with what each record after the checkpoint changes, in order.
    mutating func finish(
        onChanges: (Int64, RecordChanges) -> Void
    ) throws(SystemError) -> Outcome {
        let tornRecords = try self.eraseUnwritten()
        self.found.sort { $0.lastSequence < $1.lastSequence }
        var outcome = self.rows(onChanges: onChanges)
        outcome.tornRecords = tornRecords
        for found in self.found {
            found.segment.resume(after: found.records, isSealed: found.segment.isDamaged)
        }
        if let newest = self.found.last, let record = newest.records.last, record.isWhole,
            record.header.sequence > self.checkpoint.keysThrough, !newest.segment.isDamaged
        {
            try newest.segment.rewrite(record)
        }
        self.noteUnreadableEnds(&outcome)
        outcome.segments = self.found.map(\.segment).sorted { $0.lastSequence < $1.lastSequence }
        outcome.spares = self.spares
        return outcome
    }

    // MARK: Records that were never acknowledged

    /// Erases each incomplete record that was never acknowledged: the newest one, or one whose
    /// sequence a complete record has as well. Its sequence will be reused, and the next start must
    /// not find two.
    ///
    /// - Returns: how many there were.
    private mutating func eraseUnwritten() throws(SystemError) -> Int {
        var count = 0
        let newestWhole =
            self.found.lazy.flatMap(\.records).filter(\.isWhole)
            .map(\.header.sequence).max() ?? 0
        for index in self.found.indices {
            guard let last = self.found[index].records.last, !last.isWhole else { continue }
            let sequence = last.header.sequence
            let isNewest =
                sequence > max(newestWhole, self.checkpoint.lastSequence)
                && !self.found[index].unreadableBodies.contains(sequence)
            guard isNewest || self.hasWhole(sequence) else { continue }
            try self.found[index].segment.eraseHead(at: last.offset)
            self.found[index].records.removeLast()
            count += 1
        }
        let isNeeded = { [checkpoint] (found: FoundSegment) in
            found.lastSequence > checkpoint.releasedThrough || found.mayHoldMore
        }
        self.spares += self.found.filter { !isNeeded($0) }.map(\.segment)
        self.found.removeAll { !isNeeded($0) }
        return count
    }

    private func hasWhole(_ sequence: Int64) -> Bool {
        self.found.contains { found in
            found.lastSequence >= sequence
                && found.records.contains { $0.header.sequence == sequence && $0.isWhole }
        }
    }

    // MARK: Rows

    /// The point up to which rows have been assembled.
    fileprivate struct Progress {
        var sequence: Int64
        /// The number of events in all records up to it, modulo 2³².
        var eventTotal: UInt32
    }

    private func rows(onChanges: (Int64, RecordChanges) -> Void) -> Outcome {
        var outcome = Outcome()
        var progress = Progress(
            sequence: self.checkpoint.releasedThrough, eventTotal: self.checkpoint.releasedTotal)
        for found in self.found {
            for record in found.records where record.header.sequence > progress.sequence {
                let header = record.header
                let before =
                    header.eventTotal &- UInt32(truncatingIfNeeded: header.eventCount)
                outcome.addLoss(
                    from: progress, through: header.sequence - 1, eventTotal: before,
                    header.createTime)
                if let changes = found.changes[header.sequence] {
                    onChanges(header.sequence, changes)
                }
                progress = Progress(sequence: header.sequence, eventTotal: header.eventTotal)
                guard header.payloadBytes > 0 else {
                    outcome.addTrailing(header.recordBytes)
                    continue
                }
                outcome.rows.append(
                    StoredRow(
                        header, hitCount: found.hitCounts[header.sequence] ?? 0,
                        RecordPlace(segment: found.segment.number, offset: record.offset)))
            }
        }
        outcome.addLoss(
            from: progress, through: self.checkpoint.lastSequence,
            eventTotal: self.checkpoint.lastTotal, self.now)
        outcome.lastSequence = max(progress.sequence, self.checkpoint.lastSequence)
        outcome.eventTotal =
            progress.sequence >= self.checkpoint.lastSequence
            ? progress.eventTotal : self.checkpoint.lastTotal
        return outcome
    }

    /// Reserves a sequence, reported as lost, if the disk could not read the bytes after the newest
    /// record: they may hold an acknowledged one.
    private func noteUnreadableEnds(_ outcome: inout Outcome) {
        let ends = self.found.filter(\.mayHoldMore)
            .filter { $0.records.isEmpty || $0.lastSequence == self.found.last?.lastSequence }
        guard !ends.isEmpty else { return }
        let progress = Progress(
            sequence: outcome.lastSequence, eventTotal: outcome.eventTotal)
        outcome.lastSequence += 1
        outcome.addLoss(
            from: progress, through: outcome.lastSequence, eventTotal: nil, self.now)
        for found in ends { found.segment.seal(through: outcome.lastSequence) }
    }
}

extension LogRecovery.Outcome {
    /// Counts a record without a payload with the row before it, which it is kept as long as.
    fileprivate mutating func addTrailing(_ bytes: Int) {
        guard let last = self.rows.indices.last else { return }
        self.rows[last].trailingBytes += bytes
    }

    /// Adds a row for missing or unreadable records.
    ///
    /// - Parameter eventTotal: the number of events in all records through `sequence`; nil if that
    ///   is unknown.
    fileprivate mutating func addLoss(
        from progress: LogRecovery.Progress, through sequence: Int64, eventTotal: UInt32?,
        _ createTime: Int64
    ) {
        guard sequence > progress.sequence else { return }
        let events = eventTotal.map { Int($0 &- progress.eventTotal) }
        self.losses[sequence] = LostRecords(
            sequences: progress.sequence + 1...sequence, eventCount: events)
        self.rows.append(
            StoredRow(
                sequence: sequence, createTime: createTime, bytes: 0,
                eventCount: UInt32(truncatingIfNeeded: events ?? 0), hitCount: 0,
                eventTotal: eventTotal ?? progress.eventTotal, place: nil))
    }
}
