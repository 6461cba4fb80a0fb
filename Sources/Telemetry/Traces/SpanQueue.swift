// Between the spans that end and the exporter that sends them: bounded, and never in their way.
internal import Synchronization

/// Spans that wait for their export. Adding one never waits: where the queue is full the span is
/// dropped, and counted.
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
    ///   - capacity: spans that may wait.
    ///   - batchSize: spans of one export; so many that wait are due at once.
    init(capacity: Int, batchSize: Int, counts: SpanCounts) {
        self.capacity = capacity
        self.batchSize = min(batchSize, capacity)
        self.counts = counts
    }

    /// Adds a span that has ended.
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

    /// Whether a whole batch waits.
    var hasBatch: Bool { self.state.withLock { $0.spans.count >= self.batchSize } }

    /// Whether spans are still taken.
    var isOpen: Bool { self.state.withLock { $0.isOpen } }

    /// Waits until a whole batch is there, the queue is closed, or the task is cancelled. One task
    /// at a time.
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

    /// Takes the oldest spans, at most a batch of them.
    func takeBatch() -> [SpanRecord] {
        self.state.withLock { state in
            let batch = Array(state.spans.prefix(self.batchSize))
            state.spans.removeFirst(batch.count)
            return batch
        }
    }

    /// Takes no more spans.
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
