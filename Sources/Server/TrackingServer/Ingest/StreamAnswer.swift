internal import GRPCCore
internal import GRPCProtobuf
internal import ServerConfiguration
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingRules
internal import WireFormat

/// An answer of a stream. Much smaller than its protobuf message, which would take space in every
/// frame between the stream and its socket.
enum StreamAnswer: Sendable {
    /// The server's limits, sent before anything else.
    case limits
    /// Requests settled since the previous answer.
    case settled(RequestTracker.Answer, reportsAccepted: Bool)
    /// An announcement that the server will end the stream.
    case closing(durableSequence: UInt64)
}

/// Encodes answers as responses.
struct StreamAnswerSerializer: MessageSerializer {
    typealias Response = Sightline_V1_StreamEventsResponse

    let limits: Limits
    let configuration: StreamConfiguration

    func serialize<Bytes: GRPCContiguousBytes>(_ answer: StreamAnswer) throws -> Bytes {
        try ProtobufSerializer<Response>().serialize(self.response(answer))
    }

    /// The response for an answer.
    func response(_ answer: StreamAnswer) -> Response {
        switch answer {
        case .limits: self.greeting
        case .settled(let answer, let reportsAccepted): self.settled(answer, reportsAccepted)
        case .closing(let durableSequence): self.closing(durableSequence)
        }
    }

    private var greeting: Response {
        .with { response in
            response.limits = .with { proto in
                proto.maxEvents = UInt32(clamping: self.limits.requestEvents)
                proto.maxRequestBytes = UInt32(clamping: self.limits.requestBytes)
                proto.maxEventBytes = UInt32(clamping: self.limits.eventBytes)
                proto.maxUnacknowledgedRequests = UInt32(clamping: self.configuration.maxRequests)
            }
        }
    }

    private func closing(_ durableSequence: UInt64) -> Response {
        .with { response in
            response.durableSequence = durableSequence
            response.closing = .with { proto in
                proto.grace = Google_Protobuf_Duration(self.configuration.closingGrace)
            }
        }
    }

    private func settled(_ answer: RequestTracker.Answer, _ reportsAccepted: Bool) -> Response {
        var tally = Tally()
        var response = Response()
        response.durableSequence = answer.durableSequence
        for request in answer.requests {
            let counts = request.tally
            tally += counts
            // Usually all events are accepted and need no results.
            if reportsAccepted || request.violation != nil || counts.accepted < request.eventCount {
                response.results += request.results(includesAccepted: reportsAccepted)
            }
        }
        response.tally = Sightline_V1_Tally(tally)
        if tally.retryLater > 0 { response.retryDelay = .init(RetryDelay.duration) }
        return response
    }
}

extension Google_Protobuf_Duration {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self.init(seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
    }
}
