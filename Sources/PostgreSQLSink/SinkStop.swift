// Ends waits of a sink whose server hangs, when ours stops.
internal import Synchronization

/// The time after which a delivery waits for nothing any more; set when the server stops.
final class SinkStop: Sendable {
    private let end = Mutex<ContinuousClock.Instant?>(nil)

    /// Lets what is under way go on for a while.
    func begin(after grace: Duration) {
        self.end.withLock { end in
            let new = ContinuousClock.now + grace
            end = min(end ?? new, new)
        }
    }

    /// Whether that time is over.
    var isOver: Bool { self.end.withLock { $0.map { $0 <= .now } ?? false } }
}
