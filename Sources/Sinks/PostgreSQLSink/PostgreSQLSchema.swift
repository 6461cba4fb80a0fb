internal import TrackingRules

/// The tables and views of the postgresql sink, as SQL. The sink runs it, or an operator does with
/// what `sightline sinks sql postgresql` prints.
package struct PostgreSQLSchema: Sendable {
    /// The version of the tables.
    package static let formatVersion = 1
    /// The schema's name, without quotes.
    package let name: String

    /// The tables in a schema whose name `isName` takes.
    package init(_ name: String) { self.name = name }

    /// Whether a text can be the schema's name: lower-case letters, digits and `_`, so that nobody
    /// has to quote it.
    package static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= 63 else { return false }
        return !(0x30...0x39).contains(first) && !text.hasPrefix("pg_")
            && text.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte)
                    || byte == UInt8(ascii: "_")
            }
    }

    /// A table, view or sequence with its schema.
    package func qualified(_ relation: String) -> String { "\"\(self.name)\".\(relation)" }

    /// A column that the sink fills.
    package struct Column: Sendable {
        /// Its name.
        package let name: String
        /// Its type and constraint.
        package let type: String

        fileprivate init(_ name: String, _ type: String) {
            (self.name, self.type) = (name, type)
        }
    }

    /// The columns in the order in which the sink writes them.
    package static let columns = [
        Column("day", "date NOT NULL"), Column("hit_id", "uuid NOT NULL"),
        Column("kind", "smallint NOT NULL"), Column("product", "smallint NOT NULL"),
        Column("platform", "smallint"), Column("delivery_id", "text NOT NULL"),
        Column("broadlog_id", "text NOT NULL"), Column("app_id", "text"),
        Column("subject_id", "text"), Column("occurred_at", "timestamptz"),
        Column("received_at", "timestamptz NOT NULL"), Column("tenant", "text NOT NULL"),
        Column("traceparent", "text"), Column("tracestate", "text"),
        Column("warnings", "text NOT NULL"), Column("event", "bytea NOT NULL"),
    ]

    /// Their names, with commas between them.
    package static let columnNames = Self.columns.map(\.name).joined(separator: ", ")

    /// Creates what is missing; changes nothing that is there.
    package var creation: String {
        let columns = Self.columns.map { "\($0.name) \($0.type)" }.joined(separator: ",\n    ")
        return """
            CREATE SCHEMA IF NOT EXISTS "\(self.name)";
            CREATE SEQUENCE IF NOT EXISTS \(self.qualified("hits_rowid")) CACHE 1000;
            CREATE TABLE IF NOT EXISTS \(self.qualified("stored_hits")) (
                \(columns),
                rowid bigint NOT NULL DEFAULT nextval('\(self.qualified("hits_rowid"))'),
                PRIMARY KEY (hit_id, day)
            ) PARTITION BY RANGE (day);
            CREATE TABLE IF NOT EXISTS \(self.qualified("cursor")) (
                journal text PRIMARY KEY, sequence bigint NOT NULL, hit_id uuid,
                changed_at timestamptz NOT NULL) WITH (fillfactor = 20);
            \(self.views.map(\.creation).joined(separator: "\n"))
            CREATE TABLE IF NOT EXISTS \(self.qualified("format")) (version integer NOT NULL);
            INSERT INTO \(self.qualified("format")) SELECT \(Self.formatVersion)
            WHERE NOT EXISTS (SELECT FROM \(self.qualified("format")));
            """
    }

    /// What a session copies into before rows may be there already. It ends with the session.
    package static let stage = "pg_temp.sightline_stage"

    /// Creates the stage.
    package static var stageCreation: String {
        let columns = Self.columns.map { "\($0.name) \($0.type)" }.joined(separator: ", ")
        return "CREATE TEMP TABLE sightline_stage (\(columns)) ON COMMIT DELETE ROWS"
    }
}

