// The turns of calls that record nothing: one has it, the others wait, and who ends leaves.
// `Task.immediate` runs up to the first suspension before it returns: so a call waits by then.
@testable internal import Credentials
internal import GRPCCore
internal import GRPCProtobuf
@testable internal import HTTP2Edge
internal import Pacing
@testable internal import ServerConfiguration
internal import ServerTestSupport
internal import Synchronization
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

@Suite(.timeLimit(.minutes(10)))
struct DiagnosticCallsTests {
    private let lock = AsyncLock()
    private let counts = Counts()
    private let request = RequestBuffer([UInt8](repeating: 0, count: 1))

    /// How many run now, ran at most at once, and are done.
    private final class Counts: Sendable {
        private let counts = Mutex((running: 0, most: 0, done: 0))
        private let tenants = Mutex<[String]>([])

        var all: (running: Int, most: Int, done: Int) { self.counts.withLock { $0 } }
        /// Whose calls were served, in order.
        var served: [String] { self.tenants.withLock { $0 } }

        func begin() {
            self.counts.withLock {
                $0.running += 1
                $0.most = max($0.most, $0.running)
            }
        }

        func end() {
            self.counts.withLock {
                $0.running -= 1
                $0.done += 1
            }
        }

        /// A call that others could overtake.
        func serve(_ tenant: String = "") async {
            self.tenants.withLock { $0.append(tenant) }
            self.begin()
            for _ in 0..<5 { await Task.yield() }
            self.end()
        }
    }

    /// A call that keeps its turn until it is let go.
    private struct Holder {
        private let call: Task<Void, any Error>
        private let end: AsyncStream<Void>.Continuation

        init(_ lock: AsyncLock) {
            let (holding, end) = AsyncStream.makeStream(of: Void.self)
            self.end = end
            self.call = Task.immediate {
                try await lock.withCall { for await _ in holding {} }
            }
        }

        func letGo() async throws {
            self.end.finish()
            try await self.call.value
        }
    }

    private func call() -> Task<Void, any Error> {
        Task.immediate {
            try await self.lock.withCall { await self.counts.serve() }
        }
    }

    @Test("of the calls that record nothing one runs at a time, each in its turn")
    func alone() async throws {
        for call in (0..<100).map({ _ in self.call() }) { try await call.value }
        #expect(self.counts.all == (0, 1, 100))
    }

    @Test("a call whose task is cancelled while it waits leaves, and the next one has its turn")
    func cancelledWhileWaiting() async throws {
        let holder = Holder(self.lock)
        let (ended, next) = (self.call(), self.call())
        ended.cancel()
        await #expect(throws: CancellationError.self) { try await ended.value }
        try await holder.letGo()
        try await next.value
        #expect(self.counts.all == (0, 1, 1))
    }

    @Test("a call whose stream ends while it waits leaves, and the next one has its turn")
    func endedWhileWaiting() async throws {
        let holder = Holder(self.lock)
        let (ended, stream) = await withServerContextRPCCancellationHandle { stream in
            (self.call(), stream)
        }
        let next = self.call()
        stream.cancel()
        await #expect(throws: CancellationError.self) { try await ended.value }
        try await holder.letGo()
        try await next.value
        #expect(self.counts.all == (0, 1, 1))
    }

