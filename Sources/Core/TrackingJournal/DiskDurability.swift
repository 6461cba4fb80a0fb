// `journal.mode: disk`: committed groups are on this node's disk.
internal import Storage

/// Keeps groups in the log's segments; their clients get their acks at once.
final class DiskDurability: Durability {
    let writer: JournalWriter
    let cache: BatchCache
    let identity: String
    let forwarderExecutor: (any TaskExecutor)? = nil
    let checkpointer: Checkpointer
    private let machine: Machine
    private let onCommit: @Sendable (Duration) -> Void

    /// - Throws: `JournalError` if the files cannot be used safely.
    init(
        directory: String, sinks: [JournalSink], configuration: Journal.Configuration,
        machine: Machine, queue: any WorkQueue, failure: JournalFailure,
        onCommit: @escaping @Sendable (Duration) -> Void
    ) throws(JournalError) {
        let window = DeduplicationWindow(
            capacity: configuration.windowCapacity, random: machine.random())
        let log = try JournalLog(
            directory: directory, configuration: configuration, machine: machine)
        let store = try CheckpointStore(
            path: directory + "/checkpoint.db", queue: machine.makeQueue("sightline.checkpoint"))
        let checkpoint = try store.contents(restoring: window)
        self.writer = try JournalWriter(
            log: log, window: window, checkpoint: checkpoint, sinks: sinks,
            maxBytes: configuration.maxBytes, configuration: configuration, machine: machine)
        if self.writer.hasNewSink, let checkpoint = self.writer.takeCheckpoint() {
            try store.save(checkpoint)
            do throws(SystemError) {
                try self.writer.noteSaved(checkpoint)
            } catch {
                throw .failed(reason: "\(error)")
            }
        }
        self.cache = BatchCache(
            lastSequence: self.writer.lastSequence, maxBytes: configuration.maxCachedBytes)
        self.identity = checkpoint.identity
        self.checkpointer = Checkpointer(
            store: store, writer: self.writer, queue: queue, failure: failure,
            delay: .milliseconds(configuration.checkpointMilliseconds))
        self.machine = machine
        self.onCommit = onCommit
    }

    func take(
        _ group: [Journal.Submission], _ batch: JournalBatch?, start: ContinuousClock.Instant
    ) {
        if let batch {
            self.onCommit(start.duration(to: self.machine.now()))
            self.cache.append(batch)
        }
        self.checkpointer.changed()
        group.settle(at: self.machine.wallTime())
    }

    func cursorMoved() {
        self.cache.evict(through: self.writer.confirmed)
        self.checkpointer.changed()
    }

    func saveCursors() async { await self.checkpointer.save() }

    func close() async { await self.checkpointer.close() }
}
