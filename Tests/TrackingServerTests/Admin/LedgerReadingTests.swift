// When the statistics read the ledger: for whom, how often, and what they do while the journal hangs.
internal import Synchronization
internal import Telemetry
internal import Testing
internal import TrackingLedger

@testable internal import AdminServer
@testable internal import TrackingServer

struct LedgerReadingTests {
    /// A journal that counts who asks it for the ledger.
    private final class Source: Sendable {
        private let count = Mutex(0)
        var readings: Int { self.count.withLock { $0 } }

        func ledger() -> Ledger {
            self.count.withLock { $0 += 1 }
            return Ledger()
        }
    }

    private func service(_ ledger: @escaping @Sendable () async -> Ledger) -> StatisticsService {
        StatisticsService(
            version: "1.2.3", historySeconds: 10, registry: ServerMetrics().registry,
            obstacles: { [] }, sinks: NoSinks(), rejections: RejectionLog(maxRows: 10),
            ledger: ledger)
    }

    @Test(
        "a table rests a second for each 10,000 rows once it was read, and one second at least",
        arguments: [(0, 1), (19_999, 1), (20_000, 2), (100_000, 10), (10_000_000, 1000)])
    func pauses(_ row: (rows: Int, seconds: Int)) {
        var reading = LedgerReading()
        #expect(reading.begin())
        // Another one asks meanwhile, and much later too.
        #expect(!reading.begin())
        for _ in 0..<2000 { reading.pass() }
        #expect(!reading.begin())
        reading.end(.init(), rows: row.rows)
        for _ in 0..<row.seconds {
            #expect(!reading.begin())
            reading.pass()
        }
        #expect(reading.begin())
    }

    @Test("the ledger is read when somebody asks, and once a second however many do")
    func readings() async throws {
        let source = Source()
        let service = self.service { source.ledger() }
        for _ in 0..<20 { service.read(elapsed: .seconds(1)) }
        #expect(source.readings == 0)
        for count in 1...3 {
            for _ in 0..<5 { _ = try await service.document() }
            #expect(source.readings == count)
            service.read(elapsed: .seconds(1))
        }
    }

    @Test("while the journal hangs, one who asks waits for it, and the others are answered")
    func hanging() async throws {
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        let service = self.service {
            asking.finish()
            for await _ in released {}
            return Ledger()
        }
        async let first = service.document()
        for await _ in asked {}
        for _ in 0..<3 {
            _ = try await service.document()
            service.read(elapsed: .seconds(1))
        }
        release.finish()
        #expect(try await !first.isEmpty)
    }
}
