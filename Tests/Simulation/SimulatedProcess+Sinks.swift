// What an operator asks of a process: as `RunningSinks` does it, in the server.
internal import Delivery
internal import SinkKit
internal import TrackingJournal

/// One sink of a process, from its start or a change of the sinks until it is removed.
final class RunningRemote: @unchecked Sendable {
    let name: String
    let sink: SerializedSink
    let remote: RemoteSink
    /// Whether it is paused.
    let state: SinkState
    /// Its forwarder; nil until that begins.
    var forwarding: Task<Void, Never>?

    init(_ journalSink: JournalSink, _ remote: RemoteSink) {
        self.name = journalSink.name
        self.sink = SerializedSink(remote)
        self.remote = remote
        self.state = SinkState(
            journalSink.name, isRequired: journalSink.isRequired,
            isPaused: remote.dice.chance(0.1))
        remote.history.newest = remote
    }

    /// An operator resumes it.
    func resume() {
        self.remote.resume()
        self.state.resume()
    }
}

extension SimulatedProcess {
    /// Uses these sinks and no others, as a SIGHUP does.
    ///
    /// - Parameter onChange: called when that is durable, and before the forwarders of new sinks
    ///   begin.
    func use(
        _ next: [(journal: JournalSink, remote: RemoteSink)], onChange: @escaping () -> Void
    ) {
        let added = next.filter { new in !self.sinks.contains { $0.name == new.journal.name } }
            .map { RunningRemote($0.journal, $0.remote) }
        let removed = self.sinks.filter { old in !next.contains { $0.journal.name == old.name } }
        let kept = self.sinks.filter { old in !removed.contains { $0 === old } }
        for sink in kept {
            let listed = next.first { $0.journal.name == sink.name }
            sink.state.set(isRequired: listed?.journal.isRequired == true, filter: nil)
        }
        self.sinks = kept + added
        self.isChanging = true
        nonisolated(unsafe) let onChange = onChange
        self.run {
            for sink in removed {
                sink.forwarding?.cancel()
                await sink.forwarding?.value
                await sink.sink.end()
                sink.remote.remove()
            }
            await self.journal.use(next.map(\.journal))
            self.isChanging = false
            if self.isEnding { return }
            onChange()
            for sink in added { self.begin(sink) }
        }
    }

    /// Forgets a sink that is not in use.
    ///
    /// - Parameter onEnd: told whether the journal knew it.
    func forget(_ name: String, onEnd: @escaping (Bool) -> Void) {
        self.isForgetting = true
        nonisolated(unsafe) let onEnd = onEnd
        self.run {
            let isKnown = await self.journal.forget(sink: name)
            self.isForgetting = false
            if !self.isEnding { onEnd(isKnown) }
        }
    }

    // MARK: Replays

    /// What a replay came to.
    struct Replayed {
        let delivered: Int
        let refused: Int
        /// Whether it was not interrupted.
        let isWhole: Bool
    }

    /// Delivers dead letters again.
    ///
    /// - Parameter onEnd: told what came of it; nil if the dead letters could not be read or
    ///   written.
    func replayLetters(
        of refuser: String, to target: RunningRemote, limit: Int, batchLetters: Int,
        onEnd: @escaping (Replayed?) -> Void
    ) {
        self.replay(onEnd) {
            do {
                let counts = try await Replay(
                    of: self.letters, refusedBy: refuser, to: target.sink.replayed,
                    batchLetters: batchLetters
                ).run(limit: limit)
                return Replayed(
                    delivered: counts.delivered, refused: counts.refused, isWhole: true)
            } catch let error as ReplayInterruption {
                return Replayed(
                    delivered: error.counts.delivered, refused: error.counts.refused,
                    isWhole: false)
            }
        }
    }

    /// Delivers again what the journal keeps from a time on, up to a group.
    ///
    /// - Parameter onEnd: told what came of it; nil if a group could not be read.
    func replayHits(
        to target: RunningRemote, since: Int64, through end: Int64,
        onEnd: @escaping (Replayed?) -> Void
    ) {
        let start = self.journal.sequence(before: since)
        self.replay(onEnd) {
            do {
                let counts = try await HitReplay(to: target.sink.replayed, filter: nil).run([
                    {
                        var last = max($0, start)
                        while let batch = try await self.journal.kept(after: last, through: end) {
                            last = batch.sequence
                            if batch.isDamaged { continue }
                            return HitPage(payload: batch.payload, last: last)
                        }
                        return nil
                    }
                ])
                return Replayed(
                    delivered: counts.delivered, refused: counts.refused, isWhole: true)
            } catch let error as HitReplayInterruption {
                return Replayed(
                    delivered: error.counts.delivered, refused: error.counts.refused,
                    isWhole: false)
            }
        }
    }

    private func replay(
        _ onEnd: @escaping (Replayed?) -> Void,
        _ work: @escaping @Sendable () async throws -> Replayed
    ) {
        self.isReplaying = true
        nonisolated(unsafe) let onEnd = onEnd
        self.run {
            // Any other error is the disk's.
            let outcome = try? await work()
            self.isReplaying = false
            onEnd(outcome)
        }
    }
}
