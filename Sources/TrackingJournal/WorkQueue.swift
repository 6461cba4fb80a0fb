// What the journal's parts run on.
internal import Foundation

/// A serial queue: one piece of work after the other, in the order of the calls.
package protocol WorkQueue: Sendable {
    /// Does the work after what was given before. Returns at once.
    func async(_ work: @escaping @Sendable () -> Void)
    /// Does the work once a while has passed. Returns at once.
    func async(after delay: Duration, _ work: @escaping @Sendable () -> Void)
}

/// A serial queue of Dispatch.
package final class DispatchWorkQueue: WorkQueue {
    let queue: DispatchQueue

    /// A queue of a name that debuggers show.
    package init(_ label: String) { self.queue = DispatchQueue(label: label) }

    /// Does the work after what was given before.
    package func async(_ work: @escaping @Sendable () -> Void) {
        self.queue.async(execute: work)
    }

    /// Does the work once a while has passed.
    package func async(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        let (seconds, attoseconds) = delay.components
        let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
        self.queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: work)
    }
}
