// Random histories of a spool on a forgetful disk: events come and are settled, the disk is full,
// the process crashes, the power is cut, and the next owner has to find what was promised, and
// little of what was settled.
internal import SightlineClient
internal import TestSupport

struct SpoolHistory {
    private static let maxBytes = 700
    private static let maxUnsyncedSettledCount = 5

    private var dice: Dice
    private let disk: ForgetfulDisk
    private var log: SpoolLog
    private var appended: [Int] = []
    /// Those of `appended` that were durable at some time.
    private var promised: Set<Int> = []
    private var released: Set<Int> = []
    /// Those of `released` that not even a power cut brings back.
    private var settled: Set<Int> = []
    /// Those of `released` whose file was emptied, which a power cut may undo.
    private var emptied: Set<Int> = []
    private var places: [Int: SpoolMarks.Place] = [:]
    private var nextEvent = 0
    /// How many of `appended` an earlier owner left; they are durable.
    private var leftCount = 0

    init(seed: UInt64, plant: ForgetfulDisk.Plant? = nil) throws {
        self.dice = Dice(seed: seed)
        self.disk = ForgetfulDisk(seed: ~seed, plant: plant)
        self.log = Self.log(on: self.disk)
        _ = try self.log.recover()
    }

    private static func log(on disk: ForgetfulDisk) -> SpoolLog {
        SpoolLog(
            disk: disk, maxBytes: self.maxBytes, segmentBytes: 100,
            maxUnsyncedSettledCount: self.maxUnsyncedSettledCount)
    }

    mutating func run() throws {
        for _ in 0..<4 {
            for _ in 0..<self.dice.below(30) { try self.step() }
            try self.end()
        }
        try self.release(self.appended)
        try self.log.close()
        try BrokenRule.require(self.disk.byteCount == 0, "what is settled leaves no file")
    }

    private mutating func step() throws {
        switch self.dice.below(10) {
        case 0...4: try self.append()
        case 5, 6: try self.sync()
        case 7, 8: try self.releaseSome()
        default: self.disk.fail(self.dice.chance(50) ? 0 : 30)
        }
    }

    private mutating func append() throws {
        let event = self.nextEvent
        let bytes = Self.bytes(of: event, padding: self.dice.below(40))
        guard self.log.hasRoom(for: bytes.count) else { return }
        let isFirst = self.appended.allSatisfy(self.released.contains)
        do {
            self.places[event] = try self.log.append(bytes)
        } catch {
            return
        }
        self.nextEvent += 1
        self.appended.append(event)
        try BrokenRule.require(
            isFirst || self.disk.byteCount <= Self.maxBytes, "the files have their limit")
    }

    /// The group commit. What was appended before it began is durable after it.
    private mutating func sync() throws {
        let (file, count) = self.log.nextSync()
        // Events come, and files are changed, while one is synced.
        if self.dice.chance(30) { try self.append() }
        try self.disk.inGroupSync { try file?.sync() }
        self.log.noteSync(through: count, failure: nil)
        try BrokenRule.require(self.log.syncedCount >= count, "what was synced is counted")
        self.promise()
    }

    private mutating func promise() {
        let count = self.leftCount + Int(self.log.syncedCount)
        self.promised.formUnion(self.appended.prefix(count))
    }

    private mutating func releaseSome() throws {
        let open = self.appended.filter { !self.released.contains($0) }
        // Acknowledgements come in about the order of the events.
        try self.release(open.prefix(self.dice.below(6)).filter { _ in self.dice.chance(80) })
    }

    private mutating func release(_ events: [Int]) throws {
        let fresh = events.filter { !self.released.contains($0) }
        let places = fresh.compactMap { self.places[$0] }
        self.log.release(places)
        self.released.formUnion(fresh)
        try BrokenRule.require(
            self.log.unsyncedSettledCount < Self.maxUnsyncedSettledCount,
            "what is settled is synced at the limit")
        if self.log.unsyncedSettledCount == 0 { self.settled.formUnion(self.released) }
        for segment in Set(places.map(\.segment))
        where self.disk.byteCount(of: segment) == SpoolRecords.magic.count {
            self.emptied.formUnion(self.appended.filter { self.places[$0]?.segment == segment })
        }
    }

    /// The owner ends, and the next one finds what is left.
    private mutating func end() throws {
        self.promise()
        self.disk.fail(0)
        var owed = Set(self.appended)
        var over = self.released
        switch self.dice.below(3) {
        case 0:
            self.disk.cutPower()
            owed = self.promised
            over = self.settled.subtracting(self.emptied)
        case 1:
            try self.log.close()
            if self.dice.chance(50) { self.disk.cutPower() }
        default:
            break  // A crash of the process.
        }
        owed.subtract(self.released)
        self.log = Self.log(on: self.disk)
        let left = try self.log.recover()
        let events = try left.map { try Self.event(of: $0.bytes) }
        try BrokenRule.require(owed.isSubset(of: events), "what was promised is found")
        try BrokenRule.require(over.isDisjoint(with: events), "what was settled is not found")
        try BrokenRule.require(
            zip(events, events.dropFirst()).allSatisfy { $0 < $1 }, "in order, and each once")
        try BrokenRule.require(
            events.allSatisfy { $0 < self.nextEvent }, "nothing else is found")
        // What was settled and comes back is sent again, and is settled as a duplicate.
        self.released.subtract(events)
        // The next owner has synced what it found.
        self.settled = self.released
        self.emptied = []
        self.appended = events
        self.promised = Set(events)
        self.leftCount = events.count
        self.places = Dictionary(
            uniqueKeysWithValues: zip(events, left.map(\.place)))
    }

    private static func bytes(of event: Int, padding: Int) -> [UInt8] {
        Array("\(event)".utf8) + [UInt8](repeating: UInt8(ascii: "-"), count: padding)
    }

    private static func event(of bytes: [UInt8]) throws -> Int {
        let digits = String(decoding: bytes.prefix { $0 != UInt8(ascii: "-") }, as: UTF8.self)
        guard let event = Int(digits) else { throw BrokenRule(rule: "an event keeps its bytes") }
        return event
    }
}
