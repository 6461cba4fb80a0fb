internal import ServiceLifecycle
internal import Synchronization

/// Until when a delivery may wait for its backend. It may wait without end until the server stops.
package final class SinkStop: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Creates a stop that has no end yet.
    package init() {}

    /// Ends the delivery after a time, unless an earlier end was set.
    package func begin(after time: Duration) {
        let new = ContinuousClock.now + time
        self.end.withLock { end in end = min(new, end ?? new) }
    }

    /// Whether the delivery has to end now.
    package var isOver: Bool { self.end.withLock { end in end.map { $0 <= .now } ?? false } }

    /// Runs a delivery that ends `grace` after the server begins to stop, and at once when its task
    /// is cancelled.
    package static func during<Value: Sendable>(
        grace: Duration, isolation: isolated (any Actor)? = #isolation,
        _ delivery: (SinkStop) async -> Value
    ) async -> Value {
        let stop = SinkStop()
        return await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await delivery(stop)
            } onGracefulShutdown: {
                stop.begin(after: grace)
            }
        } onCancel: {
            stop.begin(after: .zero)
        }
    }
}
