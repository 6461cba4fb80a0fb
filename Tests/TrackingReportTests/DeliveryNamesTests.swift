// What Campaign knows of its deliveries, from CSV.
internal import Foundation
internal import SightlineProtos
internal import TestSupport
internal import Testing

@testable internal import TrackingReport

struct DeliveryNamesTests {
    @Test(
        "columns stand in any order, cells may be quoted, and only the id is required",
        arguments: [
            ("id,name,delivered\n56c4,Spring sale,1200\n", "Spring sale", 1200),
            (
                "Delivered, ID ,Name\r\n1200,56c4,\"Spring, \"\"sale\"\"\"\r\n", "Spring, \"sale\"",
                1200
            ),
            ("\u{FEFF}id\n\n56c4", nil, nil),
            ("id,delivered,other\n56c4,,x", nil, nil),
            ("id,name\n56c4,\"two\nlines\"\n77,last", "two\nlines", nil),
            ("id,name\r56c4,5\" screen\r77,last", "5\" screen", nil),
            ("id,name,delivered\n56c4,\u{301}a,7", "\u{301}a", 7),
        ] as [(String, String?, Int?)])
    func read(_ text: String, name: String?, delivered: Int?) throws {
        let names = try DeliveryNames(csv: Data(text.utf8))
        #expect(names["56c4"] == DeliveryNames.Entry(name: name, delivered: delivered))
        #expect(names["none"] == nil)
    }

    @Test("two ids that Unicode takes for equal are two deliveries")
    func spellings() throws {
        let names = try DeliveryNames(csv: Data("id,name\ncaf\u{e9},a\ncafe\u{301},b".utf8))
        #expect(names["caf\u{e9}"]?.name == "a")
        #expect(names["cafe\u{301}"]?.name == "b")
    }

