"""The table's columns: a row is a hit, with what its event says.

Names and meanings are those of the view `details` of hits.db (docs/hits.md), except that custom
fields are maps here. A new column is added at the end, and is null in older rows.
"""

from typing import NamedTuple

import pyarrow as pa

from .v1 import event_pb2 as event
from .v1 import verdict_pb2 as verdict
from .values import (Read, date, either, first, first_map, interaction, joined, names, plain,
                     platform, product, stated, text)

TEXT = pa.string()
TIME = pa.timestamp("us", tz="UTC")
MAP = pa.map_(pa.string(), pa.string())

# A folder for each tenant, and in it one for each day of receipt: late events only append.
PARTITIONS = ("tenant", "receive_date")
# Statistics of columns that tell nothing of a recipient: they stay in the log after an erasure.
MEASURED = ("receive_time", "occur_time", "kind", "product", "delivery_id", "app_id", "platform",
            "app_version")

KIND = names(verdict.HitKind, "HIT_KIND_")
PUSH = names(event.PushInteractionKind, "PUSH_INTERACTION_KIND_")
PRODUCT = names(event.CampaignProduct, "CAMPAIGN_PRODUCT_", {0: "standard"})
PLATFORM = names(event.Platform, "PLATFORM_")
SHOWN = names(event.InAppRenderErrorReason, "IN_APP_RENDER_ERROR_REASON_", {3: "image_format"})
FETCHED = names(event.InAppFetchErrorReason, "IN_APP_FETCH_ERROR_REASON_",
                {1: "fetch_server", 2: "fetch_client", 3: "fetch_network"})


class Column(NamedTuple):
    """A column, and the fields of TrackingRecord that it is read from."""

    name: str
    type: pa.DataType
    read: Read
    fields: tuple[str, ...]


def column(name: str, kind: pa.DataType, read: Read, *fields: str) -> Column:
    """A column that is read from these fields, or from the one of its name."""
    return Column(name, kind, read, fields or (name,))


COLUMNS = (
    column("tenant", TEXT, plain),
    column("receive_date", pa.date32(), date, "receive_time"),
    column("receive_time", TIME, plain),
    column("occur_time", TIME, stated, "event.occur_time"),
    column("hit_id", pa.binary(), plain),
    column("kind", TEXT, KIND),
    column("campaign_action", pa.int32(), plain),
    column("product", TEXT, product(PRODUCT), "event.in_app", "event.push.product",
           "event.track_action.product", "event.push_send.product"),
    column("delivery_id", TEXT, plain),
    column("broadlog_id", TEXT, plain),
    column("app_id", TEXT, plain, "event.app_id"),
    column("platform", TEXT, platform(PLATFORM), "event.push.apns", "event.push.fcm",
           "event.platform"),
    column("subject_id", TEXT, stated, "event.subject_id"),
    column("warnings", TEXT, joined(names(verdict.Warning, "WARNING_"))),
    column("source", TEXT, names(event.EventSource, "EVENT_SOURCE_", {0: "api"})),
    column("traceparent", TEXT, stated, "trace_context.traceparent"),
    column("tracestate", TEXT, stated, "trace_context.tracestate"),
    column("event_id", TEXT, stated, "event.event_id"),
    column("app_version", TEXT, stated, "event.app_version"),
    column("os_version", TEXT, stated, "event.os_version"),
    column("sdk_version", TEXT, stated, "event.sdk_version"),
    column("consent", TEXT, names(event.Consent, "CONSENT_"), "event.consent"),
    column("interaction", TEXT, interaction(KIND, PUSH), "kind", "event.track_action",
           "event.push.kind"),
    column("button", TEXT, first, "event.push.action_identifier", "event.in_app.click.action_text"),
    column("link", TEXT, first, "event.push.apns.uri", "event.push.fcm.data.uri",
           "event.in_app.click.action_url"),
    column("app_state", TEXT, names(event.AppState, "APP_STATE_"), "event.push.app_state"),
    column("custom", MAP, first_map, "event.push.apns.custom_fields",
           "event.push.fcm.data.custom_fields"),
    column("payload", TEXT, text, "event.push.raw.json"),
    column("campaign_name", TEXT, stated, "event.in_app.campaign_name"),
    column("trigger_event", TEXT, stated, "event.in_app.trigger_event"),
    column("trigger_kind", TEXT, names(event.InAppTriggerKind, "IN_APP_TRIGGER_KIND_"),
           "event.in_app.trigger_kind"),
    column("layout", TEXT, names(event.InAppLayout, "IN_APP_LAYOUT_"), "event.in_app.layout"),
    column("dismissal", TEXT, names(event.InAppDismissType, "IN_APP_DISMISS_TYPE_"),
           "event.in_app.dismissal.type"),
    column("error", TEXT, either(SHOWN, FETCHED), "event.in_app.display_error.reason",
           "event.in_app.display_error.fetch_reason"),
    column("app_data", MAP, first_map, "event.in_app.app_data"),
    column("send_reason", TEXT, names(event.PushSendReason, "PUSH_SEND_REASON_"),
           "event.push_send.reason"),
    column("provider_code", TEXT, stated, "event.push_send.provider_code"),
    column("provider_message_id", TEXT, stated, "event.push_send.provider_message_id"),
    column("attempt", pa.int32(), stated, "event.push_send.attempt"),
    column("display", TEXT, names(event.PushDisplay, "PUSH_DISPLAY_"), "event.push_send.display"),
    column("event", pa.binary(), plain),
)

SCHEMA = pa.schema([(each.name, each.type) for each in COLUMNS])
