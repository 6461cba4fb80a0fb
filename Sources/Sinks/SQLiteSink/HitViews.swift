internal import GRDB
internal import TrackingRules

/// The views of hits.db: `stored_hits` joins the rows of all partitions, without those that an
/// erasure has overwritten, and `hits` replaces their numbers by texts.
enum HitViews {
    /// Updates the views to the present partitions; does nothing if they are up to date.
    ///
    /// - Throws: SQLite's error.
    static func refresh(in database: Database, partitions: [HitPartitions.Partition]) throws {
        for (name, sql) in [("stored_hits", Self.stored(partitions)), ("hits", Self.hits)] {
            let known = try String.fetchOne(
                database, sql: "SELECT sql FROM sqlite_master WHERE name = ?", arguments: [name])
            guard known != sql else { continue }
            try database.execute(sql: "DROP VIEW IF EXISTS \(name); \(sql)")
        }
    }

    /// Selects the rows of one partition, with the columns of the view `hits`, as a subquery.
    static func rows(of partition: Int64) -> String {
        "(SELECT \(Self.columns) FROM (\(Self.stored(in: "hits_\(partition)"))))"
    }

    private static func stored(_ partitions: [HitPartitions.Partition]) -> String {
        let arms = partitions.map { Self.stored(in: "hits_\($0.id)") }
        // A view needs columns, so without partitions it selects an empty row and leaves it out.
        let none = """
            SELECT NULL AS id, NULL AS hit_id, NULL AS kind, NULL AS product, NULL AS delivery,
                NULL AS broadlog_id, NULL AS app, NULL AS platform, NULL AS subject_id,
                NULL AS occur_time, NULL AS receive_time, NULL AS tenant, NULL AS traceparent,
                NULL AS tracestate, NULL AS warnings, NULL AS event WHERE 0
            """
        return "CREATE VIEW stored_hits AS "
            + (arms.isEmpty ? none : arms.joined(separator: " UNION ALL "))
    }

    private static func stored(in table: String) -> String {
        """
        SELECT id, hit_id, kind, product, delivery, broadlog_id, app, platform, subject_id,
            occur_time, receive_time, tenant,
            \(Self.shared("traceparent", by: "traceparent", in: table)),
            \(Self.shared("tracestate", by: "traceparent", in: table)), warnings,
            \(Self.shared("event", by: "event", in: table))
        FROM \(table) AS hit WHERE hit_id <> zeroblob(16)
        """
    }

    /// A column whose value rows may share. A row that shares an earlier row's value has the
    /// integer `reference`: the distance in ids to that row.
    private static func shared(_ column: String, by reference: String, in table: String) -> String {
        """
        CASE typeof(\(reference)) WHEN 'integer' THEN
            (SELECT \(column) FROM \(table) WHERE id = hit.id - hit.\(reference))
            ELSE \(column) END AS \(column)
        """
    }

    private static func text(_ column: String) -> String {
        "(SELECT text FROM names WHERE names.id = \(column))"
    }

    private static let kinds = HitKind.allCases.map { "WHEN \($0.rawValue) THEN '\($0.name)'" }
        .joined(separator: " ")

    private static let platforms = Platform.allCases.map {
        "WHEN \($0.rawValue) THEN '\($0.name)'"
    }.joined(separator: " ")

    /// The products' own numbers of actions, by product and kind.
    private static let actions = [Product.standard, .classic].flatMap { product in
        HitKind.allCases.map { (product, $0, $0.campaignAction(of: product)) }
    }.filter { $0.2 > 0 }.map { product, kind, action in
        "WHEN \(product.rawValue << 4 | kind.rawValue) THEN \(action)"
    }.joined(separator: " ")

    private static let hits = "CREATE VIEW hits AS SELECT \(columns) FROM stored_hits"

    private static let columns = """
        hit_id, CASE kind \(Self.kinds) END AS kind,
            CASE product << 4 | kind \(Self.actions) ELSE 0 END AS campaign_action,
            \(Self.text("delivery")) AS delivery_id, broadlog_id, \(Self.text("app")) AS app_id,
            CASE platform \(Self.platforms) END AS platform, subject_id,
            occur_time, receive_time, \(Self.text("tenant")) AS tenant,
            \(PackedTrace.unpacking) AS traceparent, tracestate,
            coalesce(\(Self.text("warnings")), '') AS warnings, event, id AS rowid
        """
}
