// `journal.mode: off`: what every sink has is durable.
internal import DequeModule
internal import Storage
internal import Synchronization

/// Groups in memory; their clients are told once the sinks have the hits.
final class SinkDurability: Durability {
    let writer: JournalWriter
    let cache: BatchCache
    /// Another one in each process: its sequences begin anew, so a sink must not compare them.
    let identity: String
    let forwarderExecutor: (any TaskExecutor)?
    private let machine: Machine
    /// Groups whose clients wait, with the sequence that they wait for.
    private let waiting = Mutex<Deque<(sequence: Int64, group: [Journal.Submission])>>([])

    init(
        sinks: [JournalSink], configuration: Journal.Configuration, machine: Machine,
        queue: any WorkQueue
    ) throws(JournalError) {
        let window = DeduplicationWindow(
            capacity: configuration.windowCapacity, random: machine.random())
        self.writer = try JournalWriter(
            log: nil, window: window, checkpoint: CheckpointStore.Contents(), sinks: sinks,
            maxBytes: configuration.maxCachedBytes, configuration: configuration, machine: machine)
        // What waits is dropped as the sinks take it, and bounded by the writer.
        self.cache = BatchCache(lastSequence: 0, maxBytes: .max)
        self.identity = (0..<2).map { _ in String(machine.random(), radix: 16) }.joined()
        self.forwarderExecutor = JournalExecutor(queue)
        self.machine = machine
    }

    func take(
        _ group: [Journal.Submission], _ batch: JournalBatch?, start: ContinuousClock.Instant
    ) {
        // Before a forwarder can see the batch, and deliver it. A group without one waits too: its
        // duplicates' originals may be under way still.
        self.waiting.withLock { $0.append((self.writer.lastSequence, group)) }
        if let batch { self.cache.append(batch) } else { self.cursorMoved() }
    }

    func cursorMoved() {
        self.writer.releaseRows()
        self.cache.drop(through: self.writer.releasedSinceStart)
        self.settle(through: self.writer.delivered)
    }

    /// Nothing outlives the process.
    func saveCursors() async { self.cursorMoved() }

    func close() async { self.settle(through: .max, isToRetry: true) }

    private func settle(through sequence: Int64, isToRetry: Bool = false) {
        let group = self.waiting.withLock { waiting in
            let count = waiting.prefix { $0.sequence <= sequence }.count
            defer { waiting.removeFirst(count) }
            return waiting.prefix(count).flatMap(\.group)
        }
        group.settle(at: self.machine.wallTime(), isToRetry: isToRetry)
    }
}
