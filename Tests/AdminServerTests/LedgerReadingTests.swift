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
        reading.end(Self.figures(Ledger()), rows: row.rows)
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

    /// Rows of a ledger: the delivery, the outcome, its detail's bytes, and the count.
    private typealias Rows = [(String, LedgerOutcome, [UInt8], UInt32)]

    private static func ledger(_ rows: Rows) -> Ledger {
        var delta = LedgerDelta()
        for (delivery, outcome, detail, count) in rows {
            let subject = "app".withBytes { app in
                delivery.withBytes {
                    LedgerSubject(platform: .ios, product: .standard, app: app, delivery: $0).bytes
                }
            }
            delta.add(
                "default".withBytes {
                    LedgerKey(
                        hour: .max, tenant: $0, subject: subject, outcome: outcome,
                        detail: String(decoding: detail, as: UTF8.self))
                }, count)
        }
        var ledger = Ledger()
        ledger.apply(delta)
        return ledger
    }

    private static func figures(
        _ ledger: Ledger, _ put: PutDeliveries = PutDeliveries()
    ) -> LedgerReading.Figures {
        LedgerReading.Figures(ledger, LedgerReading.funnels(of: ledger, time: 7), put, time: 7)
    }

    /// A delivery that was sent to 30 recipients.
    private static let sent = Self.ledger([("56c4", .accepted(HitKinds(.sent)), [], 30)])

    @Test("a busy delivery has the few most frequent reasons, and its versions where one differs")
    func details() throws {
        let (sent, failed) = (
            LedgerOutcome.accepted(HitKinds(.sent)), LedgerOutcome.accepted(HitKinds(.sendFailed))
        )
        let impression = LedgerOutcome.accepted(HitKinds(.impression)).rawValue
        let reasons = SendReason.allCases.prefix(Statistics.Funnel.maxReasons + 1)
        var rows: Rows = [("56c4", sent, [], 9), ("56c4", failed, [], 60), ("77", sent, [], 1)]
        for (place, reason) in reasons.enumerated() {
            let detail = [failed.rawValue, SendMark(reason: reason).rawValue]
            rows.append(("56c4", .send, detail, UInt32(20 - place)))
        }
        // Of each further version half of what the others report is missing.
        for number in 0...Statistics.Funnel.maxVersions {
            let name = Array("v\(number)".utf8)
            rows.append(("56c4", .version, [sent.rawValue] + name, 100))
            rows.append(("56c4", .version, [impression] + name, number == 5 ? 10 : 90))
        }
        let busiest = Self.figures(Self.ledger(rows)).deliveries.busiest
        let (row, other) = (try #require(busiest.first), try #require(busiest.last))
        #expect(row.failedFor?.map(\.reason) == reasons.dropLast().map { "\($0.name)" })
        #expect(row.failedFor?.map(\.count) == [20, 19, 18, 17])
        let versions = try #require(row.versions)
        #expect(versions.count == Statistics.Funnel.maxVersions)
        #expect(versions.map(\.version).prefix(3) == ["v5", "v0", "v1"])
        #expect(versions.map(\.differs) == [true] + [Bool](repeating: false, count: 7))
        #expect(versions.first?.impressions == 10 && versions.first?.sent == 100)
        #expect(other.failedFor == nil && other.versions == nil)
    }

    @Test("a delivery has the name that its tenant put, and those without a hit stand behind it")
    func names() {
        func totals(_ delivery: String, tenant: String = "default") -> DeliveryTotals {
            var totals = DeliveryTotals(tenant: tenant, delivery: delivery)
            totals.name = "Name \(delivery) of \(tenant)"
            totals.platforms = [
                .init(platform: .ios, sent: 5, delivered: 4), .init(platform: .android, failed: 1),
            ]
            return totals
        }
        let known = [totals("56c4", tenant: "a"), totals("56c4")]
        let recent = (0..<12).map { totals("d\($0)") }
        let deliveries = Self.figures(
            Self.sent, PutDeliveries(known: known, recent: [totals("56c4")] + recent)
        ).deliveries
        #expect(deliveries.busiest.map(\.name) == ["Name 56c4 of default"])
        #expect(deliveries.put?.map(\.deliveryId) == (0..<9).map { "d\($0)" }, "ten together")
        #expect(deliveries.put?.first?.sent == 5 && deliveries.put?.first?.delivered == 4)
        #expect(deliveries.put?.first?.failed == 1 && deliveries.count == 1)
        // The ledger has the beginning of a long id alone: that delivery has a hit all the same.
        let long = String(repeating: "7", count: LedgerSubject.nameBytes + 1)
        let reported = Self.ledger([(long, .accepted(HitKinds(.sent)), [], 1)])
        #expect(Self.figures(reported, PutDeliveries(recent: [totals(long)])).deliveries.put == [])
        // Ten that are busy leave no room.
        let full = Self.ledger((0..<10).map { ("\($0)", .accepted(HitKinds(.sent)), [], 1) })
        #expect(Self.figures(full, PutDeliveries(recent: recent)).deliveries.put == [])
    }

    @Test("a finding has its fixed words, and no text of a client")
    func summary() {
        let ledger = Self.ledger([
            ("56c4", .refused(.suppressedFlagUnknown), Array("<b>on</b>".utf8), 3)
        ])
        let quality = Self.figures(ledger).quality
        #expect(quality.map(\.code) == ["FLAG_UNKNOWN"])
        #expect(quality.map(\.summary) == ["the tracking flag is neither on nor off"])
    }

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
