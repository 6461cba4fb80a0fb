package import TrackingRules
internal import WireFormat

/// A backend for hits. A sink only delivers: the forwarder is responsible for order, retries and
/// dead letters.
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

    /// Where the backend stored the last hit, in the sink's own format. The journal stores it with
    /// the cursor. Empty for a sink that never loses hits.
    var place: String { get }

    /// The backend as OpenTelemetry names databases (`db.system.name`); nil for any other backend,
    /// which is a destination of messages.
    var database: String? { get }

    /// What the backend's client library tells of its brokers; nil for a sink without one.
    var brokers: BrokerStatistics? { get }

    /// Resumes at the place of an earlier run; called once, before the first batch. A sink that no
    /// longer finds it there answers the next batch with `lost`.
    func resume(at place: String)

    /// Tries the backend for `sightline sinks try`, on a sink that has delivered nothing and is not
    /// used afterwards: step by step, up to the first failure. Nothing stays in the backend that it
    /// can drop.
    ///
    /// - Parameter hit: a batch of one `TrialHit`.
    func attempt(_ hit: HitBatch) async -> [TrialStep]

    /// Deletes what the backend has of a subject, or tells its readers to. Never called during a
    /// delivery. Counts that have no ids of people stay. It may be called again.
    func erase(_ subject: Subject) async -> Erasure
}

extension Sink {
    /// About one full group of the journal: 1,000 hits and 384 KiB.
    package var maxBatch: BatchLimit { BatchLimit(hits: 1000, bytes: 384 << 10) }
    /// Empty: most backends never lose stored hits.
    package var place: String { "" }
    /// Nil: most backends are no database.
    package var database: String? { nil }
    /// Nil: most backends have no brokers.
    package var brokers: BrokerStatistics? { nil }
    /// Does nothing.
    package func resume(at place: String) {}
    /// Delivers the hit.
    package func attempt(_ hit: HitBatch) async -> [TrialStep] {
        [
            .write(
                await self.deliver(hit), to: "the sink \(self.name)",
                fix: "docs/sinks says what its errors mean")
        ]
    }
    /// Does nothing: most backends have no way to.
    package func erase(_ subject: Subject) async -> Erasure {
        .impossible("its backend keeps what it was sent: delete it there")
    }
}

/// A sink's answer to a batch.
package enum SinkAnswer: Sendable, Equatable {
    /// The backend has stored every hit.
    case delivered
    /// The backend is unavailable; the same batch has to be delivered again.
    case unavailable(reason: String)
    /// As `unavailable`, but the backend has stored or refused some of the hits in this try: the
    /// waits between tries begin anew.
    case partly(reason: String)
    /// The backend wants no more: the sink is paused, and the same batch is delivered again when an
    /// operator resumes it, or after a restart.
    case gone(reason: String)
    /// The backend stored all but these hits, which it rejects permanently: reasons by position.
    case rejected([Int: String])
    /// The batch cannot be read and never will be; none of it was stored. If it has several groups,
    /// each is delivered again alone.
    case undeliverable(reason: String)
    /// The backend lost hits that it had stored: deliver again everything that the journal still
    /// has, in order. Reported once for each loss.
    case lost(reason: String)
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
        case is DamagedPayload: self = .undeliverable(reason: "\(failure)")
        case is WireError:
            self = .undeliverable(reason: "an event of the batch is no protobuf: \(failure)")
        default: self = .unavailable(reason: "\(place)\(failure)")
        }
    }
}
