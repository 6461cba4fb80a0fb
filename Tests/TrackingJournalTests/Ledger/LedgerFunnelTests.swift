// The funnels of the busiest deliveries, as the admin page shows them.
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules
internal import WireFormat

struct LedgerFunnelTests {
    private static let hour: UInt32 = 500_000

    /// Events of one delivery, platform and hour.
    private struct Events {
        var outcome: LedgerOutcome
        var count: UInt32
        var delivery = "56c4"
        var tenant = "default"
        var platform: Platform? = .android
        var product = Product.standard
        var hour = LedgerFunnelTests.hour
        var detail = ""

        init(_ kinds: HitKind..., count: UInt32 = 1) {
            self.outcome = .accepted(kinds.reduce(into: []) { $0.insert(HitKinds($1)) })
            self.count = count
        }

        func with(_ change: (inout Self) -> Void) -> Self {
            var events = self
            change(&events)
            return events
        }

        var key: LedgerKey {
            let subject = "com.example.app".withBytes { app in
                self.delivery.withBytes {
                    LedgerSubject(
                        platform: self.platform, product: self.product, app: app, delivery: $0)
                }
            }
            return self.tenant.withBytes {
                LedgerKey(
                    hour: self.hour, tenant: $0, subject: subject.bytes, outcome: self.outcome,
                    detail: self.detail)
            }
        }
    }

    private func ledger(_ events: [Events]) -> Ledger {
        var delta = LedgerDelta()
        for events in events { delta.add(events.key, events.count) }
        var ledger = Ledger()
        ledger.apply(delta)
        return ledger
    }

    private func funnels(_ events: [Events], limit: Int = 10) -> Ledger.Funnels {
        self.ledger(events).funnels(busiestSince: Self.hour - 24, limit: limit)
    }

    @Test("D16, D20: impressions, clicks and opens, those of iOS apart; what is no hit counts not")
    func kinds() throws {
        let funnels = self.funnels([
            Events(.impression, count: 4), Events(.click, .open, count: 2), Events(.click),
            Events(.button1, count: 3), Events(.impression, count: 5).with { $0.platform = .ios },
            Events(.click, .open).with { $0.platform = .ios },
            Events(.impression).with { $0.platform = nil },
            Events(count: 100).with { $0.outcome = .duplicate(HitKinds(.click)) },
            Events(count: 100).with { $0.outcome = .refused(.suppressedFlagOff) },
            Events(count: 5).with { $0.outcome = .closedImpression },
        ])
        let funnel = try #require(funnels.busiest.first)
        #expect(funnels.count == 1 && funnels.busiest.count == 1)
        #expect([funnel.tenant, funnel.delivery] == ["default", "56c4"] && !funnel.isInApp)
        #expect(funnel.impressions == .init(other: 5, ios: 5))
        #expect(funnel.clicks == .init(other: 3, ios: 1))
        #expect(funnel.opens == .init(other: 2, ios: 1))
        #expect(funnel.dismissals == .init(other: 1), "clicks that opened nothing (D14)")
        #expect(funnel.hits == 5 + 5 + 4 + 2 + 1 + 3)
        #expect(funnel.clickRatio == 0.6 && funnel.openRatio == 0.4)
    }

    @Test("D24, D25: an in-app message has dismissals and failed displays, its ratio all platforms")
    func inApp() throws {
        func message(_ kind: HitKind, _ count: UInt32, _ platform: Platform = .android) -> Events {
            Events(kind, count: count).with {
                $0.product = .firebase
                $0.platform = platform
            }
        }
        let funnels = self.funnels([
            message(.inAppImpression, 3), message(.inAppImpression, 1, .ios),
            message(.inAppClick, 2), message(.inAppClick, 1, .ios), message(.inAppDismissal, 1),
            message(.inAppDismissal, 1, .ios), message(.inAppDisplayError, 1),
            message(.inAppTriggered, 5), message(.inAppTriggered, 2, .ios),
            message(.inAppSuppressed, 1),
            // A delivery that has the same id.
            Events(.impression),
        ])
        #expect(funnels.count == 2)
        let (inApp, push) = (funnels.busiest[0], funnels.busiest[1])
        #expect(inApp.isInApp && !push.isInApp && inApp.delivery == push.delivery)
        #expect(push.impressions == .init(other: 1) && push.clickRatio == 0)
        #expect(inApp.impressions == .init(other: 3, ios: 1))
        #expect(inApp.clicks == .init(other: 2, ios: 1) && inApp.opens == .init())
        #expect(inApp.dismissals == .init(other: 1, ios: 1))
        #expect(inApp.displayErrors == .init(other: 1))
        #expect(inApp.triggered == .init(other: 5, ios: 2))
        #expect(inApp.suppressed == .init(other: 1))
        #expect(inApp.clickRatio == 0.75 && inApp.openRatio == nil)
    }

