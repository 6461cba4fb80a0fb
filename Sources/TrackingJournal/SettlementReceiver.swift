// Between the journal and those who wait for it.
package import TrackingCore

/// Who is told when a request is settled. Called on the journal's queue, or without a disk by the
/// forwarder that delivered it: return at once.
package protocol SettlementReceiver: AnyObject, Sendable {
    /// The requests are settled: durable, to be sent again (`isToRetry`), or lost with the journal.
    /// They were appended together.
    func settled(_ requests: [AdmittedRequest])
    /// The commit that settled requests is over: now is the time to answer.
    func commitEnded()
}
