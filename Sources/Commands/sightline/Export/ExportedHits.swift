internal import Foundation
internal import GRDB
internal import TrackingReport

/// The hits that `export` prints, read from the view `details` a range of row ids at a time: a long
/// read would keep SQLite's log from being reused.
struct ExportedHits: Sendable {
    /// Microseconds since 1970.
    let since: Int64
    let until: Int64
    let tenant: String?
    let delivery: String?

    /// The view of hits.db that has all columns.
    static let view = "details"
    /// The row ids of a page: half a second of reading.
    private static let pageIDs = 1000

    /// The columns' names, and the SQL for each.
    private static let columns: [(name: String, value: String)] = [
        ("receive_time", Self.time("receive_time")), ("occur_time", Self.time("occur_time")),
        ("tenant", "tenant"), ("app_id", "app_id"), ("platform", "platform"),
        ("delivery_id", "delivery_id"), ("broadlog_id", "broadlog_id"),
        ("subject_id", "subject_id"), ("kind", "kind"), ("campaign_action", "campaign_action"),
        ("interaction", "interaction"), ("button", "button"), ("link", "link"),
        ("trigger_event", "trigger_event"), ("campaign_name", "campaign_name"),
        ("dismissal", "dismissal"), ("error", "error"), ("app_state", "app_state"),
        ("custom_fields", "json(custom_fields)"), ("send_reason", "send_reason"),
        ("provider_code", "provider_code"), ("provider_message_id", "provider_message_id"),
        ("attempt", "attempt"), ("display", "display"), ("source", "source"),
        ("warnings", "warnings"),
        ("traceparent", "traceparent"), ("hit_id", "lower(hex(hit_id))"),
    ]

    private static func time(_ column: String) -> String {
        "strftime('%Y-%m-%dT%H:%M:%fZ', \(column) / 1000000.0, 'unixepoch')"
    }

    private static let selection = """
        FROM \(Self.view) WHERE rowid >= :first AND rowid < :end
            AND receive_time >= :since AND receive_time < :until
            AND (:tenant IS NULL OR tenant = :tenant)
            AND (:delivery IS NULL OR delivery_id = :delivery) ORDER BY rowid
        """

    private static let jsonSelection =
        "SELECT json_object("
        + Self.columns.map { "'\($0.name)', \($0.value)" }.joined(separator: ", ") + ") "
        + Self.selection

    /// As blobs, since GRDB reads a text only up to its first zero byte.
    private static let sheetSelection =
        "SELECT "
        + Self.columns.map { "CAST(\($0.value) AS BLOB) AS \($0.name)" }.joined(separator: ", ")
        + " " + Self.selection

    /// The first line of CSV (RFC 4180).
    static let heading = Self.columns.map { $0.name }.joined(separator: ",") + "\r\n"

    /// The pages of the range, by their row ids.
    ///
    /// - Throws: SQLite's error.
    func ids(in database: Database) throws -> [Range<Int64>] {
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT min(rowid) AS first, max(rowid) AS last FROM hits
                WHERE receive_time >= :since AND receive_time < :until
                """, arguments: ["since": self.since, "until": self.until])
        guard let first = try row?.decode(Int64?.self, forColumn: "first"),
            let last = try row?.decode(Int64?.self, forColumn: "last")
        else { return [] }
        return stride(from: first, through: last, by: Self.pageIDs).map {
            $0..<min($0 + Int64(Self.pageIDs), last + 1)
        }
    }

    /// A page as JSON lines.
    ///
    /// - Throws: SQLite's error.
    func json(_ page: Range<Int64>, in database: Database) throws -> String {
        let statement = try database.cachedStatement(sql: Self.jsonSelection)
        return try String.fetchAll(statement, arguments: self.arguments(page))
            .map { $0 + "\n" }.joined()
    }

    /// A page as lines of CSV.
    ///
    /// - Throws: SQLite's error.
    func sheet(_ page: Range<Int64>, in database: Database) throws -> String {
        let statement = try database.cachedStatement(sql: Self.sheetSelection)
        return try Row.fetchAll(statement, arguments: self.arguments(page)).map(Self.line).joined()
    }

    private static func line(_ row: Row) throws -> String {
        let cells = try Self.columns.map { column in
            let bytes = try row.decode(Data?.self, forColumn: column.name)
            return ReportSheet.text(bytes.map { String(decoding: $0, as: UTF8.self) })
        }
        return cells.joined(separator: ",") + "\r\n"
    }

    private func arguments(_ page: Range<Int64>) -> StatementArguments {
        [
            "first": page.lowerBound, "end": page.upperBound, "since": self.since,
            "until": self.until, "tenant": self.tenant, "delivery": self.delivery,
        ]
    }
}
