// The journal's queue on the fuzzer's thread.
internal import TrackingJournal

/// A queue whose work is done when somebody says so. `@unchecked Sendable`: everything happens on
/// one thread.
final class HeldQueue: WorkQueue, @unchecked Sendable {
    private var work: [@Sendable () -> Void] = []

    func async(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }

    /// Nothing in a journal without a disk waits: it would be done at once.
    func async(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        self.work.append(work)
    }

    /// Does what waits, and what comes of it.
    func run() {
        while !self.work.isEmpty { self.work.removeFirst()() }
    }
}
