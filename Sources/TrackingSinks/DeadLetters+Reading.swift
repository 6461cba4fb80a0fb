// What a replay needs of the dead letters.
internal import Foundation
package import GRDB

extension DeadLetters {
    /// How many letters of a sink there are in a dead_letters.db of any format.
    ///
    /// - Throws: what SQLite says where they cannot be read.
    package static func count(of sink: String, in database: Database) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM dead_letters WHERE sink = ?",
            arguments: [sink]) ?? 0
    }

    /// A sink's letters behind a row, the oldest first.
    ///
    /// - Throws: what SQLite says where they cannot be read.
    func letters(of sink: String, after id: Int64, limit: Int) async throws -> [DeadLetter] {
        try await self.file.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT rowid, record FROM dead_letters
                    WHERE sink = ? AND rowid > ? ORDER BY rowid LIMIT ?
                    """, arguments: [sink, id, limit]
            ).map { row in
                let record: Data = row[1] ?? Data()
                return DeadLetter(id: row[0] ?? 0, record: [UInt8](record))
            }
        }
    }

    /// Notes what a sink said of letters: forgets those that it has, and keeps the others with
    /// their new reason, in one transaction.
    ///
    /// - Throws: what SQLite says where that cannot be written.
    func settle(_ letters: [DeadLetter], refused: [Int64: String]) async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        try await self.file.write { database in
            for letter in letters {
                if let reason = refused[letter.id] {
                    try database.execute(
                        sql: """
                            UPDATE dead_letters SET reason = ?, refused_time = ? WHERE rowid = ?
                            """, arguments: [reason, now, letter.id])
                } else {
                    try database.execute(
                        sql: "DELETE FROM dead_letters WHERE rowid = ?", arguments: [letter.id])
                }
            }
        }
    }
}
