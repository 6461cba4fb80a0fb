// Notifications that were never sent, by reason, each once.
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import TestSupport
internal import Testing
internal import TrackingRules

@testable internal import TrackingReport

struct NeverSentTests {
    private static let day: Int64 = 86_400_000_000
    private let database: HitsDatabase

    init() throws { self.database = try HitsDatabase() }

    private static func unsent(
        _ outcome: Sightline_V1_PushSendOutcome, _ reason: Sightline_V1_PushSendReason, id: Int,
        attempt: Int32 = 0, delivery: String = "56c4",
        product: Sightline_V1_CampaignProduct = .unspecified, app: String = ""
    ) -> TestEvent {
        var event = TestEvents.send(
            outcome, id: id, delivery: delivery, product: product, app: app)
        event.pushSend.reason = reason
        event.pushSend.attempt = attempt
        return event
    }

    /// The rows in words.
    private static func told(_ unsent: NeverSent) -> [String] {
        unsent.rows.map { row in
            [
                row.deliveryID, row.app, row.isSkipped ? "skipped" : "failed", row.reason,
                "\(row.notifications)",
            ].compactMap(\.self).joined(separator: " ")
        }
    }

    @Test("D60: each counts once: by the failure that came first, and else by why it was skipped")
    func once() async throws {
        try await self.database.deliver([
            // Sent before or after they failed or were skipped: none of these.
            TestEvents.send(.sent, id: 1), TestEvents.send(.sent, id: 2),
            Self.unsent(.failed, .network, id: 2), Self.unsent(.failed, .throttled, id: 3),
            TestEvents.send(.sent, id: 3), Self.unsent(.skipped, .expired, id: 4),
            TestEvents.send(.sent, id: 4),
            // The second attempt's failure is told before that of the first.
            Self.unsent(.failed, .unregistered, id: 5, attempt: 2),
            Self.unsent(.failed, .throttled, id: 5, attempt: 1),
            Self.unsent(.failed, .unregistered, id: 6), Self.unsent(.failed, .other, id: 7),
            // Skipped, and tried as well.
            Self.unsent(.skipped, .expired, id: 8), Self.unsent(.failed, .other, id: 8),
            Self.unsent(.failed, .other, id: 9), Self.unsent(.skipped, .expired, id: 9),
            Self.unsent(.failed, .invalidToken, id: 10),
            Self.unsent(.skipped, .noConsent, id: 11), Self.unsent(.skipped, .noConsent, id: 11),
        ])
        let unsent = try self.database.neverSent()
        #expect(
            Self.told(unsent) == [
                "56c4 failed other 3", "56c4 failed unregistered 2", "56c4 failed invalid_token 1",
                "56c4 skipped no_consent 1",
            ])
        #expect(unsent.leftOut == 0)
        let row = try #require(try self.database.report().deliveries.rows.first)
        let failed = unsent.rows.filter { !$0.isSkipped }.map(\.notifications).reduce(0, +)
        #expect(row.undelivered == failed)
        // Four were skipped, of which three were tried too.
        #expect(row.skipped == 4)
    }

    @Test("tenants, apps, deliveries and products are told apart, though the ids are the same")
    func places() async throws {
        try await self.database.deliver([
            TestEvents.send(.sent, id: 1, app: "a"),
            Self.unsent(.failed, .network, id: 1, app: "b"),
            Self.unsent(.failed, .network, id: 1, delivery: "77", app: "a"),
            Self.unsent(.failed, .network, id: 1, product: .classic, app: "a"),
        ])
        try await self.database.deliver(
            [Self.unsent(.failed, .network, id: 1, app: "a")], tenant: "other")
        let all = try self.database.neverSent()
        #expect(all.rows.map(\.tenant) == ["default", "default", "default", "other"])
        #expect(all.rows.map(\.deliveryID) == ["56c4", "56c4", "77", "56c4"])
        #expect(all.rows.map(\.product) == [.standard, .classic, .standard, .standard])
        #expect(all.rows.allSatisfy { $0.app == nil && $0.notifications == 1 })
        let one = try self.database.neverSent {
            ($0.tenant, $0.delivery, $0.isByApp) = ("default", "56c4", true)
        }
        #expect(
            Self.told(one) == ["56c4 a failed network 1", "56c4 b failed network 1"])
        #expect(one.rows.map(\.product) == [.classic, .standard])
        #expect(Self.told(try self.database.neverSent { $0.app = "b" }).count == 1)
        #expect(try self.database.neverSent { $0.delivery = "78" }.rows.isEmpty)
    }

    @Test("a range selects by the failure, and one that was sent at any time was sent")
    func range() async throws {
        let first = HitsDatabase.receiveTime
        for (days, events) in [
            (
                0,
                [
                    Self.unsent(.failed, .network, id: 1), Self.unsent(.failed, .network, id: 2),
                    Self.unsent(.failed, .throttled, id: 3, delivery: "77"),
                ]
            ),
            (1, [Self.unsent(.failed, .expired, id: 4), TestEvents.push(.received, id: 5)]),
            (2, [TestEvents.send(.sent, id: 1)]),
        ] as [(Int64, [TestEvent])] {
            self.database.set(today: Int((first + days * Self.day) / Self.day))
            try await self.database.deliver(events, at: first + days * Self.day)
        }
        for isByOccurrence in [false, true] {
            func told(_ since: Int64?, _ until: Int64?) throws -> [String] {
                Self.told(
                    try self.database.neverSent {
                        ($0.delivery, $0.isByOccurrence) = ("56c4", isByOccurrence)
                        $0.since = since.map { first + $0 * Self.day }
                        $0.until = until.map { first + $0 * Self.day }
                    })
            }
            #expect(try told(nil, nil) == ["56c4 failed expired 1", "56c4 failed network 1"])
            #expect(try told(nil, 1) == ["56c4 failed network 1"])
            #expect(try told(1, nil) == ["56c4 failed expired 1"])
            #expect(try told(2, nil) == [])
        }
    }

    @Test("it reads the rows from the first send's day to the last send, each partition's twice")
    func plan() async throws {
        let first = HitsDatabase.receiveTime
        for (days, events) in [
            (0, [TestEvents.push(.received, id: 1)]),
            (1, [TestEvents.send(.sent, id: 1), TestEvents.send(.failed, id: 2)]),
            (2, [TestEvents.push(.received, id: 2)]),
        ] as [(Int64, [TestEvent])] {
            self.database.set(today: Int((first + days * Self.day) / Self.day))
            try await self.database.deliver(events, at: first + days * Self.day)
        }
        let ids = try self.database.read { try NeverSent.ids(ReportQuery(), in: $0) }
        #expect(ids == 2...3)
        let plan = try self.database.plan(
            NeverSent.selection(ReportQuery()),
            ReportQuery().arguments + ["byApp": false, "firstID": 2, "lastID": 3])
        #expect(
            plan.components(
                separatedBy: "SEARCH hit USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
            )
            .count == 2 * 3 + 1, "\(plan)")
        #expect(!plan.contains("SCAN hit"), "\(plan)")
    }

    @Test("where nothing failed or was skipped, no row is read")
    func nothing() async throws {
        try await self.database.deliver([
            TestEvents.send(.sent, id: 1), Self.unsent(.failed, .other, id: 1, delivery: "77"),
        ])
        let ids = try self.database.read { database in
            var query = ReportQuery()
            query.delivery = "56c4"
            return try NeverSent.ids(query, in: database)
        }
        #expect(ids == nil)
    }

    @Test("at the limit each reason has its row, and the notifications of further ones are counted")
    func limit() async throws {
        let reasons: [Sightline_V1_PushSendReason] = [.network, .throttled, .expired]
        try await self.database.deliver(
            reasons.enumerated().map { Self.unsent(.failed, $1, id: $0) }
                + [Self.unsent(.failed, .expired, id: 9)])
        let all = try self.database.neverSent(maxRows: 3)
        #expect(all.rows.count == 3 && all.leftOut == 0)
        let some = try self.database.neverSent(maxRows: 2)
        #expect(some.rows.count == 2 && some.leftOut == 2)
        #expect(some.table.notes.first == "… and 2 more; --delivery shows them")
    }

    @Test("the table, the page and JSON have it, and nothing where all were sent")
    func forms() async throws {
        try await self.database.deliver([TestEvents.send(.sent, id: 1)])
        var report = try self.database.report()
        report.neverSent = try self.database.neverSent()
        #expect(report.detailTables.isEmpty)
        #expect(!(try Self.page(report)).contains("Never sent"))
        try await self.database.deliver(
            (2...1300).map { Self.unsent(.failed, .unregistered, id: $0) })
        report = try self.database.report()
        report.neverSent = try self.database.neverSent()
        let lines = report.detailTables.flatMap { $0.lines() }
        #expect(
            lines.prefix(5) == [
                "", "Never sent, each notification once", "",
                "tenant   delivery  product   outcome  reason        notifications",
                "default  56c4      standard  failed   unregistered          1,299",
            ])
        let page = try Self.page(report)
        for text in [
            "<h2 id=\"details-1\">Never sent, each notification once</h2>",
            "<p>Failed ones stand by the reason of the failure that was received first, as a "
                + "notification counts one; skipped ones were not tried.</p>",
            "<th scope=\"col\">notifications</th>", "<th scope=\"row\">default</th>",
            "<td>unregistered</td>", "<td class=\"number\">1,299</td>",
        ] {
            #expect(page.contains(text), "\(text)")
        }
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let json = String(decoding: try encoder.encode(report), as: UTF8.self)
        #expect(
            json.contains(
                #""never_sent":{"left_out":0,"rows":[{"delivery_id":"56c4","#
                    + #""notifications":1299,"outcome":"failed","product":"standard","#
                    + #""reason":"unregistered","tenant":"default"}]}"#))
        #expect(!json.contains("\"versions\""))
    }

    private static func page(_ report: Report) throws -> String {
        try ReportPage(report, timeline: nil, generated: 0).text()
    }
}
