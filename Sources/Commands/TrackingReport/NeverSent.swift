internal import Foundation
package import GRDB
package import TrackingRules
internal import WireFormat

/// The notifications that no push service took, by reason, each once: those of which an attempt
/// failed by the reason of the failure that is stored, and others by the reason for which their
/// sender skipped them.
///
/// A notification counts one failure (D60), so hits.db has the one that was received first. This
/// reads the hits themselves, but only the events of notifications that were never sent.
package struct NeverSent: Sendable, Equatable {
    /// The notifications with one outcome and one reason: a row.
    package struct Row: Sendable, Equatable {
        /// The tenant.
        package let tenant: String
        /// The app's id, if the report is by app and the sender names one.
        package let app: String?
        /// The delivery's id.
        package let deliveryID: String
        /// The product.
        package let product: Product
        /// Whether they were skipped, and no attempt failed.
        package let isSkipped: Bool
        /// The reason's name; a number of a newer build is shown as a number.
        package let reason: String
        /// How many notifications.
        package var notifications: Int
    }

    /// The maximum number of rows; the notifications of further ones are counted alone.
    package static let maxRows = 10_000

    /// The rows by delivery, product and app; in these the failed ones first, and then the most.
    package let rows: [Row]
    /// The notifications of rows beyond the limit.
    package private(set) var leftOut = 0

    private struct Key: Hashable {
        let tenant: Int64
        let app: Int64
        let delivery: Int64
        let product: UInt8
        let isSkipped: Bool
        let reason: Int32
    }

    /// Reads the notifications whose failure, or being skipped, matches a query. One that was sent
    /// at any other time was sent.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init(_ query: ReportQuery, in database: Database, maxRows: Int = Self.maxRows) throws {
        query.prepare(database)
        let query = query.whole(by: try query.steps(in: database))
        var counts: [Key: Int] = [:]
        if let ids = try Self.ids(query, in: database) {
            let cursor = try GRDB.Row.fetchCursor(
                database, sql: Self.selection(query),
                arguments: query.arguments + [
                    "byApp": query.isByApp, "firstID": ids.lowerBound, "lastID": ids.upperBound,
                ])
            while let row = try cursor.next() {
                let key = try Self.key(row)
                if counts[key] == nil, counts.count >= maxRows {
                    self.leftOut += 1
                } else {
                    counts[key, default: 0] += 1
                }
            }
        }
        let names = try StoredName.texts(
            of: Set(counts.keys.flatMap { [$0.tenant, $0.app, $0.delivery] }), in: database)
        func name(_ number: Int64) -> String { names[number] ?? StoredName.missing(number) }
        self.rows = counts.map { key, notifications in
            Row(
                tenant: name(key.tenant), app: key.app > 0 ? name(key.app) : nil,
                deliveryID: name(key.delivery),
                product: Product(rawValue: key.product) ?? .standard,
                isSkipped: key.isSkipped,
                reason: SendReason(rawValue: key.reason).map { "\($0.name)" } ?? "\(key.reason)",
                notifications: notifications)
        }.sorted { Self.isBefore($0, $1) }
    }

    private static func isBefore(_ left: Row, _ right: Row) -> Bool {
        func place(_ row: Row) -> (ExactText, ExactText, ExactText, UInt8) {
            (
                ExactText(row.tenant), ExactText(row.deliveryID), ExactText(row.app ?? ""),
                row.product.rawValue
            )
        }
        let (own, other) = (place(left), place(right))
        if own != other { return own < other }
        return (left.isSkipped ? 1 : 0, right.notifications, left.reason)
            < (right.isSkipped ? 1 : 0, left.notifications, right.reason)
    }

    private static func key(_ row: GRDB.Row) throws -> Key {
        // The sink stores only events that admission has parsed.
        let reason = try row.withUnsafeData(named: "event") { data in
            data.flatMap { $0.withUnsafeBytes { (try? EventView($0))?.pushSend.reason } }
        }
        let kind = try row.decode(UInt8.self, forColumn: "kind")
        return Key(
            tenant: try row.decode(Int64.self, forColumn: "tenant"),
            app: try row.decode(Int64?.self, forColumn: "app") ?? 0,
            delivery: try row.decode(Int64.self, forColumn: "delivery"),
            product: try row.decode(UInt8.self, forColumn: "product"),
            isSkipped: kind == HitKind.sendSkipped.rawValue,
            reason: reason ?? 0)
    }
}

// MARK: Reading

