// The figures of a report, over a database that the real sink has written.
internal import GRDB
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingReport
internal import TrackingRules

struct ReportTests {
    private let database: HitsDatabase

    init() throws { self.database = try HitsDatabase() }

    /// Four shown on Android: one opened, one dismissed; two on iOS, of which one was only opened.
    private static let campaign =
        (1...4).map { TestEvents.push(.received, id: $0) }
        + [TestEvents.push(.opened, id: 1), TestEvents.push(.dismissed, id: 2)]
        + [
            TestEvents.push(.received, id: 8, on: .ios),
            TestEvents.push(.opened, id: 8, on: .ios), TestEvents.push(.opened, id: 9, on: .ios),
        ]

    @Test(
        "times that no build has written are told of",
        arguments: ["last_time = 0", "first_time = -1"])
    func times(_ change: String) async throws {
        try await self.database.deliver(Self.campaign)
        #expect(try self.database.timeline() != nil)
        try self.database.change("UPDATE counts SET \(change)")
        #expect(throws: DatabaseError.self) { _ = try self.database.timeline() }
    }

    @Test(
        "a value of another type is told of, and does not trap",
        arguments: ["last_time = 'later'", "first_time = 'x'"])
    func types(_ change: String) async throws {
        try await self.database.deliver(Self.campaign)
        try self.database.change("UPDATE counts SET \(change)")
        #expect(throws: RowDecodingError.self) { _ = try self.database.report() }
        #expect(throws: RowDecodingError.self) { _ = try self.database.timeline() }
    }

    @Test("where a name is missing, its row says so, and all others are there")
    func missingNames() async throws {
        func isMissing(_ name: String?) -> Bool {
            name?.hasPrefix("(name ") == true && name?.hasSuffix(" is missing)") == true
        }
        let message = TestEvents.inApp(.impression(.init()), id: 1)
        try await self.database.deliver(
            [TestEvents.push(.received, id: 1, app: "shop"), message], tenant: "first")
        try await self.database.deliver([TestEvents.push(.received, id: 2)], tenant: "second")
        try self.database.change(
            "DELETE FROM names WHERE text IN ('56c4', 'first', 'shop', 'welcome', 'Welcome')")
        let report = try self.database.report { $0.isByApp = true }
        let deliveries = report.deliveries.rows.sorted { $0.tenant < $1.tenant }
        #expect(deliveries.count == 2 && deliveries.allSatisfy { isMissing($0.deliveryID) })
        #expect(isMissing(deliveries.first?.tenant) && isMissing(deliveries.first?.app))
        #expect(deliveries.last?.tenant == "second" && deliveries.last?.app == nil)
        #expect(deliveries.allSatisfy { $0.others.impressions == 1 })
        let inApp = try #require(report.inAppMessages.rows.first)
        #expect(isMissing(inApp.tenant) && isMissing(inApp.messageID) && isMissing(inApp.campaign))
        let use = try #require(try self.database.details(maxUses: 1).rows.first)
        #expect(isMissing(use.tenant) && isMissing(use.id) && use.hits == 1)
        #expect(try self.database.timeline() != nil)
    }

