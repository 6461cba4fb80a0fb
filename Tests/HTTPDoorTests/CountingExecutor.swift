internal import Dispatch
internal import Synchronization

/// Counts the jobs that it runs.
final class CountingExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "CountingExecutor")
    private let jobs = Atomic(0)

    /// The jobs so far.
    var count: Int { self.jobs.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        self.jobs.add(1, ordering: .relaxed)
        let job = UnownedJob(job)
        self.queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
