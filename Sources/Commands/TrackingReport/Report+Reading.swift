// SQLite computes the report from the counts, so its time does not grow with the hits.
package import GRDB
internal import TrackingRules

extension Report {
    /// The memory for SQLite's page cache and sorting, in KiB.
    private static let cacheKibibytes = 32_768

    /// Counts the hits that `query` selects, in one snapshot of the database. Counts are by the
    /// hour, so all hours that the query's times touch are included.
    ///
    /// - Throws: SQLite's error if hits.db cannot be read.
    package init(_ query: ReportQuery, in database: Database) throws {
        let query = query.inWholeHours
        self.query = query
        try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKibibytes)")
        let arguments: StatementArguments =
            query.arguments + ["byApp": query.isByApp, "limit": query.limit]
        let deliveries = try Row.fetchAll(
            database, sql: Self.deliverySelection, arguments: arguments)
        self.deliveries = Section(deliveries) { DeliveryFunnel($0) }
        let messages = try Row.fetchAll(
            database, sql: Self.inAppSelection, arguments: arguments)
        self.inAppMessages = Section(messages) { InAppFunnel($0) }
    }

    /// Names are looked up last, only for the rows that are shown.
    private static let deliverySelection = """
        WITH groups AS (
            SELECT tenant, iif(:byApp, app, 0) AS app, delivery, product, kind,
                platform = \(Platform.ios.rawValue) AS ios, sum(hits) AS hits,
                sum(first_hits) AS firsts, sum(notifications) AS notifications,
                min(first_time) AS first, max(last_time) AS last
            FROM counts WHERE product <> \(Product.firebase.rawValue)
                AND \(ReportQuery.condition)
            GROUP BY 1, 2, 3, 4, 5, 6),
        deliveries AS (
            SELECT tenant, app, delivery, product,
                \(Self.counts("NOT ios", prefix: "others")), \(Self.counts("ios", prefix: "ios")),
                \(Self.hits(.button1)) AS button1, \(Self.hits(.button2)) AS button2,
                \(Self.hits(.close)) AS closes, min(first) AS first, max(last) AS last,
                sum(hits) AS hits
            FROM groups GROUP BY tenant, app, delivery, product)
        SELECT *, \(Self.texts), count(*) OVER () AS row_count, sum(hits) OVER () AS hit_count
        FROM deliveries
        ORDER BY hits DESC, tenant_text, app_text, delivery_text, product LIMIT :limit
        """

    private static let texts = ["tenant", "app", "delivery"]
        .map { "(SELECT text FROM names WHERE id = \($0)) AS \($0)_text" }.joined(separator: ", ")

    private static func hits(_ kind: HitKind, _ side: String = "1") -> String {
        "sum(hits * (kind = \(kind.rawValue) AND \(side)))"
    }

    private static func counts(_ side: String, prefix: String) -> String {
        let steps: [(String, HitKind)] = [
            ("impressions", .impression), ("clicks", .click), ("opens", .open),
        ]
        let sums = steps.map { step, kind in
            """
            \(Self.hits(kind, side)) AS \(prefix)_\(step),
            sum(firsts * (kind = \(kind.rawValue) AND \(side))) AS \(prefix)_unique_\(step)
            """
        }
        return (["sum(notifications * (\(side))) AS \(prefix)_notifications"] + sums)
            .joined(separator: ",\n")
    }

    /// The campaign's number is appended to the id of its newest hit, as digits of fixed length:
    /// the maximum belongs to the newest. A join would search all messages for each row, since
    /// SQLite makes no index for it.
    private static let inAppSelection = """
        WITH messages AS (
            SELECT tenant, iif(:byApp, app, 0) AS app, delivery, sum(notifications) AS recipients,
                \(Self.hits(.inAppImpression)) AS impressions,
                \(Self.hits(.inAppClick)) AS clicks,
                \(Self.hits(.inAppDismissal)) AS dismissals,
                \(Self.hits(.inAppDisplayError)) AS display_errors, sum(hits) AS hits,
                min(first_time) AS first, max(last_time) AS last,
                max(printf('%019d %d', newest, campaign))
                    FILTER (WHERE campaign IS NOT NULL) AS named
            FROM counts WHERE product = \(Product.firebase.rawValue) AND \(ReportQuery.condition)
            GROUP BY 1, 2, 3),
        shown AS (
            SELECT *, \(Self.texts), count(*) OVER () AS row_count,
                sum(hits) OVER () AS hit_count
            FROM messages ORDER BY hits DESC, tenant_text, app_text, delivery_text LIMIT :limit)
        SELECT *, (SELECT text FROM names WHERE id = CAST(substr(named, 21) AS INTEGER))
            AS campaign_text
        FROM shown
        """
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
            tenant: row["tenant_text"], app: row["app_text"],
            product: row["product"] == 1 ? .classic : .standard, deliveryID: row["delivery_text"])
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
    fileprivate init(_ row: Row) {
        self.init(
            tenant: row["tenant_text"], app: row["app_text"], messageID: row["delivery_text"],
            campaign: row["campaign_text"], recipients: row["recipients"],
            impressions: row["impressions"],
            clicks: row["clicks"], dismissals: row["dismissals"],
            displayErrors: row["display_errors"], firstReceived: row["first"],
            lastReceived: row["last"])
    }
}
