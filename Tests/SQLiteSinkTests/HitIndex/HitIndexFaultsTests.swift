// The index of hit keys when transactions, clocks or the file are not as they should be.
internal import GRDB
internal import Pacing
@testable internal import SQLiteSink
internal import TestSupport
internal import Testing
internal import TrackingRules

struct HitIndexFaultsTests {
    private static let keys = (0..<200).map { IndexKey(high: $0 &* 0x9E37_79B9_7F4A_7C15, low: 7) }

    /// An index with runs, of which some are being merged, and entries in memory.
    private static func world(_ limits: HitIndex.Limits = .tiny()) throws -> HitIndexWorld {
        let world = try HitIndexWorld(limits)
        for number in 0..<26 as Range<UInt64> {
            let keys = (0..<10 as Range<UInt64>).map {
                IndexKey(high: (number * 10 + $0) &* 0x9E37_79B9_7F4A_7C15, low: 7)
            }
            try world.run(keys.map { ($0, 1) }, day: 100)
        }
        return world
    }

    private static func known(
        _ world: HitIndexWorld, day: Int = 100, oldest: Int? = nil
    ) throws -> Int {
        var known = 0
        for start in stride(from: 0, to: 200, by: 50) {
            let keys = Self.keys[start..<start + 50]
            known += try world.run(keys.map { ($0, 0) }, day: day, oldest: oldest)
                .count { $0.before == 1 }
        }
        return known
    }

