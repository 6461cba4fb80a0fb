internal import Synchronization
internal import TrackingJournal
internal import TrackingRules

/// Resumes a RecordEvents call when the journal has settled its request.
final class RecordedRequest: SettlementReceiver {
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    /// Submits a request to the journal and waits until it is settled.
    static func settle(_ request: AdmittedRequest, in journal: Journal) async {
        let receiver = RecordedRequest()
        await withCheckedContinuation { continuation in
            receiver.waiting.withLock { $0 = continuation }
            journal.append([request], for: receiver)
        }
    }

    func settled(_ requests: [AdmittedRequest]) {}

    func commitEnded() {
        let continuation = self.waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        continuation?.resume()
    }
}
