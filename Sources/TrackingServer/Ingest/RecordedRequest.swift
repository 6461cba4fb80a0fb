// One RecordEvents call waiting for the journal.
internal import Synchronization
internal import TrackingCore
internal import TrackingJournal

/// Resumes its caller when the journal has settled the request.
final class RecordedRequest: SettlementReceiver {
    private let waiting = Mutex<CheckedContinuation<Void, Never>?>(nil)

    /// Appends a request to the journal and waits until it is settled.
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
