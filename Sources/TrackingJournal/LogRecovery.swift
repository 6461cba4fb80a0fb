// What a start makes of the segments that earlier runs left.
internal import Glibc

/// Reads segments in any order, and says which records are still needed.
struct LogRecovery {
    private let checkpoint: CheckpointStore.Contents
    private var found: [FoundSegment] = []
    private var spares: [Segment] = []
    private let now: Int64

    /// What an earlier run left, in order.
    struct Outcome {
        /// Segments with records that are needed, or that may be.
        var segments: [Segment] = []
        /// Segments that nobody needs.
        var spares: [Segment] = []
        /// Records that are still needed. One without a place stands for records that should be
        /// there and cannot be read.
        var rows: [StoredRow] = []
        /// What is known of the rows that have no place, by their sequence.
        var losses: [Int64: LostRecords] = [:]
        /// The newest sequence that was used.
        var lastSequence: Int64 = 0
        /// Events in all records up to it, modulo 2³².
        var eventTotal: UInt32 = 0
    }

    /// - Parameter now: the time of rows that stand for lost records, in microseconds since 1970.
    init(after checkpoint: CheckpointStore.Contents, now: Int64) {
        self.checkpoint = checkpoint
        self.now = now
    }

    /// Reads one segment.
    mutating func read(_ segment: Segment) throws(JournalError) {
        let found = try FoundSegment(segment, after: self.checkpoint)
        if found.lastSequence > self.checkpoint.deletedThrough || found.mayHoldMore {
            self.found.append(found)
        } else {
            self.spares.append(segment)
        }
    }

    /// Puts the segments in order, erases what was never acknowledged, and makes sure that the last
    /// record is on disk.
    ///
    /// - Parameter onKeys: told the keys of each record that came after the checkpoint, in order.
    mutating func finish(
        onKeys: (Int64, ArraySlice<UInt8>) -> Void
    ) throws(SystemError) -> Outcome {
        try self.eraseUnwritten()
        self.found.sort { $0.lastSequence < $1.lastSequence }
        var outcome = self.rows(onKeys: onKeys)
        for found in self.found {
            found.segment.resume(
                after: found.records, isSealed: found.isFormat0 || found.segment.isDamaged)
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

    /// Erases each record that is half there and that no client was told of: the newest one, or one
    /// whose sequence a whole record has too. Its sequence will be used again, and the next start
    /// must not find it.
    private mutating func eraseUnwritten() throws(SystemError) {
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
        }
        let isNeeded = { [checkpoint] (found: FoundSegment) in
            found.lastSequence > checkpoint.deletedThrough || found.mayHoldMore
        }
        self.spares += self.found.filter { !isNeeded($0) }.map(\.segment)
        self.found.removeAll { !isNeeded($0) }
    }

    private func hasWhole(_ sequence: Int64) -> Bool {
        self.found.contains { found in
            found.lastSequence >= sequence
                && found.records.contains { $0.header.sequence == sequence && $0.isWhole }
        }
    }

    // MARK: Rows

    /// How far rows have been put together.
    fileprivate struct Progress {
        var sequence: Int64
        /// Nil where nothing tells how many events there were.
        var eventTotal: UInt32?
    }

    private func rows(onKeys: (Int64, ArraySlice<UInt8>) -> Void) -> Outcome {
        var outcome = Outcome()
        var progress = Progress(
            sequence: self.checkpoint.deletedThrough, eventTotal: self.checkpoint.deletedTotal)
        for found in self.found {
            for record in found.records where record.header.sequence > progress.sequence {
                let header = record.header
                let total = found.isFormat0 ? nil : header.eventTotal
                let before = total.map { $0 &- UInt32(truncatingIfNeeded: header.eventCount) }
                outcome.addLoss(
                    from: progress, through: header.sequence - 1, eventTotal: before,
                    header.createTime)
                if let keys = found.keys[header.sequence] { onKeys(header.sequence, keys) }
                progress = Progress(sequence: header.sequence, eventTotal: total)
                guard header.payloadBytes > 0 else { continue }
                outcome.rows.append(
                    StoredRow(
                        header, RecordPlace(segment: found.segment.number, offset: record.offset)))
            }
        }
        outcome.addLoss(
            from: progress, through: self.checkpoint.lastSequence,
            eventTotal: self.checkpoint.lastTotal, self.now)
        outcome.lastSequence = max(progress.sequence, self.checkpoint.lastSequence)
        outcome.eventTotal =
            (progress.sequence >= self.checkpoint.lastSequence
                ? progress.eventTotal : self.checkpoint.lastTotal) ?? 0
        return outcome
    }

    /// Where the disk cannot give what stands behind the newest record, that may have been a record
    /// of which a client was told: a sequence of its own stands for it.
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
    /// Adds a row for records that should be there and are not.
    fileprivate mutating func addLoss(
        from progress: LogRecovery.Progress, through sequence: Int64, eventTotal: UInt32?,
        _ createTime: Int64
    ) {
        guard sequence > progress.sequence else { return }
        let events = progress.eventTotal.flatMap { start in eventTotal.map { Int($0 &- start) } }
        self.losses[sequence] = LostRecords(
            sequences: progress.sequence + 1...sequence, eventCount: events)
        self.rows.append(
            StoredRow(
                sequence: sequence, createTime: createTime, bytes: 0,
                eventCount: UInt32(truncatingIfNeeded: events ?? 0),
                eventTotal: eventTotal ?? progress.eventTotal ?? 0, place: nil))
    }
}
