// Where tasks run that prefer a few threads of their own.
internal import Dispatch
internal import Pacing
internal import Synchronization
internal import Testing

@Suite(.timeLimit(.minutes(10)))
struct ThreadPoolExecutorTests {
    /// Closed until it is opened; waiting for it blocks the thread.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)

        func pass() {
            self.semaphore.wait()
            self.semaphore.signal()
        }

        func open() { self.semaphore.signal() }
    }

    /// How many are inside, and how many were at most.
    private final class Room: Sendable {
        private let state = Mutex((inside: 0, most: 0, entered: 0))

        var inside: Int { self.state.withLock(\.inside) }
        var most: Int { self.state.withLock(\.most) }
        var entered: Int { self.state.withLock(\.entered) }

        func enter() {
            self.state.withLock { state in
                state.inside += 1
                state.entered += 1
                state.most = max(state.most, state.inside)
            }
        }

        func leave() { self.state.withLock { $0.inside -= 1 } }
    }

    @Test("as many tasks run at once as there are threads, and Swift's pool runs others meanwhile")
    func threads() async {
        let executor = ThreadPoolExecutor(label: "sightline.test", threads: 2)
        let (gate, room) = (Gate(), Room())
        let tasks = (0..<20).map { _ in
            Task(executorPreference: executor) {
                room.enter()
                gate.pass()
                room.leave()
            }
        }
        // More of them would occupy each thread of the pool.
        while room.inside < 2 { await Task.yield() }
        for _ in 0..<1000 { await Task.yield() }
        #expect(room.entered == 2)
        gate.open()
        for task in tasks { await task.value }
        #expect(room.entered == 20 && room.most == 2 && room.inside == 0)
    }

    /// Where a task waits until it is sent on.
    private final class Halt: Sendable {
        private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

        func wait() async {
            await withCheckedContinuation { continuation in
                self.waiting.withLock { $0 = continuation }
            }
        }

        /// Who waits there, once somebody does.
        func arrival() async -> CheckedContinuation<Void, Never> {
            while true {
                if let arrival = self.waiting.withLock({ exchange(&$0, with: nil) }) {
                    return arrival
                }
                await Task.yield()
            }
        }
    }

    @Test("a task comes back to the threads after each suspension, and leaves them at the end")
    func suspensions() async {
        let executor = ThreadPoolExecutor(label: "sightline.test", threads: 1)
        let (halts, gates) = ([Halt(), Halt()], [Gate(), Gate()])
        let (room, occupied) = (Room(), Room())
        func occupy(until gate: Gate) async {
            let count = occupied.entered
            Task(executorPreference: executor) {
                occupied.enter()
                gate.pass()
            }
            // It begins once the task that had the one thread is suspended.
            while occupied.entered == count { await Task.yield() }
        }
        let task = Task {
            await withTaskExecutorPreference(executor) {
                await halts[0].wait()
                room.enter()
            }
            await halts[1].wait()
            room.enter()
        }
        let inside = await halts[0].arrival()
        await occupy(until: gates[0])
        inside.resume()
        for _ in 0..<1000 { await Task.yield() }
        #expect(room.entered == 0)
        gates[0].open()
        let outside = await halts[1].arrival()
        await occupy(until: gates[1])
        outside.resume()
        await task.value
        #expect(room.entered == 2)
        gates[1].open()
    }

    @Test("jobs begin in the order in which they came")
    func order() async {
        let executor = ThreadPoolExecutor(label: "sightline.test", threads: 1)
        let (gate, numbers) = (Gate(), Numbers())
        let first = Task(executorPreference: executor) { gate.pass() }
        let tasks = (0..<50).map { number in
            Task(executorPreference: executor) { numbers.add(number) }
        }
        gate.open()
        await first.value
        for task in tasks { await task.value }
        #expect(numbers.all == Array(0..<50))
    }

    private final class Numbers: Sendable {
        private let state = Mutex([Int]())

        var all: [Int] { self.state.withLock { $0 } }

        func add(_ number: Int) { self.state.withLock { $0.append(number) } }
    }
}
