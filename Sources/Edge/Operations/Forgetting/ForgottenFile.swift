internal import Delivery
internal import Foundation
internal import GRDB
package import Logging
internal import Pacing
internal import SinkKit
internal import Storage
package import TrackingRules

/// forgotten.db: a tombstone for each forgotten id, hashed with the file's own key. It is separate
/// from the journal because a tombstone is read at every start, long after the journal has released
/// its records, and because commits never wait for it.
package struct ForgottenFile: Sendable {
    /// The file's name in the data directory.
    package static let name = "forgotten.db"
    /// The format of forgotten.db.
    package static let formatVersion = 1
    private static let keyBytes = 32

    private let file: DataFile
    private let maxCount: Int
    /// The tombstones in memory.
    package let subjects: ForgottenSubjects

    /// Opens the file, creating it with a random key if it is missing, and reads the tombstones.
    ///
    /// - Parameter maxCount: the number of tombstones that tenants share.
    /// - Throws: `FileFormatError`, or SQLite's error if the file is unusable or locked: without
    ///   it the server would not know whom it has forgotten.
    package init(directory: String, maxCount: Int, logger: Logger?) async throws {
        let file = try DataFile(Self.name, in: directory, format: Self.format, logger: logger)
        self.file = file
        self.maxCount = maxCount
        self.subjects = try await file.read { database in
            let key = try Data.fetchOne(database, sql: "SELECT key FROM keys") ?? Data()
            var hashes: Set<KeyedHash.Value> = []
            let rows = try Data.fetchCursor(database, sql: "SELECT hash FROM subjects")
            while let row = try rows.next() {
                if let hash = KeyedHash.Value(row) { hashes.insert(hash) }
            }
            return ForgottenSubjects(key: [UInt8](key), hashes)
        }
    }

    private static let format = DataFile.Format(
        version: formatVersion, settings: "PRAGMA journal_mode = WAL"
    ) { database in
        var generator = SystemRandomNumberGenerator()
        let key = Data(
            (0..<Self.keyBytes).map { _ in UInt8.random(in: 0...255, using: &generator) })
        try database.execute(
            sql: """
                CREATE TABLE keys (key BLOB NOT NULL);
                CREATE TABLE subjects (
                    hash BLOB PRIMARY KEY, forgotten_time INTEGER NOT NULL) WITHOUT ROWID;
                """)
        try database.execute(sql: "INSERT INTO keys VALUES (?)", arguments: [key])
    }

    /// Writes a subject's tombstones; from then on its hits are masked.
    ///
    /// - Throws: `ErasureError.full` if the tenant has its share, or SQLite's error.
    func forget(_ subject: Subject) async throws {
        let (hashes, maxCount) = (self.subjects.hashes(of: subject), self.maxCount)
        let (now, tenant) = (
            Int64(Date().timeIntervalSince1970 * 1_000_000), Data(subject.tenant.utf8)
        )
        try await self.file.write { database in
            var added = 0
            for hash in hashes {
                try database.execute(
                    sql: "INSERT OR IGNORE INTO subjects VALUES (?, ?)",
                    arguments: [Data(hash.bytes), now])
                added += database.changesCount
            }
            // What is remembered already takes no more room.
            if added == 0 { return }
            try Self.count(added, of: tenant, upTo: maxCount, in: database)
        }
        self.subjects.insert(hashes)
    }

    /// Adds to a tenant's count of tombstones.
    ///
    /// - Throws: `ErasureError.full` if the tenant has its share.
    private static func count(
        _ added: Int, of tenant: Data, upTo maxCount: Int, in database: Database
    ) throws {
        // No part of the format: a build that does not know the table leaves it as it is, and its
        // tombstones count as nobody's.
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS tenants (
                    tenant BLOB PRIMARY KEY, tombstones INTEGER NOT NULL) WITHOUT ROWID
                """)
        let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM subjects") ?? 0
        let others = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM tenants WHERE tenant <> ?", arguments: [tenant])
        let part = try Int.fetchOne(
            database, sql: "SELECT tombstones FROM tenants WHERE tenant = ?", arguments: [tenant])
        let hasRoom = TenantShares.hasRoom(
            for: added, part: part ?? 0, used: all - added, tenants: (others ?? 0) + 1,
            bound: maxCount)
        guard hasRoom else { throw ErasureError.full(limit: maxCount) }
        try database.execute(
            sql: """
                INSERT INTO tenants VALUES (?, ?)
                ON CONFLICT (tenant) DO UPDATE SET tombstones = tombstones + excluded.tombstones
                """, arguments: [tenant, added])
    }
}
