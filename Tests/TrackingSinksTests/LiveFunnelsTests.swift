// The funnels against a plain dictionary, at their limit and beyond it.
@testable internal import Delivery
internal import SightlineProtos
@testable internal import SinkKit
internal import SwiftProtobuf
internal import TestSupport
internal import Testing

struct LiveFunnelsTests {
    private func funnel(_ funnels: LiveFunnels, _ id: String) -> LiveFunnel? {
        funnels.busiest(.max).first { $0.deliveryID == id }
    }

    @Test("D16, D20: a delivery's impressions, clicks and opens, those of iOS apart")
    func kinds() throws {
        let funnels = LiveFunnels(capacity: 2)
        funnels.count(
            try TestHits.batch([
                TestEvents.push(.received, id: 1), TestEvents.push(.opened, id: 1),
                TestEvents.push(.dismissed, id: 2), TestEvents.push(.received, id: 3, on: .ios),
                TestEvents.push(.opened, id: 4, on: .ios), TestEvents.action(.button1, id: 5),
            ]))
        let funnel = try #require(self.funnel(funnels, "56c4"))
        #expect(funnel.tenant == "default" && !funnel.isInApp && funnel.missed == 0)
        #expect(funnel.impressions == .init(other: 1, ios: 1))
        #expect(funnel.clicks == .init(other: 2, ios: 1))
        #expect(funnel.opens == .init(other: 1, ios: 1))
        // A button is a hit, but none of the three counts.
        #expect(funnel.hits == 8)
    }

    @Test("an in-app message is no delivery of the same name")
    func inApp() throws {
        let message = Sightline_V1_TrackingEvent.with { event in
            event.eventID = "e"
            event.inApp.messageID = "56c4"
            event.inApp.impression = .init()
        }
        let funnels = LiveFunnels(capacity: 2)
        funnels.count(try TestHits.batch([message, TestEvents.push(.received, id: 1)]))
        #expect(funnels.busiest(2).map(\.isInApp).sorted { !$0 && $1 } == [false, true])
        #expect(funnels.busiest(2).map(\.impressions) == [.init(other: 1), .init(other: 1)])
    }

    @Test("D17, D20: the ratios are of notifications, whatever the buttons, and without iOS")
    func ratios() throws {
        var buttons = (0..<3).map { _ in TestEvents.push(.opened, id: 1) }
        for place in 1...2 { buttons[place].push.actionIdentifier = "button\(place)" }
        let funnels = LiveFunnels(capacity: 2)
        funnels.count(
            try TestHits.batch(
                (1...4).map { TestEvents.push(.received, id: $0) } + buttons + [
                    TestEvents.push(.dismissed, id: 2), TestEvents.push(.opened, id: 3, on: .ios),
                ]))
        let funnel = try #require(self.funnel(funnels, "56c4"))
        #expect(funnel.clicks == .init(other: 4, ios: 1) && funnel.opens.other == 3)
        #expect(funnel.clickRatio == 0.5 && funnel.openRatio == 0.25)
        #expect(funnel.dismissalRatio == nil)
        funnels.count(try TestHits.batch([TestEvents.push(.opened, id: 9, delivery: "a1")]))
        #expect(self.funnel(funnels, "a1")?.clickRatio == nil)
    }

    @Test("D24, D25: an in-app message's clicks by action, dismissals and failed displays")
    func inAppKinds() throws {
        func event(
            _ id: Int, _ what: Sightline_V1_InAppInteraction.OneOf_Event, isIOS: Bool = false
        ) -> Sightline_V1_TrackingEvent {
            .with { event in
                event.eventID = "e\(id)"
                event.platform = isIOS ? .ios : .android
                event.inApp.messageID = "welcome"
                event.inApp.event = what
            }
        }
        func click(_ label: String, url: String = "https://a.example")
            -> Sightline_V1_InAppInteraction.OneOf_Event
        {
            .click(
                .with {
                    $0.actionText = label
                    $0.actionURL = url
                })
        }
        let funnels = LiveFunnels(capacity: 2)
        funnels.count(
            try TestHits.batch([
                event(1, .impression(.init())), event(2, .impression(.init()), isIOS: true),
                event(3, click("Buy")), event(4, click("Buy"), isIOS: true), event(5, click("")),
                event(6, click("Later", url: "")), event(7, .dismissal(.init()), isIOS: true),
                event(8, .displayError(.init())), event(9, .impression(.init())),
                event(10, .impression(.init())),
            ]))
        let funnel = try #require(self.funnel(funnels, "welcome"))
        #expect(funnel.impressions == .init(other: 3, ios: 1))
        #expect(funnel.clicks == .init(other: 2, ios: 1))
        #expect(funnel.actions.named.map(\.name) == ["Buy", ""])
        #expect(funnel.actions.named.map(\.clicks) == [2, 1] && funnel.actions.others == 0)
        // A click that leads nowhere is a dismissal.
        #expect(funnel.dismissals == .init(other: 1, ios: 1))
        #expect(funnel.displayErrors == .init(other: 1) && funnel.opens == .init())
        #expect(funnel.clickRatio == 0.75 && funnel.dismissalRatio == 0.5)
        #expect(funnel.openRatio == nil)
    }

