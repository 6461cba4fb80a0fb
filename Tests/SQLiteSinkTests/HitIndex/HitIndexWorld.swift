// An index of hit keys in a database of its own, beside a dictionary that knows the same.
internal import GRDB
internal import Pacing
@testable internal import SQLiteSink
internal import TestSupport
internal import TrackingRules

/// What a test of the index does to it, and what it expects of it.
struct HitIndexWorld {
    /// Thrown by a transaction that is to be rolled back.
    struct RolledBack: Error {}

    /// An addition, and the answer to it.
    struct Answer {
        let key: IndexKey
        let kinds: UInt16
        let before: UInt16
    }

    let directory: TemporaryDirectory
    let queue: DatabaseQueue
    let limits: HitIndex.Limits
    private(set) var index: HitIndex
    /// The day on which each kind of a key was counted.
    private(set) var counted: [IndexKey: [UInt16: Int]] = [:]
    /// How many answers did not know what had been counted, and did not have to.
    private(set) var forgotten = 0
    /// Answers that were not the dictionary's.
    private(set) var mistakes: [String] = []

    init(_ limits: HitIndex.Limits) throws {
        self.directory = try TemporaryDirectory(.memory)
        self.limits = limits
        self.queue = try DatabaseQueue(path: self.directory.file("facts.db"))
        try self.queue.inDatabase { database in
            try database.execute(
                sql: "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF")
        }
        try self.queue.write { try $0.execute(sql: HitIndex.schema) }
        self.index = try self.queue.write { try HitIndex(in: $0, limits) }
    }

    /// A restart of the server.
    mutating func restart(_ limits: HitIndex.Limits? = nil) throws {
        self.index = try self.queue.write { try HitIndex(in: $0, limits ?? self.limits) }
    }

    /// Where a transaction fails.
    enum Failure: CaseIterable {
        case begin, add, finish
    }

    /// Adds kinds to keys in one transaction.
    ///
    /// - Parameter oldest: the day by which facts are forgotten, if the clock is in doubt.
    @discardableResult
    func run(
        _ additions: [(key: IndexKey, kinds: UInt16)], day: Int, oldest: Int? = nil,
        failing failure: Failure? = nil
    ) throws -> [Answer] {
        try self.queue.write { database in
            let time = RetentionTime(earliest: Int64(oldest ?? day), latest: Int64(day))
            try self.index.begin(additions.map(\.key), on: time, in: database)
            if failure == .begin { throw RolledBack() }
            var answers: [Answer] = []
            for (index, addition) in additions.enumerated() {
                if failure == .add, index == additions.count / 2 { throw RolledBack() }
                answers.append(
                    Answer(
                        key: addition.key, kinds: addition.kinds,
                        before: self.index.add(addition.kinds, at: index)))
            }
            try self.index.finish(in: database)
            if failure == .finish { throw RolledBack() }
            return answers
        }
    }

    /// Compares answers with the dictionary, and counts what they count.
    mutating func check(_ answers: [Answer], day: Int) {
        for answer in answers {
            let days = self.counted[answer.key] ?? [:]
            for bit in 0..<16 as Range<UInt16> {
                let isKnown = answer.before & 1 << bit != 0
                let isRight: Bool
                if let counted = days[bit] {
                    isRight =
                        isKnown
                        ? day <= self.lastDay(inWindowOf: counted) + self.limits.uniqueDays
                        : day > counted + self.limits.uniqueDays
                } else {
                    isRight = !isKnown
                }
                if days[bit] != nil, !isKnown { self.forgotten += 1 }
                if !isRight {
                    self.mistakes.append(
                        "kind \(bit) of \(answer.key) counted on \(days[bit] ?? -1): on day \(day) "
                            + (isKnown ? "known" : "not known"))
                }
                if answer.kinds & 1 << bit != 0, !isKnown {
                    self.counted[answer.key, default: [:]][bit] = day
                }
            }
        }
    }

    /// Asks for every key that was ever counted.
    mutating func checkAll(day: Int) throws {
        let keys = Array(self.counted.keys)
        for start in stride(from: 0, to: keys.count, by: self.limits.memTableEntries) {
            let some = keys[start..<min(start + self.limits.memTableEntries, keys.count)]
            self.check(try self.run(some.map { ($0, 0) }, day: day), day: day)
        }
    }

    func lastDay(inWindowOf day: Int) -> Int {
        let days = max(1, self.limits.uniqueDays / 4)
        return day / days * days + days - 1
    }

    /// The number of rows of index_pages, those of dead runs too.
    func rows() throws -> Int {
        try self.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM index_pages") } ?? 0
    }
}

extension HitIndex.Limits {
    /// Limits so low that a few keys make many runs of many pages.
    static func tiny(
        uniqueDays: Int = 8, filterBytes: Int = 1 << 20, memTableEntries: Int = 64
    ) -> HitIndex.Limits {
        HitIndex.Limits(
            uniqueDays: uniqueDays, filterBytes: filterBytes, memTableEntries: memTableEntries,
            rowBytes: 64)
    }
}
