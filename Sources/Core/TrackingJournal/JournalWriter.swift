// The writer: settles accepted events, seals a group, appends it to the log, and undoes what it
// settled if that fails.
internal import DequeModule
internal import Synchronization
internal import TrackingRules
internal import WireFormat

/// Commits groups, one after the other, on the journal's queue. `@unchecked Sendable`: everything
/// that is not in a mutex or an atomic is used on that queue only.
final class JournalWriter: @unchecked Sendable {
    /// Nil if the journal has no disk.
    let log: JournalLog?
    private let window: DeduplicationWindow
    let cursors: Mutex<SinkCursors>
    private let stored: Atomic<Int>
    private let keys: Atomic<Int>
    /// What was found of earlier runs.
    let recovery: JournalRecovery
    /// The maximum payload that is kept, in bytes.
    let maxBytes: Int

    private(set) var lastSequence: Int64
    /// Events in all records, modulo 2³².
    private(set) var eventTotal: UInt32
    // Written on the queue, and read from any thread to compute a sink's lag.
    let rows: Mutex<Deque<StoredRow>>
    var windowRows: WindowRows
    /// The newest released row.
    private(set) var releasedThrough: Int64
    /// The newest row that a durable checkpoint records as released.
    var savedReleasedThrough: Int64
    /// The number of events in all records up to `releasedThrough`, modulo 2³².
    private(set) var releasedTotal: UInt32
    let machine: Machine
    private var changes: [DeduplicationWindow.Change] = []
    /// What the current group adds to the ledger.
    private var delta = LedgerDelta()
    var ledger: Ledger
    /// The number of the ledger's rows, for other threads.
    let ledgerRows: Atomic<Int>

    /// Continues after earlier runs: after a checkpoint, from which the window is filled already,
    /// and the log's records behind it.
    ///
    /// - Throws: `JournalError.failed` if the log cannot be read, `.format` if another build wrote
    ///   it.
    init(
        log: JournalLog?, window: DeduplicationWindow, checkpoint: CheckpointStore.Contents,
        sinks: [JournalSink], maxBytes: Int, configuration: Journal.Configuration, machine: Machine
    ) throws(JournalError) {
        var windowRows = WindowRows(checkpoint.recent, capacity: configuration.windowCapacity)
        let start = machine.now()
        var ledger = Ledger(
            configuration.ledger, pages: checkpoint.ledger,
            uptime: { start.duration(to: machine.now()) })
        let recovered = try log?.recover(after: checkpoint) { sequence, changes in
            let keys = changes.keys
            windowRows.add(keys, newKeys: keys.withUnsafeBytes(window.restore(row:)))
            if sequence > checkpoint.lastSequence {
                ledger.apply(changes.ledger.withUnsafeBytes { LedgerDelta(encoded: $0) })
            }
        }
        self.ledger = ledger
        self.ledgerRows = Atomic(ledger.rowCount)
        let rows = recovered?.rows ?? []
        self.log = log
        self.window = window
        self.machine = machine
        self.stored = Atomic(rows.reduce(0) { $0 + $1.bytes + $1.trailingBytes })
        self.keys = Atomic(window.count)
        self.maxBytes = maxBytes
        self.recovery = JournalRecovery(
            segments: recovered?.segments.count ?? 0, groups: rows.count,
            bytes: rows.reduce(0) { $0 + $1.bytes }, windowKeys: window.count,
            tornRecords: recovered?.tornRecords ?? 0, losses: recovered?.losses.count ?? 0)
        let lastSequence = max(
            recovered?.lastSequence ?? 0, checkpoint.sinks.values.map(\.cursor.sequence).max() ?? 0)
        self.lastSequence = lastSequence
        self.cursors = Mutex(
            SinkCursors(
                checkpoint.sinks, of: sinks,
                kept: rows.first.map { $0.sequence - 1 } ?? lastSequence, last: lastSequence,
                // Without a disk, nothing is retained once the clients have their acks.
                retention: log.map { _ in .seconds(configuration.retainSeconds) },
                now: machine.now()))
        self.eventTotal = recovered?.eventTotal ?? 0
        self.rows = Mutex(rows.reduce(into: Deque()) { $0.add($1) })
        self.windowRows = windowRows
        self.releasedThrough = checkpoint.releasedThrough
        self.releasedTotal = checkpoint.releasedTotal
        self.savedReleasedThrough = checkpoint.releasedThrough
    }

