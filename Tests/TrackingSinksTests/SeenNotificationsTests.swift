// What is a notification's first click or open, against a set that forgets nothing.
@testable internal import Delivery
internal import TestSupport
internal import Testing
internal import TrackingRules

struct SeenNotificationsTests {
    private static let click = HitKinds(.click)
    private static let open = HitKinds(.open)

    private func firsts(
        _ seen: inout SeenNotifications, _ kinds: HitKinds, _ id: String, delivery: Int = 1
    ) -> HitKinds {
        Array(id.utf8).withUnsafeBytes { seen.firsts(kinds, of: $0, delivery: delivery) }
    }

    @Test("each kind counts once for a notification, and nothing else does")
    func once() {
        var seen = SeenNotifications()
        #expect(self.firsts(&seen, HitKinds(.impression), "h1") == [])
        #expect(self.firsts(&seen, Self.click, "h1") == Self.click)
        #expect(self.firsts(&seen, Self.click.union(Self.open), "h1") == Self.open)
        #expect(self.firsts(&seen, Self.click.union(Self.open), "h1") == [])
        #expect(self.firsts(&seen, HitKinds(.button1), "h1") == [])
        #expect(self.firsts(&seen, Self.click, "h1", delivery: 2) == Self.click)
    }

    @Test("as many as fit are known again, and those that others displaced count once more")
    func limit() {
        var single = SeenNotifications(entries: 1)
        #expect(self.firsts(&single, Self.click, "h1") == Self.click)
        #expect(self.firsts(&single, Self.click, "h1") == [])
        #expect(self.firsts(&single, Self.click, "h2") == Self.click)
        #expect(self.firsts(&single, Self.click, "h1") == Self.click)
    }

    @Test("no first is missed, and few are counted twice", arguments: 1...3)
    func bounds(_ seed: UInt64) {
        var generator = Dice(seed: seed)
        var seen = SeenNotifications(entries: 1 << 12)
        var known: Set<String> = []
        var surplus = 0
        for _ in 0..<2000 {
            let id = "h\(Int.random(in: 0..<400, using: &generator))"
            let isFirst = self.firsts(&seen, Self.click, id) == Self.click
            let isNew = known.insert(id).inserted
            #expect(isFirst || !isNew)
            surplus += isFirst && !isNew ? 1 : 0
        }
        #expect(surplus < 600)
    }
}
