internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
internal import HTTP2Edge
internal import JSON
internal import Pacing
internal import ServerConfiguration
internal import ServiceContextModule
internal import SightlineProtos
internal import SwiftProtobuf
internal import Telemetry
internal import TrackingJournal
internal import TrackingRules

/// Registers the five methods of sightline.v1.TrackingService, so that events arrive as bytes.
struct TrackingService: RegistrableRPCService {
    let ingest: Ingest
    let stream: StreamConfiguration
    /// The totals that ExplainDelivery compares with facts; nil for none.
    var deliveries: (any DeliveryTotalsStoring)?

    func registerMethods(with router: inout RPCRouter<some ServerTransport>) {
        typealias Method = Sightline_V1_TrackingService.Method
        router.registerHandler(
            forMethod: Method.StreamEvents.descriptor,
            deserializer: CoalescedRequestsDeserializer(),
            serializer: StreamAnswerSerializer(
                limits: self.ingest.limits, configuration: self.stream)
        ) { request, context in try self.streamEvents(request, of: context.principal) }
        router.registerHandler(
            forMethod: Method.RecordEvents.descriptor, deserializer: RequestBufferDeserializer(),
            serializer: RecordAnswerSerializer()
        ) { request, context in
            try await self.counted(.recordEvents) {
                try await self.recordEvents(request, of: context.principal)
            }
        }
        router.registerHandler(
            forMethod: Method.ExplainEvents.descriptor, deserializer: RequestBufferDeserializer(),
            serializer: ProtobufSerializer<Method.ExplainEvents.Output>()
        ) { request, context in
            try await self.counted(.explainEvents) {
                try await Self.traced(Method.ExplainEvents.descriptor, metadata: request.metadata) {
                    try await self.explainEvents(request, of: context.principal)
                }
            }
        }
        router.registerHandler(
            forMethod: Method.InspectPayload.descriptor, deserializer: RequestBufferDeserializer(),
            serializer: ProtobufSerializer<Method.InspectPayload.Output>()
        ) { request, context in
            try await self.counted(.inspectPayload) {
                try await Self.traced(Method.InspectPayload.descriptor, metadata: request.metadata)
                {
                    try await self.inspectPayload(request, of: context.principal)
                }
            }
        }
        router.registerHandler(
            forMethod: Method.ExplainDelivery.descriptor, deserializer: RequestBufferDeserializer(),
            serializer: ProtobufSerializer<Method.ExplainDelivery.Output>()
        ) { request, context in
            try await self.counted(.explainDelivery) {
                try await Self.traced(Method.ExplainDelivery.descriptor, metadata: request.metadata)
                {
                    try await self.explainDelivery(request, of: context.principal)
                }
            }
        }
    }

    /// The full names of the recording methods, built once.
    static let streamEventsName =
        Sightline_V1_TrackingService.Method.StreamEvents.descriptor.fullyQualifiedMethod
    private static let recordEventsName =
        Sightline_V1_TrackingService.Method.RecordEvents.descriptor.fullyQualifiedMethod

    /// The HTTP/2 path of StreamEvents.
    static let streamPath = "/" + Self.streamEventsName
    /// The HTTP/2 paths of the other methods.
    static let recordPath = "/" + Self.recordEventsName
    static let explainPath =
        "/" + Sightline_V1_TrackingService.Method.ExplainEvents.descriptor.fullyQualifiedMethod
    static let inspectPath =
        "/" + Sightline_V1_TrackingService.Method.InspectPayload.descriptor.fullyQualifiedMethod

    /// The maximum message bytes by path: events, or a payload with the fields around it.
    static let messageBytes = [
        Self.streamPath: MessageLimits.maxBytes, Self.recordPath: MessageLimits.maxBytes,
        Self.explainPath: MessageLimits.maxBytes,
        Self.inspectPath: JSONValue.maximumByteCount + 1024,
    ]

