internal import GRPCCore
internal import Synchronization

/// Gives each call its turn, one after the other. A call that ends while it waits leaves at once:
/// its stream is free then, and a client could leave any number of such calls behind.
final class SideTurns: Sendable {
    /// The calls that may wait. The streams are no bound: gRPC tells nobody of the end of one that
    /// closes before its handler begins.
    private let maxWaiting: Int
    private let state = Mutex(State())

    private struct State {
        /// Whether a call has its turn.
        var isTaken = false
        /// They yield a call's turn, and are finished when the call ends.
        var waiting: [AsyncStream<Void>.Continuation] = []

        mutating func giveNext() {
            self.isTaken = false
            while !self.isTaken, !self.waiting.isEmpty {
                // It is taken from now on, so that no other comes first; unless the call has ended.
                if case .enqueued = self.waiting.removeFirst().yield() { self.isTaken = true }
            }
        }
    }

    init(maxWaiting: Int) { self.maxWaiting = maxWaiting }

    /// Runs `body` when it is its call's turn. An actor would begin the next call while one waits
    /// for the journal: so all of them would stand in its queue, and each commit behind them.
    ///
    /// - Throws: `CancellationError` if the call ends before, the status of one too many, or errors
    ///   of `body`.
    func run<Answer: Sendable>(_ body: () async throws -> Answer) async throws -> Answer {
        let (turns, turn) = AsyncStream.makeStream(of: Void.self)
        try self.state.withLock { state in
            guard state.waiting.count < self.maxWaiting else {
                throw ServiceError.overloaded.status
            }
            state.waiting.append(turn)
            if !state.isTaken { state.giveNext() }
        }
        defer { self.state.withLock { $0.waiting.removeAll { $0 == turn } } }
        // gRPC does not cancel the task of a call that ends; a server that stops does.
        return try await withRPCCancellationHandler {
            var iterator = turns.makeAsyncIterator()
            guard await iterator.next() != nil else { throw CancellationError() }
            defer { self.state.withLock { $0.giveNext() } }
            // It may have ended after it was given its turn. Without a reader a stream ends, too.
            let again = withExtendedLifetime(turns) { turn.yield() }
            if case .terminated = again { throw CancellationError() }
            try Task.checkCancellation()
            return try await body()
        } onCancelRPC: {
            turn.finish()
        }
    }
}
