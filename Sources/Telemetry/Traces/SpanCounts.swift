// What became of the spans that were recorded.
internal import Synchronization

/// Counts since the start, to be read at any time. Every span that has ended is in one of them, or
/// still waits.
package final class SpanCounts: Sendable {
    private let exported = Atomic(0)
    private let queueFull = Atomic(0)
    private let stopped = Atomic(0)
    private let failed = Atomic(0)
    private let rejected = Atomic(0)

    /// No spans.
    package init() {}

    /// What may become of a span.
    package enum Outcome: CaseIterable, Sendable {
        /// The receiver has it.
        case exported
        /// Dropped, since the queue was full.
        case queueFull
        /// Dropped, since the exporter had to stop.
        case stopped
        /// Lost, since the receiver could not be reached in time or refused the batch.
        case failed
        /// Refused by the receiver, out of a batch that it took.
        case rejected
    }

    /// Spans with this outcome.
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
