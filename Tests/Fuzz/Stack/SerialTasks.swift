// All of the process's Swift tasks on one thread, in order: what a run of bytes leads to is the
// same each time, and a run has ended once nothing is left to do. The concurrency runtime lets a
// process take its jobs over by a hook.
internal import Glibc
internal import Synchronization

/// The jobs of tasks that no executor of their own asks for.
enum SerialTasks {
    private typealias Enqueue = @convention(thin) (UnownedJob) -> Void
    private typealias EnqueueHook = @convention(thin) (UnownedJob, Enqueue) -> Void
    private typealias DelayHook = @convention(thin) (UInt64, UnownedJob, UnsafeRawPointer) -> Void
    private typealias DeadlineHook =
        @convention(thin) (
            Int64, Int64, Int64, Int64, CInt, UnownedJob, UnsafeRawPointer
        ) -> Void

    private static let jobs = Mutex<[UnownedJob]>([])
    /// The executor of tasks that have none: both of its words are zero.
    private static var anyThread: UnownedSerialExecutor {
        unsafeBitCast((UInt(0), UInt(0)), to: UnownedSerialExecutor.self)
    }

    /// Takes over all jobs from now on. No task of a call may sleep: what the runtime waits with
    /// stays until the time is over, however soon the call ends.
    static func takeOver() {
        Self.hook("swift_task_enqueueGlobal_hook", EnqueueHook.self).pointee = { job, _ in
            SerialTasks.jobs.withLock { $0.append(job) }
        }
        Self.hook("swift_task_enqueueGlobalWithDelay_hook", DelayHook.self).pointee = { _, _, _ in
            fatalError("a task sleeps for a delay")
        }
        Self.hook("swift_task_enqueueGlobalWithDeadline_hook", DeadlineHook.self).pointee = {
            _, _, _, _, _, _, _ in fatalError("a task sleeps until a deadline")
        }
    }

    private static func hook<Hook>(
        _ name: String, _ type: Hook.Type
    ) -> UnsafeMutablePointer<Hook?> {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), name) else {
            fatalError("the concurrency runtime has no \(name)")
        }
        return symbol.assumingMemoryBound(to: Hook?.self)
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
