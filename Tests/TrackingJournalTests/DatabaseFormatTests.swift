// What application_id and user_version say of a database.
internal import GRDB
internal import Storage
internal import Testing
@testable internal import TrackingJournal

struct DatabaseFormatTests {
    private let format = DatabaseFormat(version: 3)

    private static let ours = DatabaseFormat.applicationID

    private func isWritten(_ sql: String) throws -> Bool {
        try DatabaseQueue().writeWithoutTransaction { database in
            try database.execute(sql: sql)
            return try self.format.isWritten(in: database, at: "a.db")
        }
    }

    @Test("a file without tables is new, and one that was marked is written")
    func written() throws {
        #expect(try self.isWritten("SELECT 1") == false)
        let database = try DatabaseQueue()
        try database.write { database in
            try database.execute(sql: "CREATE TABLE a (b)")
            try self.format.mark(database)
            #expect(try self.format.isWritten(in: database, at: "a.db"))
        }
    }

    @Test("a mark goes with its transaction")
    func rolledBack() throws {
        try DatabaseQueue().writeWithoutTransaction { database in
            try database.inTransaction {
                try database.execute(sql: "CREATE TABLE a (b)")
                try self.format.mark(database)
                return .rollback
            }
            #expect(try self.format.isWritten(in: database, at: "a.db") == false)
        }
    }

    @Test(
        "any other file is refused, with its number",
        arguments: [
            (0, 0, true, FileFormatError.Found.former(0)),
            (0, 3, true, .former(3)),
            (0, 3, false, .former(3)),
            (Self.ours, 4, true, .newer(4)),
            (Self.ours, 2, true, .unknown("has format 2, which no build writes")),
            (Self.ours, -1, true, .unknown("has format -1, which no build writes")),
            (7, 3, true, .unknown("has the application id 7, which is another program's")),
        ])
    func refused(
        _ application: Int, _ version: Int, _ hasTable: Bool, _ found: FileFormatError.Found
    ) {
        #expect(throws: FileFormatError(path: "a.db", found, known: 3)) {
            try self.isWritten(
                """
                PRAGMA application_id = \(application); PRAGMA user_version = \(version);
                \(hasTable ? "CREATE TABLE a (b)" : "")
                """)
        }
    }
}
