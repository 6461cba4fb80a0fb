// A clock that a test controls.
internal import Synchronization

/// Stands still until a test moves it, or a sleep does: each returns at once and advances the
/// clock, up to a number of them. Later ones last until the test has advanced the clock that far,
/// or until they are cancelled.
package final class TestClock: Clock {
    package typealias Duration = Swift.Duration
    package typealias Instant = ContinuousClock.Instant

    private struct Sleeper {
        let end: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var elapsed = Duration.zero
        var sleeps: [Duration] = []
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let maxSleeps: Int
    private let lasting = AsyncStream.makeStream(of: Duration.self)

    /// Its time when it was made.
    package let start = ContinuousClock.now
    package let minimumResolution = Duration.nanoseconds(1)

    /// A clock with this many sleeps that return at once.
    package init(maxSleeps: Int = .max) { self.maxSleeps = maxSleeps }

    /// How far it was moved.
    package var elapsed: Duration { self.state.withLock { $0.elapsed } }

    package var now: Instant { self.start + self.elapsed }

    /// Every sleep so far.
    package var sleeps: [Duration] { self.state.withLock { $0.sleeps } }

    /// The sleeps that have begun and last, by their length, in order; for one reader.
    package var lastingSleeps: AsyncStream<Duration> { self.lasting.stream }

    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let end = self.start.duration(to: deadline)
        let number = self.state.withLock { state -> Int? in
            state.sleeps.append(end - state.elapsed)
            if state.sleeps.count > self.maxSleeps { return state.sleeps.count }
            state.elapsed = max(state.elapsed, end)
            return nil
        }
        guard let number else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.begin(number, Sleeper(end: end, continuation: continuation))
            }
        } onCancel: {
            let sleeper = self.state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: number)
                if sleeper == nil { state.cancelled.insert(number) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Begins a sleep, which may be cancelled by now, or over.
    private func begin(_ number: Int, _ sleeper: Sleeper) {
        let (rest, isCancelled) = self.state.withLock { state in
            let rest = sleeper.end - state.elapsed
            let isCancelled = state.cancelled.remove(number) != nil
            if rest > .zero, !isCancelled { state.sleepers[number] = sleeper }
            return (rest, isCancelled)
        }
        if isCancelled {
            sleeper.continuation.resume(throwing: CancellationError())
        } else if rest <= .zero {
            sleeper.continuation.resume()
        }
        if rest > .zero { self.lasting.continuation.yield(rest) }
    }

    /// Waits until a sleep has begun that does not return.
    package func waitUntilStuck() async {
        for await _ in self.lasting.stream { return }
    }

    /// Moves the time on, and ends the sleeps whose time has come.
    package func advance(by duration: Duration) {
        let due = self.state.withLock { state in
            state.elapsed += duration
            let due = state.sleepers.filter { $0.value.end <= state.elapsed }
            for number in due.keys { state.sleepers.removeValue(forKey: number) }
            return due.values
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
