// What was sent, and the rates of it, in a report.
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingReport

struct SendFiguresTests {
    private let database: HitsDatabase

    /// On Android 8 were sent, of which one failed before and one afterwards; 9 failed, 10 was
    /// skipped. On iOS one was sent, and one failed twice.
    init() async throws {
        self.database = try HitsDatabase()
        try await self.database.deliver([TestEvents.send(.failed, id: 1)])
        try await self.database.deliver((1...8).map { TestEvents.send(.sent, id: $0) })
        try await self.database.deliver([
            TestEvents.send(.failed, id: 8), TestEvents.send(.failed, id: 9),
            TestEvents.send(.skipped, id: 10), TestEvents.send(.sent, id: 20, on: .ios),
            TestEvents.send(.failed, id: 21, on: .ios), TestEvents.send(.failed, id: 21, on: .ios),
        ])
        try await self.database.deliver((1...4).map { TestEvents.push(.received, id: $0) })
        try await self.database.deliver([
            TestEvents.push(.opened, id: 1), TestEvents.push(.dismissed, id: 2),
            TestEvents.push(.opened, id: 20, on: .ios),
            TestEvents.push(.received, id: 1, delivery: "77"),
        ])
    }

    @Test("D17, D60: a notification is attempted once, however often it is tried")
    func counts() throws {
        for isByOccurrence in [false, true] {
            let report = try self.database.report { $0.isByOccurrence = isByOccurrence }
            let row = try #require(report.deliveries.rows.first)
            #expect([row.attempted, row.sent, row.failed, row.skipped] == [11, 9, 4, 1])
            #expect(row.undelivered == 2 && row.delivered == 9)
            #expect(row.others.attempted == 9 && row.ios.attempted == 2)
            #expect(row.others.notifications == 4 && row.ios.notifications == 1)
        }
    }

    @Test("D20: rates are of what was delivered, on all platforms; ratios of what was shown")
    func rates() throws {
        let rows = try self.database.report().deliveries.rows
        let row = try #require(rows.first)
        #expect(row.deliveredRate == 9.0 / 11)
        #expect(row.openRate == 2.0 / 9 && row.clickThroughRate == 3.0 / 9)
        #expect(row.others.impressionsOfDelivered == 0.5)
        #expect(row.ios.impressionsOfDelivered == 0)
        #expect(row.openRatio == 0.25 && row.others.clickRatio == 0.5)
        let silent = try #require(rows.last)
        #expect(silent.sent == nil && silent.openRate == nil && silent.deliveredRate == nil)
    }

    @Test("what a sender reports wins over a total, which stands in where it reports nothing")
    func totals() throws {
        let names = try DeliveryNames(csv: Data("id,delivered\n56c4,500\n77,4".utf8))
        let rows = try self.database.report(names: names).deliveries.rows
        #expect(rows.map(\.delivered) == [9, 4])
        #expect(rows.map(\.sent) == [9, nil])
        let (own, total) = (try #require(rows.first), try #require(rows.last))
        #expect(own.clickThroughRate == 3 / 9 && own.deliveredRate == 9 / 11)
        #expect(total.clickThroughRate == 0 && total.deliveredRate == nil)
    }

    @Test("the table has what was sent below, and a dash where nobody has reported it")
    func table() throws {
        let lines = ReportTable(try self.database.report()).lines()
        let start = try #require(
            lines.firstIndex(of: "What was sent, and rates of what was delivered"))
        let cells = lines[(start + 2)...].prefix(3).map { line in
            line.split(separator: " ").filter { !"█░".contains($0.first ?? " ") }
        }
        #expect(
            cells[0].prefix(5).joined(separator: " ")
                == "tenant delivery product attempted delivered")
        let figures = cells[1].prefix(10).joined(separator: " ")
        #expect(figures == "default 56c4 standard 11 9 81.8 % 2 4 1")
        #expect(cells[2].dropFirst(3) == Array(repeating: "-", count: 10)[...])
    }

    @Test("the page has what was sent in a chart, and the rates below it")
    func page() throws {
        let report = try self.database.report()
        let page = try ReportPage(report, timeline: nil, generated: 0).text()
        for text in [
            "9 delivered", "<span>Delivered, without iOS</span>",
            "iOS: delivered 1, impressions 0, clicks 1",
            "All platforms: attempted 11, undelivered 2, failed 4, skipped 1, "
                + "delivered rate 81.8 %, open rate 22.2 %, click-through rate 33.3 %",
            "<th scope=\"col\">Delivered</th><th scope=\"col\">Undelivered</th>",
            "<td class=\"number\">9</td><td class=\"number\">2</td><td class=\"number\">4</td>",
        ] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test("the timeline is of what devices report")
    func timeline() throws {
        let timeline = try #require(try self.database.timeline())
        // Four impressions, two clicks and an open, a click and an open on iOS, one of another.
        #expect(timeline.steps.map(\.total).reduce(0, +) == 10)
    }
}
