// The journal: what is on disk before a client is told so. Requests come in, groups are committed,
// clients hear of it, and forwarders read on from where they are.
internal import Foundation
internal import Synchronization
package import TrackingCore

/// A durable queue of hits with one writer. Group commit without a timer: what arrives during one
/// commit is the next group.
package final class Journal: Sendable {
    /// Its settings.
    package let configuration: Configuration
    /// A random name, made with the file: sinks keep their place by it.
    package let identity: String

    let store: JournalStore
    private let state: Mutex<State>
    let tail: BatchTail
    let writer: JournalWriter
    private let undelivered: UndeliveredGroups
    private let cursorTimer = CursorTimer()
    private let onCommit: @Sendable (Duration) -> Void
    private let onFailure: @Sendable (JournalError) -> Void

    private struct State {
        var pending: [Submission] = []
        var isScheduled = false
        /// Whether cursors have waited long enough for a group.
        var areCursorsDue = false
        var isClosed = false
        var failure: JournalError?
        /// When requests were last refused for want of room.
        var lastRefusal: ContinuousClock.Instant?
    }

    struct Submission {
        let requests: [AdmittedRequest]
        let receiver: any SettlementReceiver
    }

    /// Opens the journal in a directory that this process has locked.
    ///
    /// - Parameters:
    ///   - path: the file; nothing is written there where the mode is `off`.
    ///   - sinks: the names of the sinks whose cursors hold rows back.
    ///   - onCommit: told how long it took to make each group durable; called on the journal's
    ///     queue, so it has to return at once.
    ///   - now: the time by which retention counts; tests give their own.
    ///   - onFailure: called once when the disk fails; the process has to end with 74.
    /// - Throws: `JournalError` where the file cannot be used safely.
    package init(
        path: String, sinks: [String], configuration: Configuration = Configuration(),
        onCommit: @escaping @Sendable (Duration) -> Void = { _ in },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws(JournalError) {
        let store = try JournalStore(
            path: configuration.mode == .off ? nil : path,
            checkpointBytes: configuration.checkpointBytes)
        let window = RecentHits(capacity: configuration.windowCapacity)
        let contents = try store.open(restoring: window)
        self.configuration = configuration
        self.identity = contents.identity
        self.store = store
        self.state = Mutex(State())
        self.tail = BatchTail(
            lastSequence: contents.lastSequence,
            maxBytes: configuration.mode == .off ? .max : configuration.maxCachedBytes)
        self.undelivered = UndeliveredGroups()
        self.writer = JournalWriter(
            store: store, window: window, contents: contents, sinks: sinks,
            configuration: configuration, now: now)
        self.onCommit = onCommit
        self.onFailure = onFailure
    }

    /// Takes requests in; their receiver is told when they are settled, all at once. Never waits.
    package func append(_ requests: [AdmittedRequest], for receiver: any SettlementReceiver) {
        let (isTaken, isNewTurn) = self.state.withLock { state in
            guard state.failure == nil, !state.isClosed else { return (false, false) }
            state.pending.append(Submission(requests: requests, receiver: receiver))
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if isNewTurn { self.store.async { self.turn() } }
        if !isTaken {
            Self.settle([Submission(requests: requests, receiver: receiver)], isToRetry: true)
        }
    }

    /// Notes that a sink has everything up to `sequence`. That is on disk with the next group, or
    /// 50 ms later: a sink may be given once more what it took last before the process was killed.
    ///
    /// - Parameter place: where the sink keeps it, in the sink's own words; kept with the cursor.
    package func advance(sink: String, to sequence: Int64, place: String = "") {
        self.writer.advance(sink: sink, to: SinkCursor(sequence: sequence, place: place))
        if self.configuration.mode == .off { self.settleDelivered() } else { self.cursorMoved() }
    }

    /// Notes that a sink has lost what it had: its cursor goes back to 0, before every row that is
    /// still kept.
    package func rewind(sink: String) {
        self.writer.rewind(sink: sink)
        self.cursorMoved()
    }

    private func cursorMoved() { self.cursorTimer.moved { [weak self] in self?.writeCursors() } }

    /// Has the cursors written, with a group or without.
    func writeCursors() {
        let isNewTurn = self.state.withLock { state in
            guard !state.isClosed else { return false }
            state.areCursorsDue = true
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if isNewTurn { self.store.async { self.turn() } }
    }

    /// Sequence of the newest batch.
    package var lastSequence: Int64 { self.tail.lastSequence }

    /// Bytes of payload that are kept.
    package var storedBytes: Int { self.writer.storedBytes }

    /// Whether it is filled to four fifths: clients should slow down, before they are refused.
    package var isNearlyFull: Bool { self.writer.storedBytes > self.writer.maxBytes / 5 * 4 }

    /// Whether it takes requests: its disk has not failed, it has room, and has refused nothing for
    /// 5 s. A full disk shows in nothing else; who asks later finds out by sending.
    package var isTaking: Bool {
        let (isOpen, refusal) = self.state.withLock { state in
            (state.failure == nil && !state.isClosed, state.lastRefusal)
        }
        if !isOpen { return false }
        if let refusal, refusal.duration(to: .now) < .seconds(5) { return false }
        return self.writer.storedBytes <= self.writer.maxBytes / 20 * 19
    }

    /// Settles claims as they would be now, and claims nothing (D52).
    package func preview(_ claims: [Claim]) async -> [Claim] {
        await withCheckedContinuation { continuation in
            self.store.async { continuation.resume(returning: self.writer.preview(claims)) }
        }
    }

    /// The first batch after `sequence`; waits for it. Nil once the journal is closed.
    ///
    /// - Throws: what SQLite says where the row cannot be read.
    package func batch(after sequence: Int64) async throws -> JournalBatch? {
        switch await self.tail.batch(after: sequence) {
        case .batch(let batch): return batch
        case .closed: return nil
        case .onDisk:
            let read: Result<(batch: JournalBatch?, last: Int64), any Error> =
                await withCheckedContinuation { continuation in
                    self.store.async {
                        continuation.resume(
                            returning: Result {
                                (try self.store.batch(after: sequence), self.lastSequence)
                            })
                    }
                }
            let (batch, last) = try read.get()
            if let batch { return batch }
            // Rows that are gone were delivered and deleted: what is wanted comes after the last
            // one of that moment. A batch that was committed since then must not be passed over.
            return try await self.batch(after: last)
        }
    }

    /// Says that no more requests will come: who waits for a batch beyond the last one gets nil.
    package func finish() { self.tail.finish() }

    /// Commits what is pending, then closes the file. Further requests are to be sent again.
    package func close() async {
        self.state.withLock { $0.isClosed = true }
        await withCheckedContinuation { continuation in
            self.store.async {
                self.drain()
                for group in self.undelivered.take() {
                    Self.settle(group.submissions, isToRetry: true)
                }
                self.tail.close()
                continuation.resume()
            }
        }
        self.store.close()
    }

    // MARK: The writer's turn

    /// One group; then the next one gets in line, so that readers have their turn.
    private func turn() {
        guard self.state.withLock({ !$0.isClosed }) else { return }
        self.commitGroup(self.takeGroup())
        let hasMore = self.state.withLock { state in
            state.isScheduled = !state.pending.isEmpty || state.areCursorsDue
            return state.isScheduled
        }
        if hasMore { self.store.async { self.turn() } }
    }

    private func drain() {
        while true {
            let group = self.takeGroup()
            self.commitGroup(group)
            if group.isEmpty { return }
        }
    }

    /// Takes pending requests up to the group's limit.
    private func takeGroup() -> [Submission] {
        let maxBytes = self.configuration.maxGroupBytes
        self.cursorTimer.groupTaken()
        return self.state.withLock { state in
            state.areCursorsDue = false
            var bytes = 0
            let end =
                state.pending.firstIndex { submission in
                    defer { bytes += submission.journalBytes }
                    return bytes > maxBytes
                } ?? state.pending.endIndex
            if end == state.pending.endIndex {
                defer { state.pending = [] }
                return state.pending
            }
            defer { state.pending.removeFirst(end) }
            return Array(state.pending[..<end])
        }
    }

    private func commitGroup(_ group: [Submission]) {
        // A disk that failed once is not asked again: a later fsync may succeed and prove nothing.
        guard self.state.withLock({ $0.failure == nil }) else {
            Self.settle(group, isToRetry: true)
            return
        }
        let start = ContinuousClock.now
        switch self.writer.commit(group) {
        case .nothing: break
        case .refused: self.state.withLock { $0.lastRefusal = .now }
        case .durable(let batch) where self.configuration.mode == .off:
            // Before a forwarder can see the batch, and deliver it.
            self.undelivered.append(
                UndeliveredGroups.Group(
                    sequence: batch.sequence, submissions: group))
            self.tail.append(batch)
            return
        case .durable(let batch):
            self.onCommit(start.duration(to: .now))
            self.tail.append(batch)
        case .failed(let reason): self.fail(.failed(reason: reason))
        }
        Self.settle(group)
        self.checkpointIfDue()
    }

    /// Comes after the answers: who waits for them need not wait for this.
    private func checkpointIfDue() {
        let (isSound, isIdle) = self.state.withLock { ($0.failure == nil, $0.pending.isEmpty) }
        guard isSound else { return }
        do {
            try self.writer.checkpointIfDue(isIdle: isIdle)
        } catch {
            self.fail(error)
        }
    }

    /// Without a disk, clients are told once the sinks have their hits.
    private func settleDelivered() {
        let delivered = self.writer.delivered
        self.tail.drop(through: delivered)
        let groups = self.undelivered.take(through: delivered)
        self.writer.forget(through: delivered)
        Self.settle(groups.flatMap(\.submissions))
    }

    private static func settle(_ group: [Submission], isToRetry: Bool = false) {
        let time = JournalWriter.now()
        for submission in group {
            if isToRetry { submission.markToRetry() }
            for request in submission.requests { request.settleTime = time }
            submission.receiver.settled(submission.requests)
        }
        var last: (any SettlementReceiver)?
        for submission in group where submission.receiver !== last {
            last = submission.receiver
            submission.receiver.commitEnded()
        }
    }

    private func fail(_ error: JournalError) {
        let isFirst = self.state.withLock { state in
            defer { state.failure = error }
            return state.failure == nil
        }
        if isFirst { self.onFailure(error) }
    }
}
