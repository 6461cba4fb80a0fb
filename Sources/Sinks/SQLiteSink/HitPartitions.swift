internal import GRDB

/// The tables with hits.db's rows: one for each day of receipt, or several for a busy day. Old hits
/// are deleted by dropping a table, whose pages SQLite reuses, so no VACUUM is needed. The number
/// of tables is limited, because a view has to join them.
struct HitPartitions {
    /// A table of rows, `hits_<id>`.
    struct Partition {
        let id: Int64
        /// Days since 1970, in UTC; the newest day if it has several.
        var day: Int64
        /// The number of rows.
        var hits: Int
    }

    static let schema = """
        CREATE TABLE partitions (
            id INTEGER PRIMARY KEY, day INTEGER NOT NULL, hits INTEGER NOT NULL);
        """

    /// The columns of a partition. Repeated texts are numbers in `names`. The first row of a
    /// request has its `traceparent`, in 25 bytes without separators; the other rows have the
    /// distance in ids to that row. Likewise the first row of an event has the bytes of `event`,
    /// and the others the distance.
    static let columns = """
        id INTEGER PRIMARY KEY, hit_id BLOB NOT NULL, kind INTEGER NOT NULL,
        product INTEGER NOT NULL, delivery INTEGER NOT NULL, broadlog_id TEXT NOT NULL,
        app INTEGER, platform INTEGER, subject_id TEXT, occur_time INTEGER,
        receive_time INTEGER NOT NULL, tenant INTEGER NOT NULL, traceparent, tracestate TEXT,
        warnings INTEGER, event BLOB NOT NULL
        """

    /// The number of rows after which another partition is begun for the same day: deliveries wait
    /// while a partition is dropped, 0.1 s for this many.
    static let defaultMaxHits = 1_000_000
    /// The maximum number of partitions. Then the newest takes the rows of further days too,
    /// without a limit. A view joins at most 500 tables (SQLITE_MAX_COMPOUND_SELECT).
    static let defaultMaxPartitions = 400

    /// All partitions, oldest first.
    private(set) var all: [Partition] = []
    /// The id of the next row. Ids rise across partitions.
    private(set) var nextHit: Int64 = 1
    private let maxHits: Int
    private let maxPartitions: Int
    /// The partition of the last row, and its insert statement.
    private var current: (index: Int, insertion: HitInsertStatement)?
    /// Whether the current partition has rows that its row of `partitions` does not count yet.
    private var isUncounted = false

    /// - Throws: SQLite's error.
    init(
        in database: Database, maxHits: Int = defaultMaxHits,
        maxPartitions: Int = defaultMaxPartitions
    ) throws {
        (self.maxHits, self.maxPartitions) = (maxHits, maxPartitions)
        let rows = try Row.fetchAll(
            database, sql: "SELECT id, day, hits FROM partitions ORDER BY id")
        self.all = try rows.map { row in
            Partition(
                id: try row.decode(Int64.self, forColumn: "id"),
                day: try row.decode(Int64.self, forColumn: "day"),
                hits: try row.decode(Int.self, forColumn: "hits"))
        }
        // The newest rows may have been erased, and their ids are never reused.
        self.nextHit = try Self.newestErased(in: database) + 1
        for partition in self.all {
            let newest = try Int64.fetchOne(
                database, sql: "SELECT max(id) FROM hits_\(partition.id)")
            self.nextHit = max(self.nextHit, (newest ?? 0) + 1)
        }
    }

    /// An id from which on no row was erased; 0 if none was.
    private static func newestErased(in database: Database) throws -> Int64 {
        if let newest = try HitBounds.value(HitBounds.newestErased, in: database) { return newest }
        // An earlier build has it in the counts alone: they are read whole, this once.
        let newest = try Int64.fetchOne(database, sql: "SELECT max(newest) FROM counts") ?? 0
        try HitBounds.set(HitBounds.newestErased, to: newest, in: database)
        return newest
    }

