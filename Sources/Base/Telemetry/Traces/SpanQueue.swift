internal import Synchronization

/// A bounded queue of ended spans, in front of the exporter. Adding never blocks: if the queue is
/// full, the span is dropped and counted.
final class SpanQueue: Sendable {
    fileprivate struct State {
        var spans: [SpanRecord] = []
        var isOpen = true
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())
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
        let (drop, waiter) = self.state.withLock { state -> (SpanCounts.Outcome?, Waiter?) in
            guard state.isOpen else { return (.stopped, nil) }
            guard state.spans.count < self.capacity else { return (.queueFull, nil) }
            state.spans.append(span)
            return (nil, state.spans.count >= self.batchSize ? state.takeWaiter() : nil)
        }
        if let drop { self.counts.add(1, drop) }
        waiter?.resume()
    }

    /// Whether a full batch is queued.
    var hasBatch: Bool { self.state.withLock { $0.spans.count >= self.batchSize } }

    /// Whether the queue accepts spans.
    var isOpen: Bool { self.state.withLock { $0.isOpen } }

    /// Suspends until a full batch is queued, the queue is closed, or the task is cancelled. For
    /// one task at a time.
    func waitForBatch() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDue = self.state.withLock { state in
                    if !state.isOpen || state.spans.count >= self.batchSize || Task.isCancelled {
                        return true
                    }
                    state.waiter = continuation
                    return false
                }
                if isDue { continuation.resume() }
            }
        } onCancel: {
            self.state.withLock { $0.takeWaiter() }?.resume()
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
        let waiter = self.state.withLock { state in
            state.isOpen = false
            return state.takeWaiter()
        }
        waiter?.resume()
    }

    private typealias Waiter = CheckedContinuation<Void, Never>
}

extension SpanQueue.State {
    fileprivate mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
        defer { self.waiter = nil }
        return self.waiter
    }
}
