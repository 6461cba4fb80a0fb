package import SinkKit
internal import Foundation
internal import GRDB
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// Reads the hits of a hits.db that a server has open, to replay them to another sink.
package struct StoredHits: Sendable {
    private let database: DatabaseQueue
    /// The newest row when the file was opened.
    private let end: Int64
    /// The journal's newest group at that time: hits of later groups are in the journal.
    package let newestGroup: Int64

    /// The size of a page: some milliseconds of reading, so that batches are hardly delayed, and in
    /// memory at most these bytes and one event.
    private static let (pageRows, pageBytes) = (1000, 4 << 20)

    /// Opens the file read-only, while its sink has it open.
    ///
    /// - Parameter journal: the journal's name.
    /// - Throws: SQLite's error.
    package init(path: String, journal: String) throws {
        var configuration = Configuration()
        configuration.readonly = true
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        (self.end, self.newestGroup) = try database.read { database in
            let group = "SELECT sequence FROM cursor WHERE journal = ?"
            return (
                try Int64.fetchOne(database, sql: "SELECT max(rowid) FROM hits") ?? 0,
                try Int64.fetchOne(database, sql: group, arguments: [journal]) ?? 0
            )
        }
        self.database = database
    }

    /// The next hits received since a time, in the order of their rows.
    ///
    /// - Parameters:
    ///   - since: microseconds since 1970.
    ///   - last: the last id of the previous page; 0 for the first.
    /// - Returns: nil if there are no more.
    /// - Throws: GRDB's error, also for a malformed row.
    package func page(since: Int64, after last: Int64) async throws -> HitPage? {
        try await self.database.read { database in
            var (last, payload, unreadable) = (last, [UInt8](), 0)
            // An erasure may have overwritten all rows of a page, so it reads on.
            while payload.isEmpty, unreadable == 0 {
                let start = last
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT * FROM hits WHERE rowid > ? AND rowid <= ? AND receive_time >= ?
                        ORDER BY rowid LIMIT ?
                        """, arguments: [start, self.end, since, Self.pageRows])
                while payload.count < Self.pageBytes, let row = try rows.next() {
                    do {
                        try StoredHit.read(row) { payload += Self.payload($1, $2) }
                    } catch is WireError {
                        unreadable += 1
                    }
                    last = try row.decode(Int64.self, forColumn: "rowid")
                }
                if last == start { return nil }
            }
            return HitPage(payload: payload, last: last, unreadable: unreadable)
        }
    }

    private static func payload(_ event: JournalEvent, _ request: Hit.Request) -> [UInt8] {
        // A trace that was changed by hand is left out.
        HitEncoding.payload(
            of: event, receiveTime: request.receiveTime, tenant: request.tenant.text,
            trace: TraceContext(
                traceparent: request.traceparent, tracestate: request.tracestate))
    }
}
