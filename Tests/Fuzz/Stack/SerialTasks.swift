// Runs all Swift tasks of the process on one thread, in order, through a hook of the concurrency
// runtime. So a run is reproducible, and it has ended once no job is left.
internal import Glibc
internal import Synchronization

/// The jobs of tasks without an executor of their own.
enum SerialTasks {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void

    private static let jobs = Mutex<[UnownedJob]>([])
    /// The default executor: both of its words are zero.
    private static var anyThread: UnownedSerialExecutor {
        unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    }

    /// Takes over all jobs from now on. Only a sleep that ends enqueues from another thread.
    static func takeOver() {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("the concurrency runtime has no swift_task_enqueueGlobal_hook")
        }
        symbol.assumingMemoryBound(to: EnqueueHook?.self).pointee = { job, _ in
            SerialTasks.jobs.withLock { $0.append(job) }
        }
    }

    /// Runs the queued jobs and those that they enqueue; returns whether there were any.
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

    /// Whether no job is queued.
    static var isIdle: Bool { Self.jobs.withLock { $0.isEmpty } }
}
