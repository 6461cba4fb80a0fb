// A wall clock that a test sets, and that wakes whoever waits for its time.
@testable internal import Credentials
internal import Synchronization

/// Microseconds since 1970, moved by hand.
final class ManualCredentialClock: Sendable {
    private struct State {
        var now: Int64
        var waiters: [(until: Int64, wake: AsyncStream<Void>.Continuation)] = []
    }

    private let state: Mutex<State>

    init(_ now: Int64) { self.state = Mutex(State(now: now)) }

    /// The clock, as the server has it.
    var clock: CredentialClock {
        CredentialClock(now: { self.state.withLock { $0.now } }) { try await self.wait($0) }
    }

    /// Sets the time, and wakes those whose time it is.
    func set(_ time: Int64) {
        let woken = self.state.withLock { state in
            state.now = time
            let woken = state.waiters.filter { $0.until <= time }
            state.waiters.removeAll { $0.until <= time }
            return woken
        }
        for waiter in woken { waiter.wake.finish() }
    }

    private func wait(_ time: Int64) async throws {
        let (stream, wake) = AsyncStream.makeStream(of: Void.self)
        let isOver = self.state.withLock { state in
            if state.now >= time { return true }
            state.waiters.append((time, wake))
            return false
        }
        if isOver { return }
        for await _ in stream {}
        try Task.checkCancellation()
    }
}
