// SQLite computes the report and sorts on disk beyond its cache, so memory does not grow with the
// hits.
internal import Foundation
package import GRDB
internal import TrackingCore

extension Report {
    /// The memory for SQLite's page cache and sorting, in KiB.
    private static let cacheKibibytes = 32_768

    /// Counts the hits that `query` selects, in one snapshot of the database.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read.
    package init(_ query: ReportQuery, in database: Database) throws {
        self.query = query
        try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKibibytes)")
        try ProductFunction.add(to: database)
        let arguments: StatementArguments =
            query.arguments + ["byApp": query.isByApp, "limit": query.limit]
        let deliveries = try Row.fetchAll(
            database, sql: Self.deliverySelection, arguments: arguments)
        self.deliveries = Section(deliveries) { DeliveryFunnel($0) }
        let messages = try Row.fetchAll(
            database, sql: Self.inAppSelection, arguments: arguments)
        self.inAppMessages = try Section(messages) { row in
            InAppFunnel(row, campaign: try Self.campaign(ofHit: row["newest"], in: database))
        }
    }

    private static let columns = "tenant, iif(:byApp, app_id, NULL) AS app, delivery_id"
    /// Groups by notification, then by delivery, so that one sort gives both hits and unique
    /// notifications. The most selective column is compared first (measured on 5 million hits: 7.6
    /// s instead of 17.2 s with the tenant first).
    private static let deliverySelection = """
        WITH notifications AS (
            SELECT \(Self.columns),
                CASE kind WHEN 'click' THEN \(ProductFunction.name)(event)
                    WHEN 'impression' THEN campaign_action = 1 ELSE 0 END AS product,
                platform IS 'ios' AS ios,
                sum(kind = 'impression') AS impressions, sum(kind = 'click') AS clicks,
                sum(kind = 'open') AS opens, sum(kind = 'button_1') AS button1,
                sum(kind = 'button_2') AS button2, sum(kind = 'close') AS closes,
                count(*) AS hits, min(receive_time) AS first, max(receive_time) AS last
            FROM hits
            WHERE kind IN ('impression', 'click', 'open', 'button_1', 'button_2', 'close')
                AND \(ReportQuery.condition)
            GROUP BY broadlog_id, delivery_id, product, ios, app, tenant)
        SELECT tenant, app, delivery_id, product,
            \(Self.counts("NOT ios", prefix: "others")), \(Self.counts("ios", prefix: "ios")),
            sum(button1) AS button1, sum(button2) AS button2, sum(closes) AS closes,
            min(first) AS first, max(last) AS last,
            count(*) OVER () AS row_count, sum(sum(hits)) OVER () AS hit_count
        FROM notifications GROUP BY delivery_id, product, app, tenant
        ORDER BY sum(hits) DESC, tenant, app, delivery_id, product LIMIT :limit
        """

    private static func counts(_ side: String, prefix: String) -> String {
        let sums = ["impressions", "clicks", "opens"].map { step in
            """
            total(\(step)) FILTER (WHERE \(side)) AS \(prefix)_\(step),
            count(*) FILTER (WHERE \(side) AND \(step) > 0) AS \(prefix)_unique_\(step)
            """
        }
        return (["count(*) FILTER (WHERE \(side)) AS \(prefix)_notifications"] + sums)
            .joined(separator: ",\n")
    }

    private static let inAppSelection = """
        SELECT \(Self.columns), count(DISTINCT subject_id) AS recipients,
            sum(kind = 'in_app_impression') AS impressions, sum(kind = 'in_app_click') AS clicks,
            sum(kind = 'in_app_dismissal') AS dismissals,
            sum(kind = 'in_app_display_error') AS display_errors,
            min(receive_time) AS first, max(receive_time) AS last, max(rowid) AS newest,
            count(*) OVER () AS row_count, sum(count(*)) OVER () AS hit_count
        FROM hits
        WHERE kind IN ('in_app_impression', 'in_app_click', 'in_app_dismissal',
            'in_app_display_error') AND \(ReportQuery.condition)
        GROUP BY delivery_id, app, tenant
        ORDER BY count(*) DESC, tenant, app, delivery_id LIMIT :limit
        """

    /// The campaign's name, which only the event has; read for displayed rows only.
    private static func campaign(ofHit id: Int64, in database: Database) throws -> String? {
        let event = try Data.fetchOne(
            database, sql: "SELECT event FROM hits WHERE rowid = ?", arguments: [id])
        return event?.withUnsafeBytes { bytes in
            // An unreadable event has no name.
            guard let view = try? EventView(bytes), case .inApp(let message) = view.interaction,
                !message.campaignName.isEmpty
            else { return nil }
            return message.campaignName.text
        }
    }
}

extension Report.Section {
    fileprivate init(_ rows: [GRDB.Row], _ make: (GRDB.Row) throws -> Row) rethrows {
        self.rows = try rows.map(make)
        self.count = rows.first?["row_count"] ?? 0
        self.hits = rows.first?["hit_count"] ?? 0
    }
}

extension DeliveryFunnel {
    fileprivate init(_ row: Row) {
        self.init(
            tenant: row["tenant"], app: row["app"],
            product: row["product"] == 1 ? .classic : .standard, deliveryID: row["delivery_id"])
        self.others = FunnelCounts(row, prefix: "others")
        self.ios = FunnelCounts(row, prefix: "ios")
        self.button1 = row["button1"]
        self.button2 = row["button2"]
        self.closes = row["closes"]
        self.firstReceived = row["first"]
        self.lastReceived = row["last"]
    }
}

extension FunnelCounts {
    fileprivate init(_ row: Row, prefix: String) {
        self.init()
        self.notifications = row["\(prefix)_notifications"]
        self.impressions = row["\(prefix)_impressions"]
        self.uniqueImpressions = row["\(prefix)_unique_impressions"]
        self.clicks = row["\(prefix)_clicks"]
        self.uniqueClicks = row["\(prefix)_unique_clicks"]
        self.opens = row["\(prefix)_opens"]
        self.uniqueOpens = row["\(prefix)_unique_opens"]
    }
}

extension InAppFunnel {
    fileprivate init(_ row: Row, campaign: String?) {
        self.init(
            tenant: row["tenant"], app: row["app"], messageID: row["delivery_id"],
            campaign: campaign, recipients: row["recipients"], impressions: row["impressions"],
            clicks: row["clicks"], dismissals: row["dismissals"],
            displayErrors: row["display_errors"], firstReceived: row["first"],
            lastReceived: row["last"])
    }
}
