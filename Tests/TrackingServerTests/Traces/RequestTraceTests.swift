// The span of a request: with our tracer, with another's, and without one.
internal import GRPCCore
@testable internal import HTTP2Edge
internal import InMemoryTracing
internal import SightlineProtos
@testable internal import Telemetry
internal import TestSupport
internal import Testing
internal import Tracing
internal import TrackingRules
@testable internal import TrackingServer
internal import W3CTrace

struct RequestTraceTests {
    private static let method = "a.B/C"
    private static let call = "00-12345678901234567890123456789012-1234567890123456-0"

    private static func event(_ span: Int) -> String {
        "00-0af7651916cd43dd8448eb211c80319c-000000000000000\(span)-01"
    }

    private func metadata(_ traceparent: String?) -> Metadata {
        var metadata: Metadata = ["baggage": "a=1"]
        if let traceparent { metadata.addString(traceparent, forKey: "traceparent") }
        return metadata
    }

    /// An admitted request of an event per span number; 0 is an event without a trace.
    private func request(_ spans: [Int]) throws -> AdmittedRequest {
        let events = spans.enumerated().map { index, span in
            var event = TestEvents.push("h\(index)")
            if span > 0 { event.traceContext.traceparent = Self.event(span) }
            return event
        }
        let bytes = RequestBuffer(try TestEvents.request(1, events))
        let admission = Admission()
        return bytes.withUnsafeBytes { buffer in
            admission.admit(
                admission.read(buffer, shape: .stream), bytes: buffer.count, tenant: "default",
                receiveTime: 1_800_000_000_000_000)
        }
    }

    private func tracer(
        _ sampler: String = "parentbased_always_on", maxLinks: Int = 128
    ) -> (SpanTracer, SpanQueue) {
        let queue = SpanQueue(capacity: 10, batchSize: 10, counts: SpanCounts())
        var limits = SpanLimits()
        limits.links = maxLinks
        let tracer = SpanTracer(
            sampler: Sampler(name: sampler, ratio: 1), limits: limits, queue: queue)
        return (tracer, queue)
    }

    @Test("without a tracer there is no span, and the place is the parent's child all the same")
    func nobody() throws {
        var trace = RequestTrace(method: Self.method, metadata: self.metadata(Self.call + "1"))
        let (context, span) = trace.begin(try self.request([0]), receiveTime: 1)
        #expect(span == nil)
        #expect(context.isSampled)
        #expect(context.traceparent.contains("12345678901234567890123456789012"))
        let event = trace.begin(try self.request([1]), receiveTime: 1).context
        #expect(event.traceparent.contains("0af7651916cd43dd8448eb211c80319c"))
    }

