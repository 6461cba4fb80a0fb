// The writer: settles claims, seals a group, appends it to the log, and takes claims back where
// that fails.
internal import DequeModule
internal import Synchronization
internal import TrackingRules
internal import WireFormat

/// What the journal's queue does in its turn. `@unchecked Sendable`: all but what is in a mutex or
/// an atomic is touched on that queue alone.
final class JournalWriter: @unchecked Sendable {
    /// Nil where nothing is written.
    let log: JournalLog?
    private let window: DeduplicationWindow
    let cursors: Mutex<SinkCursors>
    private let stored: Atomic<Int>
    private let keys: Atomic<Int>
    /// What it began with.
    let recovery: JournalRecovery
    /// Bytes of payload that may be kept.
    let maxBytes: Int

    private(set) var lastSequence: Int64
    /// Events in all records, modulo 2³².
    private(set) var eventTotal: UInt32
    // Written on the queue, and read by whoever asks how far behind a sink is.
    let rows: Mutex<Deque<StoredRow>>
    var windowRows: WindowRows
    /// The newest row that has gone.
    private(set) var releasedThrough: Int64
    /// The newest row of which a checkpoint says that it has gone.
    var savedReleasedThrough: Int64
    /// Events in all records up to the newest row that has gone; nil where nothing tells.
    private(set) var releasedTotal: UInt32
    let machine: Machine
    private var changes: [DeduplicationWindow.Change] = []
    /// What the group that is being sealed adds to the ledger.
    private var delta = LedgerDelta()
    var ledger: Ledger
    /// The rows of the ledger, for those who ask from elsewhere.
    let ledgerRows: Atomic<Int>

    /// A writer that goes on after what earlier runs left: a checkpoint, which the window has been
    /// filled from, and the log's records after it.
    ///
    /// - Throws: `JournalError.failed` where the log cannot be read, `.format` where it is no log
    ///   of this format.
    init(
        log: JournalLog?, window: DeduplicationWindow, checkpoint: CheckpointStore.Contents,
        sinks: [JournalSink], maxBytes: Int, configuration: Journal.Configuration, machine: Machine
    ) throws(JournalError) {
        var windowRows = WindowRows(checkpoint.recent, capacity: configuration.windowCapacity)
        var ledger = Ledger(configuration.ledger, pages: checkpoint.ledger)
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
                // Without a disk, nothing is kept once its clients have been told.
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

    /// Keys in the window.
    var windowKeys: Int { self.keys.load(ordering: .relaxed) }

    func preview(_ claims: [Claim]) -> [Claim] { self.window.preview(claims) }

    // MARK: Commit

    /// Commits a group, and gives its batch: nil where it gave no hits.
    ///
    /// - Throws: why nothing of it was kept.
    func commit(_ group: [Journal.Submission]) throws(JournalLog.Failure) -> JournalBatch? {
        self.changes.removeAll(keepingCapacity: true)
        self.delta.removeAll()
        let bytes = group.reduce(0) { $0 &+ $1.journalBytes }
        self.advanceReleasePoint(before: bytes)
        // Asked before anything is claimed: a refused group must leave the window as it was.
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

    /// Settles every claim, and copies the entries that gave hits into one payload.
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
            guard !request.claims.isEmpty else {
                self.delta.add(request)
                continue
            }
            while ahead < Self.claimsAhead, let next = upcoming.next() {
                self.window.prefetch(next.claims, ahead: ahead)
                ahead += next.claims.count
            }
            ahead -= request.claims.count
            self.window.settle(&request.claims, changes: &self.changes)
            self.delta.add(request)
            let sealed = request.appendSealed(to: &payload)
            events += sealed.events
            hits += sealed.hits
        }
        return (payload, events, hits)
    }

    /// Claims whose slots are fetched before they are needed: enough to keep the memory busy, few
    /// enough that the first is still in the cache.
    private static let claimsAhead = 128

    /// Takes the group's claims back, so that a retry is never taken for a duplicate.
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

    /// A record without hits is kept as long as the row before it: while a sink is away, they fill
    /// the journal as well.
    private func noteTrailing(_ record: Record) {
        let isKept = self.rows.withLock { rows in
            guard let last = rows.indices.last else { return false }
            rows[last].trailingBytes += record.byteCount
            return true
        }
        if isKept { self.stored.add(record.byteCount, ordering: .relaxed) }
    }

    /// The group's counts are durable.
    private func noteCounted() {
        self.ledger.apply(self.delta)
        self.ledgerRows.store(self.ledger.rowCount, ordering: .relaxed)
    }
}

// MARK: Rows

extension JournalWriter {
    /// When the oldest row that is kept was made, in microseconds since 1970.
    var oldestTime: Int64? { self.rows.withLock { $0.first?.createTime } }

    /// The groups after `sequence`, up to `last` and a limit, from disk, as many as are read in one
    /// turn; empty where there are none. A damaged group is returned alone.
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

    /// Rows that may fit in a limit: how many hits they hold is known only once they are read, but
    /// every event has one at least.
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

    /// How much is read in one turn: acks wait for it about as long as for a commit.
    private static let (turnGroups, turnBytes) = (256, 1 << 20)

    /// Lets rows go that each sink has had for long enough, or is too far behind for. Clients come
    /// first: what is only retained gives way to the bytes that come, and where it fills more than
    /// half of the journal.
    ///
    /// - Returns: the newest row that has gone; nil if none has.
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

    func advanceReleasePoint(before bytes: Int = 0) {
        if let newest = self.releaseRows(before: bytes) {
            self.releasedThrough = newest.sequence
            self.releasedTotal = newest.eventTotal
        }
        // Records of keys alone have no rows, and go with those before them.
        let kept = self.rows.withLock { $0.first?.sequence }
        self.releasedThrough = max(
            self.releasedThrough, kept.map { $0 - 1 } ?? self.lastSequence)
    }
}
