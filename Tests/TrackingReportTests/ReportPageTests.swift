// The page: what is on it, and that nothing it shows can break it.
internal import DeliveryDiagnosis
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingReport

struct ReportPageTests {
    private static let generated: Int64 = 1_800_003_600_000_000
    private let database: HitsDatabase

    init() throws { self.database = try HitsDatabase() }

    private func page(_ change: (inout ReportQuery) -> Void = { _ in }) throws -> String {
        try ReportPage(
            self.database.report(change), timeline: self.database.timeline(change),
            generated: Self.generated
        ).text()
    }

    @Test("it shows each delivery's and each message's figures, and says when it was made")
    func figures() async throws {
        try await self.database.deliver(
            (1...1200).map { TestEvents.push(.received, id: $0) }
                + [TestEvents.push(.opened, id: 1), TestEvents.push(.opened, id: 9, on: .ios)]
                + [TestEvents.inApp(.impression(.init()), id: 1)])
        let page = try self.page()
        for text in [
            "<h3>56c4 <small>default, standard</small></h3>",
            "<span class=\"number\">1,200 </span>",
            "<span class=\"number\">1 <small>0.1 %</small></span>",
            "iOS: impressions 0, clicks 1, dismissals 0, opens 1",
            "<h3>Welcome <small>default, welcome",
            "Made 2027-01-15T09:00:00.000Z", "All that was received",
            "<title>2027-01-15 08:00:00: 1,205 hits</title>",
        ] {
            #expect(page.contains(text), "\(text)")
        }
    }

    @Test("data quality is a section of the page and of the table, and escaped")
    func quality() throws {
        var report = try self.database.report()
        #expect(!ReportTable(report).lines().contains { $0.hasPrefix("Data quality") })
        let sentence = "3 of 3 on Android: the flag was `<b>`"
        report.quality = [
            DeliveryTrouble(
                tenant: "shop", delivery: "56c4", code: "FLAG_UNKNOWN", sentence: sentence,
                events: 3)
        ]
        let lines = ReportTable(report).lines()
        #expect(lines.contains { $0.hasPrefix("Data quality") })
        #expect(lines.contains { $0.contains("FLAG_UNKNOWN  \(sentence)") })
        let page = try ReportPage(report, timeline: nil, generated: Self.generated).text()
        #expect(page.contains("<h2 id=\"quality\">Data quality</h2>"))
        #expect(page.contains("the flag was `&lt;b&gt;`") && !page.contains("`<b>`"))
    }

