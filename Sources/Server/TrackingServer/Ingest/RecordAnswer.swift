internal import GRPCCore
internal import GRPCProtobuf
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
internal import TrackingRules
internal import WireFormat

/// A settled request that is to be encoded as the response of RecordEvents. Its bytes count until
/// it is, or until its call is given up.
final class RecordAnswer: Sendable {
    private let request: Mutex<AdmittedRequest?>
    fileprivate let includesAccepted: Bool
    private let heldBytes: Int
    private let memory: MemoryShare

    /// Holds an admitted request of `requestBytes` and counts it.
    ///
    /// - Parameter includesAccepted: whether accepted events get results too.
    init(
        _ request: AdmittedRequest, requestBytes: Int, memory: MemoryShare,
        includesAccepted: Bool = true
    ) {
        self.includesAccepted = includesAccepted
        self.request = Mutex(request)
        self.heldBytes = request.heldBytes(requestBytes: requestBytes)
        self.memory = memory
        memory.add(self.heldBytes)
    }

    deinit { _ = self.take() }

    /// The request, once; its bytes count no more.
    fileprivate func take() -> AdmittedRequest? {
        let request = self.request.withLock { exchange(&$0, with: nil) }
        if request != nil { self.memory.remove(self.heldBytes) }
        return request
    }
}

/// Encodes answers. The message takes several times the bytes of its encoding. So it is made here,
/// where nothing suspends: there are as many at once as threads, and not one for each call.
struct RecordAnswerSerializer: MessageSerializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ answer: RecordAnswer) throws -> Bytes {
        guard let request = answer.take() else {
            throw RPCError(code: .internalError, message: "an answer was to be encoded twice")
        }
        return try ProtobufSerializer<Sightline_V1_RecordEventsResponse>().serialize(
            .with { response in
                response.results = request.results(includesAccepted: answer.includesAccepted)
                response.tally = Sightline_V1_Tally(request.tally)
                if request.isToRetry { response.retryDelay = .init(RetryDelay.duration) }
            })
    }
}
