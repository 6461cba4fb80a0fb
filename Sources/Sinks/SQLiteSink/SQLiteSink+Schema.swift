internal import GRDB
internal import Storage

extension SQLiteSink {
    /// The format of hits.db.
    package static let formatVersion = 1

    /// Rows are only appended, so the log may be long: a page is then written once for many rows.
    /// `FAST`, because Debian's SQLite by default overwrites each freed page with zeros, and so
    /// would write a whole partition again when it is dropped.
    static let format = DataFile.Format(
        version: formatVersion,
        settings: """
            PRAGMA page_size = 8192;
            PRAGMA cache_size = -131072;
            PRAGMA journal_mode = WAL;
            PRAGMA secure_delete = FAST;
            PRAGMA wal_autocheckpoint = 32768;
            """,
        views: ["funnel": funnel, "details": HitDetails.view], create: create)

    @Sendable private static func create(_ database: Database) throws {
        try database.execute(
            sql: HitPartitions.schema + HitNames.schema + HitCounts.schema + HitIndex.schema
                + HitBounds.schema + """
                    CREATE TABLE cursor (
                        journal TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
                    """)
        try HitViews.refresh(in: database, partitions: [])
    }

    /// Computed from the counts. The figures are those of `sightline report` (docs/figures.md):
    /// ratios of notifications per notification with an impression, without iOS, which does not
    /// report every impression (D20), and rates per notification that a push service took. Where no
    /// sender has reported anything, what was sent is NULL.
    private static let funnel = """
        CREATE VIEW funnel AS
            WITH steps AS (
                SELECT tenant, delivery, kind, platform IS 2 AS ios, product = 0 AS standard,
                    sum(hits) AS hits, sum(first_hits) AS firsts,
                    sum(notifications) AS notifications
                FROM counts WHERE kind IN (1, 2, 3, 11, 12, 13)
                GROUP BY tenant, delivery, kind, ios, standard),
            funnels AS (
                SELECT tenant, delivery,
                    sum(hits * (kind = 1 AND NOT ios)) AS impressions,
                    sum(hits * (kind = 1 AND ios)) AS impressions_ios,
                    sum(hits * (kind = 2 AND NOT ios)) AS clicks,
                    sum(hits * (kind = 2 AND ios)) AS clicks_ios,
                    sum(hits * (kind = 3 AND NOT ios)) AS opens,
                    sum(hits * (kind = 3 AND ios)) AS opens_ios,
                    sum(firsts * (kind = 1 AND NOT ios)) AS shown,
                    sum(firsts * (kind = 2 AND NOT ios)) AS clicked,
                    sum(firsts * (kind = 3 AND NOT ios)) AS opened,
                    sum(notifications) FILTER (WHERE kind >= 11) AS attempted,
                    sum(hits * (kind = 11)) FILTER (WHERE kind >= 11) AS sent,
                    sum(hits * (kind = 11 AND ios)) AS sent_ios,
                    sum(hits * (kind = 11 AND standard)) AS sent_standard,
                    sum(hits * (kind = 12)) FILTER (WHERE kind >= 11) AS failed,
                    sum(hits * (kind = 13)) FILTER (WHERE kind >= 11) AS skipped
                FROM steps GROUP BY tenant, delivery)
            SELECT (SELECT text FROM names WHERE id = tenant) AS tenant,
                (SELECT text FROM names WHERE id = delivery) AS delivery_id,
                impressions, impressions_ios, clicks, clicks_ios, opens, opens_ios,
                round(1.0 * clicked / nullif(shown, 0), 4) AS click_ratio,
                round(1.0 * opened / nullif(shown, 0), 4) AS open_ratio,
                attempted, sent, failed, skipped,
                round(1.0 * sent / nullif(attempted, 0), 4) AS delivered_rate,
                round(1.0 * impressions / nullif(sent - sent_ios, 0), 4)
                    AS impressions_of_delivered,
                round(1.0 * (opens + opens_ios) / nullif(sent_standard, 0), 4) AS open_rate,
                round(1.0 * (clicks + clicks_ios) / nullif(sent, 0), 4) AS click_through_rate
            FROM funnels
        """
}
