/// A backend for hits that runs within the server's process.
///
/// The server is responsible for order, retries and dead letters; a sink only delivers.
public protocol HitSink: Sendable {
    /// The name in cursors, metrics, logs and dead letters: 1 to 32 of the letters a to z, digits,
    /// `-` and `_`. Never change it once it is in use.
    var name: String { get }

    /// The maximum number of hits of a batch. A group of the journal that has more comes alone.
    var maxHits: Int { get }

    /// Delivers a batch; returns when the backend has stored it durably.
    ///
    /// Called with one batch at a time, in the journal's order. A batch may be delivered again
    /// after a crash or after ``SinkResult/unavailable(reason:)``, joined with other hits than
    /// before. The task is cancelled when the server has to stop. Do not block a thread in it.
    func deliver(_ batch: SinkBatch) async -> SinkResult

    /// Closes the backend: called once, when the server has ended and no delivery is under way. The
    /// process ends as soon as it returns. It is not called if the process is killed, or if the
    /// journal's disk has failed.
    func close() async
}

extension HitSink {
    /// 1,000 hits.
    public var maxHits: Int { 1000 }

    /// Does nothing.
    public func close() async {}
}

/// A sink's answer to a batch.
public enum SinkResult: Sendable, Equatable {
    /// The backend has stored every hit.
    case delivered
    /// The backend is unavailable: the same hits are delivered again, after a pause that grows to
    /// 30 s. The reason stands in the log, in spans and on the status page, so it must not name a
    /// person: give a code and words of your own, not those of an exception.
    case unavailable(reason: String)
    /// The backend stored all but these hits, which it rejects permanently: reasons by the hit's
    /// index in ``SinkBatch/hits``. They become dead letters.
    case rejected([Int: String])
    /// The backend lost hits that it had stored: everything that the journal still has is delivered
    /// again, in order. Report each loss once.
    case lost(reason: String)
}
