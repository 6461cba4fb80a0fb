internal import Dispatch
internal import Synchronization

/// Runs tasks on a few threads of their own, for computations that take milliseconds: so they wait
/// for each other, and others that are ready run on Swift's pool meanwhile. Used with
/// `withTaskExecutorPreference`. Jobs begin in the order in which they came.
package final class ThreadPoolExecutor: TaskExecutor {
    private struct State {
        var jobs = FirstComeLine<UnownedJob>()
        /// Serial queues, since Dispatch gives those threads of their own; concurrent ones share
        /// the threads of Swift's pool.
        var idle: [DispatchQueue]
    }

    private let state: Mutex<State>

    /// Creates an executor.
    ///
    /// - Parameters:
    ///   - label: the threads' name for debuggers.
    ///   - threads: how many jobs run at once; at least 1.
    package init(label: String, threads: Int) {
        let queues = (0..<max(1, threads)).map { _ in DispatchQueue(label: label) }
        self.state = Mutex(State(idle: queues))
    }

    /// Runs a job once a thread is free.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let queue = self.state.withLock { state in
            state.jobs.append(job, cost: 1)
            return state.idle.popLast()
        }
        if let queue { queue.async { self.work(on: queue) } }
    }

    /// Runs jobs until there is none.
    private func work(on queue: DispatchQueue) {
        while let job = self.next(for: queue) {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    private func next(for queue: DispatchQueue) -> UnownedJob? {
        self.state.withLock { state in
            guard let job = state.jobs.popFirst()?.element else {
                state.idle.append(queue)
                return nil
            }
            return job
        }
    }
}
