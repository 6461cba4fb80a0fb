// The one seam for backends. A sink is one backend and decides nothing: order, retries, batching
// and dead letters are the forwarder's.

/// A backend that receives hits.
package protocol Sink: Sendable {
    /// Its name in configuration, cursors, logs and dead letters; never changed once in use.
    var name: String { get }

    /// Delivers a batch, and returns when the backend has it for good. Called with one batch at a
    /// time, in the journal's order; a batch may come again after a crash or an unclear answer.
    func deliver(_ hits: HitBatch) async -> Delivery
}

/// A sink's answer for a batch.
package enum Delivery: Sendable, Equatable {
    /// The backend has every hit.
    case delivered
    /// The backend takes nothing now; the same batch is to be delivered again.
    case unavailable(reason: String)
    /// The backend has every hit but these, which it refuses for good: reasons by position.
    case rejected([Int: String])
}
