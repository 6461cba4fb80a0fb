internal import GRDB
internal import TrackingCore

/// The facts that hits.db has counted in the last days: an index in the database itself, for rows
/// that have none.
///
/// A log-structured merge index. New entries go into a table in memory, and to disk with the batch
/// in one row. The full table becomes a sorted run; four runs are merged into one, bit by bit
/// as entries are added. A run's filter in memory answers nearly all questions about new keys. A
/// crash needs no thought: everything is stored in the caller's transactions, and only there.
///
/// Facts that were counted on day d are known through day d + `uniqueDays`, and forgotten at most a
/// quarter of `uniqueDays` later, a run at a time. To be used by one queue.
final class HitIndex {
    struct Limits {
        /// How long facts are known, in days; at least 1.
        var uniqueDays = 30
        /// The memory of all filters. Each look-up reads a page of every run that has none.
        var filterBytes = 256 << 20
        /// The maximum number of entries in memory, 33 bytes each, and of keys in a batch.
        var memTableEntries = 1 << 19
        /// The maximum length of a row. Never change it for a database; tests lower it.
        var rowBytes = 8064
    }

    /// Creates the tables.
    static let schema = IndexTables.schema

    let limits: Limits
    let secret: IndexSecret
    var memTable: MemTable
    let batch = KeyBatch()
    /// The runs that answer.
    var runs: [SortedRun] = []
    /// Merges under way, of which the smallest comes first.
    var merges: [RunMerge] = []
    /// Runs whose rows have to be deleted.
    var obsolete: [Int64] = []
    var nextRun: Int64 = 1
    /// The days of the entries in `recent`.
    var memTableDays: ClosedRange<Int>?
    /// The newest day; nil before the first batch.
    var today: Int?
    /// How many entries may be merged.
    var credit = 0
    /// The number of the newest batch in the database, as far as memory knows.
    private var stored: Int64 = -1
    /// Whether a batch has begun and is not finished.
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

    /// Begins a batch within the caller's transaction, and looks up what is known of its keys. If
    /// the transaction of the batch before was rolled back, loads the index anew.
    ///
    /// - Parameters:
    ///   - keys: at most `memTableEntries`; may repeat.
    ///   - day: the day on which the batch's facts are counted, since 1970. A day before that of
    ///     the newest batch counts as the same, unless it is more than `uniqueDays` before.
    /// - Throws: `HitIndexError`, or SQLite's error; the transaction has to be rolled back.
    func begin(_ keys: [IndexKey], day: Int, in database: Database) throws {
        guard keys.count <= self.limits.memTableEntries else {
            throw HitIndexError.tooManyKeys(keys.count, limit: self.limits.memTableEntries)
        }
        let tables = try IndexTables(database)
        if try self.isOpen || tables.newestBatch() != self.stored {
            self.stored = try self.load(tables)
        }
        self.isOpen = true
        self.hasWritten = false
        let today = self.start(day)
        self.today = today
        if let days = self.memTableDays,
            self.window(days.lowerBound) != self.window(today)
                || keys.count > self.limits.memTableEntries - self.memTable.count
        {
            try self.flush(days, tables)
        }
        try self.expire(today, tables)
        self.batch.fill(keys)
        self.memTable.prefetch(self.batch.keys, self.batch.count)
        for run in self.runs { try run.lookUp(self.batch, tables) }
    }

    /// Adds kinds to a key of the batch.
    ///
    /// - Returns: the kinds of this key that were known before.
    /// - Precondition: `index` is a number of `begin`'s keys.
    func add(_ kinds: UInt16, at index: Int) -> UInt16 {
        precondition(self.isOpen && index >= 0 && index < self.batch.count, "no key of the batch")
        return self.memTable.add(
            kinds, to: self.batch.keys[index], knownElsewhere: self.batch.known[index])
    }

    /// Writes what was added, within the same transaction, and does a share of the upkeep. The
    /// index has to be used in no other way until the transaction ends.
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

    /// Stores the entries that this batch has changed. The row's number tells whether memory and
    /// database agree.
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

    /// The day that a batch of `day` counts for.
    private func start(_ day: Int) -> Int {
        let day = min(max(day, -Self.maxDay), Self.maxDay)
        // A clock that went a little back is no reason for many small runs. One that went back
        // far was wrong before.
        guard let newest = self.today, day < newest, day >= newest - self.limits.uniqueDays else {
            return day
        }
        return newest
    }

    static let maxDay = 1 << 40

    /// The number of a day's window: only runs of a window are merged, so that old facts can be
    /// forgotten without new ones.
    func window(_ day: Int) -> Int {
        let days = max(1, self.limits.uniqueDays / 4)
        return day >= 0 ? day / days : (day + 1) / days - 1
    }
}

/// Why the index of counted facts cannot be used.
enum HitIndexError: Error, Equatable, CustomStringConvertible {
    /// The database does not have what was written to it.
    case damaged(String)
    /// The batch has more keys than fit into memory.
    case tooManyKeys(Int, limit: Int)

    var description: String {
        switch self {
        case .damaged(let what): "the index of counted facts is damaged: \(what)"
        case .tooManyKeys(let count, let limit):
            "a batch has \(count) facts, and the index takes at most \(limit) at a time"
        }
    }
}
