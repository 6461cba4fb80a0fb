internal import Pacing
package import SinkKit
internal import Synchronization

/// What an operator sees of one sink's delivery, and asks of it. The forwarder delivers while the
/// sink is not paused.
package final class SinkState: Sendable {
    /// The sink's name.
    package let name: String
    /// The hits that went before the sink had them, and that it has not been told of.
    package let untoldHits: @Sendable () -> Int
    private let state: Mutex<State>
    /// Raised when a pause ends.
    private let pauseEnded = Signal()

    private struct State {
        var isPaused: Bool
        var isRequired: Bool
        var filter: HitFilter?
        var hasEnded = false
        var lastError: Failure?
        /// Whether the forwarder waits for the end of a pause.
        var holdsForwarder = false
    }

    /// Why a delivery failed.
    package struct Failure: Sendable, Equatable {
        /// The sink's reason.
        package let reason: String
        /// When, in microseconds since 1970.
        package let time: Int64

        /// Creates a failure.
        package init(reason: String, time: Int64) {
            self.reason = reason
            self.time = time
        }
    }

    /// The state of a sink that has not failed.
    ///
    /// - Parameters:
    ///   - filter: which hits the sink gets; nil: all.
    ///   - untoldHits: asks the journal.
    package init(
        _ name: String, isRequired: Bool = true, isPaused: Bool = false,
        filter: HitFilter? = nil,
        untoldHits: @escaping @Sendable () -> Int = { 0 }
    ) {
        self.name = name
        self.untoldHits = untoldHits
        self.state = Mutex(
            State(isPaused: isPaused, isRequired: isRequired, filter: filter))
    }

    /// Whether the journal keeps everything until the sink has it.
    package var isRequired: Bool { self.state.withLock(\.isRequired) }

    /// Which hits the sink gets; nil: all. A change holds from the next batch on.
    package var filter: HitFilter? { self.state.withLock(\.filter) }

    /// Takes what a reload has changed.
    package func set(isRequired: Bool, filter: HitFilter?) {
        self.state.withLock { ($0.isRequired, $0.filter) = (isRequired, filter) }
    }

    /// Whether the sink is paused.
    package var isPaused: Bool { self.state.withLock(\.isPaused) }

    /// The last failure of a delivery; nil if there was none since the start.
    package var lastError: Failure? { self.state.withLock(\.lastError) }

    /// Stops delivery after the batch that is under way. The journal keeps what comes, within its
    /// limits: of a required sink everything until it is full, of another sink `max_lag_bytes`.
    package func pause() { self.state.withLock { $0.isPaused = true } }

    /// Goes on with delivery.
    package func resume() {
        self.state.withLock { ($0.isPaused, $0.holdsForwarder) = (false, false) }
        self.pauseEnded.raise()
    }

    /// Ends a pause without delivery: the server stops, and the journal keeps the rest.
    func end() {
        self.state.withLock { ($0.hasEnded, $0.holdsForwarder) = (true, false) }
        self.pauseEnded.raise()
    }

    /// Notes that a delivery failed.
    func note(_ failure: Failure) { self.state.withLock { $0.lastError = failure } }

    /// Whether the forwarder waits for the end of a pause.
    var holdsForwarder: Bool { self.state.withLock(\.holdsForwarder) }

    /// Waits while the sink is paused. Called by its forwarder alone.
    ///
    /// - Returns: false if the server stops while the sink is paused.
    func mayDeliver() async -> Bool {
        while true {
            let (isPaused, hasEnded) = self.state.withLock { state in
                state.holdsForwarder = state.isPaused && !state.hasEnded
                return (state.isPaused, state.hasEnded)
            }
            if !isPaused { return true }
            if hasEnded { return false }
            await self.pauseEnded.wait()
        }
    }
}