    var storedBytes: Int { self.stored.load(ordering: .relaxed) }

    /// The number of keys in the window.
    var windowKeys: Int { self.keys.load(ordering: .relaxed) }

    func preview(_ acceptedEvents: [AcceptedEvent]) -> [AcceptedEvent] {
        self.window.preview(acceptedEvents)
    }

    // MARK: Commit

    /// Commits a group and returns its batch; nil if the group has no hits.
    ///
    /// - Throws: the reason why nothing of the group is stored.
    func commit(_ group: [Journal.Submission]) throws(JournalLog.Failure) -> JournalBatch? {
        self.changes.removeAll(keepingCapacity: true)
        self.delta.removeAll()
        let bytes = group.reduce(0) { $0 &+ $1.journalBytes }
        self.advanceReleasePoint(before: bytes)
        // Check for room before settling: a refused group must leave the window unchanged.
        let hasRoom = self.storedBytes + bytes <= self.maxBytes && !self.windowRows.isFull
        let needsRoom = bytes > 0 || group.contains { $0.refusals > 0 }
        guard !needsRoom || hasRoom else { throw .noRoom }
        let (payload, events, hits) = self.seal(group, bytes: bytes)
        let keys = self.log == nil ? [] : DeduplicationWindow.row(of: self.changes)
        let ledger = self.log == nil ? [] : self.delta.encoded()
        if payload.isEmpty && keys.isEmpty && ledger.isEmpty {
            self.noteCounted()
            return nil
        }
        let record = Record(
            sequence: self.lastSequence + 1, createTime: self.machine.wallTime(),
            eventCount: events, eventTotal: self.eventTotal &+ UInt32(truncatingIfNeeded: events),
            keys: keys, payload: payload, ledger: ledger)
        do throws(JournalLog.Failure) {
            self.noteDurable(record, hits: hits, at: try self.log?.append(record))
        } catch {
            self.undoClaims()
            throw error
        }
        if payload.isEmpty { return nil }
        return JournalBatch(
            sequence: record.sequence, eventCount: events, hitCount: hits, payload: payload)
    }

    /// Settles every accepted event, and copies the entries that have hits into one payload.
    private func seal(
        _ group: [Journal.Submission], bytes: Int
    ) -> (bytes: [UInt8], events: Int, hits: Int) {
        var payload: [UInt8] = []
        payload.reserveCapacity(bytes)
        var (events, hits) = (0, 0)
        let requests = group.lazy.flatMap(\.requests)
        var upcoming = requests.makeIterator()
        var ahead = 0
        for request in requests {
            guard !request.acceptedEvents.isEmpty else {
                self.delta.add(request)
                continue
            }
            while ahead < Self.eventsAhead, let next = upcoming.next() {
                self.window.prefetch(next.acceptedEvents, ahead: ahead)
                ahead += next.acceptedEvents.count
            }
            ahead -= request.acceptedEvents.count
            self.window.settle(&request.acceptedEvents, changes: &self.changes)
            self.delta.add(request)
            let sealed = request.appendSealed(to: &payload)
            events += sealed.events
            hits += sealed.hits
        }
        return (payload, events, hits)
    }

    /// The number of accepted events whose slots are prefetched: enough to keep the memory busy,
    /// and few enough that the first is still in the cache when it is needed.
    private static let eventsAhead = 128

    /// Undoes the group's accepted events, so that a retry never counts as a duplicate.
    private func undoClaims() {
        self.window.undo(self.changes)
        self.changes.removeAll(keepingCapacity: true)
    }

    private func noteDurable(_ record: Record, hits: Int, at place: RecordPlace?) {
        self.lastSequence = record.sequence
        self.eventTotal = record.eventTotal
        if !record.keys.isEmpty {
            self.windowRows.add(record.keys, newKeys: self.changes.count(where: \.isNew))
        }
        self.keys.store(self.window.count, ordering: .relaxed)
        self.noteCounted()
        guard !record.payload.isEmpty else { return self.noteTrailing(record) }
        let row = StoredRow(
            sequence: record.sequence, createTime: record.createTime, bytes: record.payload.count,
            eventCount: UInt32(truncatingIfNeeded: record.eventCount),
            hitCount: UInt32(truncatingIfNeeded: hits), eventTotal: record.eventTotal, place: place)
        self.rows.withLock { $0.add(row) }
        self.stored.add(row.bytes, ordering: .relaxed)
    }

