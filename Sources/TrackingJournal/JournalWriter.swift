// The writer: settles claims, seals a group, commits it, and takes claims back where that fails.
internal import DequeModule
internal import Foundation
internal import Synchronization
internal import TrackingCore

/// What the journal's queue does in its turn. `@unchecked Sendable`: all but the cursors is touched
/// on that queue alone.
final class JournalWriter: @unchecked Sendable {
    private let store: JournalStore
    private let window: RecentHits
    private let configuration: Journal.Configuration
    private let cursors: Mutex<Cursors>
    private let stored: Atomic<Int>
    /// Bytes of payload that may be kept.
    let maxBytes: Int

    private var lastSequence: Int64
    // Written on the queue, and read by whoever asks how far behind a sink is.
    private let rows: Mutex<Deque<JournalStore.StoredRow>>
    private var recent: Deque<(sequence: Int64, keys: Int)>
    private var recentKeys: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private var changes: [RecentHits.Change] = []

    private struct Cursors {
        var all: [String: SinkCursor]
        var changed: [String: SinkCursor] = [:]
        /// The sinks whose cursors hold rows back.
        let sinks: [String]
        var times: DeliveryTimes

        /// The newest sequence that every sink has.
        var delivered: Int64 { self.sinks.map { self.all[$0]?.sequence ?? 0 }.min() ?? 0 }

        mutating func move(_ sink: String, to cursor: SinkCursor) {
            self.all[sink] = cursor
            self.changed[sink] = cursor
        }
    }

    enum Outcome {
        /// Nothing had to be written.
        case nothing
        /// The group is on disk.
        case durable(JournalBatch)
        /// No room: the requests are marked to be sent again.
        case refused
        /// The disk failed.
        case failed(String)
    }

    init(
        store: JournalStore, window: RecentHits, contents: JournalStore.Contents, sinks: [String],
        configuration: Journal.Configuration,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        var cursors = Cursors(
            all: contents.cursors, sinks: sinks,
            times: DeliveryTimes(retention: .seconds(configuration.retainSeconds)))
        // What earlier runs delivered has been with the sinks since now at the latest.
        cursors.times.note(cursors.delivered, at: now())
        self.now = now
        self.store = store
        self.window = window
        self.configuration = configuration
        self.cursors = Mutex(cursors)
        self.lastSequence = contents.lastSequence
        self.rows = Mutex(Deque(contents.rows))
        self.recent = Deque(contents.recent)
        self.recentKeys = contents.recent.reduce(0) { $0 + $1.keys }
        self.stored = Atomic(contents.rows.reduce(0) { $0 + $1.bytes })
        self.maxBytes =
            configuration.mode == .off ? configuration.maxCachedBytes : configuration.maxBytes
    }

    var storedBytes: Int { self.stored.load(ordering: .relaxed) }

    func cursor(of sink: String) -> SinkCursor {
        self.cursors.withLock { $0.all[sink] ?? SinkCursor() }
    }

    func advance(sink: String, to cursor: SinkCursor) {
        self.cursors.withLock { cursors in
            guard cursor.sequence > cursors.all[sink]?.sequence ?? 0 else { return }
            cursors.move(sink, to: cursor)
            cursors.times.note(cursors.delivered, at: self.now())
        }
    }

    func rewind(sink: String) {
        self.cursors.withLock { cursors in
            cursors.move(sink, to: SinkCursor())
            cursors.times.reset()
        }
    }

    func preview(_ claims: [Claim]) -> [Claim] { self.window.preview(claims) }

    // MARK: Commit

    func commit(_ group: [Journal.Submission]) -> Outcome {
        self.changes.removeAll(keepingCapacity: true)
        let bytes = group.reduce(0) { $0 &+ $1.journalBytes }
        // Asked before anything is claimed: a refused group must leave the window as it was.
        let isFull = bytes > 0 && self.storedBytes + bytes > self.maxBytes
        if isFull { self.refuse(group) }
        let payload = isFull ? ([], 0) : self.seal(group, bytes: bytes)
        let commit = self.commit(payload)
        if commit.isEmpty { return isFull ? .refused : .nothing }
        switch self.store.commit(commit) {
        case .durable:
            self.noteDurable(commit)
            guard !commit.payload.isEmpty else { return isFull ? .refused : .nothing }
            return .durable(
                JournalBatch(
                    sequence: commit.sequence, eventCount: commit.eventCount,
                    payload: commit.payload))
        case .diskFull:
            self.refuse(group)
            return .refused
        case .failed(let reason):
            self.refuse(group)
            return .failed(reason)
        }
    }

    /// Moves the log into the file where that is due, which is earlier where nobody waits.
    ///
    /// - Throws: `JournalError.failed` where the disk has failed.
    func checkpointIfDue(isIdle: Bool) throws(JournalError) {
        try self.store.checkpointIfDue(isIdle: isIdle)
    }

    /// The next commit: a payload, and what else is due.
    private func commit(_ payload: (bytes: [UInt8], events: Int)) -> JournalStore.Commit {
        JournalStore.Commit(
            sequence: self.lastSequence + 1, payload: payload.bytes, eventCount: payload.events,
            recentRow: self.configuration.mode == .off ? [] : RecentHits.row(of: self.changes),
            createTime: Self.now(), cursors: self.cursors.withLock { $0.changed },
            deleteThrough: self.deletableThrough(isIdle: payload.bytes.isEmpty),
            forgetThrough: self.forgettableThrough())
    }

