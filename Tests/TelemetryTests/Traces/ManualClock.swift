// Time that stands still until a test moves it.
internal import Synchronization

/// A clock whose sleeps end when the test says so.
final class ManualClock: Clock {
    typealias Duration = Swift.Duration

    struct Instant: InstantProtocol {
        let sinceStart: Duration

        func advanced(by duration: Duration) -> Instant {
            Instant(sinceStart: self.sinceStart + duration)
        }
        func duration(to other: Instant) -> Duration { other.sinceStart - self.sinceStart }
        static func < (left: Instant, right: Instant) -> Bool { left.sinceStart < right.sinceStart }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(sinceStart: .zero)
        var lastID = 0
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let begun = AsyncStream.makeStream(of: Duration.self)

    var now: Instant { self.state.withLock { $0.now } }
    let minimumResolution = Duration.nanoseconds(1)

    /// The sleeps that have begun, by their length, in order; for one reader.
    var sleeps: AsyncStream<Duration> { self.begun.stream }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = self.state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (length, isCancelled) = self.state.withLock { state in
                    let isCancelled = state.cancelled.remove(id) != nil
                    if !isCancelled {
                        state.sleepers[id] = Sleeper(
                            deadline: deadline, continuation: continuation)
                    }
                    return (state.now.duration(to: deadline), isCancelled)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                self.begun.continuation.yield(length)
            }
        } onCancel: {
            let sleeper = self.state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Moves the time on, and ends the sleeps whose time has come.
    func advance(by duration: Duration) {
        let due = self.state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers.removeValue(forKey: id) }
            return due.values
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
