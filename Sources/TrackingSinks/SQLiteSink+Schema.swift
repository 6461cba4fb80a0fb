// The tables of hits.db, for people and reports.
internal import GRDB

extension SQLiteSink {
    /// The version of hits.db.
    package static let formatVersion = 1

    /// hit_id is random, so each row dirties a page of its index: a long log and a large cache
    /// write such a page once for many rows (measured: 145,000 rows/s instead of 85,000 with
    /// SQLite's own 4 KiB, 4 MiB and 64 MiB).
    static let format = DataFile.Format(
        version: formatVersion,
        settings: """
            PRAGMA page_size = 8192;
            PRAGMA cache_size = -131072;
            PRAGMA journal_mode = WAL;
            PRAGMA wal_autocheckpoint = 32768;
            """
    ) { try $0.execute(sql: schema) }

    /// `hit_id` is unique: beyond the window of recent hits too, a fact counts once here.
    ///
    /// `funnel` leaves iOS out of its ratios, since iOS does not report every impression (D20).
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
        CREATE VIEW IF NOT EXISTS funnel AS
            WITH counts AS (
                SELECT tenant, delivery_id,
                    sum(kind = 'impression' AND platform IS NOT 'ios') AS impressions,
                    sum(kind = 'impression' AND platform IS 'ios') AS impressions_ios,
                    sum(kind = 'click' AND platform IS NOT 'ios') AS clicks,
                    sum(kind = 'click' AND platform IS 'ios') AS clicks_ios,
                    sum(kind = 'open' AND platform IS NOT 'ios') AS opens,
                    sum(kind = 'open' AND platform IS 'ios') AS opens_ios
                FROM hits WHERE kind IN ('impression', 'click', 'open')
                GROUP BY tenant, delivery_id)
            SELECT *,
                round(1.0 * clicks / nullif(impressions, 0), 4) AS click_ratio,
                round(1.0 * opens / nullif(impressions, 0), 4) AS open_ratio
            FROM counts;
        """
}
