internal import Pacing
internal import Synchronization

/// A bounded queue of ended spans, in front of the exporter. Adding never blocks: if the queue is
/// full, the span is dropped and counted.
final class SpanQueue: Sendable {
    private struct State {
        var spans: [SpanRecord] = []
        var isOpen = true
    }

    private let state = Mutex(State())
    /// Raised when a full batch is queued, and when the queue is closed.
    private let isDue = Signal()
    private let capacity: Int
    private let batchSize: Int
    private let counts: SpanCounts

    /// - Parameters:
    ///   - capacity: the maximum number of queued spans.
    ///   - batchSize: the maximum spans of an export; this many are exported at once.
    init(capacity: Int, batchSize: Int, counts: SpanCounts) {
        self.capacity = capacity
        self.batchSize = min(batchSize, capacity)
        self.counts = counts
    }

    /// Adds an ended span.
    func add(_ span: SpanRecord) {
        let (drop, isBatch) = self.state.withLock { state -> (SpanCounts.Outcome?, Bool) in
            guard state.isOpen else { return (.stopped, false) }
            guard state.spans.count < self.capacity else { return (.queueFull, false) }
            state.spans.append(span)
            return (nil, state.spans.count == self.batchSize)
        }
        if let drop { self.counts.add(1, drop) }
        if isBatch { self.isDue.raise() }
    }

    /// Whether a full batch is queued.
    var hasBatch: Bool { self.state.withLock { $0.spans.count >= self.batchSize } }

    /// Whether the queue accepts spans.
    var isOpen: Bool { self.state.withLock { $0.isOpen } }

    /// Suspends until a full batch is queued, the queue is closed, or the task is cancelled. For
    /// one task at a time.
    func waitForBatch() async {
        await withTaskCancellationHandler {
            while self.isOpen, !self.hasBatch, !Task.isCancelled { await self.isDue.wait() }
        } onCancel: {
            self.isDue.raise()
        }
    }

    /// Removes the oldest spans, at most a batch.
    func takeBatch() -> [SpanRecord] {
        self.state.withLock { state in
            let batch = Array(state.spans.prefix(self.batchSize))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// Makes the queue refuse further spans.
    func close() {
        self.state.withLock { $0.isOpen = false }
        self.isDue.raise()
    }
}
