package import TrackingRules

/// Is told when requests are settled. Called on the journal's queue, or without a disk by the
/// forwarder that delivered them: return at once.
package protocol SettlementReceiver: AnyObject, Sendable {
    /// Requests that were submitted together are settled: durable, to be sent again (`isToRetry`),
    /// or lost because the journal failed.
    func settled(_ requests: [AdmittedRequest])
    /// All requests of a commit are settled: send the answers now, together.
    func commitEnded()
}
