// A file of the data directory that this build must not touch.
package import GRDB

/// A file in a format that this build does not know.
package struct FileFormatError: Error, CustomStringConvertible {
    /// The file.
    package let path: String
    /// The version that it has.
    package let version: Int
    /// The newest version that this build knows.
    package let known: Int

    /// What, where, why, and what to do.
    package var description: String {
        "\(self.path) has format \(self.version), and this build knows formats up to "
            + "\(self.known): a newer build has written it, or another program. Run the build "
            + "that wrote it, or move the file away together with its -wal and -shm "
            + "(docs/upgrading.md)"
    }

    /// The version of a database's format: its `user_version`.
    ///
    /// - Throws: `FileFormatError` where it is not 0 to `known`, or what SQLite says.
    package static func checkVersion(
        of database: Database, at path: String, known: Int
    ) throws -> Int {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard (0...known).contains(version) else {
            throw FileFormatError(path: path, version: version, known: known)
        }
        return version
    }
}