    @Test("D63: what shows nothing is a hit, and no impression of a ratio")
    func nothingShown() throws {
        func warned(_ count: UInt32, _ platform: Platform = .android) -> Events {
            Events(count: count).with {
                ($0.outcome, $0.platform) = (.nothingShown, platform)
            }
        }
        let funnels = self.funnels([
            Events(.impression, count: 9), warned(5), Events(.click, count: 2),
            Events(.impression, count: 3).with { $0.platform = .ios }, warned(3, .ios),
            // The ledger has no longer the hits of this one.
            warned(5).with { $0.delivery = "gone" },
        ])
        let funnel = try #require(funnels.busiest.first)
        #expect(funnels.count == 1)
        #expect(funnel.impressions == .init(other: 4) && funnel.hits == 14)
        #expect(funnel.nothingShown == .init(other: 5, ios: 3))
        #expect(funnel.clickRatio == 0.5)
    }

    @Test("D12, D14, D21: Classic's clicks are no dismissals, and an open alone takes none away")
    func dismissals() throws {
        let funnels = self.funnels([
            Events(.click, count: 5).with { $0.product = .classic },
            Events(.click, count: 2), Events(.open),
            Events(.open, count: 3).with { $0.platform = .ios },
        ])
        #expect(funnels.busiest.map(\.dismissals) == [.init(other: 1)])
        #expect(funnels.busiest.map(\.clicks) == [.init(other: 7)])
    }

    @Test("D16, D60: what was sent, iOS apart, and the rates of it on all platforms")
    func sends() throws {
        let funnels = self.funnels([
            Events(.sent, count: 6), Events(.sent, count: 2).with { $0.platform = .ios },
            Events(.sendFailed, count: 3), Events(.sendSkipped, count: 5),
            Events(count: 1).with { $0.outcome = .sentAndFailed },
            Events(count: 1).with { ($0.outcome, $0.platform) = (.sentAndFailed, .ios) },
            // The ledger has no longer the facts of this one.
            Events(count: 5).with { ($0.outcome, $0.delivery) = (.sentAndFailed, "gone") },
            Events(.impression, count: 6), Events(.click, .open, count: 2),
            Events(.click).with { $0.platform = .ios },
            Events(.sent, count: 4).with { ($0.delivery, $0.product) = ("77", .classic) },
            Events(.click).with { ($0.delivery, $0.product) = ("77", .classic) },
            Events(.impression).with { $0.delivery = "88" },
        ])
        let (standard, classic) = (funnels.busiest[0], funnels.busiest[1])
        #expect(standard.sent == .init(other: 6, ios: 2) && standard.failed == .init(other: 3))
        #expect(standard.skipped == .init(other: 5) && standard.hasSends)
        #expect(standard.sends == SendFacts(sent: 8, failed: 3, sentAndFailed: 2))
        #expect(funnels.count == 3)
        #expect(standard.openRate == 0.25 && standard.clickThroughRate == 0.375)
        #expect(standard.clickRatio == 1.0 / 3, "which stays that of what was shown")
        #expect(classic.openRate == nil && classic.clickThroughRate == 0.25)
        #expect(!funnels.busiest[2].hasSends && funnels.busiest[2].clickThroughRate == nil)
    }

