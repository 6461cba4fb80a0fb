// The deduplication window compared with a simple model.
internal import TestSupport
internal import Testing
@testable internal import TrackingJournal
internal import TrackingRules

struct DeduplicationWindowTests {
    /// A dictionary, and the keys in order of arrival.
    private struct Model {
        private struct Key: Hashable {
            let high: UInt64
            let low: UInt16
            init(_ key: WindowKey) { (self.high, self.low) = (key.high, key.low) }
        }

        let capacity: Int
        private var known: [Key: Marks] = [:]
        private var arrived: [Key] = []

        init(capacity: Int) { self.capacity = capacity }

        var count: Int { self.arrived.count }

        func marks(of key: WindowKey) -> Marks { self.known[Key(key)] ?? [] }

        mutating func set(_ marks: Marks, of key: WindowKey) {
            if self.known.updateValue(marks, forKey: Key(key)) != nil { return }
            if self.arrived.count == self.capacity {
                self.known[self.arrived.removeFirst()] = nil
            }
            self.arrived.append(Key(key))
        }

        mutating func undo(_ change: DeduplicationWindow.Change) {
            guard self.known[Key(change.key)] != nil else { return }
            self.known[Key(change.key)] = change.before
        }
    }

    /// Keys with few home slots, the table's first and last ones: long probe sequences that wrap
    /// around, where a removal has to shift entries back.
    private static func keys(
        of window: DeduplicationWindow, slots: Int, using generator: inout Dice
    ) -> [WindowKey] {
        let homes = Set(
            [slots - 3, slots - 2, slots - 1, 0, 1, 2, slots / 2].map { $0 & (slots - 1) })
        var keys: [WindowKey] = []
        while keys.count < 200 {
            let key = WindowKey(
                high: generator.next(), low: .random(in: 0..<2, using: &generator))
            if homes.contains(window.home(key.high)) { keys.append(key) }
        }
        return keys
    }

    @Test(
        "D17: the window remembers what a dictionary with a queue remembers, over 200,000 steps",
        arguments: [(1, 2), (2, 4), (3, 8), (64, 128), (100, 256)])
    func model(capacity: Int, slots: Int) {
        var generator = Dice(seed: 17)
        let window = DeduplicationWindow(capacity: capacity)
        let keys = Self.keys(of: window, slots: slots, using: &generator)
        var model = Model(capacity: capacity)
        var differences = 0
        for step in 0..<200_000 {
            guard let key = keys.randomElement(using: &generator) else { return }
            let before = window.marks(of: key)
            if before != model.marks(of: key) { differences += 1 }
            let marks = Marks(rawValue: .random(in: 1...0xffff, using: &generator))
            switch UInt8.random(in: 0..<8, using: &generator) {
            case 0:
                let change = DeduplicationWindow.Change(key: key, before: marks, after: before)
                window.undo([change])
                model.undo(change)
            case 1...4:
                window.set(marks, of: key)
                model.set(marks, of: key)
            default: break
            }
            if window.count != model.count { differences += 1 }
            guard step % 1000 == 999 else { continue }
            for key in keys where window.marks(of: key) != model.marks(of: key) { differences += 1 }
        }
        #expect(differences == 0)
        #expect(window.count == capacity)
    }

    @Test(
        "keys at equal distances, with equal upper or lower bits, begin in as many slots as others",
        arguments: [1 << 20, 1, 0x9E37_79B9_7F4A_7C15, 2_048] as [UInt64])
    func chosenKeys(_ distance: UInt64) {
        var generator = Dice(seed: 6)
        for _ in 0..<20 {
            let window = DeduplicationWindow(capacity: 10_000, random: generator.next())
            let keys = (0..<10_000).map { UInt64($0) &* distance }
            let homes = Set(keys.map(window.home))
            // Random keys have 8,618 homes in 32,768 slots.
            #expect(homes.count > 8_300, "\(homes.count) homes of 10,000 keys")
        }
    }

    @Test("changes are taken back newest first")
    func undo() {
        let window = DeduplicationWindow(capacity: 4)
        let key = WindowKey(high: 7, low: 1)
        window.set([.clicked, .dismissed], of: key)
        window.undo([
            DeduplicationWindow.Change(key: key, before: [], after: .clicked),
            DeduplicationWindow.Change(key: key, before: .clicked, after: [.clicked, .dismissed]),
        ])
        #expect(window.marks(of: key) == [])
    }
}
