// A client that sends what a test tells it, byte for byte: no stub, no retry, nothing of our own.
package import GRPCCore
internal import GRPCNIOTransportHTTP2Posix
internal import SightlineClient
package import SightlineProtos
package import SwiftProtobuf

/// A connection to a server over a real socket.
package struct WireClient: Sendable {
    package typealias Methods = Sightline_V1_TrackingService.Method
    /// Ends a call that hangs. A call waits six to eight times for a thread, each time behind all
    /// that other tests have queued for two of them: up to 16 s on a busy machine.
    private static let timeout: Duration = .seconds(300)

    private let client: GRPCClient<HTTP2ClientTransport.Posix>
    /// What every call carries.
    package var metadata: Metadata = [:]

    /// What a call gave: its answers, and the error that it ended with.
    package struct Outcome<Answer: Sendable>: Sendable {
        package var answers: [Answer] = []
        package var error: RPCError?
    }

    /// Connects while `body` runs.
    package static func with<Value: Sendable>(
        _ server: RunningServer, _ body: (WireClient) async throws -> Value
    ) async throws -> Value {
        let transport = try HTTP2ClientTransport.Posix(
            target: .ipv4(address: server.address.host, port: server.address.port),
            transportSecurity: .plaintext)
        return try await withGRPCClient(transport: transport) { client in
            try await body(WireClient(client: client))
        }
    }

    /// Sends requests to a method, ends the call's own side, and reads all answers.
    package func call<Answer: Message>(
        _ method: MethodDescriptor, _ requests: [[UInt8]], as _: Answer.Type
    ) async throws -> Outcome<Answer> {
        let (stream, sender) = AsyncStream.makeStream(of: [UInt8].self)
        for request in requests { sender.yield(request) }
        sender.finish()
        return try await self.call(method, stream) { _ in }
    }

    /// Sends requests as they come; `onAnswer` sees each answer as it arrives.
    package func call<Answer: Message>(
        _ method: MethodDescriptor, _ requests: AsyncStream<[UInt8]>,
        onAnswer: @escaping @Sendable (Answer) async -> Void
    ) async throws -> Outcome<Answer> {
        let request = StreamingClientRequest<[UInt8]>(metadata: self.metadata) { writer in
            for await bytes in requests { try await writer.write(bytes) }
        }
        var options = CallOptions.defaults
        options.timeout = Self.timeout
        return try await self.client.bidirectionalStreaming(
            request: request, descriptor: method, serializer: WireBytes(),
            deserializer: WireBytes(), options: options
        ) { response in
            var outcome = Outcome<Answer>()
            do {
                for try await bytes in response.messages {
                    let answer = try Answer(serializedBytes: bytes)
                    outcome.answers.append(answer)
                    await onAnswer(answer)
                }
            } catch let error as RPCError {
                outcome.error = error
            }
            return outcome
        }
    }

    /// Sends requests on one stream, ends it, and reads all answers.
    package func stream(
        _ requests: [[UInt8]]
    ) async throws -> Outcome<Sightline_V1_StreamEventsResponse> {
        try await self.call(
            Methods.StreamEvents.descriptor, requests, as: Sightline_V1_StreamEventsResponse.self)
    }

    /// Records events in one request.
    package func record(
        _ events: [Sightline_V1_TrackingEvent]
    ) async throws -> Outcome<Sightline_V1_RecordEventsResponse> {
        let request = Sightline_V1_RecordEventsRequest.with { $0.events = events }
        return try await self.call(
            Methods.RecordEvents.descriptor, [try request.serializedBytes()],
            as: Sightline_V1_RecordEventsResponse.self)
    }

    /// Explains events.
    package func explain(
        _ events: [Sightline_V1_TrackingEvent]
    ) async throws -> Outcome<Sightline_V1_ExplainEventsResponse> {
        let request = Sightline_V1_ExplainEventsRequest.with { $0.events = events }
        return try await self.call(
            Methods.ExplainEvents.descriptor, [try request.serializedBytes()],
            as: Sightline_V1_ExplainEventsResponse.self)
    }

    /// Inspects a payload.
    package func inspect(
        _ json: String, _ platform: Sightline_V1_Platform
    ) async throws -> Outcome<Sightline_V1_InspectPayloadResponse> {
        let request = Sightline_V1_InspectPayloadRequest.with { request in
            request.json = json
            request.platform = platform
        }
        return try await self.call(
            Methods.InspectPayload.descriptor, [try request.serializedBytes()],
            as: Sightline_V1_InspectPayloadResponse.self)
    }
}

/// Messages as they stand on the wire.
private struct WireBytes: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: [UInt8]) -> Bytes { Bytes(message) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ serializedMessageBytes: Bytes) -> [UInt8] {
        serializedMessageBytes.withUnsafeBytes { Array($0) }
    }
}
