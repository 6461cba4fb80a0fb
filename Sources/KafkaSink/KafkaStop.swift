// A server that stops does not wait for brokers that are gone.
internal import Synchronization

/// Until when a delivery may wait.
final class KafkaStop: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Ends the delivery after a time, unless an earlier end was set.
    func begin(after time: Duration) {
        let new = ContinuousClock.now + time
        self.end.withLock { end in end = min(new, end ?? new) }
    }

    /// Whether the delivery has to end now.
    var isOver: Bool { self.end.withLock { end in end.map { $0 <= .now } ?? false } }
}
