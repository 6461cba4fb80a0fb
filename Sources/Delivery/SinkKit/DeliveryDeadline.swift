internal import ServiceLifecycle
internal import Synchronization

/// Until when a delivery may wait for its backend. It may wait without end until the server stops.
package final class DeliveryDeadline: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Creates a deadline that is not set yet.
    package init() {}

    /// Sets the end of the delivery to a time from now, unless an earlier one was set.
    package func set(after time: Duration) {
        let new = ContinuousClock.now + time
        self.end.withLock { end in end = min(new, end ?? new) }
    }

    /// Whether the delivery has to end now.
    package var hasPassed: Bool { self.end.withLock { end in end.map { $0 <= .now } ?? false } }

    /// Runs a delivery that ends `grace` after the server begins to stop, and at once when its task
    /// is cancelled.
    package static func during<Value: Sendable>(
        grace: Duration, isolation: isolated (any Actor)? = #isolation,
        _ delivery: (DeliveryDeadline) async -> Value
    ) async -> Value {
        let deadline = DeliveryDeadline()
        return await withTaskCancellationHandler {
            await withGracefulShutdownHandler {
                await delivery(deadline)
            } onGracefulShutdown: {
                deadline.set(after: grace)
            }
        } onCancel: {
            deadline.set(after: .zero)
        }
    }
}
