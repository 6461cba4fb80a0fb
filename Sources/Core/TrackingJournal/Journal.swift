// The journal: what is on disk before a client is told so. Requests come in, groups are committed,
// clients hear of it, and forwarders read on from where they are.
internal import Storage
internal import Synchronization
package import TrackingRules
internal import WireFormat

/// A durable queue of hits with one writer. Group commit without a timer: what arrives during one
/// commit is the next group.
package final class Journal: Sendable {
    /// Its settings.
    package let configuration: Configuration

    /// What it found of earlier runs.
    package let recovery: JournalRecovery

    /// The log, the window and the rows are touched on it alone.
    let queue: any WorkQueue
    let machine: Machine
    let durability: any Durability
    let writer: JournalWriter
    private let failure: JournalFailure
    private let state = Mutex(State())

    private struct State {
        var pending: [Submission] = []
        var isScheduled = false
        var isClosed = false
        /// When requests were last refused for want of room.
        var lastRefusal: ContinuousClock.Instant?
    }

    /// Opens the journal in a directory that this process has locked.
    ///
    /// - Parameters:
    ///   - directory: where its files are, made where it is missing; nothing is written there
    ///     where the mode is `off`.
    ///   - sinks: the sinks that groups are kept for.
    ///   - onCommit: told how long it took to make each group durable; called on the journal's
    ///     queue, so it has to return at once.
    ///   - machine: its files, queues, time and chance; a simulation gives its own.
    ///   - onFailure: called once when the disk fails; the process has to end with 74.
    /// - Throws: `JournalError` where the files cannot be used safely.
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

    /// A random name, made with the files: sinks keep their place by it.
    package var identity: String { self.durability.identity }

    /// Where forwarders run; nil where that may be anywhere.
    package var forwarderExecutor: (any TaskExecutor)? { self.durability.forwarderExecutor }

    /// Takes requests in; their receiver is told when they are settled, all at once. Never waits.
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

    /// Notes that a sink has everything up to `sequence`. The next checkpoint holds that: a sink
    /// may be given once more what it took last before the process was killed.
    ///
    /// - Parameter resumeToken: where the backend has it, in the sink's own words; kept with the
    ///   cursor.
    package func advance(sink: String, to sequence: Int64, resumeToken: String = "") {
        self.writer.advance(
            sink: sink, to: SinkCursor(sequence: sequence, resumeToken: resumeToken))
        self.durability.cursorMoved()
    }

    /// Notes that a sink has lost what it had: its cursor goes back before every group that is
    /// kept.
    package func rewind(sink: String) {
        self.writer.rewind(sink: sink)
        self.durability.cursorMoved()
    }

    /// Sequence of the newest batch.
    package var lastSequence: Int64 { self.durability.tail.lastSequence }

    /// Bytes of payload that are kept.
    package var storedBytes: Int { self.writer.storedBytes }

    /// Whether it takes requests: its disk has not failed, it has room, and has refused nothing for
    /// 5 s. After those 5 s it counts as ready again, and the next append tells whether that is
    /// true: a full disk shows in nothing else.
    package var isTaking: Bool {
        let (isClosed, refusal) = self.state.withLock { ($0.isClosed, $0.lastRefusal) }
        if isClosed || self.failure.hasHappened { return false }
        if let refusal, refusal.duration(to: self.machine.now()) < .seconds(5) { return false }
        return self.writer.storedBytes <= self.writer.maxBytes / 20 * 19
    }

    /// The groups after `sequence`, as many as there are, up to a limit; at least one. Waits for
    /// the first, but for no further one. A damaged group is returned alone. Nil once the journal
    /// is closed.
    ///
    /// - Throws: what the system says where the first group cannot be read.
    package func batches(
        after sequence: Int64, upTo limit: BatchLimit
    ) async throws -> [JournalBatch]? {
        switch await self.durability.tail.batches(after: sequence, upTo: limit) {
        case .batches(let batches): return batches
        case .closed: return nil
        case .onDisk(let last):
            let batches = try await self.read(after: sequence, through: last, upTo: limit)
            if !batches.isEmpty { return batches }
            // Rows that are gone were delivered and deleted: what is wanted comes after the last
            // one of that moment. A batch that was committed since then must not be passed over.
            return try await self.batches(after: last, upTo: limit)
        }
    }

    /// The next groups for a sink, which the forwarder will then have in memory: those after
    /// `sequence`, or in their place a single group that stands for what the journal let go.
    ///
    /// - Throws: what the system says where the first group cannot be read.
    package func batches(
        for sink: String, after sequence: Int64, upTo limit: BatchLimit
    ) async throws -> [JournalBatch]? {
        var start = sequence
        while true {
            // Where all has gone there may be nothing to wait for.
            if let gap = self.writer.take(sink: sink, through: start) {
                return [self.missing(gap, of: sink, after: sequence)]
            }
            let batches: [JournalBatch]
            switch await self.durability.tail.batches(after: start, upTo: limit) {
            case .batches(let next): batches = next
            case .closed: return nil
            case .onDisk(let last):
                batches = try await self.read(after: start, through: last, upTo: limit)
                // They went meanwhile: the sink has them, or they are its gap.
                start = batches.isEmpty ? last : start
            }
            guard let last = batches.last else { continue }
            // Only now is it certain that none of them goes unnoticed.
            guard let gap = self.writer.take(sink: sink, through: last.sequence) else {
                return batches
            }
            return [self.missing(gap, of: sink, after: sequence)]
        }
    }

    /// A gap begins after the sink's cursor: a forwarder that begins anew asks from an earlier
    /// sequence on.
    private func missing(
        _ gap: SinkGap, of sink: String, after sequence: Int64
    ) -> JournalBatch {
        JournalBatch(gap, after: max(sequence, self.writer.cursor(of: sink).sequence))
    }

    /// The next group that is kept after `sequence`, up to another; nil if there is none. Never
    /// waits for one to come.
    ///
    /// - Throws: what the system says where it cannot be read.
    package func kept(after sequence: Int64, through last: Int64) async throws -> JournalBatch? {
        guard sequence < last else { return nil }
        return try await self.read(after: sequence, through: last, upTo: .oneGroup).first
    }

    /// Reads groups from disk, in turns of the queue: long enough that a sink which is behind does
    /// not wait for a commit before each group, and short enough that acks do not wait for it.
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
            // The next read begins with the group that cannot be read now, and throws.
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

    /// Says that no more requests will come: who waits for a batch beyond the last one gets nil.
    package func finish() { self.durability.tail.finish() }

    /// Commits what is pending, then closes the files. Further requests are to be sent again.
    package func close() async {
        self.state.withLock { $0.isClosed = true }
        await self.onQueue {
            self.drain()
            self.durability.tail.close()
        }
        await self.durability.close()
    }

    func onQueue<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            self.queue.async { continuation.resume(returning: work()) }
        }
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
                    defer { bytes += submission.groupBytes }
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
