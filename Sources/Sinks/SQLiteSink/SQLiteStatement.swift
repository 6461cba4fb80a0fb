internal import GRDB
internal import GRDBSQLite
internal import WireFormat

/// A cached statement, used through SQLite's own interface: it allocates nothing per row and copies
/// no text or blob.
struct SQLiteStatement {
    private let database: Database
    /// Keeps `pointer` valid.
    private let statement: Statement
    private let pointer: OpaquePointer

    /// - Throws: SQLite's error.
    init(_ sql: String, in database: Database) throws {
        self.database = database
        self.statement = try database.cachedStatement(sql: sql)
        self.pointer = self.statement.sqliteStatement
    }

    // MARK: Executing

    /// Executes the statement with these values.
    ///
    /// - Throws: SQLite's error.
    func run(_ values: Int64...) throws {
        for (index, value) in values.enumerated() { self.bind(value, at: CInt(index + 1)) }
        try self.run()
    }

    /// Executes the statement with the bound values.
    ///
    /// - Throws: SQLite's error.
    func run() throws {
        defer { self.reset() }
        while try self.step() {}
    }

    /// Advances to the next row; false at the end.
    ///
    /// - Throws: SQLite's error.
    func step() throws -> Bool {
        switch sqlite3_step(self.pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = DatabaseError(
                resultCode: self.database.lastErrorCode, message: self.database.lastErrorMessage)
            self.reset()
            throw error
        }
    }

    func reset() { sqlite3_reset(self.pointer) }

    // MARK: Binding

    func bind(_ value: Int64, at index: CInt) { sqlite3_bind_int64(self.pointer, index, value) }

    func bind(_ value: Int64?, at index: CInt) {
        if let value { self.bind(value, at: index) } else { self.bindNull(at: index) }
    }

    func bindNull(at index: CInt) { sqlite3_bind_null(self.pointer, index) }

    /// Binds bytes without copying: they must stay valid until the statement is reset.
    func bind(blob: Bytes, at index: CInt) {
        guard let base = blob.baseAddress, !blob.isEmpty else {
            sqlite3_bind_zeroblob(self.pointer, index, 0)
            return
        }
        sqlite3_bind_blob64(self.pointer, index, base, UInt64(blob.count), nil)
    }

    /// Binds a text without copying: it must stay valid until the statement is reset.
    func bind(text: Bytes, at index: CInt) {
        // SQLite treats a null pointer as NULL, so an empty text needs an address.
        guard let base = text.baseAddress, !text.isEmpty else {
            sqlite3_bind_text(self.pointer, index, "", 0, Self.copied)
            return
        }
        sqlite3_bind_text(
            self.pointer, index, base.assumingMemoryBound(to: CChar.self), CInt(text.count), nil)
    }

    /// As `bind(text:at:)`, with NULL for an empty text.
    func bind(textOrNull text: Bytes, at index: CInt) {
        if text.isEmpty { self.bindNull(at: index) } else { self.bind(text: text, at: index) }
    }

    /// SQLITE_TRANSIENT, a cast in C: SQLite copies the bytes.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    // MARK: Reading a row

    func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(self.pointer, column) }

    func isNull(_ column: CInt) -> Bool {
        sqlite3_column_type(self.pointer, column) == SQLITE_NULL
    }

    /// A column's bytes without copying, valid until the next step or reset.
    func bytes(_ column: CInt) -> Bytes {
        let base = sqlite3_column_blob(self.pointer, column)
        return Bytes(start: base, count: Int(sqlite3_column_bytes(self.pointer, column)))
    }
}
