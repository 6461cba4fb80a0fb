internal import Pacing
internal import ServiceLifecycle
package import SinkKit
internal import Synchronization
package import TrackingRules

/// A sink that its forwarder and a replay use: one batch at a time, in turn.
package final class SerializedSink: ResumableSink, PositionedSink, ErasableSink {
    private let sink: any Sink
    private let forgotten: ForgottenSubjects
    /// Held for a batch of the forwarder or of a replay, and for a piece of an erasure.
    private let lock = AsyncLock()
    private let state = Mutex(State())

    private struct State {
        /// A loss that the sink reported to a replay, and that only the forwarder can make good.
        var unreportedLoss: String?
        var hasEnded = false
        var isStopping = false
    }

    /// Wraps a sink.
    ///
    /// - Parameter forgotten: whose hits are delivered without their subject.
    package init(_ sink: any Sink, forgotten: ForgottenSubjects = ForgottenSubjects()) {
        self.sink = sink
        self.forgotten = forgotten
    }

    /// The wrapped sink's name.
    package var name: String { self.sink.name }

    /// The wrapped sink's limit.
    package var maxBatch: BatchLimit { self.sink.maxBatch }

    /// The wrapped sink's token; empty if it has none.
    package var resumeToken: String { (self.sink as? any ResumableSink)?.resumeToken ?? "" }

    /// Resumes the wrapped sink if it can be resumed.
    package func resume(at token: String) { (self.sink as? any ResumableSink)?.resume(at: token) }

    /// Gives the wrapped sink the journal's groups if it asks for them.
    package func use(_ groups: JournalGroups) { (self.sink as? any PositionedSink)?.use(groups) }

    /// Delivers for the forwarder.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await self.inTurn {
            let loss = self.state.withLock { state in
                defer { state.unreportedLoss = nil }
                return state.unreportedLoss
            }
            if let loss { return .dataLoss(reason: loss) }
            return await self.deliverMasked(hits)
        }
    }

    /// Masks at the last moment: of a subject that is erased no batch made before comes after.
    private func deliverMasked(_ hits: HitBatch) async -> SinkAnswer {
        do {
            return await self.sink.deliver(try hits.masked(by: self.forgotten))
        } catch {
            return SinkAnswer(failure: error)
        }
    }

    /// Erases a subject in the wrapped sink if it can be erased there: each piece has a turn of its
    /// own, between two batches.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        let sink = self.sink
        return await self.eraseInTurn { await sink.eraseIfPossible(subject) }
    }

    private func eraseInTurn(
        _ piece: @Sendable () async -> ErasurePiece
    ) async -> ErasurePiece {
        await self.inTurn(orAtStop: .last(.failed("\(Task.stopReason): ask again"))) {
            if self.state.withLock(\.hasEnded) {
                return .last(.failed("it was taken out of the list of sinks"))
            }
            switch await piece() {
            case .last(let erasure): return .last(erasure)
            case .followed(let next): return .followed { await self.eraseInTurn(next) }
            }
        }
    }

    /// Ends it for replays, as its forwarder has ended: returns after the batch that is under way,
    /// and no other follows. Its backend may be opened again then.
    package func end() async {
        self.state.withLock { $0.hasEnded = true }
        await self.inTurn {}
    }

    /// The same sink for a replay. A loss that it is told of is told to the forwarder too.
    package var replayed: any Sink { ReplayedSink(serialized: self) }

    fileprivate func replay(_ hits: HitBatch) async -> SinkAnswer {
        await self.inTurn(orAtStop: .unavailable(reason: Task.stopReason)) {
            if self.state.withLock(\.hasEnded) {
                return .unavailable(reason: "it was taken out of the list of sinks")
            }
            let answer = await self.deliverMasked(hits)
            if case .dataLoss(let reason) = answer {
                self.state.withLock { $0.unreportedLoss = reason }
            }
            return answer
        }
    }

    /// - Parameter stopAnswer: returned if the server stops before the call has its turn, since the
    ///   stop waits for the call; nil: the call waits for its turn.
    private func inTurn<Answer: Sendable>(
        orAtStop stopAnswer: Answer? = nil, _ body: () async -> Answer
    ) async -> Answer {
        let place = self.lock.enqueue()
        defer { place.leave() }
        // Outside of any service the handler below is never called.
        if stopAnswer != nil, self.state.withLock(\.isStopping) { place.cancel() }
        let hasTurn = await withGracefulShutdownHandler {
            await place.acquire()
        } onGracefulShutdown: {
            self.state.withLock { $0.isStopping = true }
            if stopAnswer != nil { place.cancel() }
        }
        // A stop alone cancels it, maybe while it had the turn at once.
        if let stopAnswer, !hasTurn || place.isCancelled { return stopAnswer }
        return await body()
    }
}

private struct ReplayedSink: Sink {
    let serialized: SerializedSink

    var name: String { self.serialized.name }
    var maxBatch: BatchLimit { self.serialized.maxBatch }

    func deliver(_ hits: HitBatch) async -> SinkAnswer { await self.serialized.replay(hits) }
}