    @Test("a call that has ended before it comes is not served, and leaves the turn to others")
    func endedBefore() async throws {
        await #expect(throws: CancellationError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    try await self.lock.withCall { await self.counts.serve() }
                }
                try await group.waitForAll()
            }
        }
        let ended = await withServerContextRPCCancellationHandle { stream in
            stream.cancel()
            return self.call()
        }
        await #expect(throws: CancellationError.self) { try await ended.value }
        try await self.call().value
        #expect(self.counts.all == (0, 1, 1))
    }

    @Test("no turn is lost between many calls that come, end and are served")
    func manyAtOnce() async throws {
        for _ in 0..<200 {
            let calls = (0..<20).map { _ in
                Task { try await self.lock.withCall { await self.counts.serve() } }
            }
            for (number, call) in calls.enumerated() where number % 2 == 1 { call.cancel() }
            for call in calls { _ = await call.result }
        }
        try await self.call().value
        let counts = self.counts.all
        #expect(counts.running == 0 && counts.most == 1 && counts.done > 200 * 10)
    }

    /// A server in which some calls may wait besides the one that is served.
    private func ingest(maxWaitingCalls: Int) throws -> Ingest {
        Ingest(
            admission: Admission(),
            journal: try Journal(
                directory: "", sinks: [], configuration: .diskless, onFailure: { _ in }),
            budget: MemoryBudget(hardBytes: 1000, softPercent: 50),
            quotas: try TenantQuotas(QuotaConfiguration()), metrics: ServerMetrics(),
            maxWaitingCalls: maxWaitingCalls)
    }

    private func call(_ ingest: Ingest, _ allowance: Allowance) -> Task<Void, any Error> {
        Task.immediate {
            try await ingest.runDiagnostic(self.request, events: 1, allowance: allowance) { _ in
                await self.counts.serve(allowance.tenant.name)
            }
        }
    }

    /// A call of a tenant, which comes on a connection of its own.
    private func call(_ ingest: Ingest, of tenant: String) throws -> Task<Void, any Error> {
        self.call(ingest, try ingest.allowance(of: try #require(Tenant(tenant))))
    }

    /// The reason of a call's refusal; nil if it is served.
    private func reason(_ call: Task<Void, any Error>) async throws -> String? {
        do {
            try await call.value
            return nil
        } catch let status as GoogleRPCStatus {
            return status.details.compactMap(\.errorInfo).first?.reason
        }
    }

    @Test("as many calls wait as may, and one more is told to come back")
    func bound() async throws {
        let ingest = try self.ingest(maxWaitingCalls: 9)
        let holder = Holder(ingest.diagnosticLock)
        // All on one connection, whose part is the whole.
        let allowance = try ingest.allowance(of: .standard)
        let waiting = (0..<10).map { _ in self.call(ingest, allowance) }
        #expect(try await self.reason(self.call(ingest, allowance)) == "OVERLOADED")
        waiting[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[0].value }
        let last = self.call(ingest, allowance)
        try await holder.letGo()
        for call in waiting.dropFirst() { try await call.value }
        try await last.value
        #expect(self.counts.all == (0, 1, 10))
        #expect(ingest.diagnosticPlaces.used == 0)
        await ingest.journal.close()
    }

    @Test("a tenant whose calls take all places leaves another its half, and their turns alternate")
    func tenants() async throws {
        let ingest = try self.ingest(maxWaitingCalls: 9)
        let holder = Holder(ingest.diagnosticLock)
        let loud = try (0..<20).map { _ in try self.call(ingest, of: "loud") }
        let quiet = try (0..<6).map { _ in try self.call(ingest, of: "quiet") }
        try await holder.letGo()
        // Of ten places the loud tenant has all; five are the other one's in any case.
        for (calls, taken) in [(loud, 10), (quiet, 5)] {
            var reasons: [String?] = []
            for call in calls { reasons.append(try await self.reason(call)) }
            #expect(reasons.prefix(taken).allSatisfy { $0 == nil })
            #expect(reasons.dropFirst(taken).allSatisfy { $0 == "OVERLOADED" })
        }
        let turns = (0..<10).map { $0 % 2 == 0 ? "loud" : "quiet" }
        #expect(Array(self.counts.served.prefix(10)) == turns)
        await ingest.journal.close()
    }

    @Test("a call that ends while it waits leaves, with its bytes")
    func bytes() async throws {
        let ingest = try Ingest.diskless()
        let allowance = try ingest.allowance(of: .standard)
        let request = RequestBuffer([UInt8](repeating: 0, count: 400))
        let holder = Holder(ingest.diagnosticLock)
        let call = Task.immediate {
            try await ingest.runDiagnostic(request, events: 1, allowance: allowance) { _ in
                await self.counts.serve()
            }
        }
        #expect(ingest.budget.bytesInFlight == 400)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(ingest.budget.bytesInFlight == 0)
        try await holder.letGo()
        #expect(self.counts.all == (0, 0, 0))
        await ingest.journal.close()
    }
}