    private func streamEvents(
        _ request: StreamingServerRequest<CoalescedRequests>, of caller: Principal
    ) throws -> StreamingServerResponse<StreamAnswer> {
        let stream = EventStream(
            ingest: self.ingest, configuration: self.stream, caller: caller,
            allowance: try self.ingest.allowance(of: caller.tenant, request.metadata),
            requests: request)
        return StreamingServerResponse { writer in
            try await stream.serve(writer)
            return [:]
        }
    }

    private func recordEvents(
        _ request: StreamingServerRequest<RequestBuffer>, of caller: Principal
    ) async throws -> StreamingServerResponse<RecordAnswer> {
        let allowance = try self.ingest.allowance(of: caller.tenant, request.metadata)
        let bytes = try await Self.onlyMessage(of: request)
        let answer = try await self.record(
            bytes, allowance, metadata: request.metadata, source: caller.source)
        return StreamingServerResponse(single: ServerResponse(message: answer))
    }

    /// Records the events of a request: what RecordEvents does, whichever way it was called.
    ///
    /// - Parameter includesAccepted: whether the answer has results of accepted events.
    func record(
        _ bytes: RequestBuffer, _ allowance: Allowance, metadata: Metadata, source: EventSource,
        includesAccepted: Bool = true
    ) async throws -> RecordAnswer {
        if allowance.isLimited {
            // Charged before the request is judged: judging costs most, also if it is refused then.
            let events = self.ingest.eventCount(of: bytes)
            try allowance.take(events: events, bytes: bytes.count)
        }
        var trace = RequestTrace(method: Self.recordEventsName, metadata: metadata)
        let (admitted, span) = try await self.admit(bytes, allowance, source: source, &trace)
        let answer = RecordAnswer(
            admitted, requestBytes: bytes.count, memory: allowance.memory,
            includesAccepted: includesAccepted)
        if let violation = admitted.violation {
            let error = ServiceError.request(violation).status
            span?.end(Status.Code(error))
            throw error
        }
        await RecordedRequest.settle(admitted, in: self.ingest.journal)
        self.ingest.count([admitted], of: .recordEvents, allowance.tenant)
        span?.end(admitted, isUnary: true)
        return answer
    }

    /// Admits the request of a unary call in its connection's turn.
    ///
    /// - Throws: the status of a call whose share of the memory is full by now: those that came
    ///   with it had nothing to count when they began. `CancellationError` if its client has left.
    func admit(
        _ bytes: RequestBuffer, _ allowance: Allowance, source: EventSource = .api,
        _ trace: inout RequestTrace
    ) async throws -> (AdmittedRequest, RequestSpan?) {
        guard bytes.count >= AdmissionTurns.leastBytes else {
            return try self.admitNow(bytes, allowance, source: source, &trace)
        }
        let isBulk = bytes.count >= Ingest.bulkBytes
        // It waits in the memory, and the edge counts it only until its client leaves.
        allowance.memory.add(bytes.count)
        return try await withTaskExecutorPreference(isBulk ? self.ingest.bulkThreads : nil) {
            try await self.ingest.admissionTurns.withTurn(
                in: allowance.line, bytes: bytes.count
            ) {
                allowance.memory.remove(bytes.count)
                return try self.admitNow(bytes, allowance, source: source, &trace)
            }
        }
    }

    private func admitNow(
        _ bytes: RequestBuffer, _ allowance: Allowance, source: EventSource,
        _ trace: inout RequestTrace
    ) throws -> (AdmittedRequest, RequestSpan?) {
        if allowance.buffered?.isClosed == true { throw CancellationError() }
        guard !allowance.memory.isFull else { throw ServiceError.overloaded.status }
        let start = MonotonicClock.nanoseconds()
        let (admitted, span, _) = self.ingest.admit(
            bytes, shape: .unary, tenant: allowance.tenant, receiveTime: WallClock.microseconds(),
            source: source, trace: &trace)
        self.ingest.metrics.countAdmission(
            bytes: bytes.count, nanoseconds: MonotonicClock.nanoseconds() &- start)
        return (admitted, span)
    }

