// In-app messages by how they were used.
internal import GRDB
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

@testable internal import TrackingReport

struct InAppDetailsTests {
    private func details(
        _ events: [Sightline_V1_TrackingEvent], maxUses: Int = InAppDetails.maxUses
    ) async throws -> InAppDetails {
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
        #expect(details.rows.allSatisfy { $0.messageID == "welcome" && $0.tenant == "default" })
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
        let messages = details.rows.map { Array($0.messageID.utf8) }
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
        ] as [(Sightline_V1_InAppInteraction.OneOf_Event, String, String, String)])
    func names(
        _ event: Sightline_V1_InAppInteraction.OneOf_Event, what: String, dismissal: String,
        error: String
    ) async throws {
        var sent = TestEvents.inApp(event, id: 1)
        sent.inApp.triggerEvent = "purchase"
        let use = try #require(try await self.details([sent]).rows.first?.use)
        #expect(use.what == what && use.dismissal == dismissal && use.error == error)
        #expect(use.trigger == "purchase")
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

    @Test("the table has a row for each, and push notifications none")
    func table() async throws {
        let lines = try await self.details(
            [Self.click("Buy", "app://buy", id: 1), TestEvents.push(.received, id: 2)]
        ).lines()
        #expect(lines.count == 5)
        #expect(lines.last?.contains("click  Buy     app://buy  -          -      -") == true)
        #expect(try await self.details([TestEvents.push(.received, id: 2)]).lines() == [])
    }
}
