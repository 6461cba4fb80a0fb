internal import NIOCore
internal import Pacing
internal import Synchronization

/// The turns of streams and unary calls whose requests are to be admitted: as many at once as
/// Swift's pool has threads, the others by tenant, and then by stream. Without them a tenant with
/// many streams would have as many tasks in the pool's queue, and each of another tenant's requests
/// would stand behind all of them.
///
/// Whoever has a turn gives it back before it suspends. While nobody waits a turn costs a few
/// atomic operations, no lock and no allocation; small requests need none.
final class AdmissionTurns: Sendable {
    /// The bytes of the smallest run of requests that needs a turn. To admit fewer takes about as
    /// long as to suspend a task.
    static let leastBytes = 16 << 10

    private let maxTaken: Int
    private let taken = Atomic(0)
    private let waitingCount = Atomic(0)
    private let waiting = Mutex(Turns<CheckedContinuation<Void, Never>>())

    /// - Parameter maxTaken: the turns at once.
    init(maxTaken: Int = System.coreCount) { self.maxTaken = maxTaken }

    /// How many wait for a turn.
    var waiters: Int { self.waitingCount.load(ordering: .sequentiallyConsistent) }

    /// Takes a turn if one is free and nobody waits.
    func takeNow() -> Bool { self.waiters == 0 && self.takeFree() }

    /// Waits for a turn. Waits are short, since no turn lasts over a suspension: cancellation does
    /// not end them.
    func take(in line: TurnLine, bytes: Int) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let next = self.waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
                waiting.append(continuation, in: line, cost: bytes)
                self.waitingCount.wrappingAdd(1, ordering: .sequentiallyConsistent)
                // One may have been given back before it was seen that somebody waits.
                return self.takeFree() ? self.pop(&waiting) : nil
            }
            next?.resume()
        }
    }

    /// Ends a turn: it passes to the next one that waits.
    func giveBack() {
        if self.waiters > 0, let next = self.waiting.withLock({ self.pop(&$0) }) {
            return next.resume()
        }
        self.taken.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        // Somebody may have begun to wait before the turn was free.
        guard self.waiters > 0 else { return }
        let next = self.waiting.withLock { waiting -> CheckedContinuation<Void, Never>? in
            let isFree = self.waitingCount.load(ordering: .relaxed) > 0 && self.takeFree()
            return isFree ? self.pop(&waiting) : nil
        }
        next?.resume()
    }

    private func pop(
        _ waiting: inout Turns<CheckedContinuation<Void, Never>>
    ) -> CheckedContinuation<Void, Never>? {
        guard let next = waiting.popFirst() else { return nil }
        self.waitingCount.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        return next
    }

    private func takeFree() -> Bool {
        var taken = self.taken.load(ordering: .sequentiallyConsistent)
        while taken < self.maxTaken {
            let (isDone, seen) = self.taken.weakCompareExchange(
                expected: taken, desired: taken &+ 1, ordering: .sequentiallyConsistent)
            if isDone { return true }
            taken = seen
        }
        return false
    }
}