    @Test("the span begins as the request came, continues its event's trace, and links the others")
    func recorded() throws {
        let (tracer, queue) = self.tracer()
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: self.metadata(Self.call + "1"))
            let request = try self.request([1, 2, 0, 2, 1, 3])
            let (context, span) = trace.begin(request, receiveTime: 5)
            #expect(span?.serviceContext.baggage?.header == "a=1")
            span?.end(request)
            let record = try #require(queue.takeBatch().first)
            #expect(record.context == context && record.startTime == 5000)
            #expect(record.parent?.traceparent == Self.event(1) && record.isParentRemote)
            #expect(
                record.links.map(\.context.traceparent) == [
                    Self.call + "1", Self.event(2), Self.event(3),
                ])
            let attributes = Dictionary(
                uniqueKeysWithValues: record.attributes.list.map { ($0.name, $0.value) })
            #expect(attributes["rpc.system.name"] == "grpc")
            #expect(attributes["rpc.method"] == "a.B/C")
            #expect(attributes["sightline.request.events"] == 6)
            #expect(attributes["rpc.status_code"] == nil)
        }
    }

    @Test("links end at their limit", arguments: [0, 1, 2])
    func links(_ limit: Int) throws {
        let (tracer, queue) = self.tracer(maxLinks: limit)
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: self.metadata(nil))
            let request = try self.request([1, 2, 3, 4, 5])
            trace.begin(request, receiveTime: 5).span?.end(request)
            let record = try #require(queue.takeBatch().first)
            #expect(record.links.map(\.context.spanID) == [2, 3].prefix(limit).map { UInt64($0) })
            #expect(record.parent?.spanID == 1)
        }
    }

    @Test("what the sampler leaves out has no span, and is unsampled for all that follow")
    func unsampled() throws {
        let (tracer, queue) = self.tracer()
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: self.metadata(Self.call + "0"))
            let (context, span) = trace.begin(try self.request([0]), receiveTime: 5)
            #expect(span == nil && !context.isSampled)
        }
        #expect(queue.takeBatch().isEmpty)
    }

    @Test("a sampled parent is left out by a sampler that does not follow it")
    func alwaysOff() throws {
        let (tracer, _) = self.tracer("always_off")
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: self.metadata(Self.call + "1"))
            let (context, span) = trace.begin(try self.request([0]), receiveTime: 5)
            #expect(span == nil && !context.isSampled)
            #expect(context.traceparent.contains("12345678901234567890123456789012"))
        }
    }

    @Test("a span that nobody ends is ended as it goes, and says so")
    func abandoned() throws {
        let (tracer, queue) = self.tracer()
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: [:])
            _ = trace.begin(try self.request([0]), receiveTime: 5)
        }
        let record = try #require(queue.takeBatch().first)
        #expect(record.status?.code == .error)
        #expect(
            record.attributes.list.contains { $0.name == "error.type" && $0.value == "unanswered" })
    }

    @Test("a request that the journal could not take is an error")
    func retryLater() throws {
        let (tracer, queue) = self.tracer()
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: [:])
            let request = try self.request([0])
            request.isToRetry = true
            trace.begin(request, receiveTime: 5).span?.end(request)
        }
        #expect(try #require(queue.takeBatch().first).status?.code == .error)
    }

    @Test(
        "a call's status is an error where it is the server's fault",
        arguments: [
            (.ok, "OK", false), (.cancelled, "CANCELLED", false), (.unknown, "UNKNOWN", true),
            (.invalidArgument, "INVALID_ARGUMENT", false),
            (.deadlineExceeded, "DEADLINE_EXCEEDED", true), (.notFound, "NOT_FOUND", false),
            (.alreadyExists, "ALREADY_EXISTS", false),
            (.permissionDenied, "PERMISSION_DENIED", false),
            (.resourceExhausted, "RESOURCE_EXHAUSTED", false),
            (.failedPrecondition, "FAILED_PRECONDITION", false), (.aborted, "ABORTED", false),
            (.outOfRange, "OUT_OF_RANGE", false), (.unimplemented, "UNIMPLEMENTED", true),
            (.internalError, "INTERNAL", true), (.unavailable, "UNAVAILABLE", true),
            (.dataLoss, "DATA_LOSS", true), (.unauthenticated, "UNAUTHENTICATED", false),
        ] as [(Status.Code, String, Bool)])
    func statuses(_ code: Status.Code, _ name: String, _ isError: Bool) throws {
        let (tracer, queue) = self.tracer()
        withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: [:])
            trace.begin(nil, receiveTime: 5).span?.end(code)
        }
        let record = try #require(queue.takeBatch().first)
        let attributes = record.attributes.list
        #expect(
            attributes.contains {
                $0.name == "rpc.status_code" && $0.value == .string(name)
            })
        #expect((record.status?.code == .error) == isError)
        #expect(attributes.contains { $0.name == "error.type" } == isError)
    }

    @Test("another's tracer gets the span, and its headers the place where they are W3C's")
    func other() throws {
        let tracer = InMemoryTracer()
        try withTracer(tracer) {
            var trace = RequestTrace(method: Self.method, metadata: self.metadata(Self.call + "1"))
            let request = try self.request([0])
            let (context, span) = trace.begin(request, receiveTime: 5)
            // It injects headers of its own: the place is the call's child all the same.
            #expect(context.traceparent.contains("12345678901234567890123456789012"))
            span?.end(request, isUnary: true)
        }
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.operationName == "a.B/C" && span.kind == .server)
        #expect(span.startInstant.nanosecondsSinceEpoch == 5000)
        #expect(span.attributes["rpc.status_code"]?.toSpanAttribute() == "OK")
    }
}