    /// Settles every claim, and copies the entries that gave hits into one payload.
    private func seal(
        _ group: [Journal.Submission], bytes: Int
    ) -> (bytes: [UInt8], events: Int) {
        var payload: [UInt8] = []
        payload.reserveCapacity(bytes)
        var events = 0
        let requests = group.lazy.flatMap(\.requests)
        var untouched = requests.makeIterator()
        var ahead = 0
        for request in requests where !request.claims.isEmpty {
            while ahead < Self.claimsAhead, let next = untouched.next() {
                self.window.touch(next.claims, ahead: ahead)
                ahead += next.claims.count
            }
            ahead -= request.claims.count
            self.window.settle(&request.claims, changes: &self.changes)
            events += request.appendSealed(to: &payload)
        }
        return (payload, events)
    }

    /// Claims whose slots are fetched before they are needed: enough to keep the memory busy, few
    /// enough that the first is still in the cache.
    private static let claimsAhead = 128

    /// Takes the group's claims back, so that a retry is never taken for a duplicate.
    private func refuse(_ group: [Journal.Submission]) {
        self.window.undo(self.changes)
        self.changes.removeAll(keepingCapacity: true)
        for submission in group { submission.markToRetry() }
    }

    private func noteDurable(_ commit: JournalStore.Commit) {
        self.lastSequence = commit.sequence
        self.cursors.withLock { cursors in
            for (sink, cursor) in commit.cursors where cursors.changed[sink] == cursor {
                cursors.changed[sink] = nil
            }
        }
        var bytes = commit.payload.count
        self.rows.withLock { rows in
            bytes -= rows.removeRows(through: commit.deleteThrough)
            guard !commit.payload.isEmpty else { return }
            rows.append(
                JournalStore.StoredRow(
                    sequence: commit.sequence, createTime: commit.createTime,
                    bytes: commit.payload.count))
        }
        self.stored.add(bytes, ordering: .relaxed)
        while let row = self.recent.first, row.sequence <= commit.forgetThrough {
            self.recentKeys -= row.keys
            self.recent.removeFirst()
        }
        if !self.changes.isEmpty {
            let keys = self.changes.count(where: \.isNew)
            self.recent.append((commit.sequence, keys))
            self.recentKeys += keys
        }
    }

    /// Payload that was delivered without ever having been a row is kept no more.
    func forget(through sequence: Int64) {
        let bytes = self.rows.withLock { $0.removeRows(through: sequence) }
        self.stored.subtract(bytes, ordering: .relaxed)
    }

    // MARK: What is left

    /// When the oldest row that is kept was made, in microseconds since 1970.
    var oldestTime: Int64? { self.rows.withLock { $0.first?.createTime } }

    func lag(of sink: String) -> Journal.Lag {
        let cursor = self.cursor(of: sink).sequence
        return self.rows.withLock { rows in
            let index = rows.partitioningIndex { $0.sequence > cursor }
            return Journal.Lag(
                groups: rows.count - index,
                oldestTime: index < rows.count ? rows[index].createTime : nil)
        }
    }

    // MARK: What may go

    /// The newest sequence that every sink has.
    var delivered: Int64 { self.cursors.withLock { $0.delivered } }

    /// The newest row that every sink has had for long enough; 0 where none may go, or too few to
    /// be worth the pages that a commit of a group would have to write besides. Clients come first:
    /// what is only retained gives way once it would fill more than half of the journal.
    private func deletableThrough(isIdle: Bool) -> Int64 {
        guard self.configuration.mode == .disk else { return 0 }
        let (delivered, expired) = self.cursors.withLock { ($0.delivered, $0.times.expired) }
        var excess = self.storedBytes - self.maxBytes / 2
        var last: Int64 = 0
        var bytes = 0
        self.rows.withLock { rows in
            for row in rows {
                guard row.sequence <= delivered, row.sequence <= expired || excess > 0 else {
                    break
                }
                last = row.sequence
                bytes += row.bytes
                excess -= row.bytes
            }
        }
        return isIdle || bytes >= self.deletionStride ? last : 0
    }

    /// Payload that is deleted at once while groups come: what stays, a checkpoint has to move.
    private var deletionStride: Int { min(1 << 20, self.maxBytes / 64) }

    /// The newest row of keys without which the window still is full.
    private func forgettableThrough() -> Int64 {
        var left = self.recentKeys
        let last = self.recent.prefix { row in
            left -= row.keys
            return left >= self.configuration.windowCapacity
        }.last
        return last?.sequence ?? 0
    }

    /// Microseconds since 1970.
    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}

extension AdmittedRequest {
    /// Appends the block of what was granted; returns the number of its events.
    fileprivate func appendSealed(to payload: inout [UInt8]) -> Int {
        var granted = 0
        var isUnchanged = true
        for claim in self.claims {
            if !claim.granted.isEmpty { granted += 1 }
            guard claim.isChanged else { continue }
            isUnchanged = false
            self.seal(claim)
        }
        if granted == 0 { return 0 }
        if isUnchanged {
            payload.append(contentsOf: self.header)
            payload.append(contentsOf: self.entries)
            return granted
        }
        let start = payload.count
        payload.append(contentsOf: self.header)
        self.entries.withUnsafeBytes { entries in
            for claim in self.claims where !claim.granted.isEmpty {
                payload.append(contentsOf: HitBlock.entry(at: claim.entryOffset, in: entries))
            }
        }
        HitBlock.setEntries(
            count: granted, bytes: payload.count - start - self.header.count, in: &payload,
            at: start)
        return granted
    }
}
