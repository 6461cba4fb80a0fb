// All of the process's Swift tasks on one thread, in order: what a run of bytes leads to is the
// same each time, and a run has ended once nothing is left to do. The concurrency runtime lets a
// process take its jobs over by a hook.
internal import Glibc
internal import Synchronization

/// The jobs of tasks that no executor of their own asks for.
enum SerialTasks {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void

    private static let jobs = Mutex<[UnownedJob]>([])
    /// The executor of tasks that have none: both of its words are zero.
    private static var anyThread: UnownedSerialExecutor {
        unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    }

    /// Takes over all jobs from now on. A sleep that ends still puts its job here from a thread of
    /// its own.
    static func takeOver() {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("the concurrency runtime has no swift_task_enqueueGlobal_hook")
        }
        symbol.assumingMemoryBound(to: EnqueueHook?.self).pointee = { job, _ in
            SerialTasks.jobs.withLock { $0.append(job) }
        }
    }

    /// Runs the jobs that wait, and those that come of them; whether there were any.
    static func run() -> Bool {
        var hasRun = false
        while true {
            let waiting = Self.jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            if waiting.isEmpty { return hasRun }
            hasRun = true
            for job in waiting { job.runSynchronously(on: Self.anyThread) }
        }
    }

    /// Whether no job waits.
    static var isIdle: Bool { Self.jobs.withLock { $0.isEmpty } }
}
