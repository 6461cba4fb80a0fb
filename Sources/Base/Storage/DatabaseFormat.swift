package import GRDB

/// The format of a database that this program writes: `application_id` identifies a file of
/// Sightline, and `user_version` is the number of its format, from 1 on.
///
/// The number alone is not enough: before formats were numbered from 1, builds used the numbers 0
/// to 4 and left `application_id` at 0.
package struct DatabaseFormat: Sendable {
    /// The number of the format that this build writes.
    package let version: Int

    /// "SLDB".
    package static let applicationID = 0x534c_4442

    /// The format with this number.
    package init(version: Int) { self.version = version }

    /// Whether the database is written in this format; false if it is new and has no tables.
    ///
    /// - Parameter path: the file's path, for messages.
    /// - Throws: `FileFormatError` for any other file, or SQLite's error.
    package func isWritten(in database: Database, at path: String) throws -> Bool {
        func number(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
        func error(_ found: FileFormatError.Found) -> FileFormatError {
            FileFormatError(path: path, found, known: self.version)
        }
        let application = try number("PRAGMA application_id")
        let version = try number("PRAGMA user_version")
        switch application {
        case Self.applicationID:
            if version == self.version { return true }
            throw error(
                version > self.version
                    ? .newer(version) : .unknown("has format \(version), which no build writes"))
        case 0:
            let objects = try number("SELECT count(*) FROM sqlite_master")
            if version == 0, objects == 0 { return false }
            throw error(.former(version))
        default:
            throw error(
                .unknown(
                    "has the application id \(application), which is another program's"))
        }
    }

    /// Marks the database as written in this format. Call it in the transaction that creates the
    /// tables, so that a crash leaves either a new file or a complete one.
    ///
    /// - Throws: SQLite's error.
    package func mark(_ database: Database) throws {
        try database.execute(
            sql: """
                PRAGMA application_id = \(Self.applicationID);
                PRAGMA user_version = \(self.version);
                """)
    }
}
