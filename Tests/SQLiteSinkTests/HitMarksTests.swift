// What a sender and a device report of one notification, in every order.
internal import GRDB
@testable internal import SQLiteSink
internal import SightlineProtos
internal import SinkKit
internal import SinkTestSupport
internal import TestSupport
internal import Testing
internal import TrackingRules

struct HitMarksTests {
    /// An event of a notification: whether it is one of an action button, and its hits.
    private struct Reported {
        let isOfButton: Bool
        let kinds: HitKinds
    }

    private static let ofDevice: [HitKind] = [
        .impression, .click, .open, .button1, .button2, .close,
    ]
    private static let ofSender: [HitKind] = [.sent, .sendFailed, .sendSkipped]

    /// Random events of one notification with a button.
    private static func events(_ dice: inout Dice) -> [Reported] {
        (0..<12).map { _ in
            if dice.chance(50) {
                return Reported(isOfButton: false, kinds: HitKinds(dice.pick(Self.ofSender)))
            }
            let clickAndOpen: HitKinds = [HitKinds(.click), HitKinds(.open)]
            if dice.chance(30) {
                return Reported(isOfButton: dice.chance(50), kinds: clickAndOpen)
            }
            let isOfButton = dice.chance(40)
            let kinds = isOfButton ? [.impression, .click, .open] : Self.ofDevice
            return Reported(isOfButton: isOfButton, kinds: HitKinds(dice.pick(kinds)))
        }
    }

    @Test("D17, D60: marks tell the kinds that a set tells, and sends are no reports")
    func marksAgainstSets() {
        var dice = Dice(seed: Dice.runSeed)
        for _ in 0..<2000 {
            // By the key of the notification, and by that of its button.
            var marks: [UInt16] = [0, 0]
            var sets: [HitKinds] = [[], []]
            for event in Self.events(&dice) {
                let key = event.isOfButton ? 1 : 0
                let known = HitMarks(rawValue: marks[key])
                #expect(
                    known.missing(in: event.kinds) == event.kinds.subtracting(sets[key]),
                    "SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
                marks[key] |= HitMarks(event.kinds).rawValue
                if event.isOfButton { marks[0] |= HitMarks(ofButton: event.kinds).rawValue }
                sets[key].formUnion(event.kinds)
                let reported = sets[0].union(sets[1]).subtracting(.sends)
                #expect(
                    HitMarks(rawValue: marks[0]).reported == reported,
                    "SIGHTLINE_TEST_SEED=\(Dice.runSeed)")
            }
        }
    }

    @Test("marks of an in-app message's hits are its kinds alone")
    func inApp() {
        let kinds: [HitKind] = [
            .inAppImpression, .inAppClick, .inAppDismissal, .inAppDisplayError, .inAppTriggered,
            .inAppSuppressed,
        ]
        for known in kinds {
            for kind in kinds {
                let isMissing = !HitMarks(HitKinds(known)).missing(in: HitKinds(kind)).isEmpty
                #expect(isMissing == (kind != known))
            }
        }
    }

    /// All orders of some elements.
    private static func orders<Element>(of elements: [Element]) -> [[Element]] {
        guard !elements.isEmpty else { return [[]] }
        return elements.indices.flatMap { index in
            var rest = elements
            let first = rest.remove(at: index)
            return Self.orders(of: rest).map { [first] + $0 }
        }
    }

    /// What is reported of a notification: by its sender, and by a device.
    private static let reports: [@Sendable (Int) -> TestEvent] = [
        { TestEvents.send(.failed, id: $0) }, { TestEvents.send(.sent, id: $0) },
        { TestEvents.send(.skipped, id: $0) }, { TestEvents.push(.received, id: $0) },
        { TestEvents.push(.opened, id: $0) },
        { TestEvents.push(.opened, id: $0, button: "reply") },
    ]

    @Test(
        "D17, D60: in every order each hit is a row, and a notification and its attempts count once"
    )
    func everyOrder() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("hits.db")
        let orders = Self.orders(of: Array(Self.reports.indices))
        #expect(orders.count == 720)
        var sequence: Int64 = 0
        for place in Self.reports.indices {
            let events = orders.enumerated().map { id, order in
                Self.reports[order[place]](id + 1)
            }
            // Those of notifications that no device reports, and each batch twice.
            let others = (1...10).map { TestEvents.send(.sent, id: $0, delivery: "57d5") }
            for _ in 0..<2 {
                sequence += 1
                let batch = try TestHits.batch(events + others, sequence: sequence)
                #expect(await (try SQLiteSink(path: path)).deliver(batch) == .delivered)
            }
        }
        let count = orders.count
        let twice = [2 * count, count]
        let expected: [HitKind: [Int]] = [
            .impression: [count, count], .click: twice, .open: twice,
            .sent: [count + 10, count + 10], .sendFailed: [count, count],
            .sendSkipped: [count, count],
        ]
        let counts = try Self.counts(in: path)
        #expect(counts.mapValues { $0.hits } == expected)
        func notifications(_ kinds: [HitKind]) -> Int {
            kinds.reduce(0) { $0 + (counts[$1]?.notifications ?? 0) }
        }
        #expect(notifications(Self.ofDevice) == count)
        // What was not tried is no attempt.
        #expect(notifications([.sent, .sendFailed]) == count + 10)
        #expect(notifications([.sendSkipped]) == 0)
    }

    /// What hits.db counts of each kind: hits, and those that were the first of their kind; and the
    /// notifications.
    private static func counts(
        in path: String
    ) throws -> [HitKind: (hits: [Int], notifications: Int)] {
        let rows = try DatabaseQueue(inUse: path).read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT kind, sum(hits), sum(first_hits), sum(notifications) FROM counts
                    GROUP BY kind
                    """)
        }
        var counts: [HitKind: (hits: [Int], notifications: Int)] = [:]
        for row in rows {
            let kind = try #require(HitKind(rawValue: row[0] as UInt8))
            counts[kind] = (hits: [row[1] as Int, row[2] as Int], notifications: row[3] as Int)
        }
        return counts
    }
}
