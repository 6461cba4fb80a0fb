// A server over loopback that answers as a test tells it.
internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import GRPCProtobuf
internal import SightlineClient
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization

/// Settles every request, and breaks off where its script says so.
final class ScriptedServer: Sightline_V1_TrackingService.SimpleServiceProtocol {
    /// What happens to one request.
    enum Answer: Sendable {
        /// Each event has this verdict, and the request is settled.
        case settle(Sightline_V1_Verdict)
        /// The request is settled without a word of its events.
        case accept
        /// It is rejected as a whole.
        case reject
        /// The same, with a description of so many bytes.
        case rejectAtLength(Int)
        /// It is settled, and the stream is to be closed.
        case close
        /// It is taken in, and the stream breaks before the ack.
        case breakOff
        /// The whole call is refused.
        case refuse
        /// A proxy that has no server behind it answers.
        case noServer
        /// No answer at all.
        case silence
    }

    private struct State: Sendable {
        var script: [Answer]
        var requests: [Sightline_V1_StreamEventsRequest] = []
    }

    private let state: Mutex<State>
    private let rest: Answer

    /// Answers requests by the script, in order, and the rest of them alike.
    init(_ script: [Answer] = [], rest: Answer = .settle(.accepted)) {
        self.state = Mutex(State(script: script))
        self.rest = rest
    }

    /// All requests on all streams, in order.
    var requests: [Sightline_V1_StreamEventsRequest] { self.state.withLock { $0.requests } }

    func streamEvents(
        request: RPCAsyncSequence<Sightline_V1_StreamEventsRequest, any Error>,
        response: RPCWriter<Sightline_V1_StreamEventsResponse>, context: ServerContext
    ) async throws {
        for try await message in request {
            let answer = self.state.withLock { state in
                state.requests.append(message)
                return state.script.isEmpty ? self.rest : state.script.removeFirst()
            }
            switch answer {
            case .settle(let verdict):
                try await response.write(self.answer(to: message, verdict))
            case .accept:
                try await response.write(TestAnswers.ack(message.sequence))
            case .reject:
                let result = TestAnswers.result(message.sequence, nil, .rejected)
                try await response.write(TestAnswers.ack(message.sequence, results: [result]))
            case .rejectAtLength(let byteCount):
                var result = TestAnswers.result(message.sequence, nil, .rejected)
                result.violations = [
                    .with { $0.description_p = String(repeating: "x", count: byteCount) }
                ]
                try await response.write(TestAnswers.ack(message.sequence, results: [result]))
            case .close:
                var ack = TestAnswers.ack(message.sequence)
                ack.closing.grace.seconds = 60
                try await response.write(ack)
            case .breakOff:
                throw RPCError(code: .unavailable, message: "a break")
            case .refuse:
                let violation = ErrorDetails.BadRequest.FieldViolation(
                    field: "sequence", description: "it must rise")
                throw GoogleRPCStatus(
                    code: .invalidArgument, message: "refused",
                    details: [
                        .errorInfo(.init(reason: "REQUEST_INVALID", domain: "sightline.v1")),
                        .badRequest(.init(violations: [violation])),
                    ])
            case .noServer:
                throw RPCError(code: .unimplemented, message: "404")
            case .silence:
                break
            }
        }
    }

    func recordEvents(
        request: Sightline_V1_RecordEventsRequest, context: ServerContext
    ) async throws -> Sightline_V1_RecordEventsResponse {
        throw RPCError(code: .unimplemented, message: "the client does not call it")
    }

    func explainEvents(
        request: Sightline_V1_ExplainEventsRequest, context: ServerContext
    ) async throws -> Sightline_V1_ExplainEventsResponse {
        var response = Sightline_V1_ExplainEventsResponse()
        response.results = request.events.map { event in
            var result = TestAnswers.result(0, nil, .accepted)
            result.eventID = event.eventID
            return result
        }
        return response
    }

    func inspectPayload(
        request: Sightline_V1_InspectPayloadRequest, context: ServerContext
    ) async throws -> Sightline_V1_InspectPayloadResponse {
        var response = Sightline_V1_InspectPayloadResponse()
        response.tracked = request.platform == .ios && request.json == "{}"
        return response
    }

    func explainDelivery(
        request: Sightline_V1_ExplainDeliveryRequest, context: ServerContext
    ) async throws -> Sightline_V1_ExplainDeliveryResponse {
        Sightline_V1_ExplainDeliveryResponse()
    }

    /// Runs the server while `body` runs.
    func run(_ body: (ServerAddress) async throws -> Void) async throws {
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext)
        try await withGRPCServer(transport: transport, services: [self]) { _ in
            let port = try await transport.listeningAddress.ipv4?.port ?? 0
            try await body(ServerAddress("127.0.0.1:\(port)"))
        }
    }

    private func answer(
        to request: Sightline_V1_StreamEventsRequest, _ verdict: Sightline_V1_Verdict
    ) -> Sightline_V1_StreamEventsResponse {
        let results = request.events.indices.map {
            TestAnswers.result(request.sequence, UInt32($0), verdict)
        }
        return TestAnswers.ack(request.sequence, results: results)
    }
}
