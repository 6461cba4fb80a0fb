// What the journal's file tells: at start what is left to do, later the rows that a sink lags
// behind.
internal import CCRC32C
internal import Foundation
internal import GRDB
internal import TrackingCore

extension JournalStore {
    /// What a file holds when it is opened.
    struct Contents {
        var identity: String
        var lastSequence: Int64
        var cursors: [String: SinkCursor]
        /// Each row still kept.
        var rows: [StoredRow]
        /// Each row of the window: sequence and number of new keys.
        var recent: [(sequence: Int64, keys: Int)]
    }

    /// A row of `batch` without its payload.
    struct StoredRow {
        var sequence: Int64
        /// In microseconds since 1970.
        var createTime: Int64
        var bytes: Int
    }

    /// Reads what is left from earlier runs, and fills the window.
    func open(restoring window: RecentHits) throws(JournalError) -> Contents {
        do {
            return try self.read { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT sequence, create_time, length(payload) FROM batch ORDER BY 1"
                ).map { StoredRow(sequence: $0[0], createTime: $0[1], bytes: $0[2]) }
                let cursors = try Row.fetchAll(
                    database,
                    sql: "SELECT sink, sequence, place FROM cursor LEFT JOIN place USING (sink)")
                var recent: [(Int64, Int)] = []
                let keys = try Row.fetchCursor(
                    database, sql: "SELECT sequence, keys FROM recent ORDER BY sequence")
                while let row = try keys.next() {
                    try row.withUnsafeData(atIndex: 1) { data in
                        recent.append((row[0], data?.withUnsafeBytes(window.restore(row:)) ?? 0))
                    }
                }
                let identity = try String.fetchOne(database, sql: "SELECT journal FROM identity")
                var contents = Contents(
                    identity: identity ?? "", lastSequence: 0, cursors: [:], rows: rows,
                    recent: recent)
                for row in cursors {
                    contents.cursors[row[0]] = SinkCursor(sequence: row[1], place: row[2] ?? "")
                }
                let reached = contents.cursors.values.map(\.sequence)
                contents.lastSequence =
                    ([rows.last?.sequence, recent.last?.0] + reached).compactMap { $0 }.max() ?? 0
                return contents
            }
        } catch {
            throw .failed(reason: "cannot read what earlier runs left: \(error)")
        }
    }

    /// The first row after `sequence`, nil where there is none.
    func batch(after sequence: Int64) throws -> JournalBatch? {
        try self.read { database in
            let row = try Row.fetchOne(
                database,
                sql: """
                    SELECT sequence, events, crc32c, payload FROM batch
                    WHERE sequence > ? ORDER BY sequence LIMIT 1
                    """, arguments: [sequence])
            guard let row else { return nil }
            let payload = try row.withUnsafeData(atIndex: 3) { data in [UInt8](data ?? .init()) }
            let checksum = payload.withUnsafeBytes { sightline_crc32c(0, $0.baseAddress, $0.count) }
            let stored: Int64 = row[2]
            return JournalBatch(
                sequence: row[0], eventCount: row[1], payload: payload,
                isDamaged: stored != Int64(checksum))
        }
    }
}
