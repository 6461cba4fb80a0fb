package import GRDB

/// A file's format is newer than this build's, so that it must not be touched.
package struct FileFormatError: Error, CustomStringConvertible {
    /// The file's path.
    package let path: String
    /// The format version of the file.
    package let version: Int
    /// The newest version that this build knows.
    package let known: Int

    /// What, where, why, and the fix.
    package var description: String {
        "\(self.path) has format \(self.version), and this build knows formats up to "
            + "\(self.known): a newer build has written it, or another program. Run the build "
            + "that wrote it, or move the file away together with its -wal and -shm "
            + "(docs/upgrading.md)"
    }

    /// Reads the format version of a database from its `user_version`.
    ///
    /// - Throws: `FileFormatError` if it is not within 0…`known`, or SQLite's error.
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