    @Test(
        "each fault is told with its line",
        arguments: [
            ("", 1, "id,name,delivered"), ("name\nx", 1, "no column is named id"),
            ("id\n56c4\n56c4", 3, "stands twice"), ("id,name\n,x", 2, "the id is missing"),
            ("id,delivered\n1,2\n56c4,many", 3, "write digits alone"),
            ("id,delivered\n56c4,-1", 2, "write digits alone"),
            ("id\n\"56c4", 2, "never closed"), ("id\n\"56c4\"x", 2, "behind a closing quote"),
        ])
    func faults(_ text: String, line: Int, reason: String) throws {
        let error = try #require(throws: DeliveryNamesError.self) {
            try DeliveryNames(csv: Data(text.utf8))
        }
        #expect(error.line == line)
        #expect(error.description.contains(reason))
    }

    @Test("what is not UTF-8 is refused as a whole")
    func encoding() throws {
        let error = try #require(throws: DeliveryNamesError.self) {
            try DeliveryNames(csv: Data([0x69, 0x64, 0x0A, 0xFF]))
        }
        #expect(error.line == nil && error.description.contains("UTF-8"))
    }

    @Test("as many deliveries as the limit are read, and no more")
    func limit() throws {
        let rows = (1...DeliveryTotalsTable.maxRows).map { "\n\($0)" }.joined()
        let names = try DeliveryNames(csv: Data("id\(rows)".utf8))
        #expect(names["\(DeliveryTotalsTable.maxRows)"] != nil)
        #expect(throws: DeliveryNamesError.self) {
            try DeliveryNames(csv: Data("id\(rows)\nmore".utf8))
        }
    }

    @Test("a report has the names, what was delivered, and how much of it was reached")
    func report() async throws {
        let database = try HitsDatabase()
        try await database.deliver(
            [
                TestEvents.push(.received, id: 1), TestEvents.push(.opened, id: 2, on: .ios),
                TestEvents.push(.received, id: 1, delivery: "77"),
            ])
        let names = try DeliveryNames(csv: Data("id,name,delivered\n56c4,Sale,8\n99,None,1".utf8))
        let report = try database.report(names: names)
        let rows = report.deliveries.rows
        #expect(rows.map(\.name) == ["Sale", nil, "None"])
        #expect(rows.map(\.reachRatio) == [0.25, nil, 0])
        let table = ReportTable(report).lines().joined(separator: "\n")
        #expect(
            table.contains("8  ██▌░░░░░░░ 25.0 %  standard") && table.contains("56c4      Sale "))
        let sheet = ReportSheet(report).lines()
        #expect(sheet[1].contains(",Sale,8,0.25,") && sheet[2].contains(",,,,0,0,0,,,,"))
        #expect(sheet[1].contains(",,,0.125,0.125,"), "a total stands for what was sent")
        #expect(table.contains("What was sent, and rates of what was delivered"))
        #expect(!ReportTable(try database.report()).lines().joined().contains("delivered"))
    }

    @Test("a delivery without a hit is a row of zeros in each form, behind all that have one")
    func silent() async throws {
        let database = try HitsDatabase()
        try await database.deliver([
            TestEvents.push(.received, id: 1),
            TestEvents.inApp(.impression(.init()), id: 1, message: "welcome"),
        ])
        let names = try DeliveryNames(
            csv: Data(
                "id,name,delivered\n99,\"<Winter>\",8\n56c4,Sale,8\nwelcome,In-app,1\n0a,Old,".utf8)
        )
        let report = try database.report(names: names)
        #expect(report.deliveries.rows.map(\.deliveryID) == ["56c4", "0a", "99"])
        #expect(report.deliveries.count == 3 && report.deliveries.hits == 1)
        let silent = try #require(report.deliveries.rows.last)
        #expect(silent.others.impressions == 0 && silent.product == nil && silent.tenant.isEmpty)
        #expect(silent.firstReceived == nil && silent.reachRatio == 0)
        let lines = ReportTable(report).lines()
        #expect(lines.contains { $0.hasPrefix("-        99        <Winter>          8  ░░") })
        let sheet = ReportSheet(report).lines()
        #expect(
            sheet[3].hasPrefix("push,,,,99,,0,0,0,0,0,") && sheet[3].contains(",,<Winter>,8,0.0,"))
        let page = try ReportPage(report, timeline: nil, generated: 0).text()
        for text in [
            "<h3>Sale <small>default, 56c4, standard, 8 delivered</small></h3>",
            "<th scope=\"col\">Name</th>", "<td>Sale</td>", "<td>&lt;Winter&gt;</td>",
            "<td class=\"number\">12.5 %</td>",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        // As many cells as there are headings.
        let row = try #require(page.components(separatedBy: "<th scope=\"row\">99</th>").last)
        let cells = row.components(separatedBy: "</tr>")[0]
        let heads = page.components(separatedBy: "All figures of the deliveries: ")[1]
            .components(separatedBy: "</thead>")[0]
        #expect(
            cells.components(separatedBy: "<td").count
                == heads.components(separatedBy: "<th ").count - 1)
    }

    @Test("the limit leaves out rows of zeros first, and a filter's tenant and delivery hold")
    func silentRows() async throws {
        let database = try HitsDatabase()
        try await database.deliver([TestEvents.push(.received, id: 1)])
        let names = try DeliveryNames(csv: Data("id\n1\n2\n3".utf8))
        let report = try database.report(names: names) { $0.limit = 2 }
        #expect(report.deliveries.rows.map(\.deliveryID) == ["56c4", "1"])
        #expect(report.deliveries.leftOut == 2)
        let one = try database.report(names: names) {
            ($0.delivery, $0.tenant) = ("2", "shop")
        }
        #expect(one.deliveries.rows.map(\.deliveryID) == ["2"])
        #expect(one.deliveries.rows.map(\.tenant) == ["shop"])
        // Beyond the limit, what has hits is no row of zeros.
        try await database.deliver([TestEvents.push(.received, id: 1, delivery: "3")])
        let cut = try database.report(names: names) { $0.limit = 1 }
        #expect(cut.deliveries.count == 4 && cut.deliveries.rows.count == 1)
    }

    @Test("what sightline bench has sent is left out, unless it is asked for")
    func bench() async throws {
        let database = try HitsDatabase()
        var event = TestEvents.push(.received, id: 1)
        event.appID = "sightline.bench"
        try await database.deliver([event, TestEvents.push(.received, id: 2)])
        func impressions(_ change: (inout ReportQuery) -> Void = { _ in }) throws -> [Int] {
            try database.report(change).deliveries.rows.map(\.others.impressions)
        }
        #expect(try impressions() == [1])
        #expect(try impressions { $0.includesBench = true } == [2])
        #expect(try impressions { $0.app = "sightline.bench" } == [1])
    }
}
