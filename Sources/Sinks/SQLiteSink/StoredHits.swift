package import SinkKit
internal import Foundation
internal import GRDB
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// The hits of a hits.db that a server has open, for a replay to another sink.
package struct StoredHits: Sendable {
    private let database: DatabaseQueue
    /// The newest row when it was opened.
    private let end: Int64
    /// The journal's newest group then: the hits of later ones are in the journal.
    package let newestGroup: Int64

    /// A page: some milliseconds of reading, beside which batches come in, and at most its bytes
    /// and one event more in memory.
    private static let (pageRows, pageBytes) = (1000, 4 << 20)

    /// Opens the file beside its sink, to read only.
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

    /// The next hits that were received since a time, in the order of their rows.
    ///
    /// - Parameters:
    ///   - since: microseconds since 1970.
    ///   - last: where the page before ended; 0 for the first.
    /// - Returns: nil if there are no more.
    /// - Throws: GRDB's error, also for a row that no build has written.
    package func page(since: Int64, after last: Int64) async throws -> HitPage? {
        try await self.database.read { database in
            var (last, payload, unreadable) = (last, [UInt8](), 0)
            // Rows that an erasure has overwritten may be as many as a page has, or more.
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

    private static func payload(_ event: JournalEvent, _ origin: Hit.Origin) -> [UInt8] {
        // Where its trace was changed by hand, it has none.
        HitBlock.payload(
            of: event, receiveTime: origin.receiveTime, tenant: origin.tenant.text,
            trace: TraceContext(
                traceparent: origin.traceparent, tracestate: origin.tracestate))
    }
}
