// Spans on their way to a receiver on a real socket, with a clock that the test moves.
internal import Foundation
internal import GRPCCore
internal import GRPCProtobuf
internal import Logging
internal import ServiceContextModule
internal import ServiceLifecycle
internal import SightlineProtos
internal import SinkTestSupport
internal import SwiftProtobuf
@testable internal import Telemetry
internal import TestSupport
internal import Testing
internal import Tracing
internal import W3CTrace

@Suite(.timeLimit(.minutes(10)))
struct SpanExporterTests {
    /// What a test holds while its exporter runs.
    private struct Running {
        let exporter: SpanExporter
        let clock: TestClock
        let group: ServiceGroup
        var requests: AsyncStream<SpanReceiver.Request>.Iterator
        var sleeps: AsyncStream<Duration>.Iterator

        /// Ends so many spans.
        func end(_ count: Int) {
            for index in 0..<count {
                self.exporter.tracer.startSpan("span \(index)", context: .topLevel).end()
            }
        }

        func count(_ outcome: SpanCounts.Outcome) -> Int { self.exporter.counts.count(of: outcome) }

        /// Waits until somebody sleeps so long.
        mutating func sleep(of duration: Duration) async {
            while let sleep = await self.sleeps.next(), sleep != duration {}
        }
    }

    private static let delay = Duration.seconds(5)

    /// Runs an exporter, with batches of three and a queue of six, and a receiver; both have ended
    /// when this returns.
    private func run(
        _ answers: [Result<SpanReceiver.Response, RPCError>] = [], isThere: Bool = true,
        _ body: (inout Running) async throws -> Void
    ) async throws -> SpanCounts {
        let receiver = SpanReceiver(answers)
        guard isThere else {
            // Nobody listens there, and no other test can come to.
            return try await self.runExporter(to: 1, receiver, body)
        }
        var counts: SpanCounts?
        try await receiver.run { port in
            counts = try await self.runExporter(to: port, receiver, body)
        }
        return try #require(counts)
    }

    private func runExporter(
        to port: Int, _ receiver: SpanReceiver, _ body: (inout Running) async throws -> Void
    ) async throws -> SpanCounts {
        var configuration = TracesConfiguration()
        (configuration.batchSpans, configuration.queueSpans) = (3, 6)
        // Calls keep real time, in which a busy machine is no silent receiver.
        (configuration.callTimeout, configuration.exportTimeout) = (.seconds(300), .seconds(600))
        let endpoint = try #require(OTLPEndpoint("http://127.0.0.1:\(port)"))
        let clock = TestClock(maxSleeps: 0)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let exporter = try SpanExporter(to: endpoint, configuration, logger: logger, clock: clock)
        let group = ServiceGroup(services: [exporter], logger: logger)
        var running = Running(
            exporter: exporter, clock: clock, group: group,
            requests: receiver.requests.makeAsyncIterator(),
            sleeps: clock.lastingSleeps.makeAsyncIterator())
        async let ended: Void = group.run()
        await running.sleep(of: Self.delay)
        try await body(&running)
        await group.triggerGracefulShutdown()
        try await ended
        return exporter.counts
    }

    @Test("a whole batch is sent at once; less than one waits for the delay")
    func batches() async throws {
        let counts = try await self.run { running in
            running.end(3)
            #expect(await running.requests.next()?.spans.count == 3)
            await running.sleep(of: Self.delay)
            running.end(2)
            running.clock.advance(by: Self.delay)
            #expect(await running.requests.next()?.spans.count == 2)
        }
        #expect(counts.count(of: .exported) == 5)
    }

    @Test("at shutdown what waits is sent")
    func flush() async throws {
        let counts = try await self.run { $0.end(2) }
        #expect(counts.count(of: .exported) == 2)
        #expect(SpanCounts.Outcome.allCases.map { counts.count(of: $0) }.reduce(0, +) == 2)
    }

    @Test("a receiver that is unavailable gets the same batch again after a pause")
    func retry() async throws {
        let unavailable = RPCError(code: .unavailable, message: "not now")
        let counts = try await self.run([.failure(unavailable)]) { running in
            running.end(3)
            let first = await running.requests.next()
            while let pause = await running.sleeps.next(), pause > .seconds(1) {}
            running.clock.advance(by: .seconds(1))
            #expect(await running.requests.next() == first)
        }
        #expect(counts.count(of: .exported) == 3 && counts.count(of: .failed) == 0)
    }

    @Test("a receiver's own pause is kept to")
    func retryInfo() async throws {
        let busy = RPCError(
            GoogleRPCStatus(
                code: .resourceExhausted, message: "busy",
                details: [.retryInfo(delay: .seconds(7))]))
        let counts = try await self.run([.failure(busy)]) { running in
            running.end(3)
            _ = await running.requests.next()
            await running.sleep(of: .seconds(7))
            running.clock.advance(by: .seconds(7))
            #expect(await running.requests.next()?.spans.count == 3)
        }
        #expect(counts.count(of: .exported) == 3)
    }

    @Test("a refusal is final, and the next batch goes on its way")
    func refusal() async throws {
        let refusal = RPCError(code: .invalidArgument, message: "no")
        let counts = try await self.run([.failure(refusal)]) { running in
            running.end(3)
            #expect(await running.requests.next()?.spans.count == 3)
            await running.sleep(of: Self.delay)
            running.end(3)
            #expect(await running.requests.next()?.spans.count == 3)
        }
        #expect(counts.count(of: .failed) == 3 && counts.count(of: .exported) == 3)
    }

