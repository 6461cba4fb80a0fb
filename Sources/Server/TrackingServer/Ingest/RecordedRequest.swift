internal import Pacing
internal import TrackingJournal
internal import TrackingRules

/// Resumes a RecordEvents call when the journal has settled its request.
final class RecordedRequest: SettlementReceiver {
    private let isSettled = Signal()

    /// Submits a request to the journal and waits until it is settled.
    static func settle(_ request: AdmittedRequest, in journal: Journal) async {
        let receiver = RecordedRequest()
        journal.append([request], for: receiver)
        await receiver.isSettled.wait()
    }

    func settled(_ requests: [AdmittedRequest]) {}

    func commitEnded() { self.isSettled.raise() }
}
