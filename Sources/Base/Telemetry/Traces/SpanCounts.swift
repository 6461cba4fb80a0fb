internal import Synchronization

/// Counts recorded spans by outcome since the start. Every ended span is counted once, or is still
/// queued. May be read from any thread.
package final class SpanCounts: Sendable {
    private let exported = Atomic(0)
    private let queueFull = Atomic(0)
    private let stopped = Atomic(0)
    private let failed = Atomic(0)
    private let rejected = Atomic(0)

    /// Creates counts of zero.
    package init() {}

    /// The outcome of a recorded span.
    package enum Outcome: CaseIterable, Sendable {
        /// The receiver accepted it.
        case exported
        /// Dropped because the queue was full.
        case queueFull
        /// Dropped because the exporter stopped.
        case stopped
        /// Lost because the receiver was unreachable or refused the batch.
        case failed
        /// Refused by the receiver as part of an accepted batch.
        case rejected
    }

    /// The number of spans with this outcome.
    package func count(of outcome: Outcome) -> Int {
        self.withCounter(of: outcome) { $0.load(ordering: .relaxed) }
    }

    func add(_ count: Int, _ outcome: Outcome) {
        self.withCounter(of: outcome) { _ = $0.wrappingAdd(count, ordering: .relaxed) }
    }

    private func withCounter<Value>(
        of outcome: Outcome, _ body: (borrowing Atomic<Int>) -> Value
    ) -> Value {
        switch outcome {
        case .exported: body(self.exported)
        case .queueFull: body(self.queueFull)
        case .stopped: body(self.stopped)
        case .failed: body(self.failed)
        case .rejected: body(self.rejected)
        }
    }
}
