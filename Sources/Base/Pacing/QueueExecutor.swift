package import Dispatch

/// Runs an actor on a dispatch queue, for work that blocks or that may use one core only: so a slow
/// disk, an unread pipe or a long computation does not occupy the cooperative thread pool.
package final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Runs jobs on a serial queue.
    package init(_ queue: DispatchQueue) { self.queue = queue }

    /// Runs jobs on a queue of its own.
    package convenience init(label: String) { self.init(DispatchQueue(label: label)) }

    /// Runs a job on the queue.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
