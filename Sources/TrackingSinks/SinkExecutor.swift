// Where sinks run that block.
internal import Dispatch

/// Runs a sink on a queue of its own: a slow disk or a pipe that nobody reads keeps neither a
/// thread of the tasks' pool nor the journal's queue.
final class SinkExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// A queue for the sink of that name.
    init(_ name: String) { self.queue = DispatchQueue(label: "sightline.sink.\(name)") }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
}
