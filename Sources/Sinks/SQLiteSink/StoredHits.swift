package import SinkKit
internal import Foundation
internal import GRDB
internal import TrackingRules
internal import W3CTrace
internal import WireFormat

/// Reads the hits of a hits.db that a server has open, to replay them to another sink.
package struct StoredHits: Sendable {
    let database: DatabaseQueue
    /// The rows that there were when the file was opened.
    private let spans: HitSpans
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
        (self.spans, self.newestGroup) = try database.read { database in
            let group = "SELECT sequence FROM cursor WHERE journal = ?"
            return (
                try HitSpans(in: database),
                try Int64.fetchOne(database, sql: group, arguments: [journal]) ?? 0
            )
        }
        self.database = database
    }

    /// The next hits received since a time: by day of receipt, and those of a day in the order of
    /// their rows.
    ///
    /// - Parameters:
    ///   - since: microseconds since 1970.
    ///   - place: where the previous page ended; 0 for the first.
    /// - Returns: nil if there are no more.
    /// - Throws: GRDB's error, also for a malformed row.
    package func page(since: Int64, after place: Int64) async throws -> HitPage? {
        try await self.database.read { database in
            var page = Page(place: place)
            // An erasure may have overwritten all rows of a page, so it reads on.
            while page.rows < Self.pageRows || page.isEmpty, page.payload.count < Self.pageBytes {
                let next = self.spans.next(after: page.place, since: since.day)
                guard let (span, id) = next else { break }
                try page.read(span, after: id, since: since, in: database)
            }
            return page.isEmpty
                ? nil
                : HitPage(payload: page.payload, last: page.place, unreadable: page.unreadable)
        }
    }

    /// A page that is being read.
    private struct Page {
        var place: Int64
        var payload: [UInt8] = []
        var rows = 0
        var unreadable = 0

        var isEmpty: Bool { self.payload.isEmpty && self.unreadable == 0 }

        /// Reads rows of a partition, up to the size of a page.
        mutating func read(
            _ span: HitSpans.Span, after id: Int64, since: Int64, in database: Database
        ) throws {
            // Retention may have dropped it since.
            let table = "SELECT 1 FROM sqlite_master WHERE name = 'hits_\(span.partition)'"
            guard try Int.fetchOne(database, sql: table) != nil else {
                self.place = span.end
                return
            }
            let limit = StoredHits.pageRows - (self.rows < StoredHits.pageRows ? self.rows : 0)
            var found = 0
            let cursor = try Row.fetchCursor(
                database,
                sql: """
                    SELECT * FROM \(HitViews.rows(of: span.partition))
                    WHERE rowid > ? AND rowid <= ? AND receive_time >= ? ORDER BY rowid LIMIT ?
                    """, arguments: [id, span.ids.upperBound, since, limit])
            while self.payload.count < StoredHits.pageBytes {
                guard let row = try cursor.next() else {
                    self.place = found < limit ? span.end : self.place
                    break
                }
                do {
                    try StoredHit.read(row) { self.payload += StoredHits.payload($1, $2) }
                } catch is WireError {
                    self.unreadable += 1
                }
                found += 1
                self.place = span.place(after: try row.decode(Int64.self, forColumn: "rowid"))
            }
            self.rows += found
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