    @Test("where a version differs, all versions are in the table and on the page, and escaped")
    func versions() throws {
        var report = try self.database.report()
        report.versions = []
        #expect(report.detailTables.isEmpty)
        let lines: [(String, String, UInt64)] = [
            ("3.1", "accepted sent", 1200), ("3.1", "accepted impression", 900),
            ("<i>", "accepted sent", 100), ("<i>", "rejected", 2),
        ]
        let counts = VersionCounts.split(
            lines.map { version, detail, events in
                DeliveryAccountLine.Row(
                    app: "a", delivery: "56c4", platform: "ios", product: "standard", hour: 0,
                    verdict: "version", detail: detail, appVersion: version, isOther: false,
                    events: events)
            })
        report.versions = [VersionSplit(tenant: "shop", delivery: "56c4", versions: counts)]
        let table = report.detailTables.flatMap { $0.lines() }
        #expect(table[1] == "Versions of the apps, where one differs, by the server's ledger")
        let cells = table.suffix(2).map { $0.split(separator: " ") }
        #expect(
            cells[0] == ["shop", "56c4", "3.1", "ios", "1,200", "900", "0", "900", "0", "0"]
                + ["differs"])
        #expect(
            cells[1] == ["shop", "56c4", "<i>", "ios", "100", "2", "2", "0", "0", "0"]
                + ["differs"])
        let page = try ReportPage(report, timeline: nil, generated: Self.generated).text()
        #expect(page.contains("<td>&lt;i&gt;</td>") && !page.contains("<i>"))
        #expect(page.contains("<td class=\"number\">1,200</td>"))
    }

    @Test("the page has the uses too, if they are asked for")
    func uses() async throws {
        try await self.database.deliver([TestEvents.push(.opened, id: 1, button: "yes")])
        var report = try self.database.report()
        #expect(!(try self.page()).contains("Push notifications by use"))
        report.pushDetails = try self.database.details(.push)
        report.inAppDetails = try self.database.details(.inApp)
        let page = try ReportPage(report, timeline: nil, generated: Self.generated).text()
        #expect(page.contains("<h2 id=\"details-1\">Push notifications by use</h2>"))
        #expect(page.contains("<td>yes</td>") && !page.contains("In-app messages by use"))
    }

    @Test("a table says that it is wider than its place: the largest always, others on a phone")
    func wider() async throws {
        try await self.database.deliver([
            TestEvents.push(.received, id: 1), TestEvents.inApp(.impression(.init()), id: 1),
        ])
        let page = try self.page()
        #expect(page.contains("<caption>All figures of the deliveries: scroll them sideways"))
        let hints = page.components(separatedBy: "<span class=\"wider\">").count - 1
        #expect(hints == page.components(separatedBy: "<caption>").count - 2)
        #expect(page.contains("@media (max-width: 30rem) { .wider { display: inline; } }"))
    }

    @Test("it loads nothing and runs nothing")
    func selfContained() async throws {
        try await self.database.deliver([TestEvents.push(.received, id: 1)])
        let page = try self.page()
        for text in ["<script", "http://", "https://", "src=", "@import", "url(", "<link"] {
            #expect(!page.contains(text), "\(text)")
        }
        #expect(page.contains("default-src 'none'; style-src 'unsafe-inline'"))
    }

    @Test(
        "hostile ids and names stay text",
        arguments: [
            "<script>alert(1)</script>", "\"><img onerror=alert(1)>", "' onclick='x", "</style>",
            "&lt;b&gt;", "a\u{202E}b", "a\u{1B}[2Jb\u{7}", "]]><!--", "{{7*7}}",
            // A letter with a mark: the quote, or the bracket, is one all the same.
            "\"\u{301} onclick='\u{301}x", "<\u{301}b>\u{338}", "{{{scope}}}", "{{/rows}}",
        ])
    func hostile(text: String) async throws {
        try await self.database.deliver(
            [TestEvents.inApp(.impression(.init()), id: 1, message: text, campaign: text)],
            tenant: text)
        let page = try self.page { $0.tenant = text }
        let plain = try HitsDatabase()
        try await plain.deliver(
            [TestEvents.inApp(.impression(.init()), id: 1, message: "m", campaign: "m")],
            tenant: "m")
        let reference = try ReportPage(
            plain.report { $0.tenant = "m" }, timeline: plain.timeline { $0.tenant = "m" },
            generated: Self.generated
        ).text()
        // The same markup, whatever the names are: as many tags, quotes and apostrophes.
        for mark in ["<", ">", "\"", "'"] {
            #expect(
                page.components(separatedBy: mark).count
                    == reference.components(separatedBy: mark).count, "\(mark)")
        }
        #expect(
            !page.unicodeScalars.contains { $0 == "\u{202E}" || $0 == "\u{1B}" || $0 == "\u{7}" })
    }

    @Test("an empty report is a page too")
    func empty() throws {
        let page = try self.page()
        #expect(page.contains("<dt>Deliveries</dt><dd>0</dd>"))
        #expect(!page.contains("<svg"))
    }

    @Test("what the limit leaves out is said")
    func leftOut() async throws {
        try await self.database.deliver(
            (1...3).map { TestEvents.push(.received, id: $0, delivery: "d\($0)") })
        #expect(try self.page { $0.limit = 2 }.contains("The 2 largest of 3 deliveries."))
    }
}

struct TimelineTests {
    @Test("hits fall into steps of equal width, those without a hit too")
    func steps() async throws {
        let database = try HitsDatabase()
        let start = HitsDatabase.receiveTime
        try await database.deliver([TestEvents.push(.received, id: 1)], at: start)
        try await database.deliver(
            [TestEvents.push(.opened, id: 1), TestEvents.inApp(.impression(.init()), id: 1)],
            at: start + 120_000_000)
        let timeline = try #require(try database.timeline())
        #expect(timeline.scale == .seconds(5))
        #expect(timeline.steps.count == 25)
        #expect(timeline.steps.map(\.start).first == start)
        #expect(timeline.steps.map(\.total).filter { $0 > 0 } == [1, 3])
        let last = try #require(timeline.steps.last)
        #expect(last.impressions == 0)
        #expect(last.clicks == 1)
        #expect(last.opens == 1)
        #expect(last.inApp == 1)
    }

    @Test("a year and a century have no more steps than a minute")
    func bounded() async throws {
        for seconds: Int64 in [59, 86_400, 31_536_000, 3_153_600_000] {
            let database = try HitsDatabase(today: 0)
            for (index, time) in [0, seconds].enumerated() {
                try await database.deliver(
                    [TestEvents.push(.received, id: index)], at: time * 1_000_000)
            }
            let timeline = try #require(try database.timeline())
            #expect((2...Timeline.maxSteps).contains(timeline.steps.count), "\(seconds) s")
            #expect(timeline.steps.map(\.total).reduce(0, +) == 2)
        }
    }

    @Test("no hit, no timeline")
    func none() async throws {
        let database = try HitsDatabase()
        try await database.deliver([TestEvents.push(.received, id: 1)])
        #expect(try database.timeline { $0.tenant = "other" } == nil)
    }
}
