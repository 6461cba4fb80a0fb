"""The table's columns: a row is a hit, with what its event says.

Names and meanings are those of the view `details` of hits.db (docs/hits.md), except that custom
fields are maps here. A new column is added at the end, and is null in older rows.
"""

import pyarrow as pa

TEXT = pa.string()
TIME = pa.timestamp("us", tz="UTC")
MAP = pa.map_(pa.string(), pa.string())

# A folder for each tenant, and in it one for each day of receipt: late events only append.
PARTITIONS = ("tenant", "receive_date")

SCHEMA = pa.schema([
    ("tenant", TEXT),
    ("receive_date", pa.date32()),
    ("receive_time", TIME),
    ("occur_time", TIME),
    ("hit_id", pa.binary()),
    ("kind", TEXT),
    ("campaign_action", pa.int32()),
    ("product", TEXT),
    ("delivery_id", TEXT),
    ("broadlog_id", TEXT),
    ("app_id", TEXT),
    ("platform", TEXT),
    ("subject_id", TEXT),
    ("warnings", TEXT),
    ("source", TEXT),
    ("traceparent", TEXT),
    ("tracestate", TEXT),
    ("event_id", TEXT),
    ("app_version", TEXT),
    ("os_version", TEXT),
    ("sdk_version", TEXT),
    ("consent", TEXT),
    ("interaction", TEXT),
    ("button", TEXT),
    ("link", TEXT),
    ("app_state", TEXT),
    ("custom", MAP),
    ("payload", TEXT),
    ("campaign_name", TEXT),
    ("trigger_event", TEXT),
    ("trigger_kind", TEXT),
    ("layout", TEXT),
    ("dismissal", TEXT),
    ("error", TEXT),
    ("app_data", MAP),
    ("send_reason", TEXT),
    ("provider_code", TEXT),
    ("provider_message_id", TEXT),
    ("attempt", pa.int32()),
    ("display", TEXT),
    ("event", pa.binary()),
])
