internal import Foundation
internal import GRDB
package import SinkKit
internal import Storage
internal import TrackingRules
internal import WireFormat

extension QuarantineFile {
    /// The maximum number of events that one transaction searches.
    private static let erasurePieceRowCount = 1000

    /// Deletes the events of a subject. None of it is kept between two pieces.
    ///
    /// - Returns: the first piece; the result has the number of deleted events.
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
        let rows = try GRDB.Row.fetchAll(
            database,
            sql: """
                SELECT id, event FROM events WHERE tenant = ? AND id < ? ORDER BY id DESC LIMIT ?
                """, arguments: [subject.tenant, place, Self.erasurePieceRowCount])
        let ids = try rows.filter { row in
            let event: Data = row[1] ?? Data()
            // The file has no index of its events, so each is parsed; forgetting is rare.
            return try event.withUnsafeBytes { subject.has(try EventView($0).subjectID) }
        }.map { row -> Int64 in row[0] ?? 0 }
        // Overwrites the events in place before it deletes them: a page may keep a copy of a row
        // that was moved.
        let overwriting = try database.cachedStatement(
            sql: "UPDATE events SET event = zeroblob(length(event)) WHERE id = ?")
        for id in ids { try overwriting.execute(arguments: [id]) }
        try Self.delete(ids, in: database)
        return (ids.count, rows.last?[0])
    }
}

extension QuarantinedEvent {
    /// Whether the event's subject is forgotten.
    func isForgotten(by forgotten: ForgottenSubjects) -> Bool {
        self.tenant.withBytes { tenant in
            self.subjectID.withBytes { forgotten.contains($0, tenant: tenant) }
        }
    }
}