    private func explainEvents(
        _ request: StreamingServerRequest<RequestBuffer>, of caller: Principal
    ) async throws -> StreamingServerResponse<Sightline_V1_ExplainEventsResponse> {
        let allowance = try self.ingest.allowance(of: caller.tenant, request.metadata)
        let bytes = try await Self.onlyMessage(of: request)
        let explainer = Explainer(
            admission: self.ingest.admission, tenant: caller.tenant,
            journal: self.ingest.journal)
        let answer = try await self.ingest.runDiagnostic(
            bytes, events: 0, allowance: allowance
        ) { calls in
            try await calls.explain(bytes, explainer)
        }
        allowance.count(events: answer.results.count)
        return StreamingServerResponse(single: ServerResponse(message: answer))
    }

    /// A payload is charged to the quota as one event.
    private func inspectPayload(
        _ request: StreamingServerRequest<RequestBuffer>, of caller: Principal
    ) async throws -> StreamingServerResponse<Sightline_V1_InspectPayloadResponse> {
        let allowance = try self.ingest.allowance(of: caller.tenant, request.metadata)
        let bytes = try await Self.onlyMessage(of: request)
        let answer = try await self.ingest.runDiagnostic(
            bytes, events: 1, allowance: allowance
        ) { calls in
            try await calls.inspect(bytes)
        }
        return StreamingServerResponse(single: ServerResponse(message: answer))
    }

    /// A delivery is charged to the quota as one event.
    private func explainDelivery(
        _ request: StreamingServerRequest<RequestBuffer>, of caller: Principal
    ) async throws -> StreamingServerResponse<Sightline_V1_ExplainDeliveryResponse> {
        let allowance = try self.ingest.allowance(of: caller.tenant, request.metadata)
        let bytes = try await Self.onlyMessage(of: request)
        let answer = try await self.ingest.runDiagnostic(
            bytes, events: 1, allowance: allowance
        ) { calls in
            try await calls.explainDelivery(
                bytes, of: caller.tenant.name, in: self.ingest.journal, self.deliveries)
        }
        return StreamingServerResponse(single: ServerResponse(message: answer))
    }

    /// Counts a unary call: its time, and its request where it fails or never reaches the journal.
    func counted<Answer>(
        _ method: RequestMethod, _ answer: () async throws -> Answer
    ) async throws -> Answer {
        let start = MonotonicClock.nanoseconds()
        defer {
            let duration = MonotonicClock.nanoseconds() &- start
            self.ingest.metrics.countCall(method, nanoseconds: duration)
        }
        do {
            let answer = try await answer()
            if method != .recordEvents { self.ingest.metrics.count(method, .answered) }
            return answer
        } catch {
            self.ingest.metrics.count(method, .refused)
            // Either the client has cancelled and receives nothing, or its connection closes and it
            // retries.
            if error is CancellationError { throw ServiceError.closing.status }
            throw error
        }
    }

    /// Serves a call that records nothing within a span.
    private static func traced<Answer>(
        _ method: MethodDescriptor, metadata: Metadata,
        _ serve: () async throws -> StreamingServerResponse<Answer>
    ) async throws -> StreamingServerResponse<Answer> {
        var trace = RequestTrace(method: method.fullyQualifiedMethod, metadata: metadata)
        let (_, span) = trace.begin(nil, receiveTime: WallClock.microseconds())
        guard let span else { return try await serve() }
        do {
            let answer = try await ServiceContext.withValue(span.serviceContext) {
                try await serve()
            }
            span.end(.ok)
            return answer
        } catch {
            span.end(Status.Code(error))
            throw error
        }
    }

    /// The single message of a unary request.
    static func onlyMessage<Message>(
        of request: StreamingServerRequest<Message>
    ) async throws -> Message {
        var messages = request.messages.makeAsyncIterator()
        guard let message = try await messages.next(), try await messages.next() == nil else {
            throw ServiceError.messageCount.status
        }
        return message
    }
}

extension Principal {
    /// How its events reach the server.
    var source: EventSource { self.proof == .host ? .postback : .api }
}
