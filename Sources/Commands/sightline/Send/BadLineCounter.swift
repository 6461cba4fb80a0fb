internal import Synchronization

/// Prints each malformed line to standard error, and counts them.
final class BadLineCounter: Sendable {
    private let total = Mutex(0)

    /// The number of malformed lines.
    var count: Int { self.total.withLock { $0 } }

    func report(_ origin: EventOrigin, _ bad: BadLine) {
        self.total.withLock { $0 += 1 }
        Console.error(SendReport.text(bad, at: origin))
    }
}
