internal import DequeModule
internal import Synchronization
internal import TrackingRules

/// Caches the newest batches, so that forwarders which keep up never read from disk. Also wakes
/// forwarders that wait for the next batch.
final class BatchCache: Sendable {
    private let state: Mutex<State>
    private let maxBytes: Int

    private struct State {
        var lastSequence: Int64
        /// Batches after this sequence are in memory.
        var evictedThrough: Int64
        var batches: Deque<JournalBatch> = []
        var bytes = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isFinished = false
        var isClosed = false

        mutating func drop(through sequence: Int64) {
            let count = self.batches.prefix { $0.sequence <= sequence }.count
            for batch in self.batches.prefix(count) { self.bytes -= batch.payload.count }
            self.batches.removeFirst(count)
        }

        /// Nil if the reader has to wait.
        func answer(after sequence: Int64, upTo limit: BatchLimit) -> Answer? {
            if self.isClosed { return .closed }
            guard sequence < self.lastSequence else { return self.isFinished ? .closed : nil }
            guard sequence >= self.evictedThrough else {
                return .onDisk(through: self.evictedThrough)
            }
            let next = self.batches[self.batches.index(after: sequence)...]
            // Without a disk, the cursor of a sink may be moved back to batches that were dropped.
            if next.isEmpty { return .onDisk(through: self.lastSequence) }
            var room = BatchRoom(limit)
            return .batches(
                Array(next.prefix { room.take(hits: $0.hitCount, bytes: $0.payload.count) }))
        }
    }

    enum Answer {
        /// At least one batch.
        case batches([JournalBatch])
        /// The next batches are not in memory, up to a sequence that is after the reader's.
        case onDisk(through: Int64)
        case closed
    }

    init(lastSequence: Int64, maxBytes: Int) {
        self.state = Mutex(State(lastSequence: lastSequence, evictedThrough: lastSequence))
        self.maxBytes = maxBytes
    }

    var lastSequence: Int64 { self.state.withLock { $0.lastSequence } }

    /// The bytes of the batches in memory.
    var bytes: Int { self.state.withLock { $0.bytes } }

    func append(_ batch: JournalBatch) {
        self.wake { state in
            // Readers search by sequence, and would pass over a batch that comes out of order.
            precondition(batch.sequence > state.lastSequence, "a batch comes out of order")
            state.lastSequence = batch.sequence
            state.batches.append(batch)
            state.bytes += batch.payload.count
            var excess = 0
            while state.bytes > self.maxBytes, excess < state.batches.count - 1 {
                state.bytes -= state.batches[excess].payload.count
                state.evictedThrough = state.batches[excess].sequence
                excess += 1
            }
            state.batches.removeFirst(excess)
        }
    }

    /// Drops batches that were released and that no disk holds.
    func drop(through sequence: Int64) {
        self.state.withLock { $0.drop(through: sequence) }
    }

    /// Evicts batches that every sink has confirmed. They can still be read from disk.
    func evict(through sequence: Int64) {
        self.state.withLock { state in
            state.drop(through: sequence)
            state.evictedThrough = max(state.evictedThrough, min(sequence, state.lastSequence))
        }
    }

    /// Announces that no further batch will be appended; the batches in memory can still be read.
    func finish() { self.wake { $0.isFinished = true } }

    /// Stops all reads at once.
    func close() { self.wake { $0.isClosed = true } }

    private func wake(_ change: (inout sending State) -> Void) {
        let waiting = self.state.withLock { state in
            change(&state)
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// The batches after `sequence`, up to a limit, or `.onDisk` if the first was evicted. Suspends
    /// until there is one; a reader that is cancelled gets no more.
    func batches(after sequence: Int64, upTo limit: BatchLimit) async -> Answer {
        await withTaskCancellationHandler {
            await self.answer(after: sequence, upTo: limit)
        } onCancel: {
            self.wake { _ in }
        }
    }

    private func answer(after sequence: Int64, upTo limit: BatchLimit) async -> Answer {
        while !Task.isCancelled {
            let answer = self.state.withLock { $0.answer(after: sequence, upTo: limit) }
            if let answer { return answer }
            await withCheckedContinuation { continuation in
                let isReady = self.state.withLock { state in
                    // Asked within the lock: a later cancellation finds the continuation here.
                    if Task.isCancelled { return true }
                    if state.answer(after: sequence, upTo: .oneGroup) != nil { return true }
                    state.waiting.append(continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
        return .closed
    }
}
