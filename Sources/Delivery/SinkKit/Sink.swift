package import TrackingRules
internal import WireFormat

/// A backend for hits. A sink delivers batches and says what became of them; it never decides
/// order, retries or dead letters, which are the forwarder's. The configuration's table of sinks
/// opens it, `SerializedSink` gives it one batch at a time.
///
/// What only some backends can do is a protocol of its own: `ResumableSink`, `PositionedSink`,
/// `ErasableSink`, `ProbeableSink`. Whoever wraps a sink has to pass these on, for a wrapper hides
/// them.
package protocol Sink: Sendable {
    /// The name in configuration, cursors, logs and dead letters; never change it once in use.
    var name: String { get }

    /// How much the sink takes at once. Groups that are there are joined up to it; the sink never
    /// waits for further ones.
    var maxBatch: BatchLimit { get }

    /// Delivers a batch; returns when the backend has stored it durably. Called with one batch at a
    /// time, in the journal's order. A batch may be delivered again after a crash or an unclear
    /// answer, joined with other groups than before. Without a disk it runs on the journal's queue,
    /// so a sink that blocks needs a queue of its own, such as an actor with a `QueueExecutor`.
    func deliver(_ hits: HitBatch) async -> SinkAnswer
}

extension Sink {
    /// About one full group of the journal: 1,000 hits and 384 KiB.
    package var maxBatch: BatchLimit { BatchLimit(hits: 1000, bytes: 384 << 10) }
}

/// A sink whose backend may lose hits that it had stored, and that notices it.
package protocol ResumableSink: Sink {
    /// Where the backend stored the last hit, in the sink's own format; empty if nothing is known.
    /// The journal stores it with the cursor.
    var resumeToken: String { get }

    /// Resumes at the token of an earlier run; called once, before the first batch. A sink whose
    /// backend no longer has the hit there answers the next batch with `dataLoss`.
    func resume(at token: String)
}

/// A sink whose backend says how far it is, and that leaves out what the backend says it has. Such
/// a word counts only where the journal proves it: the backend may be wrong, or may have the groups
/// that a journal had before its directory was restored from an older copy.
package protocol PositionedSink: Sink {
    /// Gives the sink the groups that it is fed from; called once, before the first batch.
    func use(_ groups: JournalGroups)
}

/// A sink whose backend can be made to forget a subject.
package protocol ErasableSink: Sink {
    /// Does the first piece of deleting what the backend has of a subject, or of telling its
    /// readers to. No piece is done during a delivery, but deliveries come between pieces. Counts
    /// that have no ids of people stay. It may be called again, also before an earlier one's end.
    func erase(_ subject: Subject) async -> ErasurePiece
}

/// A sink of which `sightline sinks try` can say more than how a delivery went.
package protocol ProbeableSink: Sink {
    /// The ports that a delivery connects to, any of which serves. Empty if it uses no network.
    var probedHosts: [HostProbe] { get async }

    /// Delivers the test hit, on a sink that has delivered nothing and is not used afterwards, once
    /// one of the hosts accepts connections. Nothing stays in the backend that it can drop.
    ///
    /// - Parameter hit: a batch of one `ProbeHit`.
    /// - Returns: what came of it, at least one step; the first failure ends the probe.
    func probe(_ hit: HitBatch) async -> [ProbeStep]
}

extension Sink {
    /// Does the first piece of erasing a subject if the backend can forget one.
    package func eraseIfPossible(_ subject: Subject) async -> ErasurePiece {
        guard let sink = self as? any ErasableSink else {
            return .last(.impossible("its backend keeps what it was sent: delete it there"))
        }
        return await sink.erase(subject)
    }

    /// Probes the backend for `sightline sinks try`, step by step up to the first failure.
    ///
    /// - Parameter hit: a batch of one `ProbeHit`.
    package func stepsOfProbe(_ hit: HitBatch) async -> [ProbeStep] {
        guard let sink = self as? any ProbeableSink else {
            return [
                .write(
                    await self.deliver(hit), to: "the sink \(self.name)",
                    fix: "docs/sinks says what its errors mean")
            ]
        }
        return await HostProbe.steps(ofOne: sink.probedHosts) { await sink.probe(hit) }
    }
}

/// A sink's answer to a batch. Its reasons are logged, shown and exported with spans, except for
/// those of rejected hits, which are kept with the hit: so only these may have words that a backend
/// chose, since it may quote what it was sent. All others are codes and our own words.
package enum SinkAnswer: Sendable, Equatable {
    /// The backend has stored every hit.
    case delivered
    /// The backend is unavailable; the same batch has to be delivered again.
    case unavailable(reason: String)
    /// As `unavailable`, but the backend has stored or refused some of the hits in this try: the
    /// waits between tries begin anew.
    case progressed(reason: String)
    /// The backend wants no more, or cannot be fed from this journal: the sink is paused, and the
    /// same batch is delivered again when an operator resumes it, or after a restart.
    case suspended(reason: String)
    /// The backend stored all but these hits, which it rejects permanently: reasons by position.
    case rejected([Int: String])
    /// The batch cannot be read and never will be; none of it was stored. If it has several groups,
    /// each is delivered again alone.
    case unreadable(reason: String)
    /// The backend lost hits that it had stored: deliver again everything that the journal still
    /// has, in order. Reported once for each loss.
    case dataLoss(reason: String)
}

extension SinkAnswer {
    /// The answer for a batch of which only `rejected` could not be written: reasons by the number
    /// of the hit in the batch.
    package init(rejected: [Int: String]) {
        self = rejected.isEmpty ? .delivered : .rejected(rejected)
    }

    /// The answer for a batch that has failed as a whole: bytes that cannot be read never can be;
    /// any other failure is worth another try.
    ///
    /// - Parameter place: what the reason begins with, as in "hits.db: ".
    package init(failure: any Error, of place: String = "") {
        switch failure {
        case is DamagedPayload: self = .unreadable(reason: "\(failure)")
        case is WireError:
            self = .unreadable(reason: "an event of the batch is no protobuf: \(failure)")
        default: self = .unavailable(reason: "\(place)\(failure)")
        }
    }
}
