internal import GRDB
internal import GRDBSQLite
internal import TrackingCore

/// Inserts hits into a part of hits.db through one prepared statement. Text and blobs are bound in
/// place, without copies.
struct HitInsertStatement {
    /// The numbers that stand for a hit's repeated texts.
    struct Names {
        let delivery: Int64
        /// Nil if the hit has no app.
        let app: Int64?
        let tenant: Int64
        /// Nil if the hit has no warnings.
        let warnings: Int64?
    }

    /// Keeps the SQLite statement alive.
    private let owner: Statement
    private let statement: OpaquePointer

    /// - Throws: SQLite's error.
    init(into part: Int64, of database: Database) throws {
        self.owner = try database.makeStatement(
            sql: """
                INSERT INTO hits_\(part) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        self.statement = self.owner.sqliteStatement
    }

    /// Inserts a hit of an event with the row id `id`.
    ///
    /// - Throws: SQLite's error.
    func run(
        id: Int64, _ kind: HitKind, of event: JournalEvent, _ origin: Hit.Origin,
        _ view: EventView, trace: TraceColumn, _ names: Names
    ) throws {
        let hitID = (event.key.high.bigEndian, (event.key.low | UInt64(kind.rawValue)).bigEndian)
        try withUnsafeBytes(of: hitID) { hitID in
            sqlite3_bind_int64(self.statement, 1, id)
            self.bind(blob: hitID, at: 2)
            sqlite3_bind_int64(self.statement, 3, Int64(kind.rawValue))
            sqlite3_bind_int64(self.statement, 4, Int64(event.product.rawValue))
            self.bind(view, names)
            sqlite3_bind_int64(self.statement, 11, origin.receiveTime)
            self.bind(blob: event.bytes, at: 16)
            switch trace {
            case .own(let trace):
                self.bind(textOrNull: origin.tracestate, at: 14)
                try trace.withBytes { bytes in
                    if let bytes {
                        self.bind(blob: bytes, at: 13)
                    } else {
                        self.bind(textOrNull: origin.traceparent, at: 13)
                    }
                    try self.step()
                }
            case .before(let distance):
                sqlite3_bind_int64(self.statement, 13, distance)
                sqlite3_bind_null(self.statement, 14)
                try self.step()
            }
        }
    }

    private func step() throws {
        let result = sqlite3_step(self.statement)
        sqlite3_reset(self.statement)
        guard result == SQLITE_DONE else {
            let database = sqlite3_db_handle(self.statement)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: sqlite3_extended_errcode(database)),
                message: String(cString: sqlite3_errmsg(database)))
        }
    }

    private func bind(_ view: EventView, _ names: Names) {
        sqlite3_bind_int64(self.statement, 5, names.delivery)
        self.bind(text: view.broadlogID, at: 6)
        self.bind(number: names.app, at: 7)
        self.bind(number: (view.effectivePlatform?.rawValue).map(Int64.init), at: 8)
        self.bind(textOrNull: view.subjectID, at: 9)
        let time = view.occurTime.flatMap { $0.isZero ? nil : $0.microseconds }
        self.bind(number: time, at: 10)
        sqlite3_bind_int64(self.statement, 12, names.tenant)
        self.bind(number: names.warnings, at: 15)
    }

    private func bind(number: Int64?, at index: CInt) {
        if let number {
            sqlite3_bind_int64(self.statement, index, number)
        } else {
            sqlite3_bind_null(self.statement, index)
        }
    }

    private func bind(textOrNull text: Bytes, at index: CInt) {
        if text.isEmpty {
            sqlite3_bind_null(self.statement, index)
        } else {
            self.bind(text: text, at: index)
        }
    }

    private func bind(text: Bytes, at index: CInt) {
        // SQLite treats a null pointer as NULL, so an empty text needs an address.
        guard let base = text.baseAddress, text.count > 0 else {
            sqlite3_bind_text(self.statement, index, "", 0, Self.copied)
            return
        }
        sqlite3_bind_text(
            self.statement, index, base.assumingMemoryBound(to: CChar.self), CInt(text.count), nil)
    }

    /// SQLITE_TRANSIENT, a cast in C: SQLite copies the bytes.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func bind(blob: Bytes, at index: CInt) {
        if blob.isEmpty {
            sqlite3_bind_zeroblob(self.statement, index, 0)
        } else {
            sqlite3_bind_blob64(
                self.statement, index, blob.baseAddress, UInt64(blob.count), nil)
        }
    }
}
