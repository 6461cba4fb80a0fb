// The client's end of a settlement.
internal import TrackingJournal
internal import TrackingRules

/// Told of requests.
final class Receiver: SettlementReceiver {
    private let onSettled: @Sendable ([AdmittedRequest]) -> Void
    init(_ onSettled: @escaping @Sendable ([AdmittedRequest]) -> Void) {
        self.onSettled = onSettled
    }
    func settled(_ requests: [AdmittedRequest]) { self.onSettled(requests) }
    func commitEnded() {}
}
