// The journal's queue on the fuzzer's thread.
internal import Storage
internal import TrackingJournal

/// A queue that runs its work on demand. `@unchecked Sendable`: everything runs on one thread.
final class HeldQueue: WorkQueue, @unchecked Sendable {
    private var work: [@Sendable () -> Void] = []

    func async(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }

    /// A journal without a disk has no delayed work, so delays are ignored.
    func async(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        self.work.append(work)
    }

    /// Runs the queued work, and any that it enqueues.
    func run() {
        while !self.work.isEmpty { self.work.removeFirst()() }
    }
}