extension PostgreSQLSchema {
    /// What partitions' names begin with.
    private static let prefix = "hits_"

    /// The name of a day's partition.
    package static func partition(_ day: CalendarDay) -> String {
        Self.prefix + day.text.filter { $0 != "-" }
    }

    /// The day of a partition; nil if no build has made it.
    package static func day(ofPartition name: String) -> CalendarDay? {
        guard name.hasPrefix(Self.prefix) else { return nil }
        return CalendarDay(compact: name.dropFirst(Self.prefix.count))
    }

    private func bounds(_ day: CalendarDay) -> String {
        "FOR VALUES FROM ('\(day.text)') TO ('\(day.next.text)')"
    }

    /// Creates a day's partition unless it is there. It waits for every session that uses the
    /// table: for an operator's script.
    package func partitionCreation(_ day: CalendarDay) -> String {
        "CREATE TABLE IF NOT EXISTS \(self.qualified(Self.partition(day))) "
            + "PARTITION OF \(self.qualified("stored_hits")) \(self.bounds(day));"
    }

    /// Creates a day's partition and attaches it: readers and writers of the table go on.
    package func partitionAttachment(_ day: CalendarDay) -> String {
        let (table, whole) = (
            self.qualified(Self.partition(day)), self.qualified("stored_hits")
        )
        return """
            CREATE TABLE \(table) (LIKE \(whole) INCLUDING ALL);
            ALTER TABLE \(whole) ATTACH PARTITION \(table) \(self.bounds(day))
            """
    }
}

extension PostgreSQLSchema {
    /// The view with the columns of hits.db, and four of its own. A session's zone may take a time
    /// within a day of either end of a Timestamp out of the years 1 to 9999, and drivers that know
    /// no others fail at it, and with it at all other rows.
    var hits: String {
        """
        CREATE OR REPLACE VIEW \(self.qualified("hits")) AS
        SELECT hit_id, CASE kind \(Self.kinds) END AS kind,
            CASE product * 16 + kind \(Self.actions) ELSE 0 END AS campaign_action,
            delivery_id, broadlog_id, app_id,
            CASE platform \(Self.platforms) END AS platform, subject_id,
            (extract(epoch FROM occurred_at) * 1000000)::bigint AS occur_time,
            (extract(epoch FROM received_at) * 1000000)::bigint AS receive_time,
            tenant, traceparent, tracestate, warnings, event, rowid,
            day, CASE WHEN occurred_at >= '0001-01-02 00:00:00+00'::timestamptz
                AND occurred_at < '9999-12-31 00:00:00+00'::timestamptz
                THEN occurred_at END AS occurred_at,
            received_at, CASE product \(Self.products) END AS product
        FROM \(self.qualified("stored_hits"));
        """
    }

