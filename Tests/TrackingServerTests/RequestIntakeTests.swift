// When a stream's requests are handed on, before their run is over.
@testable internal import Credentials
internal import GRPCCore
@testable internal import HTTP2Edge
@testable internal import ServerConfiguration
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer

struct RequestIntakeTests {
    /// An intake in front of a journal that keeps nothing on disk, with room for 10,000 requests.
    private func intake() throws -> RequestIntake {
        var configuration = Journal.Configuration()
        configuration.mode = .off
        configuration.windowCapacity = 100
        let journal = try Journal(
            directory: "", sinks: [], configuration: configuration, onFailure: { _ in })
        let ingest = Ingest(
            admission: Admission(), journal: journal,
            budget: MemoryBudget(hardBytes: 1 << 30, softPercent: 80),
            quotas: try TenantQuotas(QuotaConfiguration()), metrics: ServerMetrics())
        let acks = AckQueue(
            maxRequests: 10_000, maxBytes: 1 << 30, memory: ingest.budget.share(of: "default"))
        return RequestIntake(
            ingest: ingest, tenant: .standard, acks: acks, metadata: [:])
    }

    @Test(
        "256 KiB of memory are handed on at once, a byte less waits for the rest of the run",
        arguments: [(count: 262_143, isDue: false), (262_144, true)])
    func heldBytes(_ row: (count: Int, isDue: Bool)) throws {
        let intake = try self.intake()
        // An unparsable message has no sequence to check, and is held like any other.
        try intake.admit(RequestBuffer([UInt8](repeating: 0xff, count: row.count)))
        #expect(intake.isDue == row.isDue)
        intake.submit()
        #expect(!intake.isDue)
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
        let refused = (0..<508).map { _ in TestEvents.push("no good") }
        try intake.admit(RequestBuffer(try TestEvents.request(1, refused)))
        #expect(intake.isDue)
    }
}
