#if PostgreSQL
// One transaction: rows, and with the last of a batch the cursor.
internal import SinkKit
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
    /// What the server has refused, by tenant; it counts once this is committed.
    private(set) var refusals: TenantRefusals
    private var refused: [Int: String] = [:]
    /// The numbers of the rows of tenants to blame, which are written last.
    private var apart: [Int] = []

    /// The rows of a tenant to blame that are tried together.
    private static let piece = 1000

    init(
        _ way: Way, _ schema: PostgreSQLSchema, _ rows: HitRows,
        _ connection: PostgreSQLConnection, _ refusals: TenantRefusals
    ) {
        self.way = way
        self.schema = schema
        self.rows = rows
        self.connection = connection
        self.refusals = refusals
    }

    /// Begins the transaction and writes rows.
    ///
    /// - Returns: reasons of the rows that the server refuses, by position.
    /// - Throws: `PostgreSQLError`.
    mutating func write(_ range: Range<Int>) throws(PostgreSQLError) -> [Int: String] {
        switch self.way {
        case .direct:
            try self.copy(
                [self.rows.bytes(range)], into: self.schema.qualified("stored_hits"),
                after: "BEGIN; ")
            self.accept(range)
        case .staged:
            try self.stage([self.rows.bytes(range)], after: "BEGIN; ")
            self.accept(range)
        case .careful:
            // A constraint that is only checked at the end could be any row's.
            try self.connection.run("BEGIN; SET CONSTRAINTS ALL IMMEDIATE")
            try self.search(Array(range)[...])
            try self.writeApart()
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
        _ rows: [Bytes], into table: String, after statements: String
    ) throws(PostgreSQLError) {
        let header = HitRows.header
        let trailer = HitRows.trailer
        let sql =
            "\(statements)COPY \(table) (\(PostgreSQLSchema.columnNames)) "
            + "FROM STDIN (FORMAT binary)"
        try header.withBytes { header throws(PostgreSQLError) in
            try trailer.withBytes { trailer throws(PostgreSQLError) in
                try self.connection.copy(sql, [header] + rows + [trailer])
            }
        }
    }

    /// Writes rows through the session's stage.
    ///
    /// - Throws: `PostgreSQLError`.
    func stage(
        _ rows: [Bytes], after statements: String
    ) throws(PostgreSQLError) {
        let columns = PostgreSQLSchema.columnNames
        try self.copy(rows, into: PostgreSQLSchema.stage, after: statements)
        try self.connection.run(
            "INSERT INTO \(self.schema.qualified("stored_hits")) (\(columns)) "
                + "SELECT \(columns) FROM \(PostgreSQLSchema.stage) ON CONFLICT DO NOTHING")
    }

    /// Writes rows or none of them, and goes on with the transaction in both cases.
    ///
    /// - Returns: why the server refuses one of them; nil if they are written.
    /// - Throws: `PostgreSQLError`, if no row is to blame.
    private func attempt(_ rows: [Bytes]) throws(PostgreSQLError) -> PostgreSQLError? {
        do throws(PostgreSQLError) {
            try self.stage(rows, after: "SAVEPOINT part; ")
            try self.connection.run("TRUNCATE \(PostgreSQLSchema.stage); RELEASE part")
            return nil
        } catch {
            guard error.isOfRow else { throw error }
            try self.connection.run("ROLLBACK TO part; RELEASE part")
            return error
        }
    }

    /// Writes rows by bisection: about three times the work for one rejected row among many.
    private mutating func search(_ numbers: ArraySlice<Int>) throws(PostgreSQLError) {
        let numbers = self.withoutBlamed(numbers)
        if numbers.isEmpty { return }
        guard let error = try self.attempt(self.rows.parts(numbers)) else {
            return self.refusals.acceptSome()
        }
        if numbers.count == 1 { return try self.refuse(numbers[numbers.startIndex], error) }
        let middle = numbers.startIndex + numbers.count / 2
        try self.search(numbers[..<middle])
        try self.search(numbers[middle...])
    }

    /// Leaves out the rows of tenants to blame, and keeps them for `writeApart`.
    private mutating func withoutBlamed(_ numbers: ArraySlice<Int>) -> ArraySlice<Int> {
        let blamed = self.refusals.blamed
        if blamed.isEmpty { return numbers }
        var others: [Int] = []
        for number in numbers {
            if blamed.contains(self.rows.rows[number].tenant) {
                self.apart.append(number)
            } else {
                others.append(number)
            }
        }
        return others[...]
    }

    private mutating func refuse(
        _ number: Int, _ error: PostgreSQLError
    ) throws(PostgreSQLError) {
        let row = self.rows.rows[number]
        switch self.refusals.refuse(row.tenant) {
        case .few, .blamed: break
        case .doubtful:
            try self.writeTestHit()
            self.refusals.blame(row.tenant)
        }
        self.refused[row.position] = "PostgreSQL refuses it: \(error.whole)"
    }

    /// Writes a hit of nobody's, and takes it back. A server that refuses that too refuses whatever
    /// comes: then no row is to blame.
    ///
    /// - Throws: `PostgreSQLError`.
    private func writeTestHit() throws(PostgreSQLError) {
        var generator = SystemRandomNumberGenerator()
        // A day of the batch has its partition.
        let day = self.rows.days.min() ?? .today
        var rows = HitRows(lateDays: 0)
        // They own the bytes that are copied.
        defer { withExtendedLifetime(rows) {} }
        do {
            let hit = try ProbeHit.batch(
                tenant: ProbeHit.mark, time: Int64(day.number) * 86_400_000_000, using: &generator)
            try rows.encode(hit, after: 0)
        } catch {
            throw PostgreSQLError("a test hit cannot be made: \(error)")
        }
        do throws(PostgreSQLError) {
            try self.stage([rows.bytes(rows.rows.indices)], after: "SAVEPOINT test; ")
        } catch {
            guard error.isOfRow else { throw error }
            throw PostgreSQLError(
                "more hits of a tenant are refused than postgresql.max_refused allows, none is "
                    + "stored, and a test hit (tenant and ids \(ProbeHit.mark)) is refused too, so "
                    + "the tables may be wrong and not they: \(error)")
        }
        try self.connection.run("ROLLBACK TO test; RELEASE test")
    }

    /// Writes the rows of tenants to blame in pieces: of one that has a wrong row none is stored.
    private mutating func writeApart() throws(PostgreSQLError) {
        let rows = self.rows.rows
        let tenants = Dictionary(grouping: self.apart.sorted()) { rows[$0].tenant }
        for (tenant, numbers) in tenants {
            for start in stride(from: 0, to: numbers.count, by: Self.piece) {
                let piece = numbers[start..<min(start + Self.piece, numbers.count)]
                guard let error = try self.attempt(self.rows.parts(piece)) else {
                    self.refusals.accept(tenant)
                    continue
                }
                let reason = Self.reason(error, of: piece.count)
                for number in piece { self.refused[rows[number].position] = reason }
            }
        }
    }

    private static func reason(_ error: PostgreSQLError, of count: Int) -> String {
        if count == 1 { return "PostgreSQL refuses it: \(error.whole)" }
        // The server's words may have values of another row.
        return "PostgreSQL refuses it or another of \(count) rows of its tenant, of which more "
            + "than postgresql.max_refused were refused before: \(error.code)"
    }

    /// Notes that the server has stored rows.
    private mutating func accept(_ range: Range<Int>) {
        self.refusals.acceptSome()
        if self.refusals.blamed.isEmpty { return }
        for row in self.rows.rows[range] where self.refusals.blamed.contains(row.tenant) {
            self.refusals.accept(row.tenant)
        }
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