    @Test("facts of a transaction that was rolled back are not known")
    func rollback() throws {
        let world = try HitIndexWorld(.tiny())
        for failure in HitIndexWorld.Failure.allCases {
            #expect(throws: HitIndexWorld.RolledBack.self) {
                try world.run(Self.keys.prefix(40).map { ($0, 1) }, day: 100, failing: failure)
            }
        }
        #expect(try Self.known(world) == 0)
    }

    @Test("a batch that was begun and not finished leaves nothing")
    func unfinished() throws {
        let world = try Self.world()
        let new = IndexKey(high: 5, low: 5)
        try world.queue.write { database in
            try world.index.begin(
                [new], on: RetentionTime(earliest: 100, latest: 100), in: database)
            #expect(world.index.add(1, at: 0) == 0)
        }
        #expect(try world.run([(new, 1)], day: 100).first?.before == 0)
        #expect(try Self.known(world) == 200)
    }

    @Test("a clock that goes a little back counts as the same day")
    func clockBack() throws {
        let world = try Self.world()
        let runs = world.index.runs.count
        try world.run([(IndexKey(high: 5, low: 5), 1)], day: 93)
        #expect(world.index.today == 100)
        #expect(world.index.runs.count == runs)
        #expect(try Self.known(world, day: 92) == 200)
    }

    @Test(
        "a clock that goes back by no more than the days of the limit counts as the same day",
        arguments: [(day: 92, stored: 100), (day: 91, stored: 91)])
    func clockBackByLimit(_ day: Int, _ stored: Int) throws {
        let world = try HitIndexWorld(.tiny(uniqueDays: 8))
        let key = IndexKey(high: 5, low: 5)
        try world.run([(IndexKey(high: 6, low: 6), 1)], day: 100)
        try world.run([(key, 1)], day: day)
        #expect(world.index.today == stored)
        // So many days after the day that it was stored under it is still known, and no later.
        let isKnown = try world.run([(key, 0)], day: 108).first?.before == 1
        #expect(isKnown == (stored == 100))
    }

    @Test("a clock that was believed far ahead costs what was counted before, and nothing else")
    func clockAhead() throws {
        let world = try Self.world()
        try world.run([(IndexKey(high: 5, low: 5), 1)], day: .max)
        #expect(try Self.known(world, day: .max) == 0)
        let key = IndexKey(high: 6, low: 6)
        #expect(try world.run([(key, 1)], day: 100).first?.before == 0)
        #expect(world.index.today == 100)
        #expect(try world.run([(key, 1)], day: 101).first?.before == 1)
        for _ in 0..<2000 { try world.run([], day: 101) }
        #expect(world.index.runs.map(\.entries) == [1] && world.index.obsolete.isEmpty)
        #expect(try world.run([(key, 1)], day: .min).first?.before == 1)
    }

    @Test(
        "a clock in doubt makes the index forget nothing, neither what was before nor what came",
        arguments: [140, 2000, Int.max])
    func clockInDoubt(_ day: Int) throws {
        var world = try Self.world()
        let key = IndexKey(high: 5, low: 5)
        try world.run([(key, 1)], day: day, oldest: 100)
        for isRestarted in [false, true] {
            if isRestarted { try world.restart() }
            // Ahead, set right, and in doubt since a start by a clock that is years behind.
            for (day, oldest) in [(day, 100), (101, 101), (101, -1725)] {
                #expect(try Self.known(world, day: day, oldest: oldest) == 200)
                #expect(try world.run([(key, 0)], day: day, oldest: oldest).first?.before == 1)
            }
        }
    }

    @Test("days before 1970 have windows, too")
    func negativeDays() throws {
        let world = try HitIndexWorld(.tiny())
        #expect(
            [-5, -4, -3, -2, -1, 0, 1, 2].map(world.index.window) == [-3, -2, -2, -1, -1, 0, 0, 1])
    }

    @Test("each database has a secret of its own, and keeps it")
    func secret() throws {
        var one = try HitIndexWorld(.tiny())
        let other = try HitIndexWorld(.tiny())
        let hash = HitKey(high: 1, low: 1 << 40)
        let key = one.index.key(hash)
        #expect(key != other.index.key(hash))
        try one.restart()
        #expect(one.index.key(hash) == key)
    }

    /// Changes that no index makes, and where they show: at the next start, or in a look-up.
    static let damages: [(sql: String, atStart: Bool)] = [
        ("DELETE FROM index_secret", true),
        ("UPDATE index_secret SET bytes = x'00'", true),
        ("UPDATE index_runs SET level = -1", true),
        ("UPDATE index_runs SET state = 9", true),
        ("UPDATE index_runs SET last_day = 1 << 62", true),
        ("UPDATE index_runs SET blocks = 0", true),
        ("UPDATE index_runs SET blocks = blocks + 1 WHERE state = 0", true),
        ("UPDATE index_runs SET pages = pages + 1 WHERE state = 0", true),
        ("UPDATE index_runs SET target = NULL", true),
        ("INSERT INTO index_runs VALUES (1 << 40, 0, 0, NULL, 0, 0, 0, 0, 1)", true),
        ("DELETE FROM index_pages", true),
        ("DELETE FROM index_pages WHERE id & 0xc0000000 = 0x80000000", true),
        ("DELETE FROM index_pages WHERE id & 0xc0000000 = 0xc0000000", true),
        ("UPDATE index_pages SET bytes = x'00' WHERE id & 0x80000000 = 0", true),
        ("UPDATE index_memtable SET entries = x'00'", true),
        ("UPDATE index_memtable SET day = 1 << 62", true),
        ("DELETE FROM index_pages WHERE id & 0xc0000000 = 0 AND id & 3 = 3", false),
        ("UPDATE index_pages SET bytes = x'' WHERE id & 0x80000000 = 0 AND id & 3 = 3", false),
    ]

    @Test("damage throws an error and ends nothing", arguments: damages.indices)
    func damage(index: Int) throws {
        var world = try Self.world()
        #expect(world.index.merges.count == 1)
        let damage = Self.damages[index]
        try world.queue.write { try $0.execute(sql: damage.sql) }
        #expect(throws: HitIndexError.self) {
            try world.restart()
            guard !damage.atStart else { return }
            _ = try Self.known(world)
        }
    }

    @Test("a row of the longest length takes one page of the file")
    func rowLength() throws {
        let world = try HitIndexWorld(.tiny())
        let pages = try world.queue.write { database in
            for id in 0..<1000 {
                try database.execute(
                    sql: "INSERT INTO index_pages VALUES (?, zeroblob(?))",
                    arguments: [1 << 40 + id, HitIndex.Limits().rowBytes])
            }
            return try Int.fetchOne(database, sql: "PRAGMA page_count")
        }
        #expect(try #require(pages) < 1020)
    }
}
