-- The columns that a hit has for people, with no index at all: what SQLite itself can do.
PRAGMA page_size = 8192;
PRAGMA cache_size = -131072;
PRAGMA journal_mode = WAL;
PRAGMA wal_autocheckpoint = 32768;
PRAGMA synchronous = FULL;
CREATE TABLE hits (
    hit_id BLOB NOT NULL, kind TEXT NOT NULL, campaign_action INTEGER NOT NULL,
    delivery_id TEXT NOT NULL, broadlog_id TEXT NOT NULL, app_id TEXT, platform TEXT,
    subject_id TEXT, occur_time INTEGER, receive_time INTEGER NOT NULL, tenant TEXT NOT NULL,
    traceparent TEXT, tracestate TEXT, warnings TEXT NOT NULL, event BLOB NOT NULL);
