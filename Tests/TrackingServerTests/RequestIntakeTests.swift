// When a stream's requests are handed on, before their run is over.
@testable internal import Credentials
internal import GRPCCore
@testable internal import HTTP2Edge
@testable internal import ServerConfiguration
internal import Synchronization
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

struct RequestIntakeTests {
    /// A server whose journal keeps nothing on disk.
    private func ingest() throws -> Ingest {
        var configuration = Journal.Configuration()
        configuration.mode = .off
        configuration.windowCapacity = 100
        let journal = try Journal(
            directory: "", sinks: [], configuration: configuration, onFailure: { _ in })
        return Ingest(
            admission: Admission(), journal: journal,
            budget: MemoryBudget(hardBytes: 1 << 30, softPercent: 80),
            quotas: try TenantQuotas(QuotaConfiguration()), metrics: ServerMetrics())
    }

    /// The intake of a stream with room for 10,000 requests.
    private func intake() throws -> RequestIntake { try self.intake(self.ingest()) }

    private func intake(_ ingest: Ingest, _ memory: MemoryShare? = nil) -> RequestIntake {
        let memory = memory ?? ingest.budget.share(of: "default")
        let acks = AckQueue(maxRequests: 10_000, maxBytes: 1 << 30, memory: memory)
        return RequestIntake(
            ingest: ingest, tenant: .standard, acks: acks, memory: memory, metadata: [:])
    }

    @Test(
        "640 KiB of memory are handed on at once, a byte less waits for the rest of the run",
        arguments: [(count: 655_359, isDue: false), (655_360, true)])
    func heldBytes(_ row: (count: Int, isDue: Bool)) throws {
        let intake = try self.intake()
        // An unparsable message has no sequence to check, and is held like any other.
        for count in [327_680, row.count - 327_680] {
            #expect(!intake.isDue)
            try intake.admit(RequestBuffer([UInt8](repeating: 0xff, count: count)))
        }
        #expect(intake.isDue == row.isDue)
        intake.submit()
        #expect(!intake.isDue)
    }

    @Test(
        "a stream's turn ends with what is done in it, also with an error",
        arguments: [false, true])
    func turn(_ fails: Bool) async throws {
        let ingest = try self.ingest()
        let all = ingest.admissionTurns.free
        let intake = self.intake(ingest)
        do {
            let free = try await intake.inTurn(1) {
                if fails { throw CancellationError() }
                return ingest.admissionTurns.free
            }
            #expect(free == all - 1 && !fails)
        } catch {
            #expect(fails)
        }
        #expect(ingest.admissionTurns.free == all)
    }

    @Test(
        "a stream whose connection has its share of the memory is not read, and holds no turn",
        arguments: [true, false])
    func memory(_ needsTurn: Bool) async throws {
        let ingest = try Ingest.diskless()
        let all = ingest.admissionTurns.free
        let memory = ingest.budget.share(of: "default")
        memory.add(1001)
        let hasBegun = Mutex(false)
        // It runs up to the first suspension before this returns.
        let reader = Task.immediate {
            let intake = self.intake(ingest, memory)
            if needsTurn { await intake.inTurn(1) {} } else { await intake.waitForMemory() }
            hasBegun.withLock { $0 = true }
        }
        #expect(!hasBegun.withLock { $0 })
        #expect(ingest.admissionTurns.free == all)
        memory.remove(1)
        await reader.value
        #expect(ingest.admissionTurns.free == all)
        await ingest.journal.close()
    }

    @Test("a stream gives its turn back if those before it have filled the memory")
    func filled() async throws {
        let ingest = try Ingest.diskless()
        let turns = ingest.admissionTurns
        let all = turns.free
        while turns.takeNow() {}
        let memory = ingest.budget.share(of: "default")
        let hasBegun = Mutex(false)
        let reader = Task.immediate {
            await self.intake(ingest, memory).inTurn(1) { hasBegun.withLock { $0 = true } }
        }
        #expect(turns.waiters == 1)
        memory.add(1001)
        for _ in 0..<all { turns.giveBack() }
        while turns.free < all { await Task.yield() }
        #expect(!hasBegun.withLock { $0 })
        memory.remove(1)
        await reader.value
        #expect(hasBegun.withLock { $0 })
        await ingest.journal.close()
    }

    @Test("a stream that waits for memory with its turn ends with its task")
    func cancelled() async throws {
        let ingest = try Ingest.diskless()
        let memory = ingest.budget.share(of: "default")
        memory.add(1001)
        let reader = Task.immediate { await self.intake(ingest, memory).inTurn(1) {} }
        reader.cancel()
        await reader.value
        #expect(memory.isFull)
        await ingest.journal.close()
    }

    @Test("a stream that never pauses lets others have the thread after each 256 KiB")
    func rest() async throws {
        let intake = try self.intake()
        for _ in 0..<3 {
            try intake.admit(RequestBuffer([UInt8](repeating: 0xff, count: 262_143)))
            #expect(!intake.needsRest)
            try intake.admit(RequestBuffer([0xff as UInt8]))
            #expect(intake.needsRest)
            await intake.rest()
        }
    }

    @Test("a request with a wrong sequence was judged, and is charged")
    func wrongSequence() throws {
        let intake = try self.intake()
        let bytes = try TestEvents.request(0, (0..<3).map { _ in TestEvents.push("h1") })
        #expect(throws: (any Error).self) { try intake.admit(RequestBuffer(bytes)) }
        #expect(intake.takeCounts() == (3, bytes.count))
    }

    @Test("refused events count with the words that their client is told")
    func refusals() throws {
        let intake = try self.intake()
        let refused = (0..<1000).map { _ in TestEvents.push("no good") }
        try intake.admit(RequestBuffer(try TestEvents.request(1, refused)))
        #expect(intake.isDue)
    }
}