    /// Reserves a row for a hit received on `day`. Begins a partition if no present one has room.
    ///
    /// - Throws: SQLite's error.
    mutating func newRow(on day: Int64, in database: Database) throws -> NewRow {
        let (index, insertion) = try self.insertion(on: day, in: database)
        self.all[index].hits += 1
        self.isUncounted = true
        defer { self.nextHit += 1 }
        return NewRow(partition: self.all[index].id, insertion: insertion, id: self.nextHit)
    }

    /// A row to insert.
    struct NewRow {
        let partition: Int64
        let insertion: HitInsertStatement
        let id: Int64

        /// The distance in ids to `later`; nil if it is in another partition.
        func distance(to later: NewRow) -> Int64? {
            later.partition == self.partition ? later.id - self.id : nil
        }
    }

    private mutating func insertion(
        on day: Int64, in database: Database
    ) throws -> (index: Int, insertion: HitInsertStatement) {
        if let current, self.hasRoom(current.index, on: day) { return current }
        try self.finish(in: database)
        let open = self.all.indices.last { self.hasRoom($0, on: day) }
        let index = try open ?? self.begin(day, in: database)
        let insertion = try HitInsertStatement(into: self.all[index].id, of: database)
        self.current = (index, insertion)
        return (index, insertion)
    }

    private func hasRoom(_ index: Int, on day: Int64) -> Bool {
        let partition = self.all[index]
        if index == self.maxPartitions - 1 { return day <= partition.day }
        return partition.day == day && partition.hits < self.maxHits
    }

    /// Begins a partition, or adds a day to the newest one; returns its index.
    private mutating func begin(_ day: Int64, in database: Database) throws -> Int {
        if self.all.count >= self.maxPartitions {
            self.all[self.all.count - 1].day = day
            return self.all.count - 1
        }
        let id = (self.all.last?.id ?? 0) + 1
        try database.execute(
            sql: """
                CREATE TABLE hits_\(id) (\(Self.columns));
                INSERT INTO partitions (id, day, hits) VALUES (\(id), \(day), 0)
                """)
        self.all.append(Partition(id: id, day: day, hits: 0))
        try HitViews.refresh(in: database, partitions: self.all)
        return self.all.count - 1
    }

    /// Stores the current partition's number of rows and its day.
    ///
    /// - Throws: SQLite's error.
    mutating func finish(in database: Database) throws {
        guard self.isUncounted, let index = self.current?.index else { return }
        try database.cachedStatement(sql: "UPDATE partitions SET day = ?, hits = ? WHERE id = ?")
            .execute(
                arguments: [self.all[index].day, self.all[index].hits, self.all[index].id])
        self.isUncounted = false
    }

    /// Subtracts deleted rows from a partition's number of rows.
    ///
    /// - Throws: SQLite's error.
    mutating func uncount(_ rows: Int, of table: String, in database: Database) throws {
        guard let index = self.all.firstIndex(where: { "hits_\($0.id)" == table }) else { return }
        try self.finish(in: database)
        self.all[index].hits -= rows
        try HitBounds.set(HitBounds.newestErased, to: self.nextHit - 1, in: database)
        try database.execute(
            sql: "UPDATE partitions SET hits = ? WHERE id = ?",
            arguments: [self.all[index].hits, self.all[index].id])
    }

    /// The partition with the oldest day. Nil for a single partition: it determines the next row id
    /// and must stay.
    var oldest: Partition? { self.all.dropLast().min { $0.day < $1.day } }

    /// Drops the oldest partition.
    ///
    /// - Returns: the partition; nil if there is only one.
    /// - Throws: SQLite's error.
    mutating func dropOldest(in database: Database) throws -> Partition? {
        guard let oldest else { return nil }
        try self.finish(in: database)
        // Indices change, and a statement must not be used after its table is dropped.
        self.current = nil
        self.all.removeAll { $0.id == oldest.id }
        try HitViews.refresh(in: database, partitions: self.all)
        try database.execute(
            sql: "DROP TABLE hits_\(oldest.id); DELETE FROM partitions WHERE id = \(oldest.id)")
        return oldest
    }
}
