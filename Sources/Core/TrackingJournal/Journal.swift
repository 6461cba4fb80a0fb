// The journal: stores requests before they are acknowledged. Requests are submitted, groups of them
// committed, their requests settled, and forwarders read the groups from their cursors on.
internal import Storage
internal import Synchronization
package import TrackingRules
internal import WireFormat

/// The durable log between clients and sinks: a request is acknowledged once its hits are in it.
///
/// The server opens one, submits admitted requests with `append`, and settles each when its group
/// is durable. Each sink's forwarder reads `batches(for:after:upTo:)` and confirms them with
/// `advance`. One queue is the only writer. It commits without a timer: requests that arrive during
/// a commit are the next group. If they are more than a group takes, tenants and their streams take
/// turns (`GroupQueue`).
///
/// It never drops a group that a required sink has not confirmed, never acknowledges before the
/// disk has synced, and never goes on after a failed sync: then it reports `onFailure` once and
/// refuses everything.
package final class Journal: Sendable {
    /// The settings.
    package let configuration: Configuration

    /// What was found of earlier runs.
    package let recovery: JournalRecovery

    /// The log, the window and the rows are used on this queue only.
    let queue: any WorkQueue
    let machine: Machine
    let durability: any Durability
    let writer: JournalWriter
    private let failure: JournalFailure
    private let state = Mutex(State())
    /// Used on the journal's queue only, so its lock is always free.
    private let groups = Mutex(GroupQueue())

    private struct State {
        /// What has arrived since the last group was taken.
        var pending: [Submission] = []
        var isScheduled = false
        var isClosed = false
        /// When requests were last refused for want of room.
        var lastRefusal: ContinuousClock.Instant?
    }

    /// Opens the journal in a directory that this process has locked.
    ///
    /// - Parameters:
    ///   - directory: the directory of its files, created if missing; in mode `off` nothing is
    ///     written there.
    ///   - sinks: the sinks that groups are kept for.
    ///   - onCommit: called with the duration of each commit, on the journal's queue, so it has to
    ///     return at once.
    ///   - machine: the files, queues, clocks and randomness; a simulation substitutes its own.
    ///   - onFailure: called once when the disk fails; the process has to exit with 74.
    /// - Throws: `JournalError` if the files cannot be used safely.
    package init(
        directory: String, sinks: [JournalSink], configuration: Configuration = Configuration(),
        onCommit: @escaping @Sendable (Duration) -> Void = { _ in },
        machine: Machine = .local,
        onFailure: @escaping @Sendable (JournalError) -> Void
    ) throws(JournalError) {
        let start = machine.now()
        self.queue = machine.makeQueue("sightline.journal")
        self.failure = JournalFailure(onFailure: onFailure)
        self.durability =
            switch configuration.mode {
            case .disk:
                try DiskDurability(
                    directory: directory, sinks: sinks, configuration: configuration,
                    machine: machine, queue: self.queue, failure: self.failure,
                    onCommit: onCommit)
            case .off:
                try SinkDurability(
                    sinks: sinks, configuration: configuration, machine: machine,
                    queue: self.queue)
            }
        self.writer = self.durability.writer
        self.configuration = configuration
        self.machine = machine
        var recovery = self.writer.recovery
        recovery.duration = start.duration(to: machine.now())
        self.recovery = recovery
    }

    /// A random name, created with the files: sinks store their place under it.
    package var identity: String { self.durability.identity }

    /// The forwarders' executor; nil: the global one.
    package var forwarderExecutor: (any TaskExecutor)? { self.durability.forwarderExecutor }

    /// Submits requests, which are committed together. Their receiver is called when they are
    /// settled. Never waits.
    package func append(_ requests: [AdmittedRequest], for receiver: any SettlementReceiver) {
        let submission = Submission(requests: requests, receiver: receiver)
        let (isTaken, isNewTurn) = self.state.withLock { state in
            guard !self.failure.hasHappened, !state.isClosed else { return (false, false) }
            state.pending.append(submission)
            defer { state.isScheduled = true }
            return (true, !state.isScheduled)
        }
        if isNewTurn { self.queue.async { self.turn() } }
        if !isTaken { [submission].settle(at: self.machine.wallTime(), isToRetry: true) }
    }

    /// Moves a sink's cursor: it has confirmed everything up to `sequence`. The next checkpoint
    /// saves that: after a kill, the newest groups may be delivered again.
    ///
    /// - Parameter resumeToken: where the sink's backend stored it, in the sink's own format; saved
    ///   with the cursor.
    package func advance(sink: String, to sequence: Int64, resumeToken: String = "") {
        // Groups up to the slowest cursor are released: one too far would lose them for every sink.
        precondition(sequence <= self.lastSequence, "\(sink) confirms a group that does not exist")
        self.writer.advance(
            sink: sink, to: SinkCursor(sequence: sequence, resumeToken: resumeToken))
        self.durability.cursorMoved()
    }

    /// Moves a sink's cursor back before the oldest kept group, as its backend has lost hits.
    package func rewind(sink: String) {
        self.writer.rewind(sink: sink)
        self.durability.cursorMoved()
    }

    /// Sequence of the newest batch.
    package var lastSequence: Int64 { self.durability.cache.lastSequence }

    /// The bytes of payload that are kept.
    package var storedBytes: Int { self.writer.storedBytes }

    /// Whether it takes requests: its disk has not failed, it has room, and has refused nothing for
    /// 5 s. After 5 s readiness is reported again; the next append shows whether it is true, since
    /// nothing else detects a full disk.
    package var isTaking: Bool {
        let (isClosed, refusal) = self.state.withLock { ($0.isClosed, $0.lastRefusal) }
        if isClosed || self.failure.hasHappened { return false }
        if let refusal, refusal.duration(to: self.machine.now()) < .seconds(5) { return false }
        return self.writer.storedBytes <= self.writer.maxBytes / 20 * 19
    }

    /// The groups after `sequence` that exist, up to a limit; at least one. Waits for the first,
    /// but for no further one. A damaged group is returned alone. Nil once the journal is closed.
    ///
    /// - Throws: the system's error if the first group cannot be read.
    package func batches(
        after sequence: Int64, upTo limit: BatchLimit
    ) async throws -> [JournalBatch]? {
        switch await self.durability.cache.batches(after: sequence, upTo: limit) {
        case .batches(let batches): return batches
        case .closed: return nil
        case .onDisk(let last):
            let batches = try await self.read(after: sequence, through: last, upTo: limit)
            if !batches.isEmpty { return batches }
            // The rows up to `last` were released: the next group follows it. Do not skip to the
            // newest one, since batches may have been committed since.
            return try await self.batches(after: last, upTo: limit)
        }
    }

    /// The next groups for a sink's forwarder to deliver: those after `sequence`, or instead a
    /// single damaged group that reports the sink's gap.
    ///
    /// - Throws: the system's error if the first group cannot be read.
    package func batches(
        for sink: String, after sequence: Int64, upTo limit: BatchLimit
    ) async throws -> [JournalBatch]? {
        var start = sequence
        while true {
            // Report a gap before waiting: if all groups were released, none may ever come.
            if let gap = self.writer.take(sink: sink, through: start) {
                return [self.missing(gap, of: sink, after: sequence)]
            }
            let batches: [JournalBatch]
            switch await self.durability.cache.batches(after: start, upTo: limit) {
            case .batches(let next): batches = next
            case .closed: return nil
            case .onDisk(let last):
                batches = try await self.read(after: start, through: last, upTo: limit)
                // Released meanwhile: the sink has confirmed them, or they are part of its gap.
                start = batches.isEmpty ? last : start
            }
            guard let last = batches.last else { continue }
            // Registers these groups: from here on a release is recorded as a gap.
            guard let gap = self.writer.take(sink: sink, through: last.sequence) else {
                return batches
            }
            return [self.missing(gap, of: sink, after: sequence)]
        }
    }

    /// The gap as a batch. It begins after the sink's cursor: a new forwarder may ask for earlier
    /// groups.
    private func missing(
        _ gap: SinkGap, of sink: String, after sequence: Int64
    ) -> JournalBatch {
        JournalBatch(gap, after: max(sequence, self.writer.cursor(of: sink).sequence))
    }

    /// The next kept group after `sequence`, up to another; nil if there is none. Never waits for a
    /// commit.
    ///
    /// - Throws: the system's error if it cannot be read.
    package func kept(after sequence: Int64, through last: Int64) async throws -> JournalBatch? {
        guard sequence < last else { return nil }
        return try await self.read(after: sequence, through: last, upTo: .oneGroup).first
    }

    /// Reads groups from disk in several turns of the queue. A turn is long enough that a sink
    /// which is behind does not wait for a commit before each group, and short enough for the acks
    /// that wait meanwhile.
    private func read(
        after sequence: Int64, through last: Int64, upTo limit: BatchLimit
    ) async throws -> [JournalBatch] {
        var room = BatchRoom(limit)
        var batches: [JournalBatch] = []
        while true {
            let start = batches.last?.sequence ?? sequence
            let left = room.left
            let turn = await self.onQueue {
                Result { try self.writer.batches(after: start, through: last, upTo: left) }
            }
            // The next read begins with the unreadable group, and throws.
            if case .failure = turn, !batches.isEmpty { return batches }
            let read = try turn.get()
            if read.isEmpty { return batches }
            for batch in read {
                if batch.isDamaged { return batches.isEmpty ? [batch] : batches }
                guard room.take(hits: batch.hitCount, bytes: batch.payload.count) else {
                    return batches
                }
                batches.append(batch)
            }
        }
    }

    /// Announces that no more requests will come: readers get nil after the last batch.
    package func finish() { self.durability.cache.finish() }

    /// Ends the waits for sinks, which may be away for long: without a disk, requests that a sink
    /// does not have, and all later ones, have to be sent again. With one, none waits for a sink.
    package func giveUp() async {
        switch self.configuration.mode {
        case .disk: return
        case .off:
            self.state.withLock { $0.isClosed = true }
            await self.onQueue { self.drain() }
            await self.durability.close()
        }
    }

    /// Commits pending requests, then closes the files. Clients have to send later requests again.
    package func close() async {
        self.state.withLock { $0.isClosed = true }
        await self.onQueue {
            self.drain()
            self.durability.cache.close()
        }
        await self.durability.close()
    }

    func onQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: work()) }
        }
    }

    // MARK: The writer's turn

    /// Commits one group, then enqueues the next turn behind waiting readers.
    private func turn() {
        guard self.state.withLock({ !$0.isClosed }) else { return }
        self.commitGroup(self.takeGroup())
        let isLeft = self.groups.withLock { !$0.isEmpty }
        let hasMore = self.state.withLock { state in
            state.isScheduled = isLeft || !state.pending.isEmpty
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
        let arrived = self.state.withLock { state in
            defer { state.pending = [] }
            return state.pending
        }
        let maxBytes = self.configuration.maxGroupBytes
        return self.groups.withLock { $0.takeGroup(adding: arrived, upTo: maxBytes) }
    }

    private func commitGroup(_ group: [Submission]) {
        guard !self.failure.hasHappened else {
            group.settle(at: self.machine.wallTime(), isToRetry: true)
            return
        }
        let start = self.machine.now()
        do throws(JournalLog.Failure) {
            self.durability.take(group, try self.writer.commit(group), start: start)
        } catch {
            switch error {
            case .noRoom: self.state.withLock { $0.lastRefusal = self.machine.now() }
            case .failed(let reason): self.failure.note(.failed(reason: reason))
            }
            group.settle(at: self.machine.wallTime(), isToRetry: true)
        }
    }
}
