// The tracer as swift-distributed-tracing uses it.
internal import Logging
internal import ServiceContextModule
@testable internal import Telemetry
internal import Testing
internal import Tracing
internal import W3CTrace

struct SpanTracerTests {
    private struct Headers: Extractor, Injector {
        func extract(key: String, from carrier: [String: String]) -> String? { carrier[key] }
        func inject(_ value: String, forKey key: String, into carrier: inout [String: String]) {
            carrier[key] = value
        }
    }

    private struct TestError: Error {}

    private static let incoming = [
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "tracestate": "vendor=1", "baggage": "user=1;p",
    ]

    @Test("a span continues what was extracted, and what is injected continues the span")
    func propagation() throws {
        let (tracer, queue) = TestSpans.tracer()
        var context = ServiceContext.topLevel
        tracer.extract(Self.incoming, into: &context, using: Headers())
        let span = tracer.startSpan("op", context: context, ofKind: .server)
        var outgoing: [String: String] = [:]
        tracer.inject(span.context, into: &outgoing, using: Headers())
        let trace = try #require(span.context.traceContext)
        #expect(outgoing["traceparent"] == trace.traceparent)
        #expect(trace.traceparent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))
        #expect(trace.traceparent.hasSuffix("-01") && !trace.traceparent.contains("b7ad6b71"))
        #expect(outgoing["tracestate"] == "vendor=1" && outgoing["baggage"] == "user=1;p")
        span.end()
        let record = try #require(queue.takeBatch().first)
        #expect(record.parent?.traceparent == Self.incoming["traceparent"])
        #expect(record.isParentRemote)
    }

    @Test("a child's parent is of this process")
    func child() throws {
        let (tracer, queue) = TestSpans.tracer()
        let parent = tracer.startSpan("parent", context: .topLevel)
        let child = tracer.startSpan("child", context: parent.context)
        child.end()
        parent.end()
        let records = queue.takeBatch()
        #expect(records.map(\.name) == ["child", "parent"])
        #expect(records[0].parent == records[1].context && records[1].parent == nil)
        #expect(records.allSatisfy { !$0.isParentRemote })
    }

    @Test("an unsampled span keeps nothing, and its trace goes on unsampled")
    func unsampled() throws {
        let (tracer, queue) = TestSpans.tracer("always_off")
        var context = ServiceContext.topLevel
        tracer.extract(Self.incoming, into: &context, using: Headers())
        let span = tracer.startSpan("op", context: context)
        span.operationName = "other"
        span.attributes["a"] = 1
        span.addEvent("event")
        #expect(!span.isRecording && span.operationName.isEmpty && span.attributes.isEmpty)
        span.end()
        #expect(queue.takeBatch().isEmpty)
        let trace = try #require(span.context.traceContext)
        #expect(!trace.isSampled && trace.traceparent.contains("0af7651916cd43dd8448eb211c80319c"))
    }

    @Test("what is told after the end changes nothing, and a second end neither")
    func afterEnd() throws {
        let (tracer, queue) = TestSpans.tracer()
        let span = tracer.startSpan("op", context: .topLevel)
        span.attributes["a"] = 1
        span.attributes["b"] = "two"
        span.end()
        span.attributes["c"] = 3
        span.end()
        #expect(!span.isRecording)
        let records = queue.takeBatch()
        #expect(records.count == 1)
        #expect(records[0].attributes.list.map(\.name) == ["a", "b"])
    }

    @Test("an error is an event with its type and its words")
    func errors() throws {
        let (tracer, queue) = TestSpans.tracer()
        let span = tracer.startSpan("op", context: .topLevel)
        span.recordError(TestError())
        span.end()
        let event = try #require(queue.takeBatch().first?.events.first)
        #expect(event.name == "exception")
        #expect(event.attributes.list.map(\.name) == ["exception.message", "exception.type"])
    }

    @Test("malformed headers are passed over, and nothing is injected of nothing")
    func malformed() {
        let (tracer, _) = TestSpans.tracer()
        var context = ServiceContext.topLevel
        tracer.extract(
            ["traceparent": "00-nonsense", "tracestate": "a=b", "baggage": "no member"],
            into: &context, using: Headers())
        #expect(context.traceContext == nil && context.baggage == nil)
        var outgoing: [String: String] = [:]
        tracer.inject(context, into: &outgoing, using: Headers())
        #expect(outgoing.isEmpty)
    }

    @Test("log lines within a span name it, and others name none")
    func logMetadata() throws {
        let (tracer, _) = TestSpans.tracer()
        let span = tracer.startSpan("op", context: .topLevel)
        let trace = try #require(span.context.traceContext)
        let metadata = ServiceContext.withValue(span.context) {
            Logger.MetadataProvider.traceContext.get()
        }
        let expected =
            "00-\(metadata["trace_id"] ?? "")-\(metadata["span_id"] ?? "")-"
            + "\(metadata["trace_flags"] ?? "")"
        #expect(expected == trace.traceparent)
        #expect(Logger.MetadataProvider.traceContext.get().isEmpty)
    }
}
