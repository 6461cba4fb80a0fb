// What a report is narrowed to, and how much of it is shown.
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingReport

struct ReportQueryTests {
    private let database: HitsDatabase

    init() async throws {
        self.database = try HitsDatabase()
        let start = HitsDatabase.receiveTime
        for (hour, tenant) in ["shop", "shop", "bank"].enumerated() {
            try await self.database.deliver(
                (0...hour).map { id in
                    TestEvents.push(
                        .received, id: id, delivery: "d\(hour)", app: id == 0 ? "phone" : "tablet")
                } + [TestEvents.inApp(.impression(.init()), id: hour, message: "m\(hour)")],
                tenant: tenant, at: start + Int64(hour) * 3_600_000_000)
        }
    }

    private static let start = HitsDatabase.receiveTime
    private static let hour: Int64 = 3_600_000_000

    @Test(
        "hits are narrowed by tenant, delivery, app and time; until is not in the range",
        arguments: [
            (tenant: nil, delivery: nil, app: nil, since: nil, until: nil, rows: "d2 d1 d0"),
            ("shop", nil, nil, nil, nil, "d1 d0"),
            (nil, "d1", nil, nil, nil, "d1"),
            (nil, "m1", nil, nil, nil, ""),
            (nil, nil, "tablet", nil, nil, "d2 d1"),
            (nil, nil, nil, 1, nil, "d2 d1"),
            (nil, nil, nil, nil, 1, "d0"),
            (nil, nil, nil, 1, 2, "d1"),
            ("bank", nil, nil, nil, 1, ""),
        ] as [(String?, String?, String?, Int64?, Int64?, String)])
    func narrowed(
        tenant: String?, delivery: String?, app: String?, since: Int64?, until: Int64?, rows: String
    ) throws {
        let report = try self.database.report { query in
            query.tenant = tenant
            query.delivery = delivery
            query.app = app
            query.since = since.map { Self.start + $0 * Self.hour }
            query.until = until.map { Self.start + $0 * Self.hour }
        }
        let ids = report.deliveries.rows.map(\.deliveryID)
        #expect(ids.joined(separator: " ") == rows)
        if app == nil, delivery == nil {
            let messages = report.inAppMessages.rows.map(\.messageID)
            #expect(Set(messages) == Set(ids.map { $0.replacing("d", with: "m") }))
        }
    }

    @Test("the largest come first, and what the limit leaves out is counted")
    func limit() throws {
        let report = try self.database.report { $0.limit = 1 }
        #expect(report.deliveries.rows.map(\.deliveryID) == ["d2"])
        #expect([report.deliveries.count, report.deliveries.leftOut] == [3, 2])
        #expect(report.deliveries.hits == 6)
        #expect([report.inAppMessages.leftOut, report.inAppMessages.hits] == [2, 3])
        #expect(ReportTable(report).lines().contains("… and 2 more; --limit shows them"))
    }

    @Test("each app has a row where that is asked for")
    func byApp() throws {
        let report = try self.database.report {
            $0.isByApp = true
            $0.delivery = "d2"
        }
        #expect(report.deliveries.rows.map(\.app) == ["tablet", "phone"])
        #expect(report.deliveries.rows.map(\.others.impressions) == [2, 1])
        #expect(try self.database.report().deliveries.rows.map(\.app) == [nil, nil, nil])
    }
}

struct ReportTimeTests {
    private static let now: Int64 = 1_800_000_000_123_456

    @Test(
        "a time is a while ago, a day, or a moment with its zone",
        arguments: [
            ("90s", 1_799_999_910_123_456), ("30m", 1_799_998_200_123_456),
            ("2h", 1_799_992_800_123_456), ("7d", 1_799_395_200_123_456),
            ("0s", 1_800_000_000_123_456), ("2026-11-20", 1_795_132_800_000_000),
            ("2026-11-20T10:00:00Z", 1_795_168_800_000_000),
            ("2026-11-20T12:00:00+02:00", 1_795_168_800_000_000),
            ("2026-11-20T10:00:00.250Z", 1_795_168_800_250_000),
        ])
    func time(text: String, microseconds: Int64) {
        #expect(ReportTime.parse(text, now: Self.now) == microseconds)
    }

    @Test(
        "anything else is none",
        arguments: [
            "", "s", "2", "2q", "-2h", "2 h", "1.5h", "٢h", "99999999999999999999d", "9999999999h",
            "Yesterday", "tomorrow", "2026-13-01", "2026-11-20T10:00:00", "2026-11-20T25:00:00Z",
            "2026-11-20T10:60:00Z", "2026-02-30",
            "1969-12-31", "2026-11-20 ",
        ])
    func noTime(text: String) {
        #expect(ReportTime.parse(text, now: Self.now) == nil)
    }
}
