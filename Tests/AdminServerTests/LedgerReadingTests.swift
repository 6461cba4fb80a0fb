// When the statistics read the ledger: for whom, how often, and what they do while the journal
// hangs.
internal import Synchronization
internal import Telemetry
internal import Testing

internal import AdminProtocol
@testable internal import AdminServer
@testable internal import TrackingJournal
internal import TrackingRules
@testable internal import TrackingServer
internal import WireFormat

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

    private func service(
        _ deliveries: PutTotals = PutTotals(),
        _ ledger: @escaping @Sendable () async -> Ledger
    ) -> StatisticsService {
        StatisticsService(
            version: "1.2.3", historySeconds: 10, registry: ServerMetrics().registry,
            notReadyReasons: { [] }, sinks: NoSinks(), rejections: RejectionLog(maxRows: 10),
            ledger: ledger, deliveries: deliveries)
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
        reading.end(LedgerReading.Figures(Ledger(), totals: [], time: 7), rows: row.rows)
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

    /// A ledger of a delivery that was sent to 30 recipients.
    private static let sent: Ledger = {
        let subject = "app".withBytes { app in
            "56c4".withBytes {
                LedgerSubject(platform: .ios, product: .standard, app: app, delivery: $0).bytes
            }
        }
        var delta = LedgerDelta()
        delta.add(
            "default".withBytes {
                LedgerKey(
                    hour: .max, tenant: $0, subject: subject,
                    outcome: .accepted(HitKinds(.sent)), detail: "")
            }, 30)
        var ledger = Ledger()
        ledger.apply(delta)
        return ledger
    }()

    @Test("a delivery whose totals differ is in the quality list, and without totals it is not")
    func totals() async throws {
        var totals = DeliveryTotals(tenant: "default", delivery: "56c4")
        totals.platforms = [.init(delivered: 60)]
        let rows: [(PutTotals, [String])] = [
            (PutTotals([totals]), ["TOTALS_DIFFER"]), (PutTotals(), []),
            // deliveries.db cannot be read: the page shows what it can.
            (PutTotals([totals], isReadable: false), []),
        ]
        for (deliveries, codes) in rows {
            let service = self.service(deliveries) { Self.sent }
            _ = try await service.document()
            #expect(service.statistics.quality.map(\.code) == codes)
            #expect(service.statistics.deliveries.count == 1)
            _ = try await service.document()
            #expect(deliveries.readings == 1, "not with every request")
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
