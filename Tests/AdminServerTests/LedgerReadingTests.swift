// When the statistics read the ledger: for whom, how often, and what they do while the journal
// hangs.
internal import Synchronization
internal import Telemetry
internal import Testing

internal import AdminProtocol
@testable internal import AdminServer
@testable internal import TrackingServer
internal import TrackingJournal

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
            notReadyReasons: { [] }, sinks: NoSinks(), rejections: RejectionLog(maxRows: 10),
            ledger: ledger)
    }

    @Test(
        "a table is read again after a second for each 10,000 rows",
        arguments: [(0, 1), (19_999, 1), (20_000, 2), (100_000, 10), (120_000, 12)])
    func pauses(_ row: (rows: Int, seconds: Int)) {
        var reading = LedgerReading()
        #expect(reading.figures.ledger.time == nil, "not read yet")
        // Others ask meanwhile, and much later too.
        var begun = [reading.begin(), reading.begin()]
        for _ in 0..<100 { reading.passSecond() }
        begun.append(reading.begin())
        #expect(begun == [true, false, false])
        reading.end(LedgerReading.Figures(Ledger(), time: 7), rows: row.rows)
        #expect(reading.figures.ledger.time == 7)
        for second in 1...row.seconds {
            reading.passSecond()
            let hasBegun = reading.begin()
            #expect(hasBegun == (second == row.seconds), "after \(second) s")
        }
    }

    @Test("the document says when the ledger was read, and before that nothing")
    func unread() async throws {
        let service = self.service { Ledger() }
        #expect(service.statistics.ledger.time == nil)
        _ = try await service.document()
        #expect(service.statistics.ledger.time != nil)
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
