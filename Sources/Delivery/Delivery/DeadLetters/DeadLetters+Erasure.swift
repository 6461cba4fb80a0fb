internal import Foundation
internal import GRDB
package import SinkKit
internal import Storage
internal import TrackingRules

extension DeadLetters {
    /// The letters that are looked through in one transaction.
    private static let pieceRowCount = 1000

    /// Deletes the letters of a subject. Of what cannot be read, those go in which one of its ids
    /// stands. In other letters' reasons, which may be a backend's words, its ids are masked.
    /// What comes later is made without the subject, unless it cannot be read.
    ///
    /// - Returns: the first piece; the result has the number of deleted letters.
    package func erase(_ subject: Subject) async -> ErasurePiece {
        let file = self.file
        return await ErasurePiece.ofRows { place in
            try await file.write { try Self.erase(subject, before: place, in: $0) }
        } end: {
            try await file.emptyLog()
        }
    }

    private static func erase(
        _ subject: Subject, before place: Int64, in database: Database
    ) throws -> (erased: Int, last: Int64?) {
        // By the row ids, or each piece would sort all letters of the tenant.
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT rowid, record, \(WholeText.column("reason")) FROM dead_letters NOT INDEXED
                WHERE rowid < ? AND (tenant = ? OR tenant IS NULL)
                ORDER BY rowid DESC LIMIT ?
                """, arguments: [place, subject.tenant, Self.pieceRowCount])
        var erased = 0
        for row in rows {
            let (id, record): (Int64, Data) = (row[0] ?? 0, row[1] ?? Data())
            guard subject.occurs(in: [UInt8](record)),
                DeadLetter(id: id, record: [UInt8](record)).isOf(subject)
            else {
                let reason: Data = row[2] ?? Data()
                if let masked = subject.masked(String(decoding: reason, as: UTF8.self)) {
                    try database.execute(
                        sql: "UPDATE dead_letters SET reason = CAST(? AS TEXT) WHERE rowid = ?",
                        arguments: [Data(masked.utf8), id])
                }
                continue
            }
            // Overwritten in its place first: a deleted row's bytes would stay in the file.
            try database.execute(
                sql: """
                    UPDATE dead_letters SET record = zeroblob(length(record)),
                        reason = printf('%.*c', length(CAST(reason AS BLOB)), '*')
                    WHERE rowid = :id;
                    DELETE FROM dead_letters WHERE rowid = :id
                    """, arguments: ["id": id])
            erased += 1
        }
        return (erased, rows.last?[0])
    }
}

extension DeadLetter {
    /// Whether the hit is of a subject in whose ids its bytes are found; also what is no hit.
    fileprivate func isOf(_ subject: Subject) -> Bool {
        guard let payload = self.payload() else { return true }
        var isOf = false
        payload.withUnsafeBytes { payload in
            // It was made here, so it can be read.
            try? HitEncoding.forEachEvent(in: payload) { event, _ in
                isOf = subject.has(event.subjectID)
            }
        }
        return isOf
    }
}