extension NeverSent {
    /// The ids of the rows among which all sends of the query's deliveries are; nil if none of them
    /// failed or was skipped. Rows have no index by delivery, but ids rise with the days. Sends
    /// have no campaign's name, so `newest` is the id of the last one.
    static func ids(
        _ query: ReportQuery, in database: Database
    ) throws -> ClosedRange<Int64>? {
        let unsent = "kind > \(HitKind.sent.rawValue)"
        let bounds = try GRDB.Row.fetchOne(
            database,
            sql: """
                SELECT min(first_time) / 86400000000 AS day, max(newest) AS newest,
                    sum(\(unsent)) AS unsent
                FROM counts WHERE \(ReportQuery.isSend) AND \(ReportQuery.place)
                """, arguments: query.placeArguments)
        guard let bounds, try bounds.decode(Int?.self, forColumn: "unsent") ?? 0 > 0,
            let day = try bounds.decode(Int64?.self, forColumn: "day"),
            let newest = try bounds.decode(Int64?.self, forColumn: "newest")
        else { return nil }
        // A partition's day is its newest one.
        let partitions = try Int64.fetchAll(
            database, sql: "SELECT id FROM partitions WHERE day >= ?", arguments: [day])
        let first = try partitions.compactMap {
            try Int64.fetchOne(database, sql: "SELECT min(id) FROM hits_\($0)")
        }.min()
        return first.flatMap { $0 <= newest ? $0...newest : nil }
    }

    /// The rows of failures and of what was skipped, without those of notifications that were sent,
    /// and without what was skipped beside a failure. A notification's hit ids are equal but for
    /// the last byte, which is the kind.
    ///
    /// Both selections of rows are read once: without MATERIALIZED and LIMIT SQLite would copy the
    /// conditions into each partition's arm of `stored_hits`, and read all partitions for each. Of
    /// what was sent it keeps the ids that failed or were skipped too: these are few.
    static func selection(_ query: ReportQuery) -> String {
        let (failed, skipped) = (HitKind.sendFailed.rawValue, HitKind.sendSkipped.rawValue)
        let fact = "substr(hit_id, 1, 15) AS fact"
        let place = "id BETWEEN :firstID AND :lastID AND \(ReportQuery.place)"
        return """
            WITH unsent AS MATERIALIZED (
                SELECT tenant, app, delivery, product, kind, event, hour, \(fact)
                FROM \(query.hits) WHERE kind IN (\(failed), \(skipped)) AND \(place))
            SELECT tenant, iif(:byApp, app, NULL) AS app, delivery, product, kind, event
            FROM unsent
            WHERE \(ReportQuery.times)
                AND fact NOT IN (
                    SELECT fact FROM (
                        SELECT \(fact) FROM stored_hits
                        WHERE kind = \(HitKind.sent.rawValue) AND \(place) LIMIT -1)
                    WHERE fact IN (SELECT fact FROM unsent))
                AND NOT (kind = \(skipped)
                    AND fact IN (SELECT fact FROM unsent WHERE kind = \(failed)))
            """
    }
}

// MARK: Showing

extension NeverSent {
    /// The table for people; if all were sent it has no rows.
    var table: DetailTable {
        let hasApps = self.rows.contains { $0.app != nil }
        var notes = [
            "Failed ones stand by the reason of the failure that was received first, as a",
            "notification counts one; skipped ones were not tried.",
        ]
        if self.leftOut > 0 {
            notes.insert(
                "… and \(ReportNumber.grouped(self.leftOut)) more; --delivery shows them", at: 0)
        }
        return DetailTable(
            title: "Never sent, each notification once",
            columns: [("tenant", .left), ("delivery", .left)]
                + (hasApps ? [("app", .left)] : [])
                + [
                    ("product", .left), ("outcome", .left), ("reason", .left),
                    ("notifications", .right),
                ],
            rows: self.rows.map { row in
                [row.tenant, row.deliveryID] + (hasApps ? [row.app ?? "-"] : [])
                    + [
                        row.product.name, row.outcome, row.reason,
                        ReportNumber.grouped(row.notifications),
                    ]
            }, notes: notes)
    }
}

extension NeverSent.Row {
    /// `failed` or `skipped`.
    fileprivate var outcome: String { self.isSkipped ? "skipped" : "failed" }
}

extension NeverSent: Encodable {
    private enum CodingKeys: CodingKey {
        case rows, leftOut
    }

    /// Encodes the rows and the notifications of omitted ones.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(self.rows, forKey: .rows)
        try container.encode(self.leftOut, forKey: .leftOut)
    }
}

extension NeverSent.Row: Encodable {
    private enum CodingKeys: CodingKey {
        case tenant, app, product, deliveryID, outcome, reason, notifications
    }

    /// Encodes a row; the app is there if the report is by app.
    package func encode(to encoder: any Encoder) throws {
        var row = encoder.container(keyedBy: CodingKeys.self)
        try row.encode(self.tenant, forKey: .tenant)
        try row.encodeIfPresent(self.app, forKey: .app)
        try row.encode(self.product.name, forKey: .product)
        try row.encode(self.deliveryID, forKey: .deliveryID)
        try row.encode(self.outcome, forKey: .outcome)
        try row.encode(self.reason, forKey: .reason)
        try row.encode(self.notifications, forKey: .notifications)
    }
}
