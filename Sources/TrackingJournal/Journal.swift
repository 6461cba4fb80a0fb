// The journal: what is on disk before a client is told so. Requests come in, groups are committed,
// clients hear of it, and forwarders read on from where they are.
internal import Synchronization
package import TrackingCore

/// A durable queue of hits with one writer. Group commit without a timer: what arrives during one
/// commit is the next group.
package final class Journal: Sendable {
    /// Its settings.
    package let configuration: Configuration
    /// A random name, made with the file: sinks keep their place by it.
    package let identity: String

    /// The log, the window and the rows are touched on it alone.
    let queue: any WorkQueue
    let machine: Machine
    /// Where forwarders run; nil where that may be anywhere.
    package let forwarderExecutor: (any TaskExecutor)?
    /// Nil where nothing is written.
    let checkpointer: Checkpointer?
    private let failure: JournalFailure
    private let state: Mutex<State>
    let tail: BatchTail
    let writer: JournalWriter
    private let undelivered: UndeliveredGroups
    private let onCommit: @Sendable (Duration) -> Void

    private struct State {
        var pending: [Submission] = []
        var isScheduled = false
        var isClosed = false
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
    ///   - directory: where its files are, made where it is missing; nothing is written there
    ///     where the mode is `off`.
    ///   - sinks: the names of the sinks whose cursors hold rows back.
    ///   - onCommit: told how long it took to make each group durable; called on the journal's
    ///     queue, so it has to return at once.
    ///   - machine: its files, queues, time and chance; a simulation gives its own.
    ///   - onFailure: called once when the disk fails; the process has to end with 74.
    /// - Throws: `JournalError` where the files cannot be used safely.
    package init(
        directory: String, sinks: [String], configuration: Configuration = Configuration(),
        onCommit: @escaping @Sendable (Duration) -> Void = { _ in },
        machine: Machine = .local,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws(JournalError) {
        let window = RecentHits(
            capacity: configuration.windowCapacity, random: machine.random())
        var store: CheckpointStore?
        var checkpoint = CheckpointStore.Contents()
        var log: JournalLog?
        if configuration.mode == .disk {
            log = try JournalLog(
                directory: directory, configuration: configuration, machine: machine)
            let opened = try CheckpointStore(
                path: directory + "/checkpoint.db",
                queue: machine.makeQueue("sightline.checkpoint"))
            checkpoint = try opened.contents(restoring: window)
            store = opened
        }
        let writer = try JournalWriter(
            log: log, window: window, checkpoint: checkpoint, sinks: sinks,
            configuration: configuration, machine: machine)
        let queue = machine.makeQueue("sightline.journal")
        let failure = JournalFailure(onFailure: onFailure)
        self.queue = queue
        self.machine = machine
        self.writer = writer
        self.failure = failure
        self.checkpointer = store.map {
            Checkpointer(
                store: $0, writer: writer, queue: queue, failure: failure,
                delay: .milliseconds(configuration.checkpointMilliseconds))
        }
        self.forwarderExecutor = configuration.mode == .off ? JournalExecutor(queue) : nil
        self.configuration = configuration
        // Without a disk sequences begin anew with each process, so a sink must not compare them.
        self.identity =
            store == nil
            ? (0..<2).map { _ in String(machine.random(), radix: 16) }.joined()
            : checkpoint.identity
        self.state = Mutex(State())
        self.tail = BatchTail(
            lastSequence: self.writer.lastSequence,
            maxBytes: configuration.mode == .off ? .max : configuration.maxCachedBytes)
        self.undelivered = UndeliveredGroups()
        self.onCommit = onCommit
    }

    /// Takes requests in; their receiver is told when they are settled, all at once. Never waits.
    package func append(_ requests: [AdmittedRequest], for receiver: any SettlementReceiver) {
        let (isTaken, isNewTurn) = self.state.withLock { state in
            guard !self.failure.hasHappened, !state.isClosed else { return (false, false) }
            state.pending.append(Submission(requests: requests, receiver: receiver))
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if isNewTurn { self.queue.async { self.turn() } }
        if !isTaken {
            self.settle([Submission(requests: requests, receiver: receiver)], isToRetry: true)
        }
    }

    /// Notes that a sink has everything up to `sequence`. The next checkpoint holds that: a sink
    /// may be given once more what it took last before the process was killed.
    ///
    /// - Parameter place: where the sink keeps it, in the sink's own words; kept with the cursor.
    package func advance(sink: String, to sequence: Int64, place: String = "") {
        self.writer.advance(sink: sink, to: SinkCursor(sequence: sequence, place: place))
        self.checkpointer?.changed()
        if self.configuration.mode == .off { self.settleDelivered() }
    }

    /// Notes that a sink has lost what it had: its cursor goes back to 0, before every row that is
    /// still kept.
    package func rewind(sink: String) {
        self.writer.rewind(sink: sink)
        self.checkpointer?.changed()
    }

    /// Sequence of the newest batch.
    package var lastSequence: Int64 { self.tail.lastSequence }

    /// Bytes of payload that are kept.
    package var storedBytes: Int { self.writer.storedBytes }

    /// Whether it is filled to four fifths: clients should slow down, before they are refused.
    package var isNearlyFull: Bool { self.writer.storedBytes > self.writer.maxBytes / 5 * 4 }

    /// Whether it takes requests: its disk has not failed, it has room, and has refused nothing for
    /// 5 s. After those 5 s it counts as ready again, and the next append tells whether that is
    /// true: a full disk shows in nothing else.
    package var isTaking: Bool {
        let (isOpen, refusal) = self.state.withLock { state in
            (!self.failure.hasHappened && !state.isClosed, state.lastRefusal)
        }
        if !isOpen { return false }
        if let refusal, refusal.duration(to: self.machine.now()) < .seconds(5) { return false }
        return self.writer.storedBytes <= self.writer.maxBytes / 20 * 19
    }

    /// Settles claims as they would be now, and claims nothing (D52).
    package func preview(_ claims: [Claim]) async -> [Claim] {
        await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: self.writer.preview(claims)) }
        }
    }

    /// The first batch after `sequence`; waits for it. Nil once the journal is closed.
    ///
    /// - Throws: what the system says where the row cannot be read.
    package func batch(after sequence: Int64) async throws -> JournalBatch? {
        switch await self.tail.batch(after: sequence) {
        case .batch(let batch): return batch
        case .closed: return nil
        case .onDisk:
            let read: Result<(batch: JournalBatch?, last: Int64), any Error> =
                await withCheckedContinuation { continuation in
                    self.queue.async {
                        continuation.resume(
                            returning: Result {
                                (try self.writer.batch(after: sequence), self.lastSequence)
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

    /// Commits what is pending, then closes the files. Further requests are to be sent again.
    package func close() async {
        self.state.withLock { $0.isClosed = true }
        await withCheckedContinuation { continuation in
            self.queue.async {
                self.drain()
                for group in self.undelivered.take() {
                    self.settle(group.submissions, isToRetry: true)
                }
                self.tail.close()
                continuation.resume()
            }
        }
        await self.checkpointer?.finish()
        self.checkpointer?.close()
    }

    // MARK: The writer's turn

    /// One group; then the next one gets in line, so that readers have their turn.
    private func turn() {
        guard self.state.withLock({ !$0.isClosed }) else { return }
        self.commitGroup(self.takeGroup())
        let hasMore = self.state.withLock { state in
            state.isScheduled = !state.pending.isEmpty
            return state.isScheduled
        }
        if hasMore { self.queue.async { self.turn() } }
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
        return self.state.withLock { state in
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
        guard !self.failure.hasHappened else {
            self.settle(group, isToRetry: true)
            return
        }
        let start = self.machine.now()
        switch self.writer.commit(group) {
        case .nothing where self.configuration.mode == .off && self.writer.isDelivering:
            // Its duplicates' originals may be under way still: an ack means that the sinks have
            // them.
            self.undelivered.append(
                UndeliveredGroups.Group(sequence: self.writer.lastSequence, submissions: group))
            self.settleDelivered()
            return
        case .nothing: break
        case .refused: self.state.withLock { $0.lastRefusal = self.machine.now() }
        case .durable(let batch) where self.configuration.mode == .off:
            // Before a forwarder can see the batch, and deliver it.
            self.undelivered.append(
                UndeliveredGroups.Group(
                    sequence: batch.sequence, submissions: group))
            self.tail.append(batch)
            return
        case .durable(let batch):
            self.onCommit(start.duration(to: self.machine.now()))
            self.tail.append(batch)
            self.checkpointer?.changed()
        case .failed(let reason): self.failure.note(.failed(reason: reason))
        }
        self.settle(group)
    }

    /// Without a disk, clients are told once the sinks have their hits.
    private func settleDelivered() {
        let delivered = self.writer.delivered
        self.tail.drop(through: delivered)
        let groups = self.undelivered.take(through: delivered)
        self.writer.forget(through: delivered)
        self.settle(groups.flatMap(\.submissions))
    }

    private func settle(_ group: [Submission], isToRetry: Bool = false) {
        let time = self.machine.wallTime()
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
}
