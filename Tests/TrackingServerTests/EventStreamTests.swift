// In whose turn a stream's requests are admitted.
@testable internal import Credentials
internal import GRPCCore
@testable internal import HTTP2Edge
internal import Pacing
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct EventStreamTests {
    /// What another tenant's line is told by.
    private final class Rival: Sendable {}

    /// Takes answers to nobody.
    private struct NoAnswers: RPCWriterProtocol {
        func write(_ element: StreamAnswer) async throws {}
        func write(contentsOf elements: some Sequence<StreamAnswer>) async throws {}
    }

    private static func ingest(_ journal: Journal) throws -> Ingest {
        var quotas = QuotaConfiguration()
        // More than the stream has: it never waits for its quota.
        quotas.standard.eventsPerSecond = 1_000_000
        return Ingest(
            admission: Admission(), journal: journal,
            budget: MemoryBudget(hardBytes: 1 << 30, softPercent: 80),
            quotas: try TenantQuotas(quotas), metrics: ServerMetrics())
    }

    private static func stream(_ run: CoalescedRequests, in ingest: Ingest) throws -> EventStream {
        let (requests, sender) = AsyncThrowingStream.makeStream(of: CoalescedRequests.self)
        sender.yield(run)
        sender.finish()
        return EventStream(
            ingest: ingest, configuration: StreamConfiguration(),
            caller: Principal(tenant: .standard, proof: .token, expiry: nil),
            allowance: try ingest.allowance(of: .standard),
            requests: StreamingServerRequest(
                metadata: [:], messages: RPCAsyncSequence(wrapping: requests)))
    }

    /// Requests that have come together, and need a turn.
    private static func run(of count: Int) throws -> CoalescedRequests {
        var bytes: [UInt8] = []
        for sequence in UInt64(1)...UInt64(count) {
            let events = (0..<200).map { TestEvents.push("h\(sequence)-\($0)") }
            let request = try TestEvents.request(sequence, events)
            let length = (0..<4).map { UInt8(truncatingIfNeeded: request.count >> (24 - 8 * $0)) }
            bytes += [0] + length + request
        }
        let run = CoalescedRequests(bytes)
        #expect(run.framedBytes >= AdmissionTurns.leastBytes && run.map(\.count).count == count)
        return run
    }

    @Test("a stream with a quota waits for its turn again with each request of a run")
    func turns() async throws {
        let directory = try TemporaryDirectory()
        // With no sink to wait for, requests are settled as they get durable.
        let journal = try Journal(directory: directory.path, sinks: [], onFailure: { _ in })
        let ingest = try Self.ingest(journal)
        let turns = ingest.admissionTurns
        let all = turns.free
        while turns.takeNow() {}
        let stream = try Self.stream(try Self.run(of: 3), in: ingest)
        let hasEnded = Mutex(false)
        let serving = Task {
            defer { hasEnded.withLock { $0 = true } }
            try await stream.serve(RPCWriter(wrapping: NoAnswers()))
        }
        let other = Rival()
        let line = TurnLine(tenant: [1], stream: ObjectIdentifier(other))
        for number in 1...3 {
            // It costs so much that it comes after the stream, and keeps the turn that it gets.
            let rival = Task.immediate { await turns.take(in: line, bytes: 1 << 40) }
            while turns.waiters < 2, !hasEnded.withLock({ $0 }) { await Task.yield() }
            #expect(turns.waiters == 2, "request \(number)")
            turns.giveBack()
            await rival.value
        }
        for _ in 0..<all { turns.giveBack() }
        try await serving.value
        withExtendedLifetime(other) {}
        await journal.close()
    }
}
