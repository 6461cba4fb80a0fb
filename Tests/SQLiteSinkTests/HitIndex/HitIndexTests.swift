// The index of hit keys compared with a dictionary.
internal import GRDB
@testable internal import SQLiteSink
internal import TestSupport
internal import Testing
internal import TrackingRules

struct HitIndexTests {
    /// What the batches of a run do.
    struct Script: CustomTestStringConvertible {
        let name: String
        let limits: HitIndex.Limits
        /// The chance of a new day, in percent.
        let newDay: Int
        /// What must have been met for the run to say something.
        let deepestLevel: Int
        let expires: Bool
        var testDescription: String { self.name }

        static let all = [
            Script(
                name: "days that pass", limits: .tiny(), newDay: 5, deepestLevel: 1, expires: true),
            Script(
                name: "one long day", limits: .tiny(), newDay: 0, deepestLevel: 3, expires: false),
            Script(
                name: "facts known for a day", limits: .tiny(uniqueDays: 1), newDay: 4,
                deepestLevel: 1, expires: true),
            Script(
                name: "no memory for filters", limits: .tiny(filterBytes: 0), newDay: 3,
                deepestLevel: 1, expires: true),
            Script(
                name: "memory for some filters", limits: .tiny(filterBytes: 3000), newDay: 0,
                deepestLevel: 3, expires: false),
        ]
    }

    /// Keys of which many have the same high, or lie at the ends of the order.
    private static func newKey(_ dice: inout Dice) -> IndexKey {
        switch dice.below(10) {
        case 0, 1:
            IndexKey(
                high: dice.pick([7 << 60, 7 << 60 + 1, 9 << 59]),
                low: UInt32(dice.below(300)))
        case 2:
            IndexKey(high: dice.pick([0, .max]), low: dice.pick([0, 1, 0xff_fffe, 0xff_ffff]))
        default:
            IndexKey(high: dice.next(), low: UInt32(truncatingIfNeeded: dice.next() >> 40))
        }
    }

    /// A batch of new and old keys, of which some repeat.
    private static func batch(
        _ pool: inout [IndexKey], upTo count: Int, _ dice: inout Dice
    ) -> [(key: IndexKey, kinds: UInt16)] {
        (0..<dice.below(count + 1)).map { _ in
            if pool.isEmpty || dice.chance(60) { pool.append(Self.newKey(&dice)) }
            // Often the newest keys, as clients repeat them.
            let key = dice.chance(50) ? dice.pick(pool.suffix(40)) : dice.pick(pool)
            return (key, 1 << UInt16(dice.below(16)) | UInt16(dice.below(4)))
        }
    }