    @Test("D14, D16, D20: impressions, clicks and opens, with iOS apart and out of the ratios")
    func funnel() async throws {
        try await self.database.deliver(Self.campaign)
        let row = try #require(try self.database.report().deliveries.rows.first)
        #expect(row.deliveryID == "56c4")
        #expect(row.product == .standard)
        #expect([row.others.impressions, row.others.clicks, row.others.opens] == [4, 2, 1])
        #expect([row.ios.impressions, row.ios.clicks, row.ios.opens] == [1, 2, 2])
        #expect([row.others.notifications, row.ios.notifications] == [4, 2])
        #expect(row.others.impressionRatio == 1)
        #expect(
            [row.others.dismissals, row.others.uniqueDismissals, row.ios.dismissals] == [1, 1, 0])
        #expect(row.others.clickRatio == 0.5)
        #expect(row.others.dismissalRatio == 0.25)
        #expect(row.openRatio == 0.25)
    }

    @Test("D14: opens without a click on one side take no dismissals from the other")
    func dismissalsOfSides() async throws {
        var opens = (1...3).map { TestEvents.action(.open, id: $0) }
        for index in opens.indices { opens[index].platform = .ios }
        try await self.database.deliver(
            opens + (4...5).map { TestEvents.push(.dismissed, id: $0) })
        let row = try #require(try self.database.report().deliveries.rows.first)
        #expect([row.ios.clicks, row.ios.opens, row.others.clicks] == [0, 3, 2])
        #expect([row.others.dismissals, row.others.uniqueDismissals] == [2, 2])
        #expect([row.ios.dismissals, row.ios.uniqueDismissals] == [0, 0])
    }

    @Test("D63: what shows nothing is in no figure, in the ratios neither, and its number is told")
    func nothingShown() async throws {
        try await self.database.deliver(
            Self.campaign
                + (11...13).map { TestEvents.silent(TestEvents.push(.received, id: $0)) }
                + [TestEvents.silent(TestEvents.push(.received, id: 14, on: .ios))])
        for isByOccurrence in [false, true] {
            let report = try self.database.report { $0.isByOccurrence = isByOccurrence }
            let row = try #require(report.deliveries.rows.first)
            #expect([row.others.impressions, row.others.uniqueImpressions] == [4, 4])
            #expect([row.others.notifications, row.others.nothingShown] == [4, 3])
            #expect([row.ios.impressions, row.ios.nothingShown] == [1, 1])
            #expect(row.others.impressionRatio == 1 && row.others.clickRatio == 0.5)
            let note = "4 impressions of payloads that show nothing are left out (D63)"
            #expect(report.notes.last == note)
            #expect(report.deliveries.hits == 7 + 5 + 4, "they are hits")
            let timeline = try self.database.timeline { $0.isByOccurrence = isByOccurrence }
            #expect(timeline?.steps.map(\.impressions).reduce(0, +) == 5)
            #expect(timeline?.steps.map(\.inApp).reduce(0, +) == 0)
        }
        #expect(try self.database.viewed("impressions") == [4])
        #expect(try self.database.viewed("click_ratio") == [0.5])
    }

    @Test("D17: two buttons are two clicks of one notification, and a resent fact is no hit more")
    func buttons() async throws {
        let events =
            [TestEvents.push(.received, id: 1)]
            + ["yes", "no"].map { TestEvents.push(.opened, id: 1, button: $0) }
        try await self.database.deliver(events)
        try await self.database.deliver(events)
        let row = try #require(try self.database.report().deliveries.rows.first)
        #expect([row.others.clicks, row.others.uniqueClicks] == [2, 1])
        #expect([row.others.opens, row.others.uniqueOpens] == [2, 1])
        #expect([row.others.impressions, row.others.notifications] == [1, 1])
        #expect(row.others.clickRatio == 1)
    }

    @Test("D20: an impression that never came shows in the impression ratio")
    func lostImpressions() async throws {
        try await self.database.deliver(
            [TestEvents.push(.received, id: 1)]
                + (1...4).map { TestEvents.push(.opened, id: $0) })
        let row = try #require(try self.database.report().deliveries.rows.first)
        #expect(row.others.impressionRatio == 0.25)
        #expect(row.others.clickRatio == 4)
    }

    @Test("D17, D20: the view `funnel` has the report's ratios")
    func view() async throws {
        let buttons = ["yes", "no"].flatMap { button in
            (1...2).map { TestEvents.push(.opened, id: $0, button: button) }
        }
        try await self.database.deliver(Self.campaign + buttons)
        try await self.database.deliver(
            [TestEvents.push(.received, id: 1)]
                + (1...4).map { TestEvents.push(.opened, id: $0) }, tenant: "other")
        try await self.database.deliver(
            [TestEvents.push(.opened, id: 9, on: .ios)], tenant: "unknown")
        let rows = try self.database.report().deliveries.rows.sorted { $0.tenant < $1.tenant }
        #expect(rows.map(\.others.clickRatio) == [0.5, 4, nil])
        #expect(try self.database.viewed("click_ratio") == rows.map(\.others.clickRatio))
        #expect(try self.database.viewed("open_ratio") == rows.map(\.openRatio))
    }

    @Test("each in-app message has its own campaign, whatever ids its rows have")
    func campaigns() async throws {
        let names = (1...3).map { "Campaign \($0)" }
        for (number, name) in names.enumerated() {
            try await self.database.deliver([
                TestEvents.inApp(
                    .impression(.init()), id: number, message: "m\(number)", campaign: name)
            ])
        }
        // As builds left it that used the ids of erased rows again.
        try self.database.change("UPDATE counts SET newest = 1")
        let rows = try self.database.report().inAppMessages.rows
        #expect(rows.sorted { $0.messageID < $1.messageID }.map(\.campaign) == names)
    }

    @Test("messages whose ids differ behind a zero byte are two, and no name ends at it")
    func zeroByte() async throws {
        for (number, message) in ["m\0one", "m\0two"].enumerated() {
            var event = TestEvents.inApp(
                .impression(.init()), id: number, message: message, campaign: "c\0\(number)")
            event.appID = "a\0\(number)"
            var push = TestEvents.push(.received, id: number)
            push.appID = event.appID
            try await self.database.deliver([event, push])
        }
        let report = try self.database.report { $0.isByApp = true }
        let rows = report.inAppMessages.rows
        #expect(rows.map(\.impressions) == [1, 1])
        #expect(rows.map(\.messageID).sorted() == ["m\0one", "m\0two"])
        #expect(rows.compactMap(\.campaign).sorted() == ["c\00", "c\01"])
        #expect(rows.compactMap(\.app).sorted() == ["a\00", "a\01"])
        #expect(report.deliveries.rows.compactMap(\.app).sorted() == ["a\00", "a\01"])
        let details = try self.database.details(maxUses: 10)
        #expect(details.rows.map(\.id) == ["m\0one", "m\0two"])
        // Each form shows where the byte is.
        let lines = details.table.lines().joined() + ReportTable(report).lines().joined()
        #expect(lines.contains("m\\u{0}one") && lines.contains("m\\u{0}two"))
    }

    @Test("D12, D21: Classic has no opens, and the same id of both products is two deliveries")
    func classic() async throws {
        try await self.database.deliver(
            Self.campaign
                + [
                    TestEvents.push(.received, id: 1, product: .classic),
                    TestEvents.push(.received, id: 2, product: .classic),
                    TestEvents.push(.opened, id: 1, product: .classic),
                ])
        let rows = try self.database.report().deliveries.rows
        #expect(rows.map(\.product) == [.standard, .classic])
        let classic = try #require(rows.last)
        #expect([classic.others.impressions, classic.others.clicks] == [2, 1])
        #expect(classic.others.clickRatio == 0.5)
        #expect(classic.opens == nil)
        #expect(classic.openRatio == nil)
        #expect(classic.others.dismissals == nil && classic.others.dismissalRatio == nil)
        #expect(rows.first?.others.impressions == 4)
    }

    @Test("D9: the buttons of Campaign's in-app messages have counts of their own")
    func campaignButtons() async throws {
        try await self.database.deliver(
            [.impression, .button1, .button2, .close, .close].enumerated().map { index, action in
                TestEvents.action(action, id: index)
            })
        let row = try #require(try self.database.report().deliveries.rows.first)
        #expect([row.button1, row.button2, row.closes] == [1, 1, 2])
        #expect([row.others.impressions, row.others.clicks] == [1, 0])
    }

    @Test("D24, D25: in-app messages, each with its campaign's newest name")
    func inApp() async throws {
        try await self.database.deliver([
            TestEvents.inApp(.impression(.init()), id: 1, campaign: "Old", subject: "a"),
            TestEvents.inApp(.impression(.init()), id: 2, subject: "b"),
            TestEvents.inApp(.click(.with { $0.actionURL = "app://sale" }), id: 3, subject: "a"),
            // A click without a URL is a dismissal (D25).
            TestEvents.inApp(.click(.init()), id: 4, subject: "b"),
            TestEvents.inApp(.dismissal(.init()), id: 5, subject: "b"),
            TestEvents.inApp(.displayError(.init()), id: 6, campaign: "New", subject: "c"),
            TestEvents.inApp(.impression(.init()), id: 7, message: "survey", campaign: ""),
            TestEvents.inApp(.triggered(.init()), id: 8, campaign: "New", subject: "a"),
            TestEvents.inApp(.triggered(.init()), id: 9, campaign: "New", subject: "b"),
            TestEvents.inApp(.suppressed(.init()), id: 10, campaign: "New", subject: "c"),
        ])
        let report = try self.database.report()
        #expect(report.deliveries.rows.isEmpty)
        let welcome = try #require(report.inAppMessages.rows.first)
        #expect([welcome.messageID, welcome.campaign] == ["welcome", "New"])
        #expect(
            [welcome.impressions, welcome.clicks, welcome.dismissals, welcome.displayErrors]
                == [2, 1, 2, 1])
        #expect([welcome.triggered, welcome.suppressed] == [2, 1], "and no impression (D64)")
        #expect(welcome.recipients == 3)
        #expect([welcome.clickRatio, welcome.dismissalRatio] == [0.5, 1])
        #expect(report.inAppMessages.rows.map(\.campaign) == ["New", nil])
    }

    @Test("an empty database gives an empty report")
    func empty() throws {
        let report = try self.database.report()
        #expect(
            [report.deliveries.count, report.deliveries.hits, report.deliveries.leftOut] == [
                0, 0, 0,
            ])
        #expect(report.inAppMessages.rows.isEmpty)
        #expect(ReportTable(report).lines().isEmpty)
    }
}
