internal import ServiceLifecycle
package import SinkKit
internal import Synchronization
package import TrackingRules

/// A sink that its forwarder and a replay use: one batch at a time, in turn.
package final class SerializedSink: ResumableSink, ErasableSink {
    private let sink: any Sink
    private let forgotten: ForgottenSubjects
    private let turns = Mutex(Turns())

    private struct Turns {
        var isTaken = false
        /// The forwarder, a replay or an erasure: whichever came later.
        var waiting: [Waiting] = []
        /// The sink has told a replay of a loss, which only the forwarder can make good.
        var untoldLoss: String?
        var hasEnded = false
        var isStopping = false
    }

    private struct Waiting {
        /// Whether it gives up when the server stops, which waits for it.
        let mayLeave: Bool
        let turn: CheckedContinuation<Bool, Never>
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

    /// Delivers for the forwarder.
    package func deliver(_ hits: HitBatch) async -> SinkAnswer {
        await self.inTurn {
            let loss = self.turns.withLock { turns in
                defer { turns.untoldLoss = nil }
                return turns.untoldLoss
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

    /// Erases a subject in the wrapped sink, between two batches, if it can be erased there.
    package func erase(_ subject: Subject) async -> Erasure {
        await self.inTurn(orAtStop: .failed("\(Task.stopReason): ask again")) {
            if self.turns.withLock(\.hasEnded) {
                return .failed("it was taken out of the list of sinks")
            }
            return await self.sink.eraseIfPossible(subject)
        }
    }

    /// Ends it for replays, as its forwarder has ended: returns after the batch that is under way,
    /// and no other follows. Its backend may be opened again then.
    package func end() async {
        self.turns.withLock { $0.hasEnded = true }
        await self.inTurn {}
    }

    /// The same sink for a replay. A loss that it is told of is told to the forwarder too.
    package var replayed: any Sink { ReplayedSink(serialized: self) }

    fileprivate func replay(_ hits: HitBatch) async -> SinkAnswer {
        await self.inTurn(orAtStop: .unavailable(reason: Task.stopReason)) {
            if self.turns.withLock(\.hasEnded) {
                return .unavailable(reason: "it was taken out of the list of sinks")
            }
            let answer = await self.deliverMasked(hits)
            if case .dataLoss(let reason) = answer {
                self.turns.withLock { $0.untoldLoss = reason }
            }
            return answer
        }
    }

    private func inTurn<Answer>(
        orAtStop left: Answer? = nil, _ body: () async -> Answer
    ) async -> Answer {
        let hasTurn = await self.take(mayLeave: left != nil)
        if !hasTurn, let left { return left }
        let answer = await body()
        let next = self.turns.withLock { turns in
            turns.isTaken = !turns.waiting.isEmpty
            return turns.isTaken ? turns.waiting.removeFirst() : nil
        }
        next?.turn.resume(returning: true)
        return answer
    }

    private func take(mayLeave: Bool) async -> Bool {
        await withGracefulShutdownHandler {
            await withCheckedContinuation { turn in
                self.turns.withLock { turns in
                    if turns.isTaken, !(mayLeave && turns.isStopping) {
                        turns.waiting.append(Waiting(mayLeave: mayLeave, turn: turn))
                    } else {
                        turn.resume(returning: !turns.isTaken)
                        turns.isTaken = true
                    }
                }
            }
        } onGracefulShutdown: {
            if mayLeave { self.leave() }
        }
    }

    private func leave() {
        let left = self.turns.withLock { turns in
            turns.isStopping = true
            defer { turns.waiting.removeAll(where: \.mayLeave) }
            return turns.waiting.filter(\.mayLeave)
        }
        for waiting in left { waiting.turn.resume(returning: false) }
    }
}

private struct ReplayedSink: Sink {
    let serialized: SerializedSink

    var name: String { self.serialized.name }
    var maxBatch: BatchLimit { self.serialized.maxBatch }

    func deliver(_ hits: HitBatch) async -> SinkAnswer { await self.serialized.replay(hits) }
}
