internal import GRDB
internal import GRDBSQLite
internal import WireFormat

/// The ids of rows in `index_pages`. Each run has 2³² ids: for its pages, its filter and its
/// fences.
enum IndexRow {
    static func page(_ run: Int64, _ number: Int) -> Int64 { run << 32 | Int64(number) }
    static func filter(_ run: Int64, _ number: Int) -> Int64 { run << 32 | 2 << 30 + Int64(number) }
    static func fences(_ run: Int64, _ number: Int) -> Int64 { run << 32 | 3 << 30 + Int64(number) }
    /// The id after the last one of the run.
    static func end(_ run: Int64) -> Int64 { (run + 1) << 32 }
}

/// The tables of the index, as a batch uses them.
struct IndexTables {
    /// A row of `index_pages` fits into a page of 8 KiB: its 8,064 bytes are 620 entries, 126
    /// blocks of a filter, or 1,008 fences.
    static let schema = """
        CREATE TABLE index_secret (
            id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL);
        INSERT INTO index_secret VALUES (1, randomblob(\(IndexSecret.byteCount)));
        CREATE TABLE index_pages (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
        CREATE TABLE index_runs (
            id INTEGER PRIMARY KEY, level INTEGER NOT NULL, state INTEGER NOT NULL,
            target INTEGER, first_day INTEGER NOT NULL, last_day INTEGER NOT NULL,
            entries INTEGER NOT NULL, pages INTEGER NOT NULL, blocks INTEGER NOT NULL);
        CREATE TABLE index_memtable (
            batch INTEGER PRIMARY KEY, day INTEGER NOT NULL, entries BLOB NOT NULL);
        """

    let database: Database
    private let page: SQLiteStatement
    private let insertion: SQLiteStatement

    init(_ database: Database) throws {
        self.database = database
        self.page = try SQLiteStatement("SELECT bytes FROM index_pages WHERE id = ?", in: database)
        self.insertion = try SQLiteStatement(
            "INSERT INTO index_pages (id, bytes) VALUES (?, ?)", in: database)
    }

    func statement(_ sql: String) throws -> SQLiteStatement {
        try SQLiteStatement(sql, in: self.database)
    }

    /// The entries of a page, valid until `endPage`.
    ///
    /// - Throws: `HitIndexError` if the page is missing or is not made of entries.
    func beginPage(_ run: Int64, _ number: Int) throws -> Bytes {
        self.page.reset()
        self.page.bind(IndexRow.page(run, number), at: 1)
        guard try self.page.step() else {
            throw HitIndexError.damaged("run \(run) has no page \(number)")
        }
        let bytes = self.page.bytes(0)
        guard !bytes.isEmpty, bytes.count.isMultiple(of: IndexEntry.byteCount) else {
            self.page.reset()
            throw HitIndexError.damaged("page \(number) of run \(run) has a wrong length")
        }
        return bytes
    }

    func endPage() { self.page.reset() }

    /// Inserts a row of `index_pages`.
    func insert(_ bytes: Bytes, at row: Int64) throws {
        self.insertion.bind(row, at: 1)
        self.insertion.bind(blob: bytes, at: 2)
        try self.insertion.run()
    }

    /// Deletes rows of `index_pages`; returns how many there were.
    @discardableResult
    func delete(from first: Int64, to end: Int64) throws -> Int {
        try self.statement("DELETE FROM index_pages WHERE id >= ? AND id < ?").run(first, end)
        return Int(sqlite3_changes(self.database.sqliteConnection))
    }

    /// Calls `body` for the rows of `index_pages` in a range, in order.
    func forEach(
        from first: Int64, to end: Int64, _ body: (Bytes) throws -> Void
    ) throws {
        let rows = try self.statement(
            "SELECT bytes FROM index_pages WHERE id >= ? AND id < ? ORDER BY id")
        rows.bind(first, at: 1)
        rows.bind(end, at: 2)
        defer { rows.reset() }
        while try rows.step() { try body(rows.bytes(0)) }
    }

    /// The id of the first row of `index_pages` in a range; nil if there is none.
    func first(from first: Int64, to end: Int64) throws -> Int64? {
        let row = try self.statement(
            "SELECT id FROM index_pages WHERE id >= ? AND id < ? ORDER BY id LIMIT 1")
        row.bind(first, at: 1)
        row.bind(end, at: 2)
        defer { row.reset() }
        return try row.step() ? row.integer(0) : nil
    }

    /// The number of the newest batch that was written; 0 for none.
    func newestBatch() throws -> Int64 {
        let row = try self.statement("SELECT batch FROM index_memtable ORDER BY batch DESC LIMIT 1")
        defer { row.reset() }
        return try row.step() ? row.integer(0) : 0
    }
}
