// Reports lines that hold no event, and counts them.
internal import Synchronization
internal import TrackingClient

/// Prints each bad line to standard error.
final class BadLineCounter: Sendable {
    private let total = Mutex(0)

    /// Bad lines so far.
    var count: Int { self.total.withLock { $0 } }

    func report(_ origin: EventOrigin, _ bad: BadLine) {
        self.total.withLock { $0 += 1 }
        Console.error(SendReport.text(bad, at: origin))
    }
}
