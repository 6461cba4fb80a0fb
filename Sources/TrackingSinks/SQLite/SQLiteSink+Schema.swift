internal import GRDB

extension SQLiteSink {
    /// The version of hits.db.
    package static let formatVersion = 1

    /// hit_id is random, so that each row dirties a page of its index. A long log and a large cache
    /// write such a page once for many rows (measured: 145,000 rows/s instead of 85,000 with
    /// SQLite's defaults of 4 KiB, 4 MiB and 64 MiB).
    static let format = DataFile.Format(
        version: formatVersion,
        settings: """
            PRAGMA page_size = 8192;
            PRAGMA cache_size = -131072;
            PRAGMA journal_mode = WAL;
            PRAGMA wal_autocheckpoint = 32768;
            """,
        views: ["funnel": funnel]
    ) { try $0.execute(sql: schema) }

    /// `hit_id` is unique: a hit counts once here even beyond the deduplication window.
    private static let schema = """
        CREATE TABLE IF NOT EXISTS hits (
            hit_id BLOB NOT NULL UNIQUE,
            kind TEXT NOT NULL,
            campaign_action INTEGER NOT NULL,
            delivery_id TEXT NOT NULL,
            broadlog_id TEXT NOT NULL,
            app_id TEXT,
            platform TEXT,
            subject_id TEXT,
            occur_time INTEGER,
            receive_time INTEGER NOT NULL,
            tenant TEXT NOT NULL,
            traceparent TEXT,
            tracestate TEXT,
            warnings TEXT NOT NULL,
            event BLOB NOT NULL);
        CREATE TABLE IF NOT EXISTS cursor (
            journal TEXT PRIMARY KEY, sequence INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// The ratios are those of `sightline report`: of notifications, per notification with an
    /// impression, and without iOS, which does not report every impression (D20).
    private static let funnel = """
        CREATE VIEW funnel AS
            WITH notifications AS (
                SELECT tenant, delivery_id, platform IS 'ios' AS ios,
                    sum(kind = 'impression') AS impressions, sum(kind = 'click') AS clicks,
                    sum(kind = 'open') AS opens
                FROM hits WHERE kind IN ('impression', 'click', 'open')
                GROUP BY broadlog_id, delivery_id, ios, tenant),
            counts AS (
                SELECT tenant, delivery_id,
                    sum(impressions * (NOT ios)) AS impressions,
                    sum(impressions * ios) AS impressions_ios,
                    sum(clicks * (NOT ios)) AS clicks, sum(clicks * ios) AS clicks_ios,
                    sum(opens * (NOT ios)) AS opens, sum(opens * ios) AS opens_ios,
                    sum(NOT ios AND impressions > 0) AS shown,
                    sum(NOT ios AND clicks > 0) AS clicked, sum(NOT ios AND opens > 0) AS opened
                FROM notifications GROUP BY tenant, delivery_id)
            SELECT tenant, delivery_id, impressions, impressions_ios, clicks, clicks_ios, opens,
                opens_ios, round(1.0 * clicked / nullif(shown, 0), 4) AS click_ratio,
                round(1.0 * opened / nullif(shown, 0), 4) AS open_ratio
            FROM counts
        """
}