    /// Counts a record without hits with the row before it, which it is kept as long as: while a
    /// sink is away, such records fill the journal too.
    private func noteTrailing(_ record: Record) {
        let isKept = self.rows.withLock { rows in
            guard let last = rows.indices.last else { return false }
            rows[last].trailingBytes += record.byteCount
            return true
        }
        if isKept { self.stored.add(record.byteCount, ordering: .relaxed) }
    }

    /// Adds the group's counts, now durable, to the ledger.
    private func noteCounted() {
        self.ledger.apply(self.delta)
        self.ledgerRows.store(self.ledger.rowCount, ordering: .relaxed)
    }
}

// MARK: Rows

extension JournalWriter {
    /// When the oldest kept row was committed, in microseconds since 1970; nil without one.
    var oldestTime: Int64? { self.rows.withLock { $0.first?.createTime } }

    /// Reads the groups after `sequence`, up to `last` and a limit, from disk: as many as one turn
    /// of the queue allows, none if there are none. A damaged group is returned alone.
    ///
    /// - Throws: `SystemError` if the first group cannot be read now.
    func batches(
        after sequence: Int64, through last: Int64, upTo limit: BatchLimit
    ) throws -> [JournalBatch] {
        guard let log else { return [] }
        var room = BatchRoom(limit)
        var batches: [JournalBatch] = []
        for row in self.rows(after: sequence, through: last, upTo: limit) {
            do {
                let batch = try log.batch(row)
                if batch.isDamaged { return batches.isEmpty ? [batch] : batches }
                guard room.take(hits: batch.hitCount, bytes: row.bytes) else { return batches }
                batches.append(batch)
            } catch {
                // The next read begins with this group, and throws.
                if batches.isEmpty { throw error }
                return batches
            }
        }
        return batches
    }

    /// The rows that may fit in a limit. Their number of hits is known only once they are read, but
    /// is at least that of their events.
    private func rows(
        after sequence: Int64, through last: Int64, upTo limit: BatchLimit
    ) -> [StoredRow] {
        var room = BatchRoom(limit.lowered(to: BatchLimit(hits: .max, bytes: Self.turnBytes)))
        return self.rows.withLock { rows in
            Array(
                rows[rows.index(after: sequence)...].prefix(Self.turnGroups).prefix {
                    $0.sequence <= last && room.take(hits: Int($0.eventCount), bytes: $0.bytes)
                })
        }
    }

    /// The maximum groups and bytes that one turn reads. Acks wait for them, about as long as for a
    /// commit.
    private static let (turnGroups, turnBytes) = (256, 1 << 20)

    /// Releases the rows that every required sink has confirmed and that nothing retains or holds
    /// for another sink. Ingest comes first: retention ends early for rows that fill more than half
    /// of the journal, or whose space the next `bytes` need.
    ///
    /// - Returns: the newest released row; nil if none was released.
    @discardableResult
    func releaseRows(before bytes: Int = 0) -> StoredRow? {
        var newest: StoredRow?
        let deleted = self.cursors.withLock { cursors in
            let delivered = cursors.delivered
            var left = self.storedBytes
            let maxLeft = min(self.maxBytes / 2, self.maxBytes - bytes)
            return self.rows.withLock { rows in
                rows.removeRows { row in
                    guard row.sequence <= delivered,
                        !cursors.holds(row, left: left, maxBytes: self.maxBytes),
                        left > maxLeft || !cursors.retains(row)
                    else { return false }
                    cursors.noteReleased(row)
                    left -= row.bytes + row.trailingBytes
                    newest = row
                    return true
                }
            }
        }
        self.stored.subtract(deleted, ordering: .relaxed)
        return newest
    }

    /// Releases rows, and moves `releasedThrough` to the newest record that is not needed any more.
    func advanceReleasePoint(before bytes: Int = 0) {
        if let newest = self.releaseRows(before: bytes) {
            self.releasedThrough = newest.sequence
            self.releasedTotal = newest.eventTotal
        }
        // Records without hits have no row; they are released with the row before them.
        let kept = self.rows.withLock { $0.first?.sequence }
        self.releasedThrough = max(
            self.releasedThrough, kept.map { $0 - 1 } ?? self.lastSequence)
    }
}