    @Test("the totals have every event once, and the rejections with their rules, newest first")
    func totals() {
        let rejected = LedgerOutcome.refused(.rejected)
        let totals = LedgerTotals(
            self.ledger([
                Events(.impression, count: 4), Events(.click, .open, count: 2),
                Events(count: 3).with { $0.outcome = .duplicate(HitKinds(.click)) },
                Events(count: 5).with { $0.outcome = .refused(.suppressedFlagOff) },
                Events(count: 6).with { $0.outcome = .closedImpression },
                Events(count: 8).with { $0.outcome = .sentAndFailed },
                Events(count: 7).with {
                    ($0.outcome, $0.detail) = (rejected, "push.raw.json._dId required")
                },
            ]))
        #expect(totals.accepted == 6 && totals.duplicates == 3)
        #expect(totals.refused(.suppressedFlagOff) == 5 && totals.refused(.rejected) == 7)
        #expect(totals.refused(.suppressedConsent) == 0)
        #expect(totals.rejections.map(\.brokenRule) == ["push.raw.json._dId required"])
        #expect(totals.rejections.map(\.events) == [7])
        #expect(totals.rejections.map(\.lastHour) == [Self.hour])
    }

    @Test("without impressions there is no ratio")
    func noImpressions() throws {
        let events = Events(.click, .open)
        let funnels = self.funnels([
            events, Events(.impression).with { $0.platform = .ios },
            events.with { $0.product = .firebase },
        ])
        #expect(funnels.busiest.map(\.clickRatio) == [nil, nil])
        #expect(funnels.busiest.map(\.openRatio) == [nil, nil])
    }

    @Test("busy is who has hits of late: those before only count where nobody has more")
    func order() {
        func delivery(_ name: String, _ count: UInt32, hoursAgo: UInt32) -> Events {
            Events(.impression, count: count).with {
                $0.delivery = name
                $0.hour -= hoursAgo
            }
        }
        let events = [
            delivery("old", 1000, hoursAgo: 25), delivery("older", 2000, hoursAgo: 90),
            delivery("small", 1, hoursAgo: 0), delivery("busy", 5, hoursAgo: 24),
            delivery("busy", 3, hoursAgo: 0), delivery("busy", 4, hoursAgo: 25),
            delivery("b", 2, hoursAgo: 1), delivery("a", 2, hoursAgo: 2),
            delivery("a", 2, hoursAgo: 3).with { $0.tenant = "another" },
        ]
        let all = self.funnels(events)
        #expect(all.busiest.map(\.delivery) == ["busy", "a", "a", "b", "small", "older", "old"])
        #expect(all.busiest[1].tenant == "another")
        #expect(all.busiest[0].hits == 12 && all.busiest[0].recentHits == 8)
        for limit in 0...8 {
            let some = self.funnels(events, limit: limit)
            #expect(some.busiest.map(\.delivery) == all.busiest.prefix(limit).map(\.delivery))
            #expect(some.count == 7)
        }
    }

    @Test("events without a delivery are of none, and `other` neither")
    func unnamed() {
        var delta = LedgerDelta()
        delta.add(
            "default".withBytes { .other(tenant: $0, outcome: .accepted(HitKinds(.click))) }, 9)
        delta.add(Events(.impression).with { $0.delivery = "" }.key, 9)
        var ledger = Ledger()
        ledger.apply(delta)
        let funnels = ledger.funnels(busiestSince: 0, limit: 10)
        #expect(ledger.rowCount == 2 && funnels.count == 0 && funnels.busiest.isEmpty)
    }

    @Test("the funnels are what a dictionary counts", arguments: 1...5)
    func dictionary(_ seed: UInt64) {
        var generator = Dice(seed: seed)
        var counts: [String: UInt64] = [:]
        let events = (0..<500).map { _ in
            // Small numbers are more frequent.
            let name =
                "\(Int.random(in: 0...Int.random(in: 0..<40, using: &generator), using: &generator))"
            return Events(.impression, count: UInt32.random(in: 1...9, using: &generator)).with {
                $0.delivery = name
                $0.hour -= UInt32.random(in: 0..<3, using: &generator)
            }
        }
        for events in events { counts[events.delivery, default: 0] += UInt64(events.count) }
        let funnels = self.funnels(events, limit: .max)
        #expect(funnels.count == counts.count)
        #expect(
            Dictionary(uniqueKeysWithValues: funnels.busiest.map { ($0.delivery, $0.hits) })
                == counts)
        #expect(funnels.busiest.map(\.hits) == counts.values.sorted(by: >))
    }
}
