// A clock that a test controls.
internal import Synchronization

/// Each sleep returns at once and advances the clock, up to a number of them; the next one lasts
/// until it is cancelled.
package final class TestClock: Clock {
    package typealias Duration = Swift.Duration

    package struct Instant: InstantProtocol {
        package let sinceStart: Duration

        package func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: self.sinceStart + duration)
        }
        package func duration(to other: Instant) -> Duration { other.sinceStart - self.sinceStart }
        package static func < (left: Instant, right: Instant) -> Bool {
            left.sinceStart < right.sinceStart
        }
    }

    private struct State {
        var now = Instant(sinceStart: .zero)
        var sleeps: [Duration] = []
    }

    private let state = Mutex(State())
    private let maxSleeps: Int
    private let stuck = AsyncStream.makeStream(of: Void.self)

    package init(maxSleeps: Int = .max) { self.maxSleeps = maxSleeps }

    package var now: Instant { self.state.withLock { $0.now } }
    package let minimumResolution = Duration.nanoseconds(1)

    /// Every sleep so far.
    package var sleeps: [Duration] { self.state.withLock { $0.sleeps } }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
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
    package func waitUntilStuck() async {
        for await _ in self.stuck.stream { return }
    }
}
