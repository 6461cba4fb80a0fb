// The one seam for backends. A sink is one backend and decides nothing: order, retries, batching
// and dead letters are the forwarder's.
internal import TrackingCore

/// A backend that receives hits.
package protocol Sink: Sendable {
    /// Its name in configuration, cursors, logs and dead letters; never changed once in use.
    var name: String { get }

    /// Delivers a batch, and returns when the backend has it for good. Called with one batch at a
    /// time, in the journal's order; a batch may come again after a crash or an unclear answer.
    /// Without a disk it runs on the journal's queue: a sink that blocks has a queue of its own, as
    /// an actor by `SinkExecutor`.
    func deliver(_ hits: HitBatch) async -> SinkAnswer

    /// Where the backend keeps the last hit that it took, in the sink's own words. The journal
    /// keeps it with the cursor; empty where the sink never loses what it has taken.
    var place: String { get }

    /// Goes on from a place that an earlier run was at: called once, before the first batch. A
    /// sink that no longer finds it there answers the next batch with `lost`.
    func resume(at place: String)
}

extension Sink {
    /// None: most backends never lose what they have taken.
    package var place: String { "" }
    /// Nothing to go on from.
    package func resume(at place: String) {}
}

/// A sink's answer for a batch.
package enum SinkAnswer: Sendable, Equatable {
    /// The backend has every hit.
    case delivered
    /// The backend takes nothing now; the same batch is to be delivered again.
    case unavailable(reason: String)
    /// The backend has every hit but these, which it refuses for good: reasons by position.
    case rejected([Int: String])
    /// The batch itself cannot be read, now or ever, and the backend has none of it.
    case undeliverable(reason: String)
    /// The backend no longer has what it took before: all that the journal still keeps is to be
    /// delivered again, in its order. Said once for each loss.
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
