// A clock that a test controls.
internal import Synchronization

/// Each sleep returns at once and advances the clock, up to a number of them; the next one lasts
/// until it is cancelled.
final class TestClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        let sinceStart: Duration

        func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: self.sinceStart + duration)
        }
        func duration(to other: Instant) -> Duration { other.sinceStart - self.sinceStart }
        static func < (left: Instant, right: Instant) -> Bool { left.sinceStart < right.sinceStart }
    }

    private struct State {
        var now = Instant(sinceStart: .zero)
        var sleeps: [Duration] = []
    }

    private let state = Mutex(State())
    private let maxSleeps: Int
    private let stuck = AsyncStream.makeStream(of: Void.self)

    init(maxSleeps: Int = .max) { self.maxSleeps = maxSleeps }

    var now: Instant { self.state.withLock { $0.now } }
    let minimumResolution = Duration.nanoseconds(1)

    /// Every sleep so far.
    var sleeps: [Duration] { self.state.withLock { $0.sleeps } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let isStuck = self.state.withLock { state in
            state.sleeps.append(state.now.duration(to: deadline))
            guard state.sleeps.count <= self.maxSleeps else { return true }
            state.now = max(state.now, deadline)
            return false
        }
        guard isStuck else { return }
        self.stuck.continuation.yield()
        let never = AsyncStream.makeStream(of: Never.self)
        for await _ in never.stream {}
        throw CancellationError()
    }

    /// Waits until a sleep has begun that does not return.
    func waitUntilStuck() async {
        for await _ in self.stuck.stream { return }
    }
}