    /// The view of hits.db, counted from the rows (docs/figures.md). Ratios are of notifications,
    /// per notification with an impression, and without iOS, which does not report every
    /// impression (D20); rates are per notification that a push service took. An impression of a
    /// payload that shows nothing is none (D63). New columns stand last, so that the view of an
    /// earlier build can be replaced.
    var funnel: String {
        func sum(_ kind: HitKind, _ side: String) -> String {
            "coalesce(sum(hits) FILTER (WHERE kind = \(kind.rawValue) AND \(side)), 0)::bigint"
        }
        func unique(_ kind: HitKind) -> String {
            "count(*) FILTER (WHERE kind = \(kind.rawValue) AND NOT ios)"
        }
        return """
            CREATE OR REPLACE VIEW \(self.qualified("funnel")) AS
            WITH notifications AS (
                SELECT tenant, delivery_id, product, app_id, broadlog_id, kind,
                    platform IS NOT DISTINCT FROM \(Platform.ios.rawValue) AS ios,
                    count(*) AS hits
                FROM \(self.qualified("stored_hits")) WHERE kind IN (1, 2, 3, 11, 12, 13)
                    AND NOT (kind = 1 AND warnings LIKE '%nothing_shown%')
                GROUP BY 1, 2, 3, 4, 5, 6, 7),
            figures AS (
                SELECT tenant, delivery_id, bool_or(kind >= 11) AS has_sends,
                    \(sum(.impression, "NOT ios")) AS impressions,
                    \(sum(.impression, "ios")) AS impressions_ios,
                    \(sum(.click, "NOT ios")) AS clicks, \(sum(.click, "ios")) AS clicks_ios,
                    \(sum(.open, "NOT ios")) AS opens, \(sum(.open, "ios")) AS opens_ios,
                    \(unique(.impression)) AS shown, \(unique(.click)) AS clicked,
                    \(unique(.open)) AS opened,
                    count(DISTINCT (product, app_id, broadlog_id))
                        FILTER (WHERE kind IN (11, 12)) AS attempted,
                    \(sum(.sent, "true")) AS sent, \(sum(.sent, "NOT ios")) AS sent_others,
                    \(sum(.sent, "product = 0")) AS sent_standard,
                    \(sum(.sendFailed, "true")) AS failed,
                    \(sum(.sendSkipped, "true")) AS skipped
                FROM notifications GROUP BY tenant, delivery_id)
            SELECT tenant, delivery_id,
                impressions, impressions_ios, clicks, clicks_ios, opens, opens_ios,
                round(1.0 * clicked / nullif(shown, 0), 4) AS click_ratio,
                round(1.0 * opened / nullif(shown, 0), 4) AS open_ratio,
                CASE WHEN has_sends THEN attempted END AS attempted,
                CASE WHEN has_sends THEN sent END AS sent,
                CASE WHEN has_sends THEN failed END AS failed,
                CASE WHEN has_sends THEN skipped END AS skipped,
                round(1.0 * sent / nullif(attempted, 0), 4) AS delivered_rate,
                round(1.0 * impressions / nullif(sent_others, 0), 4) AS impressions_of_delivered,
                round(1.0 * (opens + opens_ios) / nullif(sent_standard, 0), 4) AS open_rate,
                round(1.0 * (clicks + clicks_ios) / nullif(sent, 0), 4) AS click_through_rate
            FROM figures;
            """
    }

    /// A view that a later build may replace.
    struct View {
        /// Its name, without the schema.
        let name: String
        /// Creates or replaces it.
        let creation: String
        /// What an earlier build's lacks.
        fileprivate let words: [String]

        /// Whether the text of a view, as the server has it, is as this build makes it.
        func isCurrent(_ definition: String) -> Bool {
            self.words.allSatisfy { definition.contains($0) }
        }
    }

    /// The views: `hits` names each kind of hit, `funnel` has all figures.
    var views: [View] {
        [
            View(
                name: "hits", creation: self.hits,
                words: HitKind.allCases.map { "'\($0.name)'" } + ["occurred_at >="]),
            View(
                name: "funnel", creation: self.funnel,
                words: ["click_through_rate", "nothing_shown"]),
        ]
    }

    private static let kinds = HitKind.allCases.map { "WHEN \($0.rawValue) THEN '\($0.name)'" }
        .joined(separator: " ")

    private static let platforms = Platform.allCases.map {
        "WHEN \($0.rawValue) THEN '\($0.name)'"
    }.joined(separator: " ")

    private static let products = Product.allCases.map {
        "WHEN \($0.rawValue) THEN '\($0.name)'"
    }.joined(separator: " ")

    /// The products' own numbers, by product and kind.
    private static let actions = [Product.standard, .classic].flatMap { product in
        HitKind.allCases.map { (product, $0, $0.campaignAction(of: product)) }
    }.filter { $0.2 > 0 }.map { product, kind, action in
        "WHEN \(product.rawValue * 16 + kind.rawValue) THEN \(action)"
    }.joined(separator: " ")
}
