// Runs a whole history on one thread, in an order that the seed determines.
internal import Glibc
internal import Storage
internal import TrackingJournal

/// Queues, tasks and timers in simulated time. Picks the next ready item at random.
final class Scheduler: TaskExecutor, @unchecked Sendable {
    private let dice: Dice
    private var queues: [SimulatedQueue] = []
    private var jobs: [UnownedJob] = []
    private var timers: [Timer] = []
    private var timerCount = 0
    /// The simulated time since the history began.
    private(set) var time = Duration.zero
    private let start = ContinuousClock.now

    private struct Timer {
        let time: Duration
        let number: Int
        let action: () -> Void
    }

    init(dice: Dice) { self.dice = dice }

    var now: ContinuousClock.Instant { self.start + self.time }

    func enqueue(_ job: consuming ExecutorJob) { self.jobs.append(UnownedJob(job)) }

    /// The scheduler of the current history.
    nonisolated(unsafe) static var current: Scheduler?

    /// Makes tasks without an executor run here too, through a hook of the concurrency runtime. On
    /// threads of their own, their order would not depend on the seed.
    static func takeOver() {
        typealias Enqueue = @convention(thin) (UnownedJob) -> Void
        typealias Hook = @convention(thin) (UnownedJob, Enqueue) -> Void
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
            fatalError("the concurrency runtime has no swift_task_enqueueGlobal_hook")
        }
        symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in
            Scheduler.current?.jobs.append(job)
        }
    }

    func makeQueue() -> SimulatedQueue {
        let queue = SimulatedQueue(self)
        self.queues.append(queue)
        return queue
    }

    /// Calls `action` after a delay; the returned number cancels it.
    @discardableResult
    func after(_ delay: Duration, _ action: @escaping () -> Void) -> Int {
        self.timerCount += 1
        self.timers.append(
            Timer(time: self.time + max(delay, .zero), number: self.timerCount, action: action))
        return self.timerCount
    }

    /// Cancels a timer; false if it has fired.
    func cancel(_ number: Int) -> Bool {
        guard let index = self.timers.firstIndex(where: { $0.number == number }) else {
            return false
        }
        self.timers.remove(at: index)
        return true
    }

    /// Drops the queues of a process that has ended.
    func forgetQueues() {
        // What waits there holds the process that holds the queue.
        for queue in self.queues { queue.work = [] }
        self.queues = []
        self.timers = []
    }

    /// Runs one ready item; if there is none, advances to the next timer. False if nothing is left.
    func step() -> Bool {
        let ready = self.queues.filter { !$0.work.isEmpty }
        let count = ready.count + self.jobs.count
        guard count > 0 else { return self.passTime() }
        let chosen = self.dice.number(0...count - 1)
        if chosen < ready.count {
            ready[chosen].work.removeFirst()()
        } else {
            let job = self.jobs.remove(at: chosen - ready.count)
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
        return true
    }

    private func passTime() -> Bool {
        guard
            let index = self.timers.indices.min(by: {
                let (left, right) = (self.timers[$0], self.timers[$1])
                return (left.time, left.number) < (right.time, right.number)
            })
        else { return false }
        let timer = self.timers.remove(at: index)
        self.time = timer.time
        timer.action()
        return true
    }
}

/// A serial queue of a simulated process.
final class SimulatedQueue: WorkQueue, @unchecked Sendable {
    private let scheduler: Scheduler
    fileprivate var work: [() -> Void] = []

    init(_ scheduler: Scheduler) { self.scheduler = scheduler }

    func async(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }

    func async(after delay: Duration, _ work: @escaping @Sendable () -> Void) {
        self.scheduler.after(delay) { self.work.append(work) }
    }
}

/// A clock of simulated time.
struct SimulatedClock: Clock {
    let scheduler: Scheduler

    var now: ContinuousClock.Instant { self.scheduler.now }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        let sleep = Sleep(self.scheduler)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                sleep.begin(for: self.now.duration(to: deadline), continuation)
            }
        } onCancel: {
            sleep.cancel()
        }
    }

    private final class Sleep: @unchecked Sendable {
        private let scheduler: Scheduler
        private var timer: Int?
        private var continuation: CheckedContinuation<Void, any Error>?
        private var isCancelled = false

        init(_ scheduler: Scheduler) { self.scheduler = scheduler }

        func begin(for duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
            if self.isCancelled {
                continuation.resume(throwing: CancellationError())
                return
            }
            self.continuation = continuation
            self.timer = self.scheduler.after(duration) {
                self.continuation?.resume()
                self.continuation = nil
            }
        }

        func cancel() {
            self.isCancelled = true
            if let timer { _ = self.scheduler.cancel(timer) }
            self.continuation?.resume(throwing: CancellationError())
            self.continuation = nil
        }
    }
}
