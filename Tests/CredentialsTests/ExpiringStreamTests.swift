// A stream whose caller's credentials expire while it runs.
@testable internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
@testable internal import ServerConfiguration
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct ExpiringStreamTests {
    private typealias Response = Sightline_V1_StreamEventsResponse
    private static let expiry: Int64 = 1_800_000_000_000_000
    /// When a test begins.
    private static let start = expiry - 60_000_000
    /// From then on until the end is announced.
    private static let lead = Duration.seconds(58)
    private static let grace = Duration.seconds(2)

    /// Takes a stream's answers to a test.
    private struct Answers: RPCWriterProtocol {
        let continuation: AsyncStream<Response>.Continuation
        let serializer: StreamAnswerSerializer

        func write(_ element: StreamAnswer) async throws {
            self.continuation.yield(self.serializer.response(element))
        }

        func write(contentsOf elements: some Sequence<StreamAnswer>) async throws {
            for element in elements { try await self.write(element) }
        }
    }

    /// A stream under way, with both its ends in the test's hands.
    private struct Running {
        let requests: AsyncThrowingStream<CoalescedRequests, any Error>.Continuation
        var answers: AsyncStream<Response>.Iterator
        let end: Task<RPCError?, Never>

        mutating func next() async throws -> Response {
            try #require(await self.answers.next())
        }

        func send(_ sequence: UInt64) throws {
            let event = TestEvents.push("h\(sequence)")
            self.requests.yield(CoalescedRequests(try TestEvents.request(sequence, [event])))
        }
    }

    /// A test's clock, as the server has it.
    private static func wallClock(_ clock: TestClock) -> CredentialClock {
        CredentialClock(
            now: { Self.start + Int64(clock.elapsed / .microseconds(1)) },
            wait: { try await clock.sleep(until: clock.start + .microseconds($0 - Self.start)) })
    }

    private func run(
        _ clock: TestClock, expiry: Int64?, _ body: (inout Running) async throws -> Void
    ) async throws {
        try await TestDirectory.with { directory in
            let journal = try Journal(
                directory: directory + "/journal", sinks: [JournalSink("test")],
                configuration: Journal.Configuration(), onFailure: { _ in })
            let tenant = try #require(Tenant("tenant-a"))
            let (requests, sender) = AsyncThrowingStream.makeStream(of: CoalescedRequests.self)
            let (answers, receiver) = AsyncStream.makeStream(of: Response.self)
            let ingest = Ingest(
                admission: Admission(), journal: journal,
                budget: MemoryBudget(hardBytes: 1 << 30, softPercent: 80),
                quotas: try TenantQuotas(QuotaConfiguration()), metrics: ServerMetrics())
            let stream = EventStream(
                ingest: ingest, configuration: StreamConfiguration(),
                caller: Principal(tenant: tenant, proof: .token, expiry: expiry),
                allowance: try ingest.allowance(of: tenant), clock: Self.wallClock(clock),
                requests: StreamingServerRequest(
                    metadata: [:], messages: RPCAsyncSequence(wrapping: requests)))
            let writer = RPCWriter(
                wrapping: Answers(
                    continuation: receiver,
                    serializer: StreamAnswerSerializer(
                        limits: Limits(), configuration: StreamConfiguration())))
            let end = Task {
                defer { receiver.finish() }
                do {
                    try await stream.serve(writer)
                    return RPCError?.none
                } catch let error as any RPCErrorConvertible {
                    return RPCError(error)
                } catch {
                    return RPCError(code: .unknown, message: "\(error)")
                }
            }
            var running = Running(
                requests: sender, answers: answers.makeAsyncIterator(), end: end)
            #expect(try await running.next().hasLimits)
            try await body(&running)
            await journal.close()
        }
    }

    private func expectExpired(_ running: Running) async throws {
        let error = try #require(await running.end.value)
        #expect(error.code == .unauthenticated)
        let details = try #require(try error.unpackGoogleRPCStatus()).details
        #expect(details.compactMap(\.errorInfo).map(\.reason) == ["CREDENTIALS_EXPIRED"])
    }

    @Test("closing is announced a grace before the expiry, and the stream ends at it, all acked")
    func expires() async throws {
        let clock = TestClock(maxSleeps: 0)
        try await self.run(clock, expiry: Self.expiry) { running in
            try running.send(1)
            #expect(try await running.next().durableSequence == 1)
            clock.advance(by: Self.lead)
            #expect(try await running.next().hasClosing)
            // Requests within the grace are still acknowledged.
            try running.send(2)
            #expect(try await running.next().durableSequence == 2)
            clock.advance(by: Self.grace)
            try await self.expectExpired(running)
            #expect(await running.answers.next() == nil)
        }
    }

    @Test("a microsecond before its time nothing happens")
    func notYet() async throws {
        let clock = TestClock(maxSleeps: 0)
        try await self.run(clock, expiry: Self.expiry) { running in
            clock.advance(by: Self.lead - .microseconds(1))
            try running.send(1)
            let answer = try await running.next()
            #expect(answer.durableSequence == 1 && !answer.hasClosing)
            running.requests.finish()
            #expect(await running.end.value == nil)
        }
    }

    @Test("a client that ends within the grace has ended well")
    func endsInTime() async throws {
        let clock = TestClock(maxSleeps: 0)
        try await self.run(clock, expiry: Self.expiry) { running in
            clock.advance(by: Self.lead)
            #expect(try await running.next().hasClosing)
            try running.send(1)
            running.requests.finish()
            #expect(try await running.next().durableSequence == 1)
            #expect(await running.end.value == nil)
        }
    }

    @Test("a client that never pauses is ended at the expiry, and all that was taken is acked")
    func neverPauses() async throws {
        let clock = TestClock(maxSleeps: 0)
        clock.advance(by: Self.lead)
        try await self.run(clock, expiry: Self.expiry) { running in
            #expect(try await running.next().hasClosing)
            for sequence in UInt64(1)...200 { try running.send(sequence) }
            clock.advance(by: Self.grace)
            var acked: UInt64 = 0
            while let answer = await running.answers.next() {
                acked = answer.durableSequence
                // It keeps sending, despite the announcement.
                for sequence in 1...200 as ClosedRange<UInt64> {
                    try running.send(acked * 1000 + sequence)
                }
            }
            try await self.expectExpired(running)
        }
    }

    @Test("credentials that do not expire end nothing")
    func forever() async throws {
        try await self.run(TestClock(), expiry: nil) { running in
            try running.send(1)
            #expect(try await running.next().durableSequence == 1)
            running.requests.finish()
            #expect(await running.end.value == nil)
        }
    }
}
