internal import Foundation

/// A serial queue, which runs work items one at a time, in the order of the calls.
package protocol WorkQueue: Sendable {
    /// Enqueues work. Returns at once.
    func async(_ work: @escaping @Sendable () -> Void)
    /// Enqueues work after a delay. Returns at once.
    func async(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

/// A serial queue on Dispatch.
package final class DispatchWorkQueue: WorkQueue {
    let queue: DispatchQueue

    /// Creates a queue with a label for debuggers.
    package init(_ label: String) { self.queue = DispatchQueue(label: label) }

    /// Enqueues work.
    package func async(_ work: @escaping @Sendable () -> Void) {
        self.queue.async(execute: work)
    }

    /// Enqueues work after a delay.
    package func async(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        self.queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
    }
}
