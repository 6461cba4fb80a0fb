// Quotas and the memory budget in a running server, from the clients' point of view.
@testable internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import NIOHPACK
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct ThrottlingTests {
    private func reasons(_ error: RPCError?) throws -> [String] {
        guard let error else { return [] }
        return try #require(try error.unpackGoogleRPCStatus()).details
            .compactMap(\.errorInfo).map(\.reason)
    }

    @Test("a tenant may record what its quota allows, and the event beyond it says when to return")
    func unary() async throws {
        try await RunningServer.with { configuration in
            configuration.quotas.standard.eventsPerSecond = 1
            // Longer than the test may take, so that little is refilled meanwhile.
            configuration.quotas.standard.burstSeconds = 1000
        } _: { server in
            try await WireClient.with(server) { client in
                let taken = try await client.record((1...1000).map { TestEvents.push("h\($0)") })
                #expect(taken.answers.first?.tally.accepted == 1000)
                let refused = try await client.record((1...1000).map { TestEvents.push("i\($0)") })
                let error = try #require(refused.error)
                #expect(error.code == .resourceExhausted)
                #expect(try self.reasons(error) == ["QUOTA_EXCEEDED"])
                let details = try #require(try error.unpackGoogleRPCStatus()).details
                let quotas = details.compactMap(\.quotaFailure).flatMap(\.violations)
                #expect(quotas.map(\.subject) == ["tenant:default"])
                let delay = try #require(details.compactMap(\.retryInfo).first?.delay)
                #expect(delay > .zero && delay <= .seconds(1000))
            }
        }
    }

    /// A call that records nothing, and the rate that it uses up.
    private struct Charge: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let rate: any WritableKeyPath<Quota, Int> & Sendable
        /// So many calls follow the first, all at once, and one of them must be refused: either the
        /// first has cost more than is refilled during the test, or they come too close together.
        var others = 1
        let call: @Sendable (WireClient) async throws -> RPCError?

        static let all: [Charge] = [
            Charge(
                testDescription: "explained events", rate: \.eventsPerSecond,
                call: { try await $0.explain((0..<1000).map { TestEvents.push("h\($0)") }).error }),
            Charge(
                testDescription: "explained bytes", rate: \.bytesPerSecond,
                call: { try await $0.explain((0..<20).map { TestEvents.push("h\($0)") }).error }),
            Charge(
                testDescription: "inspected payloads", rate: \.eventsPerSecond, others: 39,
                call: { try await $0.inspect("{}", .ios).error }),
            Charge(
                testDescription: "inspected bytes", rate: \.bytesPerSecond,
                call: {
                    let text = String(repeating: "x", count: 2000)
                    return try await $0.inspect("{\"a\":\"\(text)\"}", .ios).error
                }),
        ]
    }

    @Test("a call that records nothing is charged to the quota all the same", arguments: Charge.all)
    private func charged(_ charge: Charge) async throws {
        let errors: [RPCError?] = try await RunningServer.with { configuration in
            configuration.quotas.standard[keyPath: charge.rate] = 1
        } _: { server in
            try await WireClient.with(server) { client in
                let first = try await charge.call(client)
                let others = try await withThrowingTaskGroup(of: RPCError?.self) { group in
                    for _ in 0..<charge.others { group.addTask { try await charge.call(client) } }
                    return try await group.reduce(into: [] as [RPCError?]) { $0.append($1) }
                }
                return [first] + others
            }
        }
        // The first call takes from a full quota, whatever its size.
        #expect(errors[0] == nil)
        let refused = errors.compactMap(\.self)
        #expect(!refused.isEmpty)
        for error in refused { #expect(try self.reasons(error) == ["QUOTA_EXCEEDED"]) }
    }

    @Test("a stream beyond its quota is slowed, and loses nothing")
    func slowStream() async throws {
        try await RunningServer.with { configuration in
            configuration.quotas.standard.eventsPerSecond = 20
        } _: { server in
            let clock = ContinuousClock()
            let start = clock.now
            let outcome = try await WireClient.with(server) { client in
                try await client.stream(
                    try (1...30).map {
                        try TestEvents.request(UInt64($0), [TestEvents.push("h\($0)")])
                    })
            }
            #expect(outcome.error == nil)
            #expect(outcome.answers.last?.durableSequence == 30)
            #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 30)
            // 20 at once, then 10 at 20 per second; the quota itself gives the lower bound.
            #expect(clock.now - start >= .milliseconds(450))
        }
    }

    @Test("a stream that would have to wait too long ends, all that it sent acked")
    func endedStream() async throws {
        try await RunningServer.with { configuration in
            configuration.quotas.standard.eventsPerSecond = 1
            configuration.quotas.maxStreamWait = .milliseconds(500)
        } _: { server in
            try await WireClient.with(server) { client in
                let outcome = try await client.stream([
                    try TestEvents.request(1, (1...1000).map { TestEvents.push("h\($0)") }),
                    try TestEvents.request(2, [TestEvents.push("h1001")]),
                ])
                #expect(outcome.error?.code == .resourceExhausted)
                #expect(try self.reasons(outcome.error) == ["QUOTA_EXCEEDED"])
                #expect(outcome.answers.last?.durableSequence == 1)
                #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 1000)
                // Until the debt of 999 seconds is paid, a new stream is refused.
                let next = try await client.stream([try TestEvents.request(1)])
                #expect(next.answers.isEmpty)
                #expect(try self.reasons(next.error) == ["QUOTA_EXCEEDED"])
            }
        }
    }

    @Test("with more in memory than the soft limit, new calls are refused and told to come back")
    func overloaded() async throws {
        let budget = MemoryBudget(hardBytes: 100, softPercent: 50)
        let quotas = try TenantQuotas(QuotaConfiguration())
        let journal = try Journal(
            directory: "", sinks: [JournalSink("discard")], configuration: .diskless,
            onFailure: { _ in })
        let ingest = Ingest(
            admission: Admission(), journal: journal, budget: budget, quotas: quotas,
            metrics: ServerMetrics())
        // The call's connection has something, or else it would have a part in any case.
        var headers: HPACKHeaders = [:]
        let call = budget.buffered.open(&headers, on: ConnectionShares())
        let number = try #require(headers.first(name: "sightline-call"))
        let metadata: Metadata = ["sightline-call": .string(number)]
        let memory = budget.share(of: "default", on: call.connection)
        memory.add(50)
        _ = try ingest.allowance(of: .standard, metadata)
        memory.add(1)
        let error = try #require(throws: GoogleRPCStatus.self) {
            _ = try ingest.allowance(of: .standard, metadata)
        }
        call.close()
        #expect(error.code == .unavailable)
        #expect(error.details.compactMap(\.errorInfo).map(\.reason) == ["OVERLOADED"])
        #expect(error.details.compactMap(\.retryInfo).count == 1)
        await journal.close()
    }

    @Test(
        "a call whose connection has its share when its request has come is refused, and no sooner",
        arguments: [(1000, false), (1001, true)])
    func overloadedMeanwhile(_ held: Int, _ isRefused: Bool) async throws {
        let ingest = try Ingest.diskless()
        let allowance = try ingest.allowance(of: .standard)
        // Others that came on its connection at the same time.
        allowance.memory.add(held)
        let service = TrackingService(ingest: ingest, stream: StreamConfiguration())
        let bytes = RequestBuffer(try TestEvents.request(1, [TestEvents.push("h1")]))
        var trace = RequestTrace(method: "", metadata: [:])
        var reasons: [String] = []
        do {
            _ = try await service.admit(bytes, allowance, &trace)
        } catch let error as GoogleRPCStatus {
            reasons = error.details.compactMap(\.errorInfo).map(\.reason)
        }
        #expect(reasons == (isRefused ? ["OVERLOADED"] : []))
        await ingest.journal.close()
    }

    @Test("a call that records nothing counts with its bytes until it is answered")
    func aside() async throws {
        let ingest = try Ingest.diskless()
        let allowance = try ingest.allowance(of: .standard)
        let request = RequestBuffer([UInt8](repeating: 0, count: 501))
        let isNearlyFull = try await ingest.runDiagnostic(
            request, events: 1, allowance: allowance
        ) { _ in
            #expect(ingest.budget.bytesInFlight == 501)
            return allowance.memory.isNearlyFull
        }
        #expect(isNearlyFull && ingest.budget.bytesInFlight == 0)
        await ingest.journal.close()
    }

    @Test("a stream whose requests fill the memory is read on as they are settled")
    func hardLimit() async throws {
        let outcome = try await RunningServer.with { configuration in
            // Less than a request: each must be settled before the next one is read.
            configuration.bytesInFlight = 1
            configuration.bytesInFlightSoftPercent = 100
        } _: { server in
            try await WireClient.with(server) { client in
                try await client.stream(
                    try (1...100).map {
                        try TestEvents.request(UInt64($0), [TestEvents.push("h\($0)")])
                    })
            }
        }
        #expect(outcome.error == nil)
        #expect(outcome.answers.last?.durableSequence == 100)
        #expect(outcome.answers.map(\.tally.accepted).reduce(0, +) == 100)
    }
}
