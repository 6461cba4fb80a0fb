internal import NIOCore
internal import Pacing
internal import Synchronization

/// The turns of streams and unary calls whose requests are to be admitted: as many at once as the
/// machine has cores, the others by tenant, and then by stream. Without them a tenant with many
/// streams would have as many tasks in the admission's queue, and each of another tenant's requests
/// would stand behind all of them. Small requests need none.
final class AdmissionTurns: Sendable {
    /// The bytes of the smallest run of requests that needs a turn. To admit fewer takes about as
    /// long as to suspend a task.
    static let leastBytes = 16 << 10

    private struct State {
        var free: Int
        var waiting = Turns<CheckedContinuation<Void, Never>>()
        var waiters = 0

        mutating func takeFree() -> Bool {
            guard self.free > 0 else { return false }
            self.free -= 1
            return true
        }
    }

    private let state: Mutex<State>

    /// - Parameter count: the turns at once.
    init(_ count: Int = System.coreCount) { self.state = Mutex(State(free: count)) }

    /// The turns that nobody has.
    var free: Int { self.state.withLock(\.free) }

    /// How many wait for a turn.
    var waiters: Int { self.state.withLock(\.waiters) }

    /// Runs `body` once it is the line's turn. The body cannot suspend, so no turn lasts longer
    /// than its work. Waits are short for the same reason: cancellation does not end them.
    ///
    /// - Parameters:
    ///   - line: the line in which it waits.
    ///   - bytes: what the turn costs.
    func withTurn<Value>(
        in line: TurnLine, bytes: Int, _ body: () throws -> Value
    ) async rethrows -> Value {
        if !self.takeNow() { await self.take(in: line, bytes: bytes) }
        defer { self.giveBack() }
        return try body()
    }

    /// Takes a turn if one is free. While somebody waits, none is.
    func takeNow() -> Bool { self.state.withLock { $0.takeFree() } }

    /// Takes a turn, once it is the line's.
    func take(in line: TurnLine, bytes: Int) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isFree = self.state.withLock { state in
                // One may have been given back in the meantime.
                if state.takeFree() { return true }
                state.waiting.append(continuation, in: line, cost: bytes)
                state.waiters += 1
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Ends a turn: it passes to the next one that waits.
    func giveBack() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard let next = state.waiting.popFirst() else {
                state.free += 1
                return nil
            }
            state.waiters -= 1
            return next
        }
        next?.resume()
    }
}