    @Test("a pause beyond the time of an export loses the batch at once")
    func tooLongPause() async throws {
        let busy = RPCError(
            GoogleRPCStatus(
                code: .unavailable, message: "busy", details: [.retryInfo(delay: .seconds(3600))]))
        let counts = try await self.run([.failure(busy)]) { running in
            running.end(3)
            _ = await running.requests.next()
            await running.sleep(of: Self.delay)
            #expect(running.count(.failed) == 3)
        }
        #expect(counts.count(of: .exported) == 0)
    }

    @Test(
        "what a receiver refuses of a batch is counted, and not sent again",
        arguments: [(1, 1), (3, 3), (4, 3), (-1, 0), (0, 0)] as [(Int64, Int)])
    func partialSuccess(_ told: Int64, _ rejected: Int) async throws {
        let partial = SpanReceiver.Response.with {
            $0.partialSuccess.rejectedSpans = told
            $0.partialSuccess.errorMessage = "odd ones"
        }
        let counts = try await self.run([.success(partial)]) { running in
            running.end(3)
            #expect(await running.requests.next()?.spans.count == 3)
            await running.sleep(of: Self.delay)
        }
        #expect(counts.count(of: .rejected) == rejected)
        #expect(counts.count(of: .exported) == 3 - rejected)
    }

    @Test(
        "without a receiver the queue fills up, drops one beyond its limit, and the stop is bounded"
    )
    func outage() async throws {
        let counts = try await self.run(isThere: false) { running in
            running.end(3)
            // The first batch is in the exporter's hands when it sleeps before its next try.
            while let pause = await running.sleeps.next(), pause > .seconds(1) {}
            running.end(7)
            #expect(running.count(.queueFull) == 1)
            await running.group.triggerGracefulShutdown()
            await running.sleep(of: .seconds(2))
            running.clock.advance(by: .seconds(2))
        }
        #expect(counts.count(of: .exported) == 0)
        #expect(counts.count(of: .failed) + counts.count(of: .stopped) == 9)
    }

    @Test("over HTTP, the time of a call is that of the answer's body too")
    func stalledBody() async throws {
        let receiver = try TestReceiver([.head])
        var configuration = TracesConfiguration()
        (configuration.batchSpans, configuration.queueSpans) = (3, 6)
        // A pause before another try would be longer.
        configuration.exportTimeout = .milliseconds(400)
        let endpoint = try #require(OTLPEndpoint("http://127.0.0.1:\(receiver.port)/v1/traces"))
        let clock = TestClock(maxSleeps: 0)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let exporter = try SpanExporter(to: endpoint, configuration, logger: logger, clock: clock)
        let group = ServiceGroup(services: [exporter], logger: logger)
        var sleeps = clock.lastingSleeps.makeAsyncIterator()
        async let ended: Void = group.run()
        while let sleep = await sleeps.next(), sleep != Self.delay {}
        for _ in 0..<3 { exporter.tracer.startSpan("span", context: .topLevel).end() }
        // The clock of the flush stands still, so that the export alone can end it.
        await group.triggerGracefulShutdown()
        try await ended
        #expect(exporter.counts.count(of: .failed) == 3)
    }

    @Test("a span is sent as OTLP has it")
    func message() async throws {
        _ = try await self.run { running in
            let span = running.exporter.tracer.startSpan(
                "op", context: .topLevel, ofKind: .client,
                at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 5))
            span.attributes["text"] = "a"
            span.attributes["numbers"] = SpanAttribute.int64Array([1, 2])
            span.addEvent(
                SpanEvent(
                    name: "event", at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 6)))
            span.addLink(TestSpans.link(9))
            span.setStatus(SpanStatus(code: .error, message: "broken"))
            span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: 7))
            running.end(2)
            let request = try #require(await running.requests.next())
            let resource = try #require(request.resourceSpans.first)
            #expect(resource.schemaURL == TraceResource.schemaURL)
            let names = resource.resource.attributes.map(\.key)
            #expect(names.contains("service.name") && names == names.sorted())
            let sent = try #require(request.spans.first)
            let trace = try #require(span.context.traceContext)
            #expect(sent.traceID.count == 16 && sent.spanID.count == 8)
            #expect(trace.traceparent.contains(sent.spanID.reduce("") { $0 + Self.hex($1) }))
            #expect(sent.parentSpanID.isEmpty && sent.flags == 0x101)
            #expect(sent.name == "op" && sent.kind == .client)
            #expect(sent.startTimeUnixNano == 5 && sent.endTimeUnixNano == 7)
            #expect(sent.attributes.map(\.key) == ["numbers", "text"])
            #expect(sent.attributes[0].value.arrayValue.values.map(\.intValue) == [1, 2])
            #expect(sent.events.map(\.timeUnixNano) == [6])
            #expect(sent.links.map(\.flags) == [0x301])
            #expect(Array(sent.links[0].spanID) == [0, 0, 0, 0, 0, 0, 0, 9])
            #expect(sent.status.code == .error && sent.status.message == "broken")
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
}
