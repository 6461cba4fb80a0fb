internal import GRDB
internal import Pacing
internal import TrackingRules
internal import WireFormat

/// A log-structured index of the keys of hits that hits.db has counted. It stores, for each key,
/// which kinds of hits were counted, and so finds hits that are delivered again.
///
/// New entries go into `MemTable`, and to disk as one row for each batch. A full MemTable becomes a
/// `SortedRun` on disk. `RunMerge` merges four runs into one, some entries with each batch. A run's
/// `BloomFilter` in memory rejects nearly all keys that the run does not have. All changes are part
/// of the caller's transactions, so recovery after a crash needs no code of its own.
///
/// An entry that was added on day d is found through day d + `uniqueDays`, by the retention clock.
/// Runs expire as a whole, at most a quarter of `uniqueDays` later. Not thread-safe: use it on one
/// queue.
final class HitIndex {
    struct Limits {
        /// How long entries are found, in days; at least 1.
        var uniqueDays = 30
        /// The memory of all filters, in bytes. A run without a filter costs each lookup a page
        /// read.
        var filterBytes = 256 << 20
        /// The maximum number of entries in the MemTable, 33 bytes each, and of keys in a batch.
        var memTableEntries = 1 << 19
        /// The maximum length of a row of `index_pages`, in bytes. Never change it for an existing
        /// database. Tests lower it.
        var rowBytes = 8064
    }

    /// Creates the tables.
    static let schema = IndexTables.schema

    let limits: Limits
    let secret: IndexSecret
    var memTable: MemTable
    let batch = KeyBatch()
    /// The runs that lookups read.
    var runs: [SortedRun] = []
    /// The merges in progress, the smallest first.
    var merges: [RunMerge] = []
    /// The ids of runs whose rows are yet to be deleted.
    var obsolete: [Int64] = []
    var nextRun: Int64 = 1
    /// The days of the entries in `memTable`; nil if it is empty.
    var memTableDays: ClosedRange<Int>?
    /// The newest day; nil before the first batch.
    var today: Int?
    /// How many entries may be merged before more entries are added.
    var credit = 0
    /// The number of the newest batch that memory reflects. A different number in the database
    /// means that a transaction was rolled back.
    private var stored: Int64 = -1
    /// Whether a batch has begun and has not finished.
    private var isOpen = false
    /// Whether this batch has changed the database.
    var hasWritten = false

    /// Loads the index.
    ///
    /// - Throws: `HitIndexError`, or SQLite's error.
    init(in database: Database, _ limits: Limits = Limits()) throws {
        self.limits = Limits(
            uniqueDays: min(max(limits.uniqueDays, 1), 1 << 20),
            filterBytes: max(limits.filterBytes, 0),
            memTableEntries: min(max(limits.memTableEntries, 1), 1 << 30),
            rowBytes: min(max(limits.rowBytes, BloomFilter.blockBytes), 8064))
        self.memTable = MemTable(capacity: self.limits.memTableEntries)
        let tables = try IndexTables(database)
        self.secret = try Self.secret(tables)
        self.stored = try self.load(tables)
    }

    func key(_ key: HitKey) -> IndexKey { self.secret.key(key) }

    /// Begins a batch within the caller's transaction, and looks up its keys. Reloads the index if
    /// the previous batch's transaction was rolled back.
    ///
    /// - Parameters:
    ///   - keys: at most `memTableEntries`; may repeat.
    ///   - time: today, in days since 1970. Its latest day is that of the new entries; if it is up
    ///     to `uniqueDays` before the newest batch's day, that day is used instead.
    /// - Throws: `HitIndexError`, or SQLite's error; the transaction has to be rolled back.
    func begin(_ keys: [IndexKey], on time: RetentionTime, in database: Database) throws {
        guard keys.count <= self.limits.memTableEntries else {
            throw HitIndexError.tooManyKeys(keys.count, limit: self.limits.memTableEntries)
        }
        let tables = try IndexTables(database)
        if try self.isOpen || tables.newestBatch() != self.stored {
            self.stored = try self.load(tables)
        }
        self.isOpen = true
        self.hasWritten = false
        let today = self.start(Int(time.latest))
        self.today = today
        if let days = self.memTableDays,
            self.window(days.lowerBound) != self.window(today)
                || keys.count > self.limits.memTableEntries - self.memTable.count
        {
            try self.flush(days, tables)
        }
        try self.expire(time, tables)
        self.batch.fill(keys)
        self.memTable.prefetch(self.batch.keys, self.batch.count)
        for run in self.runs { try run.lookUp(self.batch, tables) }
    }

