// SQLite computes the report from the counts, so its time does not grow with the hits.
internal import Foundation
package import GRDB
internal import TrackingRules
internal import WireFormat

extension Report {
    /// The memory for SQLite's page cache and sorting, in KiB.
    private static let cacheKibibytes = 32_768

    /// Counts the hits that `query` selects, in one snapshot of the database. Counts are by the
    /// hour, and older ones by the day or the month, so all of these that the query's times touch
    /// are included.
    ///
    /// - Parameter names: the deliveries' names and recipients. Each of them that has no hit gets a
    ///   row of zeros behind the others.
    /// - Throws: SQLite's error if hits.db cannot be read, `RowDecodingError` if it has values that
    ///   no build has written.
    package init(
        _ query: ReportQuery, names: DeliveryNames? = nil, in database: Database
    ) throws {
        query.prepare(database)
        let steps = try query.steps(in: database)
        let notes = query.notes(by: steps)
        let query = query.whole(by: steps)
        self.query = query
        self.hasNames = names != nil
        try database.execute(sql: "PRAGMA cache_size = -\(Self.cacheKibibytes)")
        let arguments: StatementArguments =
            query.arguments + ["byApp": query.isByApp, "limit": query.limit]
        let deliveries = try Row.fetchAll(
            database, sql: Self.deliverySelection(query.counts), arguments: arguments)
        self.deliveries = try Section(deliveries) { try DeliveryFunnel($0) }
        self.notes = notes + Self.leftOut(self.deliveries.rows)
        let messages = try Row.fetchAll(
            database, sql: Self.inAppSelection(query), arguments: arguments)
        self.inAppMessages = try Section(messages) { try InAppFunnel($0) }
        if let names { try self.add(names, in: database) }
        self.series = try query.step.map { try ReportSeries(query, by: $0, in: database) }
    }

    /// Says how many impressions the figures leave out, if there are any.
    private static func leftOut(_ deliveries: [DeliveryFunnel]) -> [String] {
        let count = deliveries.reduce(0) { $0 + $1.others.nothingShown + $1.ios.nothingShown }
        guard count > 0 else { return [] }
        return [
            "\(ReportNumber.grouped(count)) impressions of payloads that show nothing are left out "
                + "(D63)"
        ]
    }

    /// Adds the names, and the deliveries that have a name and no hit.
    private mutating func add(_ names: DeliveryNames, in database: Database) throws {
        var silent = names.deliveries(of: self.query)
        let counted = try Row.fetchCursor(
            database, sql: Self.idSelection(self.query.counts), arguments: self.query.arguments)
        while let row = try counted.next() {
            func text(_ index: Int) throws -> ExactText {
                let text = try row.decode(Data?.self, atIndex: index) ?? Data()
                return ExactText(String(decoding: text, as: UTF8.self))
            }
            let id = try text(1)
            silent.remove(DeliveryNames.Key(id: id, tenant: ""))
            silent.remove(DeliveryNames.Key(id: id, tenant: try text(0)))
        }
        let room = max(0, self.query.limit - self.deliveries.rows.count)
        self.deliveries.count += silent.count
        self.deliveries.rows += silent.sorted().prefix(room).map { key in
            let tenant = key.tenant.text.isEmpty ? self.query.tenant ?? "" : key.tenant.text
            return DeliveryFunnel(tenant: tenant, deliveryID: key.id.text)
        }
        for index in self.deliveries.rows.indices {
            let row = self.deliveries.rows[index]
            let entry = names[row.deliveryID, of: row.tenant]
            self.deliveries.rows[index].name = entry?.name
            self.deliveries.rows[index].deliveredTotal = entry?.delivered
        }
    }

    /// The tenants and ids of all deliveries and in-app messages with a hit.
    private static func idSelection(_ counts: String) -> String {
        """
        SELECT \(StoredName.text("tenant")), \(StoredName.text("delivery")) FROM
            (SELECT DISTINCT tenant, delivery FROM \(counts) WHERE \(ReportQuery.condition))
        """
    }

