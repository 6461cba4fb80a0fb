// `journal.mode: off`: a group is durable once every sink has confirmed it.
internal import DequeModule
internal import Storage
internal import Synchronization

/// Keeps groups in memory; their clients get their acks once the sinks have confirmed the hits.
final class SinkDurability: Durability {
    let writer: JournalWriter
    let cache: BatchCache
    /// Different in each process: sequences start over, and a sink must not compare them with those
    /// of an earlier process.
    let identity: String
    let forwarderExecutor: (any TaskExecutor)?
    private let machine: Machine
    /// Groups whose clients wait for their acks, each with the sequence that it waits for.
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
        // Batches are dropped as the sinks confirm them; the writer bounds the rest.
        self.cache = BatchCache(lastSequence: 0, maxBytes: .max)
        self.identity = (0..<2).map { _ in String(machine.random(), radix: 16) }.joined()
        self.forwarderExecutor = JournalExecutor(queue)
        self.machine = machine
    }

    func take(
        _ group: [Journal.Submission], _ batch: JournalBatch?, start: ContinuousClock.Instant
    ) {
        // Added before a forwarder can see the batch and deliver it. A group without a batch waits
        // too: the originals of its duplicates may not be delivered yet.
        self.waiting.withLock { $0.append((self.writer.lastSequence, group)) }
        if let batch { self.cache.append(batch) } else { self.cursorMoved() }
    }

    func cursorMoved() {
        self.writer.releaseRows()
        self.cache.drop(through: self.writer.releasedSinceStart)
        self.settle(through: self.writer.delivered)
    }

    /// Has nothing to save: no cursor outlives the process.
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
