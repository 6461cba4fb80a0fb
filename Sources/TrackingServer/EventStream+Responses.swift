// What a stream says to its client.
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingCore

extension EventStream {
    typealias Response = Sightline_V1_StreamEventsResponse

    /// The first answer: the server's limits, before anything is sent against them.
    @inline(never)
    var greeting: Response {
        let limits = self.ingest.limits
        return .with { response in
            response.limits = .with { proto in
                proto.maxEvents = UInt32(clamping: limits.requestEvents)
                proto.maxRequestBytes = UInt32(clamping: limits.requestBytes)
                proto.maxEventBytes = UInt32(clamping: limits.eventBytes)
                proto.maxUnacknowledgedRequests = UInt32(clamping: self.configuration.maxRequests)
            }
        }
    }

    /// The announcement that the stream ends soon.
    @inline(never)
    func closing(_ durableSequence: UInt64) -> Response {
        .with { response in
            response.durableSequence = durableSequence
            response.closing = .with { proto in
                proto.grace = Google_Protobuf_Duration(self.configuration.closingGrace)
            }
        }
    }

    /// What has been settled since the last answer.
    @inline(never)
    func response(_ answer: AckLedger.Answer, _ reportsAccepted: Bool) -> Response {
        var tally = Tally()
        var response = Response()
        response.durableSequence = answer.durableSequence
        for request in answer.requests {
            let counts = request.tally
            tally += counts
            // Mostly all is accepted, and nothing of it has to be told.
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
