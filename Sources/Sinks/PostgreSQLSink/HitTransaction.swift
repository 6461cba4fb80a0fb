#if PostgreSQL
// One transaction: rows, and with the last of a batch the cursor.
internal import WireFormat

/// Writes rows in one of three ways.
struct HitTransaction {
    /// How rows are written.
    enum Way {
        /// Copied into the table. The cheapest way; fails at the first row that is there already.
        case direct
        /// Copied into the session's stage, and inserted from there unless they are there already.
        case staged
        /// Staged, and bisects the batch to find the rows that the server rejects.
        case careful
    }

    private let way: Way
    private let schema: PostgreSQLSchema
    private let rows: HitRows
    private let connection: PostgreSQLConnection
    private let maxRefused: Int
    private var refused: [Int: String] = [:]

    init(
        _ way: Way, _ schema: PostgreSQLSchema, _ rows: HitRows,
        _ connection: PostgreSQLConnection, maxRefused: Int
    ) {
        self.way = way
        self.schema = schema
        self.rows = rows
        self.connection = connection
        self.maxRefused = maxRefused
    }

    /// Begins the transaction and writes rows.
    ///
    /// - Returns: reasons of the rows that the server refuses, by position.
    /// - Throws: `PostgreSQLError`.
    mutating func write(_ range: Range<Int>) throws(PostgreSQLError) -> [Int: String] {
        switch self.way {
        case .direct:
            try self.copy(range, into: self.schema.qualified("stored_hits"), after: "BEGIN; ")
        case .staged: try self.stage(range, after: "BEGIN; ")
        case .careful:
            // A constraint that is only checked at the end could be any row's.
            try self.connection.run("BEGIN; SET CONSTRAINTS ALL IMMEDIATE")
            try self.search(range)
        }
        return self.refused
    }

    /// Moves the cursor, if it is to be moved, and commits. Whether a commit without an answer took
    /// place is told by the cursor that the next session reads.
    ///
    /// - Throws: `PostgreSQLError`.
    func commit(_ cursor: HitCursor?, of journal: String) throws(PostgreSQLError) {
        var statements = "COMMIT"
        if let cursor { statements = "\(try self.moving(cursor, of: journal)); COMMIT" }
        try self.connection.run(statements)
    }

    /// The statement that moves a journal's cursor.
    ///
    /// - Throws: `PostgreSQLError`.
    func moving(_ cursor: HitCursor, of journal: String) throws(PostgreSQLError) -> String {
        let hitID = cursor.hitID.map { "'\($0)'" } ?? "NULL"
        return """
            INSERT INTO \(self.schema.qualified("cursor")) (journal, sequence, hit_id, changed_at)
            VALUES (\(try self.connection.literal(journal)), \(cursor.sequence), \(hitID), now())
            ON CONFLICT (journal) DO UPDATE SET sequence = excluded.sequence,
                hit_id = excluded.hit_id, changed_at = excluded.changed_at
            """
    }

    private func copy(
        _ range: Range<Int>, into table: String, after statements: String
    ) throws(PostgreSQLError) {
        let header = HitRows.header
        let trailer = HitRows.trailer
        let rows = self.rows.bytes(range)
        let sql =
            "\(statements)COPY \(table) (\(PostgreSQLSchema.columnNames)) "
            + "FROM STDIN (FORMAT binary)"
        try header.withBytes { header throws(PostgreSQLError) in
            try trailer.withBytes { trailer throws(PostgreSQLError) in
                try self.connection.copy(sql, [header, rows, trailer])
            }
        }
    }

    /// Writes rows through the session's stage.
    ///
    /// - Throws: `PostgreSQLError`.
    func stage(
        _ range: Range<Int>, after statements: String
    ) throws(PostgreSQLError) {
        let columns = PostgreSQLSchema.columnNames
        try self.copy(range, into: PostgreSQLSchema.stage, after: statements)
        try self.connection.run(
            "INSERT INTO \(self.schema.qualified("stored_hits")) (\(columns)) "
                + "SELECT \(columns) FROM \(PostgreSQLSchema.stage) ON CONFLICT DO NOTHING")
    }

    /// Writes rows by bisection: about three times the work for one rejected row among many.
    private mutating func search(_ range: Range<Int>) throws(PostgreSQLError) {
        if range.isEmpty { return }
        do throws(PostgreSQLError) {
            try self.stage(range, after: "SAVEPOINT part; ")
            try self.connection.run("TRUNCATE \(PostgreSQLSchema.stage); RELEASE part")
            return
        } catch {
            guard error.isOfRow else { throw error }
            try self.connection.run("ROLLBACK TO part; RELEASE part")
            if range.count == 1 { return try self.refuse(range.lowerBound, error) }
        }
        let middle = range.lowerBound + range.count / 2
        try self.search(range.lowerBound..<middle)
        try self.search(middle..<range.upperBound)
    }

    private mutating func refuse(
        _ row: Int, _ error: PostgreSQLError
    ) throws(PostgreSQLError) {
        guard self.refused.count < self.maxRefused else {
            throw PostgreSQLError(
                "more hits of one batch are refused than postgresql.max_refused allows, so the "
                    + "tables may be wrong and not they: \(error)")
        }
        self.refused[self.rows.rows[row].position] = "PostgreSQL refuses it: \(error)"
    }
}

extension [UInt8] {
    /// Calls `body` with the bytes.
    fileprivate func withBytes(
        _ body: (Bytes) throws(PostgreSQLError) -> Void
    ) throws(PostgreSQLError) {
        let result = self.withUnsafeBytes { bytes in
            Result { () throws(PostgreSQLError) in try body(bytes) }
        }
        try result.get()
    }
}
#endif
