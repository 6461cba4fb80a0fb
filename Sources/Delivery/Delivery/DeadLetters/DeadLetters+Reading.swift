internal import Foundation
package import GRDB
internal import SinkKit
internal import Storage

extension DeadLetters {
    /// The number of letters of each sink that has some, in a dead_letters.db of any format.
    ///
    /// - Throws: SQLite's error.
    package static func counts(in database: Database) throws -> [(sink: String, letters: Int)] {
        try Row.fetchAll(
            database,
            sql: "SELECT sink, count(*) FROM dead_letters GROUP BY sink ORDER BY sink"
        ).map { (sink: $0[0] ?? "", letters: $0[1] ?? 0) }
    }

    /// The letters of a sink after row `id`, oldest first.
    ///
    /// - Throws: SQLite's error.
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

    /// Deletes the letters that a sink has now taken, and stores new reasons for those it refused
    /// again, in one transaction.
    ///
    /// - Parameters:
    ///   - hits: the batch of the letters.
    ///   - refused: the new reasons, by the letters' ids.
    /// - Throws: SQLite's error.
    func settle(
        _ letters: [DeadLetter], of hits: HitBatch, refused: [Int64: String]
    ) async throws {
        let now = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let forgotten = self.forgotten
        try await self.file.write { database in
            let refused = try hits.masked(refused, by: forgotten)
            for letter in letters {
                if let reason = refused[letter.id] {
                    try database.execute(
                        sql: """
                            UPDATE dead_letters SET reason = CAST(? AS TEXT), refused_time = ?
                            WHERE rowid = ?
                            """, arguments: [Data(reason.utf8), now, letter.id])
                } else {
                    try database.execute(
                        sql: "DELETE FROM dead_letters WHERE rowid = ?", arguments: [letter.id])
                }
            }
        }
    }
}
