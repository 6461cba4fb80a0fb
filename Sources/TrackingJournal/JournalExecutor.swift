// Where the forwarders of a journal without a disk run.
/// Runs tasks on a journal's queue.
///
/// Where nothing is written, an ack waits for the sink. There the turn that makes a group, the
/// group's delivery and its acks are one piece of work: on threads of their own they would only
/// wake each other.
final class JournalExecutor: TaskExecutor {
    private let queue: any WorkQueue

    init(_ queue: any WorkQueue) { self.queue = queue }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