    /// Adds kinds to a key of the batch.
    ///
    /// - Returns: the kinds that the key had before.
    /// - Precondition: `index` is a number of `begin`'s keys.
    func add(_ kinds: UInt16, at index: Int) -> UInt16 {
        precondition(self.isOpen && index >= 0 && index < self.batch.count, "no key of the batch")
        return self.memTable.add(
            kinds, to: self.batch.keys[index], knownElsewhere: self.batch.known[index])
    }

    /// Writes the added entries within the same transaction, and does a share of the compaction.
    /// Call nothing else until the transaction has ended.
    ///
    /// - Throws: `HitIndexError`, or SQLite's error; the transaction has to be rolled back.
    func finish(in database: Database) throws {
        guard self.isOpen, let today = self.today else { preconditionFailure("no batch has begun") }
        let tables = try IndexTables(database)
        let changes = self.memTable.changes
        try self.maintain(changes, tables)
        if changes > 0 || self.hasWritten {
            try self.writeChanges(today, tables)
            self.stored += 1
        }
        self.isOpen = false
    }

    /// Stores the entries that this batch has changed, as a row with the next batch's number.
    private func writeChanges(_ today: Int, _ tables: IndexTables) throws {
        let byteCount = self.memTable.changes * IndexEntry.byteCount
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { bytes.deallocate() }
        if let base = bytes.baseAddress, byteCount > 0 {
            self.memTable.storeChanges(in: base)
            self.memTable.clearChanges()
            let days = self.memTableDays ?? today...today
            self.memTableDays = min(days.lowerBound, today)...max(days.upperBound, today)
        }
        let row = try tables.statement(
            "INSERT INTO index_memtable (batch, day, entries) VALUES (?, ?, ?)")
        row.bind(self.stored + 1, at: 1)
        row.bind(Int64(today), at: 2)
        row.bind(blob: Bytes(bytes), at: 3)
        try row.run()
    }

    /// The day that a batch of `day` is stored under.
    private func start(_ day: Int) -> Int {
        let day = min(max(day, -Self.maxDay), Self.maxDay)
        // A clock that was set back a little must not create many small runs. If it was set back
        // further than entries last, the earlier time was wrong.
        guard let newest = self.today, day < newest, day >= newest - self.limits.uniqueDays else {
            return day
        }
        return newest
    }

    static let maxDay = 1 << 40

    /// The number of a day's window, a quarter of `uniqueDays`. Only runs of one window are merged,
    /// so that old entries expire without new ones.
    func window(_ day: Int) -> Int {
        let days = max(1, self.limits.uniqueDays / 4)
        return day >= 0 ? day / days : (day + 1) / days - 1
    }
}

/// Why the index cannot be used.
enum HitIndexError: Error, Equatable, CustomStringConvertible {
    /// The database does not hold what was written to it.
    case damaged(String)
    /// The batch has more keys than fit into the MemTable.
    case tooManyKeys(Int, limit: Int)

    var description: String {
        switch self {
        case .damaged(let what): "the index of hit keys is damaged: \(what)"
        case .tooManyKeys(let count, let limit):
            "a batch has \(count) keys, and the index takes at most \(limit) at a time"
        }
    }
}
