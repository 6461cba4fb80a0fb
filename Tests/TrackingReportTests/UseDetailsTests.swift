// In-app messages by how they were used.
internal import Foundation
internal import GRDB
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@testable internal import TrackingReport

struct UseDetailsTests {
    private func details(
        _ events: [Sightline_V1_TrackingEvent], maxUses: Int = UseDetails.maxUses
    ) async throws -> UseDetails {
        let database = try HitsDatabase()
        try await database.deliver(events)
        return try database.details(maxUses: maxUses)
    }

    private static func click(_ text: String, _ url: String, id: Int) -> Sightline_V1_TrackingEvent
    {
        TestEvents.inApp(
            .click(
                .with {
                    $0.actionText = text
                    $0.actionURL = url
                }), id: id)
    }

    @Test("a card's clicks are told apart by button and link")
    func links() async throws {
        let details = try await self.details(
            [
                Self.click("Buy", "app://buy", id: 1), Self.click("Buy", "app://buy", id: 2),
                Self.click("Buy", "app://more", id: 3), Self.click("", "app://more", id: 4),
            ])
        #expect(details.rows.map(\.hits) == [2, 1, 1])
        #expect(details.rows.map(\.use?.action) == ["Buy", "", "Buy"])
        #expect(details.rows.map(\.use?.link) == ["app://buy", "app://more", "app://more"])
        #expect(details.rows.allSatisfy { $0.id == "welcome" && $0.tenant == "default" })
    }

    @Test("labels, links and messages that Unicode takes for equal are told apart")
    func spellings() async throws {
        let names = ["caf\u{e9}", "cafe\u{301}"]
        let details = try await self.details([
            Self.click(names[0], "app://a", id: 1), Self.click(names[1], "app://a", id: 2),
            Self.click("Buy", names[0], id: 3), Self.click("Buy", names[1], id: 4),
            TestEvents.inApp(.impression(.init()), id: 5, message: names[0]),
            TestEvents.inApp(.impression(.init()), id: 6, message: names[1]),
        ])
        #expect(details.rows.map(\.hits) == [1, 1, 1, 1, 1, 1])
        let messages = details.rows.map { Array($0.id.utf8) }
        // In the order of their bytes.
        #expect(messages.prefix(2) == [Array(names[1].utf8), Array(names[0].utf8)])
    }

    @Test(
        "how it was closed, or why it was not shown, has a name; a newer number is told as it is",
        arguments: [
            (.dismissal(.with { $0.type = .auto }), "dismissal", "auto", ""),
            (.dismissal(.with { $0.type = .click }), "dismissal", "click", ""),
            (.dismissal(.with { $0.type = .swipe }), "dismissal", "swipe", ""),
            (.dismissal(.init()), "dismissal", "", ""),
            (.dismissal(.with { $0.type = .UNRECOGNIZED(9) }), "dismissal", "9", ""),
            (.displayError(.with { $0.reason = .imageFetch }), "display_error", "", "image_fetch"),
            (
                .displayError(.with { $0.reason = .imageUnsupportedFormat }), "display_error", "",
                "image_format"
            ), (.impression(.init()), "impression", "", ""),
            (
                .displayError(.with { $0.fetchReason = .network }), "display_error", "",
                "fetch_network"
            ), (.triggered(.init()), "triggered", "", ""),
            (.suppressed(.init()), "suppressed", "", ""),
        ] as [(Sightline_V1_InAppInteraction.OneOf_Event, String, String, String)])
    func names(
        _ event: Sightline_V1_InAppInteraction.OneOf_Event, what: String, dismissal: String,
        error: String
    ) async throws {
        var sent = TestEvents.inApp(event, id: 1)
        sent.inApp.triggerEvent = "purchase"
        sent.inApp.triggerKind = .analyticsEvent
        sent.inApp.layout = .banner
        let use = try #require(try await self.details([sent]).rows.first?.use)
        #expect(use.what == what && use.dismissal == dismissal && use.error == error)
        #expect(use.trigger == "purchase")
        #expect(use.triggerKind == "analytics_event" && use.layout == "banner")
    }

    @Test("at the limit each use has its row, and further ones are one row")
    func limit() async throws {
        let events = (1...4).map { Self.click("\($0)", "app://a", id: $0) }
        #expect(try await self.details(events, maxUses: 4).rows.count == 4)
        let rows = try await self.details(events, maxUses: 3).rows
        #expect(rows.count == 4 && rows.last?.use == nil && rows.last?.hits == 1)
        let more = try await self.details(events, maxUses: 2).rows
        #expect(more.count == 3 && more.first { $0.use == nil }?.hits == 2)
    }

    @Test("D14: a push's clicks are told apart by button and link, and dismissals from openings")
    func pushes() async throws {
        var linked = TestEvents.push(.opened, id: 1, button: "yes")
        linked.push.fcm.data.uri = "app://sale"
        var raw = TestEvents.push(.opened, id: 2, button: "no")
        raw.platform = .android
        raw.push.raw.json = Data(
            #"{"_dId":"56c4","_mId":"h2","_acsDeliveryTracking":"on","uri":"app://raw"}"#.utf8)
        let database = try HitsDatabase()
        try await database.deliver([
            linked, raw, TestEvents.push(.dismissed, id: 3), TestEvents.action(.click, id: 4),
            TestEvents.inApp(.impression(.init()), id: 1),
        ])
        let details = try database.details(.push)
        let uses = Set(
            details.rows.map { row in
                [row.use?.what ?? "", row.use?.action ?? "", row.use?.link ?? ""]
            })
        #expect(
            uses == [
                ["click", "yes", "app://sale"], ["open", "yes", "app://sale"],
                ["click", "no", "app://raw"], ["open", "no", "app://raw"], ["dismissal", "", ""],
                ["click", "", ""],
            ])
        #expect(details.rows.allSatisfy { $0.id == "56c4" && $0.hits == 1 })
        #expect(
            details.table.lines().contains {
                $0.contains("click      yes     app://sale  api        1")
            })
    }

    @Test("D56: a tracked link is one for all recipients, told by its letter and its own id")
    func trackedLinks() async throws {
        let database = try HitsDatabase()
        let links = [("d", "d57ff6"), ("d", "d57ff6"), ("d", "d57ff7"), ("t", "d57ff6")]
        try await database.deliver(
            links.enumerated().map { number, link in
                var event = TestEvents.push(.dismissed, id: number + 1)
                event.push.fcm.data.uri =
                    "http://t.example.com/r/?id=\(link.0)\(number + 1),56c4,\(link.1)"
                return event
            })
        let uses = try database.details(.push).rows.compactMap { row in
            row.use.map { "\($0.linkID) \($0.link) \(row.hits)" }
        }
        #expect(
            uses == [
                "d:d57ff6 http://t.example.com/r/?id=d*,56c4,d57ff6 2",
                "d:d57ff7 http://t.example.com/r/?id=d*,56c4,d57ff7 1",
                "t:d57ff6 http://t.example.com/r/?id=t*,56c4,d57ff6 1",
            ])
    }

    @Test("the table has a row for each, and push notifications none")
    func table() async throws {
        let lines = try await self.details(
            [Self.click("Buy", "app://buy", id: 1), TestEvents.push(.received, id: 2)]
        ).table.lines()
        #expect(lines.count == 5)
        #expect(lines.last?.contains("click  Buy     app://buy  -          -      -") == true)
        #expect(try await self.details([TestEvents.push(.received, id: 2)]).table.lines() == [])
    }
}