    @Test(
        "the index answers as a dictionary would, over restarts, failures and days",
        arguments: Script.all)
    func model(_ script: Script) throws {
        var dice = Dice(seed: Dice.runSeed)
        var world = try HitIndexWorld(script.limits)
        var pool: [IndexKey] = []
        var day = 20_000
        var deepest = 0
        var resumed = 0
        var most = 0
        for step in 0..<300 {
            // In the end every batch has a day of its own, so that the oldest facts are forgotten.
            if script.expires, step > 240 { day += 1 }
            if dice.chance(script.newDay) { day += dice.chance(10) ? dice.below(20) : 1 }
            let batch = Self.batch(&pool, upTo: script.limits.memTableEntries, &dice)
            if dice.chance(10) {
                #expect(throws: HitIndexWorld.RolledBack.self) {
                    let failure = dice.pick(HitIndexWorld.Failure.allCases)
                    try world.run(batch, day: day, failing: failure)
                    throw HitIndexWorld.RolledBack()
                }
            }
            world.check(try world.run(batch, day: day), day: day)
            // The first merge is always interrupted: few runs of one day's facts have many.
            let isFirstMerge = resumed == 0 && !world.index.merges.isEmpty
            if isFirstMerge || dice.chance(world.index.merges.isEmpty ? 3 : 20) {
                resumed += world.index.merges.count
                try world.restart()
            }
            deepest = max(deepest, world.index.runs.map(\.level).max() ?? 0)
            most = max(most, world.index.runs.filter(\.isFree).count)
            #expect(world.index.filterBytes <= script.limits.filterBytes)
            #expect(world.index.memTable.count <= script.limits.memTableEntries)
        }
        try world.checkAll(day: day)
        #expect(world.mistakes.isEmpty, "seed \(Dice.runSeed): \(world.mistakes.prefix(5))")
        #expect(deepest >= script.deepestLevel)
        #expect(resumed > 0)
        #expect(most < 24, "\(most) runs to look into")
        #expect(world.forgotten > 0 || !script.expires)
    }

    @Test("every entry is on disk once, also while runs are merged")
    func size() throws {
        var dice = Dice(seed: 4)
        let world = try HitIndexWorld(.tiny(uniqueDays: 30))
        var added = 0
        for _ in 0..<500 {
            let batch = (0..<60).map { _ in
                (key: IndexKey(high: dice.next(), low: 0), kinds: 1 as UInt16)
            }
            try world.run(batch, day: 0)
            added += batch.count
            let entries = try world.queue.read { database in
                try Int.fetchOne(
                    database,
                    sql: """
                        SELECT sum(length(bytes)) / 13 FROM index_pages
                        WHERE id & 0xffffffff < 0x80000000
                            AND id >> 32 IN (SELECT id FROM index_runs WHERE state < 2)
                        """) ?? 0
            }
            // An input keeps the page that is being merged, and the one before it.
            let inputs = world.index.merges.reduce(0) { $0 + $1.inputs.count }
            #expect(entries <= added + inputs * 2 * 4)
        }
        #expect(world.index.runs.contains { $0.level >= 3 })
        // Fences and filters; and rows of runs that are merged, until they are deleted.
        #expect(try world.rows() < added / 4 * 2)
    }

    @Test("a batch may have as many keys as fit into memory, and not one more")
    func batchLimit() throws {
        let world = try HitIndexWorld(.tiny())
        let keys = (0..<65).map { (key: IndexKey(high: $0, low: 0), kinds: 1 as UInt16) }
        #expect(throws: HitIndexError.tooManyKeys(65, limit: 64)) {
            try world.run(keys, day: 1)
        }
        #expect(try world.run(keys.dropLast(), day: 1).allSatisfy { $0.before == 0 })
        #expect(try world.run(keys.dropLast(), day: 1).allSatisfy { $0.before == 1 })
    }

    @Test("the table in memory becomes a run with the first key beyond its limit")
    func flush() throws {
        let world = try HitIndexWorld(.tiny())
        for high in 0..<64 as Range<UInt64> {
            try world.run([(IndexKey(high: high, low: 0), 1)], day: 1)
        }
        #expect(world.index.runs.isEmpty)
        #expect(world.index.memTable.count == 64)
        try world.run([(IndexKey(high: 64, low: 0), 1)], day: 1)
        #expect(world.index.runs.map(\.entries) == [64])
        #expect(world.index.memTable.count == 1)
    }

    @Test("a lower limit of the table takes what is stored")
    func lowerLimit() throws {
        var world = try HitIndexWorld(.tiny())
        let keys = (0..<60).map { (key: IndexKey(high: $0 << 58, low: 0), kinds: 1 as UInt16) }
        try world.run(keys, day: 1)
        try world.restart(.tiny(memTableEntries: 8))
        for key in keys { #expect(try world.run([key], day: 1).first?.before == 1) }
        #expect(world.index.memTable.count <= 8)
    }

    @Test("a fact is known for the days of the limit, and forgotten a quarter later at most")
    func expiry() throws {
        // Windows of two days: 100 and 101, 102 and 103.
        let facts = (0..<4).map { IndexKey(high: $0, low: 0) }
        for last in [108, 109, 110, 111, 112] {
            let world = try HitIndexWorld(.tiny())
            for (index, key) in facts.enumerated() { try world.run([(key, 1)], day: 100 + index) }
            // A batch of every day, as a server has them.
            for day in 104..<last { try world.run([], day: day) }
            let known = try world.run(facts.map { ($0, 0) }, day: last).map { $0.before == 1 }
            #expect(known == [last < 110, last < 110, last < 112, last < 112])
        }
    }

    @Test("the rows of facts that are forgotten are deleted")
    func deletion() throws {
        let world = try HitIndexWorld(.tiny())
        var dice = Dice(seed: 8)
        for day in 0..<4 {
            for _ in 0..<20 {
                let keys = (0..<40).map { _ in IndexKey(high: dice.next(), low: 0) }
                try world.run(keys.map { ($0, 1) }, day: day)
            }
        }
        #expect(try world.rows() > 800)
        try world.run([], day: 100)
        for _ in 0..<2000 { try world.run([], day: 100) }
        #expect(try world.rows() == 0)
        #expect(world.index.runs.isEmpty && world.index.obsolete.isEmpty)
    }
}
