internal import Foundation
internal import GRPCCore
internal import HTTPDoor
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization
internal import TrackingRules

/// Answers RecordEvents without a server: an event that SwiftProtobuf reads is accepted, with a
/// click; one whose id is `later` is to be sent again, and others are rejected.
final class FakeCalls: CallServing {
    private let received = Mutex<[DoorCall]>([])
    private let failure: DoorAnswer?
    private let refusal: DoorAnswer?

    /// With a failure, each call fails with it; with a refusal, no credentials are taken.
    init(failure: DoorAnswer? = nil, refusal: DoorAnswer? = nil) {
        self.failure = failure
        self.refusal = refusal
    }

    /// The calls so far.
    var calls: [DoorCall] { self.received.withLock { $0 } }

    /// The events of the last call, each as far as it can be read.
    var events: [Sightline_V1_TrackingEvent?] {
        guard let message = self.calls.last?.message else { return [] }
        return Self.events(of: message)
    }

    func refusal(of metadata: Metadata, from peer: DoorPeer) -> DoorAnswer? { self.refusal }

    func serve(_ call: DoorCall) async -> DoorAnswer {
        self.received.withLock { $0.append(call) }
        if let failure { return failure }
        var response = Sightline_V1_RecordEventsResponse()
        for (index, event) in Self.events(of: call.message).enumerated() {
            let result = Self.result(of: event, at: index)
            switch result.verdict {
            case .accepted: response.tally.accepted += 1
            case .retryLater:
                response.tally.retryLater += 1
                response.retryDelay.seconds = 1
                response.retryDelay.nanos = 1
            default: response.tally.rejected += 1
            }
            response.results.append(result)
        }
        let message: [UInt8] = (try? response.serializedBytes()) ?? []
        return DoorAnswer(
            message: ByteBuffer(bytes: message), status: Status(code: .ok, message: ""))
    }

    private static func events(of message: ByteBuffer) -> [Sightline_V1_TrackingEvent?] {
        message.withUnsafeReadableBytes { bytes in
            RequestReader(bytes, shape: .unary, maxEvents: .max).events.map { event in
                try? Sightline_V1_TrackingEvent(serializedBytes: Array(event))
            }
        }
    }

    private static func result(
        of event: Sightline_V1_TrackingEvent?, at index: Int
    ) -> Sightline_V1_EventResult {
        .with { result in
            result.index = UInt32(index)
            result.eventID = event?.eventID ?? ""
            guard let event else {
                result.verdict = .rejected
                result.violations = [
                    .with {
                        $0.field = "event"
                        $0.code = .malformed
                        $0.description_p = "not a TrackingEvent"
                    }
                ]
                return
            }
            switch event.eventID {
            case "later": result.verdict = .retryLater
            case "refused":
                result.verdict = .rejected
                result.violations = [
                    .with {
                        $0.field = "push.fcm.data.delivery_id"
                        $0.code = .required
                        $0.description_p = "missing"
                    }
                ]
            default:
                result.verdict = .accepted
                result.hits = [.click]
                result.warnings = [.clockSkew]
            }
        }
    }
}
