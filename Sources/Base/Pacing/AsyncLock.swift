internal import Synchronization

/// A lock for asynchronous work: tasks get it in the order in which they asked, and hold it while
/// they are suspended. An actor would not do, since it serves another task at each suspension.
///
/// Tasks that ask in a line (`TurnLine`) get it in turns: the tenant that had it longest ago, and
/// of its streams the one that had it longest ago.
///
///     let place = lock.enqueue()
///     defer { place.leave() }
///     guard await place.acquire() else { throw CancellationError() }
///
/// What ends a wait is the caller's choice, such as its task's cancellation, its call's end or the
/// server's shutdown: each calls `Place.cancel()`.
package final class AsyncLock: Sendable {
    private let state = Mutex(State())

    fileprivate struct State {
        /// The holder, and behind it those that wait, in the order in which they came.
        var queue: [Entry] = []
        var lastID: UInt64 = 0
        var turns = LockTurns()
    }

    fileprivate struct Entry {
        let id: UInt64
        let line: TurnLine?
        /// Set while the place's task is suspended in `acquire`.
        var waiter: CheckedContinuation<Bool, Never>?
        /// Whether the place was cancelled while it held the lock.
        var isCancelled = false
    }

    /// Creates a lock that nobody holds.
    package init() {}

    /// A task's place in the queue. Whoever enqueues has to `leave`.
    package struct Place: Sendable {
        fileprivate let lock: AsyncLock
        fileprivate let id: UInt64

        /// Waits until the lock is this place's. Called once.
        ///
        /// - Returns: false if the place was cancelled before the lock was its own.
        package func acquire() async -> Bool { await self.lock.acquire(self.id) }

        /// Ends the wait for the lock. It takes the lock from nobody that has it: a holder asks
        /// `isCancelled`.
        package func cancel() { self.lock.cancel(self.id) }

        /// Whether the place was cancelled, before or since it has the lock.
        package var isCancelled: Bool { self.lock.isCancelled(self.id) }

        /// Releases the lock, or gives up the place. The next in the queue gets the lock.
        package func leave() { self.lock.leave(self.id) }
    }

    /// Takes the last place in the queue, or in a line of it; it has the lock at once if there is
    /// no other.
    package func enqueue(in line: TurnLine? = nil) -> Place {
        Place(lock: self, id: self.state.withLock { $0.enqueue(in: line) })
    }

    private func acquire(_ id: UInt64) async -> Bool {
        // Most often nobody else has it; then no continuation is allocated.
        if let hasLock = self.state.withLock({ $0.hasLock(id) }) { return hasLock }
        return await withCheckedContinuation { waiter in
            let hasLock = self.state.withLock { state -> Bool? in
                if let hasLock = state.hasLock(id) { return hasLock }
                if let index = state.index(of: id) { state.queue[index].waiter = waiter }
                return nil
            }
            if let hasLock { waiter.resume(returning: hasLock) }
        }
    }

    private func cancel(_ id: UInt64) {
        let waiter = self.state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let index = state.index(of: id) else { return nil }
            if index > 0 { return state.queue.remove(at: index).waiter }
            state.queue[0].isCancelled = true
            return nil
        }
        waiter?.resume(returning: false)
    }

    private func isCancelled(_ id: UInt64) -> Bool {
        self.state.withLock { state in
            guard let index = state.index(of: id) else { return true }
            return state.queue[index].isCancelled
        }
    }

    private func leave(_ id: UInt64) {
        let (waiter, hasLock) = self.state.withLock { state in
            guard let index = state.index(of: id) else {
                return (CheckedContinuation<Bool, Never>?.none, false)
            }
            let entry = state.queue.remove(at: index)
            guard index == 0 else { return (entry.waiter, false) }
            // The next one has the lock from here on, so that no later one comes first.
            return (state.passOn(), true)
        }
        waiter?.resume(returning: hasLock)
    }
}

/// When each line had its last turn, of those that have waited since all were served.
private struct LockTurns {
    /// The number of the last turn.
    private var number: UInt64 = 0
    private var tenants: [[UInt8]: UInt64] = [:]
    private var lines: [TurnLine: UInt64] = [:]

    /// The lines that are remembered although they may have nothing that waits.
    private static let maxIdleLines = 1000

    /// Notes that an entry has the lock.
    mutating func note(_ line: TurnLine?) {
        guard let line else { return }
        self.number &+= 1
        self.tenants[line.tenant] = self.number
        self.lines[line] = self.number
    }

    /// Forgets lines that do not wait, if there are many.
    mutating func forget(allBut waiting: some Sequence<TurnLine>) {
        guard self.lines.count > Self.maxIdleLines else { return }
        let waiting = Set(waiting)
        let tenants = Set(waiting.map(\.tenant))
        self.lines = self.lines.filter { waiting.contains($0.key) }
        self.tenants = self.tenants.filter { tenants.contains($0.key) }
    }

    mutating func removeAll() { if self.number > 0 { self = LockTurns() } }

    /// Whether a line's turn comes before another's; the same line's does not.
    func isDue(_ line: TurnLine?, before other: TurnLine?) -> Bool {
        self.last(line) < self.last(other)
    }

    private func last(_ line: TurnLine?) -> (UInt64, UInt64) {
        guard let line else { return (0, 0) }
        return (self.tenants[line.tenant] ?? 0, self.lines[line] ?? 0)
    }
}

extension AsyncLock.State {
    fileprivate mutating func enqueue(in line: TurnLine?) -> UInt64 {
        self.lastID &+= 1
        if self.queue.isEmpty { self.turns.note(line) }
        self.queue.append(AsyncLock.Entry(id: self.lastID, line: line))
        return self.lastID
    }

    /// At 0 is the holder; nil if the place has left, or was cancelled while it waited.
    fileprivate func index(of id: UInt64) -> Int? { self.queue.firstIndex { $0.id == id } }

    /// Whether a place has the lock; nil while it waits.
    fileprivate func hasLock(_ id: UInt64) -> Bool? {
        guard let index = self.index(of: id) else { return false }
        return index == 0 ? true : nil
    }

    /// Makes the one whose turn it is the holder. Returns its continuation, if its task is
    /// suspended already.
    fileprivate mutating func passOn() -> CheckedContinuation<Bool, Never>? {
        guard !self.queue.isEmpty else {
            self.turns.removeAll()
            return nil
        }
        var next = 0
        for index in self.queue.indices.dropFirst()
        where self.turns.isDue(self.queue[index].line, before: self.queue[next].line) {
            next = index
        }
        let holder = self.queue.remove(at: next)
        self.queue.insert(holder, at: 0)
        self.turns.note(holder.line)
        self.turns.forget(allBut: self.queue.lazy.compactMap(\.line))
        defer { self.queue[0].waiter = nil }
        return self.queue[0].waiter
    }
}
