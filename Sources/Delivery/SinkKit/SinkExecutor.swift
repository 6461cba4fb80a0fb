internal import Dispatch

/// Runs a sink that blocks on a queue of its own, so that a slow disk or an unread pipe occupies
/// neither the cooperative thread pool nor the journal's queue.
package final class SinkExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// Creates a queue labelled with the sink's name.
    package init(_ name: String) { self.queue = DispatchQueue(label: "sightline.sink.\(name)") }

    /// Runs a job on the queue.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
