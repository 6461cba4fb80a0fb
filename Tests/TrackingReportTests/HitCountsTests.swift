// The counts of hits.db beside its hits: both say the same.
internal import GRDB
internal import SightlineProtos
internal import SwiftProtobuf
internal import TestSupport
internal import Testing
internal import TrackingReport

struct HitCountsTests {
    private let database: HitsDatabase
    private static let hour: Int64 = 3_600_000_000

    init() throws { self.database = try HitsDatabase() }

    /// Events of few notifications and messages, so that much of it comes again.
    static func event(_ dice: inout Dice) -> Sightline_V1_TrackingEvent {
        let app = dice.pick(["", "phone", "tablet"])
        if dice.chance(30) {
            var event = TestEvents.inApp(
                dice.pick([
                    .impression(.init()), .click(.with { $0.actionURL = "app://sale" }),
                    .click(.init()), .dismissal(.init()), .displayError(.init()),
                    .triggered(.init()), .suppressed(.init()),
                ]),
                id: dice.below(40), message: dice.pick(["m1", "m2"]),
                campaign: dice.pick(["", "A", "B"]), subject: dice.pick(["", "a", "b", "c"]))
            event.appID = app
            return event
        }
        if dice.chance(20) {
            var event = TestEvents.action(
                dice.pick([.open, .click, .impression, .button1, .button2, .close]),
                id: dice.below(30))
            event.appID = app
            return event
        }
        if dice.chance(20) {
            return TestEvents.send(
                dice.pick([.sent, .failed, .skipped]), id: dice.below(30),
                on: dice.chance(40) ? .ios : .android, delivery: dice.pick(["d1", "d2"]),
                product: dice.pick([.standard, .classic]), app: app)
        }
        let event = TestEvents.push(
            dice.pick([.received, .opened, .dismissed]), id: dice.below(30),
            on: dice.chance(40) ? .ios : .android, delivery: dice.pick(["d1", "d2"]),
            product: dice.pick([.standard, .classic]),
            button: dice.pick(["", "", "", "yes", "no"]), app: app)
        return dice.chance(20) ? TestEvents.silent(event) : event
    }

    private func deliver(_ dice: inout Dice) async throws {
        for _ in 0..<60 {
            try await self.database.deliver(
                (0..<20).map { _ in Self.event(&dice) }, tenant: dice.pick(["shop", "bank"]),
                at: HitsDatabase.receiveTime + Int64(dice.below(5)) * Self.hour
                    + Int64(dice.below(3_000_000_000)))
        }
    }

    @Test("D17, D20: the report agrees with the hits, of all hours and of some, by app and not")
    func agreement() async throws {
        var dice = Dice(seed: Dice.runSeed)
        try await self.deliver(&dice)
        let hits = try self.database.hits()
        #expect(hits.count > 300, "seed \(Dice.runSeed)")
        let start = HitsDatabase.receiveTime
        for (since, until) in [(nil, nil), (1, nil), (nil, 3), (2, 4)] as [(Int64?, Int64?)] {
            let range = (since.map { start + $0 * Self.hour }, until.map { start + $0 * Self.hour })
            for isByApp in [false, true] {
                let report = try self.database.report { query in
                    (query.since, query.until) = range
                    query.isByApp = isByApp
                }
                let counted = CountedHits(hits, since: range.0, until: range.1, isByApp: isByApp)
                #expect(
                    Set(report.deliveries.rows.map { CountedHits.text($0) }) == counted.deliveries,
                    "seed \(Dice.runSeed)")
                #expect(
                    Set(report.inAppMessages.rows.map { CountedHits.text($0) }) == counted.messages,
                    "seed \(Dice.runSeed)")
            }
        }
    }

    @Test("a range takes in all hours that it touches, and says so")
    func wholeHours() async throws {
        try await self.database.deliver([TestEvents.push(.received, id: 1)])
        let report = try self.database.report {
            $0.since = HitsDatabase.receiveTime + 1
            $0.until = HitsDatabase.receiveTime + 2
        }
        #expect(report.deliveries.hits == 1)
        #expect(report.query.since == HitsDatabase.receiveTime)
        #expect(report.query.until == HitsDatabase.receiveTime + Self.hour)
        let earlier = try self.database.report { $0.until = HitsDatabase.receiveTime }
        #expect(earlier.deliveries.hits == 0)
    }
}