    /// Names are looked up last, only for the rows that are shown.
    private static func deliverySelection(_ counts: String) -> String {
        """
        WITH groups AS (
            SELECT tenant, iif(:byApp, app, 0) AS app, delivery, product, kind,
                platform = \(Platform.ios.rawValue) AS ios, sum(hits) AS hits,
                sum(first_hits) AS firsts, sum(notifications) AS notifications,
                min(first_time) AS first, max(last_time) AS last
            FROM \(counts) WHERE product <> \(Product.firebase.rawValue)
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
    }

    private static let texts = ["tenant", "app", "delivery"]
        .map { "\(StoredName.text($0)) AS \($0)_text" }.joined(separator: ", ")

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
        let sends: [(String, HitKind)] = [
            ("sent", .sent), ("failed", .sendFailed), ("skipped", .sendSkipped),
        ]
        let isSend = ReportQuery.isSend
        let others = [
            "sum(notifications * (kind <> 0 AND NOT (\(isSend)) AND \(side))) "
                + "AS \(prefix)_notifications",
            "sum(notifications * (\(isSend) AND \(side))) AS \(prefix)_attempted",
            "sum(hits * (kind = 0 AND \(side))) AS \(prefix)_nothing_shown",
        ]
        return
            (others + sums
            + sends.map { name, kind in "\(Self.hits(kind, side)) AS \(prefix)_\(name)" })
            .joined(separator: ",\n")
    }

    /// The campaign's number is appended to the id of its newest hit, as digits of fixed length:
    /// the maximum belongs to the newest. A join would search all messages for each row, since
    /// SQLite makes no index for it. By occurrence it is the newest of all hits that were received.
    private static func inAppSelection(_ query: ReportQuery) -> String {
        let newest = "max(printf('%019d %d', newest, campaign))"
        let name = "coalesce(named, newest_name)"
        return """
            WITH messages AS (
                SELECT tenant, iif(:byApp, app, 0) AS app, delivery,
                    sum(notifications) AS recipients,
                    \(Self.hits(.inAppImpression)) AS impressions,
                    \(Self.hits(.inAppClick)) AS clicks,
                    \(Self.hits(.inAppDismissal)) AS dismissals,
                    \(Self.hits(.inAppDisplayError)) AS display_errors,
                    \(Self.hits(.inAppTriggered)) AS triggered,
                    \(Self.hits(.inAppSuppressed)) AS suppressed, sum(hits) AS hits,
                    min(first_time) AS first, max(last_time) AS last,
                    \(newest) FILTER (WHERE campaign IS NOT NULL) AS named
                FROM \(query.counts)
                WHERE product = \(Product.firebase.rawValue) AND \(ReportQuery.condition)
                GROUP BY 1, 2, 3),
            shown AS (
                SELECT *, \(Self.texts), count(*) OVER () AS row_count,
                    sum(hits) OVER () AS hit_count
                FROM messages
                ORDER BY hits DESC, tenant_text, app_text, delivery_text LIMIT :limit),
            campaigns AS MATERIALIZED (
                SELECT tenant AS of_tenant, delivery AS of_delivery, \(newest) AS newest_name
                FROM counts WHERE \(query.readsHits) AND campaign IS NOT NULL GROUP BY 1, 2)
            SELECT shown.*, \(StoredName.text("CAST(substr(\(name), 21) AS INTEGER)"))
                AS campaign_text
            FROM shown LEFT JOIN campaigns ON of_tenant = tenant AND of_delivery = delivery
            """
    }
}

// A subscript of a row would trap where a value is NULL or of another type.

extension Report.Section {
    fileprivate init(_ rows: [GRDB.Row], _ make: (GRDB.Row) throws -> Row) throws {
        self.rows = try rows.map(make)
        self.count = try rows.first?.decode(Int.self, forColumn: "row_count") ?? 0
        self.hits = try rows.first?.decode(Int.self, forColumn: "hit_count") ?? 0
    }
}

extension DeliveryFunnel {
    fileprivate init(_ row: Row) throws {
        let isClassic = try row.decode(Int.self, forColumn: "product") == 1
        try self.init(
            tenant: row.decode(String.self, forColumn: "tenant_text"),
            app: row.decode(String?.self, forColumn: "app_text"),
            product: isClassic ? .classic : .standard,
            deliveryID: row.decode(String.self, forColumn: "delivery_text"))
        self.others = try FunnelCounts(row, prefix: "others")
        self.ios = try FunnelCounts(row, prefix: "ios")
        if !isClassic {
            self.others.countDismissals()
            self.ios.countDismissals()
        }
        self.button1 = try row.decode(Int.self, forColumn: "button1")
        self.button2 = try row.decode(Int.self, forColumn: "button2")
        self.closes = try row.decode(Int.self, forColumn: "closes")
        self.firstReceived = try row.decode(Int64.self, forColumn: "first")
        self.lastReceived = try row.decode(Int64.self, forColumn: "last")
    }
}

extension FunnelCounts {
    fileprivate init(_ row: Row, prefix: String) throws {
        func count(_ step: String) throws -> Int {
            try row.decode(Int.self, forColumn: "\(prefix)_\(step)")
        }
        self.init()
        self.notifications = try count("notifications")
        self.impressions = try count("impressions")
        self.uniqueImpressions = try count("unique_impressions")
        self.clicks = try count("clicks")
        self.uniqueClicks = try count("unique_clicks")
        self.opens = try count("opens")
        self.uniqueOpens = try count("unique_opens")
        self.attempted = try count("attempted")
        self.sent = try count("sent")
        self.failed = try count("failed")
        self.skipped = try count("skipped")
        self.nothingShown = try count("nothing_shown")
    }
}

extension InAppFunnel {
    fileprivate init(_ row: Row) throws {
        try self.init(
            tenant: row.decode(String.self, forColumn: "tenant_text"),
            app: row.decode(String?.self, forColumn: "app_text"),
            messageID: row.decode(String.self, forColumn: "delivery_text"),
            campaign: row.decode(String?.self, forColumn: "campaign_text"),
            recipients: row.decode(Int.self, forColumn: "recipients"),
            impressions: row.decode(Int.self, forColumn: "impressions"),
            clicks: row.decode(Int.self, forColumn: "clicks"),
            dismissals: row.decode(Int.self, forColumn: "dismissals"),
            displayErrors: row.decode(Int.self, forColumn: "display_errors"),
            triggered: row.decode(Int.self, forColumn: "triggered"),
            suppressed: row.decode(Int.self, forColumn: "suppressed"),
            firstReceived: row.decode(Int64.self, forColumn: "first"),
            lastReceived: row.decode(Int64.self, forColumn: "last"))
    }
}