    @Test("up to its capacity, the funnels are what a dictionary counts", arguments: 1...5)
    func exact(_ seed: UInt64) throws {
        var generator = Dice(seed: seed)
        let funnels = LiveFunnels(capacity: 20)
        var counts: [String: Int] = [:]
        for _ in 0..<20 {
            let ids = (0..<100).map { _ in
                // Small numbers are more frequent.
                String(
                    Int.random(in: 0...Int.random(in: 0..<20, using: &generator), using: &generator)
                )
            }
            for id in ids { counts[id, default: 0] += 1 }
            funnels.count(try self.batch(of: ids))
        }
        let busiest = funnels.busiest(.max)
        #expect(busiest.allSatisfy { $0.missed == 0 })
        #expect(
            Dictionary(uniqueKeysWithValues: busiest.map { ($0.deliveryID, $0.hits) }) == counts)
        #expect(busiest.map(\.hits) == counts.values.sorted(by: >))
    }

    @Test("beyond it, each count is within what it says it missed, and no busy one is lost")
    func bounds() throws {
        var generator = Dice(seed: 7)
        let funnels = LiveFunnels(capacity: 10)
        var counts: [String: Int] = [:]
        for _ in 0..<50 {
            let ids = (0..<100).map { _ in
                Bool.random(using: &generator)
                    ? "busy\(Int.random(in: 0..<4, using: &generator))"
                    : "rare\(Int.random(in: 0..<500, using: &generator))"
            }
            for id in ids { counts[id, default: 0] += 1 }
            funnels.count(try self.batch(of: ids))
        }
        #expect(funnels.count == 10)
        for funnel in funnels.busiest(.max) {
            let truth = try #require(counts[funnel.deliveryID])
            #expect(funnel.hits <= truth)
            #expect(funnel.hits + funnel.missed >= truth)
        }
        #expect(Set(funnels.busiest(4).map(\.deliveryID)) == ["busy0", "busy1", "busy2", "busy3"])
    }

    @Test("one delivery more than there is room for takes the least busy one's place")
    func limit() throws {
        let funnels = LiveFunnels(capacity: 2)
        funnels.count(try self.batch(of: ["a", "a", "b"]))
        #expect(funnels.count == 2)
        funnels.count(try self.batch(of: ["c"]))
        #expect(funnels.count == 2)
        #expect(self.funnel(funnels, "b") == nil)
        let newcomer = try #require(self.funnel(funnels, "c"))
        #expect(newcomer.hits == 1 && newcomer.missed == 1)
    }

    @Test("a sink's hits are counted when it has them, without those that it refused")
    func counted() async throws {
        let funnels = LiveFunnels(capacity: 3)
        let sink = CountedSink(
            FailingSink([
                .unavailable(reason: "down"), .undeliverable(reason: "no"), .rejected([1: "no"]),
            ]), into: funnels)
        let batch = try self.batch(of: ["a", "b", "c"])
        #expect(sink.name == "failing")
        #expect(await sink.deliver(batch) == .unavailable(reason: "down"))
        #expect(await sink.deliver(batch) == .undeliverable(reason: "no"))
        #expect(funnels.count == 0)
        #expect(await sink.deliver(batch) == .rejected([1: "no"]))
        #expect(Set(funnels.busiest(9).map(\.deliveryID)) == ["a", "c"])
        #expect(await sink.deliver(batch) == .delivered)
        #expect(self.funnel(funnels, "a")?.hits == 2)
    }

    /// A batch of one impression for each of these deliveries.
    private func batch(of deliveries: [String]) throws -> HitBatch {
        try TestHits.batch(
            deliveries.enumerated().map { id, delivery in
                TestEvents.push(.received, id: id, delivery: delivery)
            })
    }
}
