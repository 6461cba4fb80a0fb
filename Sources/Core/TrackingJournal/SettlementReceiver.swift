package import TrackingRules

/// Receives settled requests. Called on the journal's queue, or without a disk by the forwarder
/// that delivered them, so it has to return at once.
package protocol SettlementReceiver: AnyObject, Sendable {
    /// Requests that were submitted together are settled: durable, to be sent again (`isToRetry`),
    /// or lost because the journal failed.
    func settled(_ requests: [AdmittedRequest])
    /// All requests of a commit are settled: send the answers now, together.
    func commitEnded()
}
