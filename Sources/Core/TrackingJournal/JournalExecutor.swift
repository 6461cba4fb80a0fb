internal import Storage

/// Runs the forwarders of a journal without a disk on the journal's queue.
///
/// There an ack waits for the sink, so that forming a group, delivering it and acknowledging it are
/// one chain of work. On separate threads each step would only wake the next.
final class JournalExecutor: TaskExecutor {
    private let queue: any WorkQueue

    init(_ queue: any WorkQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
