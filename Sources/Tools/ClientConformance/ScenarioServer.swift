internal import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import NIOCore
internal import SightlineProtos
internal import SwiftProtobuf
internal import Synchronization

/// The server of one scenario, on a port of its own: does what the scenario's state says, and tells
/// it what comes.
final class ScenarioServer: Sightline_V1_TrackingService.ServiceProtocol {
    /// How often a stream looks for what is due: short beside every delay of a scenario.
    private static let tick = Duration.milliseconds(5)

    let key: String
    private let state: Mutex<ScenarioState>
    private let connections = Mutex<[ObjectIdentifier: any Channel]>([:])
    private let start = ContinuousClock.now

    init(_ state: ScenarioState, key: String) {
        self.state = Mutex(state)
        self.key = key
    }

    var transcript: Transcript { self.state.withLock { $0.transcript } }

    func hear(_ line: ClientLine) { self.change { $0.hear(line, at: $1) } }

    func noteExit(_ code: Int32?) { self.change { $0.exit(code, at: $1) } }

    /// The clock is read under the lock, so that the transcript's times never fall.
    private func change<Result: Sendable>(
        _ body: (inout ScenarioState, Duration) -> Result
    ) -> Result {
        self.state.withLock { body(&$0, ContinuousClock.now - self.start) }
    }

    /// Runs the server while `body` runs, with its address.
    func run(_ body: (String) async throws -> Void) async throws {
        var config = HTTP2ServerTransport.Posix.Config.defaults
        config.channelDebuggingCallbacks.onAcceptTCPConnection = { connection in
            self.accept(connection)
            return connection.eventLoop.makeSucceededVoidFuture()
        }
        let transport = HTTP2ServerTransport.Posix(
            address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext,
            config: config)
        try await withGRPCServer(transport: transport, services: [self]) { _ in
            let port = try await transport.listeningAddress.ipv4?.port ?? 0
            try await body("127.0.0.1:\(port)")
            self.closeAll()
        }
    }

    // MARK: Connections

    private func accept(_ connection: any Channel) {
        let id = ObjectIdentifier(connection)
        self.connections.withLock { $0[id] = connection }
        connection.closeFuture.whenComplete { _ in
            self.connections.withLock { $0[id] = nil }
        }
        let listens = self.change { $0.connect(at: $1) }
        // Later, when the transport has put its handlers in.
        if !listens { connection.eventLoop.execute { connection.close(promise: nil) } }
    }

    private func closeAll() {
        for connection in self.connections.withLock({ Array($0.values) }) {
            connection.close(promise: nil)
        }
    }

    private func sendGoAway() {
        for connection in self.connections.withLock({ Array($0.values) }) {
            connection.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    // MARK: Streams

    func streamEvents(
        request: StreamingServerRequest<Sightline_V1_StreamEventsRequest>, context: ServerContext
    ) async throws -> StreamingServerResponse<Sightline_V1_StreamEventsResponse> {
        let hasKey = self.hasKey(request.metadata)
        let (stream, refusal) = self.change { $0.open(hasKey: hasKey, at: $1) }
        if let refusal { throw refusal.error }
        return StreamingServerResponse { response in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await self.read(request.messages, stream) }
                defer { group.cancelAll() }
                try await self.answer(response, stream, context)
            }
            return [:]
        }
    }

    private func hasKey(_ metadata: Metadata) -> Bool {
        let bearers = Array(metadata[stringValues: "authorization"])
        let keys = Array(metadata[stringValues: "x-api-key"])
        return bearers == ["Bearer \(self.key)"] && keys.isEmpty
            || keys == [self.key] && bearers.isEmpty
    }

    private func read(
        _ requests: RPCAsyncSequence<Sightline_V1_StreamEventsRequest, any Error>, _ stream: Int
    ) async {
        do {
            for try await message in requests {
                let bytes = try message.serializedBytes() as [UInt8]
                self.change { $0.receive(message, bytes: bytes.count, on: stream, at: $1) }
            }
            self.change { $0.halfClose(stream, at: $1) }
        } catch {
            self.change { $0.lose(stream, at: $1) }
        }
    }

    /// Answers until the stream has ended.
    private func answer(
        _ response: RPCWriter<Sightline_V1_StreamEventsResponse>, _ stream: Int,
        _ context: ServerContext
    ) async throws {
        while true {
            let (step, isOver, isReporting, plan) = self.change { state, now in
                // GOAWAY tells handlers to end, as a client's own end does.
                if context.cancellation.isCancelled, !state.isGoingAway(stream) {
                    state.lose(stream, at: now)
                }
                let step = state.step(stream, at: now)
                return (
                    step, state.isOver(stream), state.isReporting(stream),
                    state.scenario.plan(stream)
                )
            }
            switch step {
            case .write(let answer):
                let message = try answer.message(isReporting: isReporting, plan: plan)
                do {
                    try await response.write(message)
                } catch {
                    return self.change { $0.lose(stream, at: $1) }
                }
            case .goAway: self.sendGoAway()
            case .end(.status(let refusal)): throw refusal.error
            case .end(.cut): return self.closeAll()
            case .end(.ok), .end(.client): return
            case .nothing:
                if isOver { return }
                try await Task.sleep(for: Self.tick)
            }
        }
    }

    // MARK: Calls that no scenario has

    func recordEvents(
        request: ServerRequest<Sightline_V1_RecordEventsRequest>, context: ServerContext
    ) async throws -> ServerResponse<Sightline_V1_RecordEventsResponse> { throw Self.unknown }

    func explainEvents(
        request: ServerRequest<Sightline_V1_ExplainEventsRequest>, context: ServerContext
    ) async throws -> ServerResponse<Sightline_V1_ExplainEventsResponse> { throw Self.unknown }

    func inspectPayload(
        request: ServerRequest<Sightline_V1_InspectPayloadRequest>, context: ServerContext
    ) async throws -> ServerResponse<Sightline_V1_InspectPayloadResponse> { throw Self.unknown }

    func explainDelivery(
        request: ServerRequest<Sightline_V1_ExplainDeliveryRequest>, context: ServerContext
    ) async throws -> ServerResponse<Sightline_V1_ExplainDeliveryResponse> { throw Self.unknown }

    private static let unknown = RPCError(
        code: .unimplemented, message: "the conformance kit has StreamEvents alone")
}
