// Totals of deliveries from CSV, and in a report.
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingJournal
internal import TrackingRules

@testable internal import TrackingReport

struct DeliveryTotalsTableTests {
    private static let head = "id,name,product,sent_at,platform,sent,delivered,failed\n"

    private static func rows(_ text: String) throws -> [DeliveryTotalsTable.Row] {
        try DeliveryTotalsTable(csv: Data(text.utf8)).rows
    }

    @Test("a delivery has one row, or one for each platform, which say together what it has")
    func read() throws {
        let rows = try Self.rows(
            Self.head + """
                56c4,Sale,Standard,2026-11-20T11:00:00+01:00,Android,4100,4055,45
                77,,classic,2026-11-20,,,1200,
                56c4,,,,ios,2000,,10
                99,None,,,,,,
                """)
        #expect(rows.map(\.line) == [2, 3, 5])
        var sale = DeliveryTotals(delivery: "56c4")
        (sale.name, sale.product, sale.sentTime) = ("Sale", .standard, 1_795_168_800_000_000)
        sale.platforms = [
            .init(platform: .android, sent: 4100, delivered: 4055, failed: 45),
            .init(platform: .ios, sent: 2000, failed: 10),
        ]
        var classic = DeliveryTotals(delivery: "77")
        (classic.product, classic.sentTime) = (.classic, 1_795_132_800_000_000)
        classic.platforms = [.init(delivered: 1200)]
        var named = DeliveryTotals(delivery: "99")
        named.name = "None"
        #expect(rows.map(\.totals) == [sale, classic, named])
    }

    @Test(
        "each fault is told with its line",
        arguments: [
            ("56c4,,,,ios,1,,\n56c4,,,,ios,2,,", 3, "stands twice"),
            ("56c4,,,,ios,1,,\n56c4,,,,,2,,\n56c4,,,,,3,,", 4, "stands twice"),
            ("56c4,A,,,ios,1,,\n56c4,B,,,android,2,,", 3, "another name in line 2"),
            ("56c4,,classic,,ios,,,\n56c4,,standard,,,,,", 3, "another product"),
            ("56c4,,,2026-11-20,ios,,,\n56c4,,,2026-11-21,,,,", 3, "another sent_at"),
            ("56c4,,firebase,,,,,", 2, "write standard or classic"),
            ("56c4,,,yesterday,,,,", 2, "write 2026-11-20 or"),
            ("56c4,,,2026-11-31,,,,", 2, "which is no time"),
            ("56c4,,,,web,,,", 2, "write android or ios"),
            ("56c4,,,,,-1,,", 2, "sent is \"-1\""), ("56c4,,,,,,x,", 2, "delivered is \"x\""),
            ("56c4,,,,,,,1000000000001", 2, "failed is \"1000000000001\""),
        ])
    func faults(_ text: String, line: Int, reason: String) throws {
        let error = try #require(throws: DeliveryNamesError.self) {
            try Self.rows(Self.head + text)
        }
        #expect(error.line == line)
        #expect(error.description.contains(reason), "\(error)")
    }

    @Test("what tenants have put is in a report of theirs, and of no app or other time")
    func report() async throws {
        let database = try HitsDatabase()
        try await database.deliver([TestEvents.push(.received, id: 1)], tenant: "a")
        try await database.deliver([TestEvents.push(.received, id: 1)], tenant: "b")
        var sale = DeliveryTotals(tenant: "a", delivery: "56c4")
        (sale.name, sale.platforms) = ("Sale", [.init(sent: 9, delivered: 8, failed: 1)])
        var silent = DeliveryTotals(tenant: "b", delivery: "99")
        (silent.name, silent.sentTime) = ("Silent", 1_000_000)
        let names = DeliveryNames([sale, silent])
        #expect(names["56c4", of: "a"]?.delivered == 8 && names["56c4", of: "b"] == nil)
        func rows(_ change: (inout ReportQuery) -> Void = { _ in }) throws -> [String] {
            try database.report(names: names, change).deliveries.rows.map {
                "\($0.tenant) \($0.deliveryID) \($0.name ?? "-")"
            }
        }
        #expect(try rows() == ["a 56c4 Sale", "b 56c4 -", "b 99 Silent"])
        #expect(try rows { $0.tenant = "a" } == ["a 56c4 Sale"])
        #expect(try rows { $0.delivery = "99" } == ["b 99 Silent"])
        #expect(try rows { $0.app = "none" } == [])
        #expect(try rows { $0.since = HitsDatabase.receiveTime }.contains("b 99 Silent") == false)
        // When the other one was sent, nobody knows.
        #expect(try rows { $0.until = 3_600_000_000 } == ["a 56c4 Sale", "b 99 Silent"])
        // The same id of another tenant is another delivery.
        let other = DeliveryNames([DeliveryTotals(tenant: "c", delivery: "56c4")])
        let all = try database.report(names: other).deliveries.rows
        #expect(all.map(\.tenant) == ["a", "b", "c"])
    }
}
