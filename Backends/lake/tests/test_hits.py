"""Columns of hits, against what the messages say one by one."""

import datetime

import pyarrow as pa
import pytest
from made import TIME, event, record, request

from sightline_lake import hits
from sightline_lake.schema import SCHEMA
from sightline_lake.v1 import event_pb2 as pb
from sightline_lake.v1 import payload_pb2 as payload
from sightline_lake.v1 import verdict_pb2 as verdict


def rows(*records, has_bytes=True):
    parts = [hits.records(request(1, records))]
    return pa.Table.from_batches(hits.rows(parts, has_bytes), SCHEMA).to_pylist()


def row(made, **fields):
    return rows(record(made=made, **fields))[0]


def test_a_push_has_its_columns():
    made = event(7, platform=pb.PLATFORM_ANDROID, app_version="3.1", consent=pb.CONSENT_OPTED_IN)
    made.occur_time.FromMicroseconds(TIME - 5)
    made.push.action_identifier = "buy"
    made.push.app_state = pb.APP_STATE_BACKGROUND
    made.push.apns.custom_fields["a"] = "b"
    shown = row(made, kind=verdict.HIT_KIND_OPEN, campaign_action=1, warnings=[12, 3, 99],
                trace_context=pb.TraceContext(traceparent="00-1-2-01"))
    expected = {
        "tenant": "acme", "receive_date": datetime.date(2026, 11, 27), "kind": "open",
        "campaign_action": 1, "product": "standard", "app_id": "com.example", "platform": "ios",
        "subject_id": "subject-7", "warnings": "nothing_shown,open_without_click,99",
        "source": "api", "traceparent": "00-1-2-01", "tracestate": None, "app_version": "3.1",
        "os_version": None, "consent": "opted_in", "interaction": "opened", "button": "buy",
        "link": "app://offer", "app_state": "background", "custom": [("a", "b")], "app_data": None,
        "payload": None, "event": made.SerializeToString()}
    assert {name: shown[name] for name in expected} == expected
    assert shown["occur_time"].microsecond == 999_994
    assert list(shown) == SCHEMA.names


def in_app(**fields):
    made = event(in_app=pb.InAppInteraction(message_id="m", **fields))
    return row(made, kind=verdict.HIT_KIND_IN_APP_CLICK, delivery="m")


def send(**fields):
    return row(event(push_send=pb.PushSend(**fields)), kind=verdict.HIT_KIND_SEND_FAILED)


@pytest.mark.parametrize("made, expected", [
    (lambda: in_app(click=pb.InAppClick(action_text="Yes", action_url="u"), app_data={"k": "v"}),
     {"product": "firebase", "interaction": "click", "button": "Yes", "link": "u", "platform": None,
      "app_data": [("k", "v")], "custom": None}),
    (lambda: in_app(dismissal=pb.InAppDismissal(type=3), trigger_kind=1, layout=4,
                    campaign_name="spring", trigger_event="buy"),
     {"dismissal": "swipe", "trigger_kind": "analytics_event", "layout": "image",
      "campaign_name": "spring", "trigger_event": "buy", "error": None}),
    (lambda: in_app(display_error=pb.InAppDisplayError(reason=3)), {"error": "image_format"}),
    (lambda: in_app(display_error=pb.InAppDisplayError(fetch_reason=2)), {"error": "fetch_client"}),
    (lambda: send(reason=6, provider_code="429", attempt=2, display=3, product=2),
     {"interaction": "failed", "send_reason": "throttled", "provider_code": "429", "attempt": 2,
      "display": "silent", "product": "classic"}),
    (lambda: row(event(track_action=pb.TrackAction(product=2), platform=pb.PLATFORM_ANDROID)),
     {"interaction": "track_action", "platform": "android", "product": "classic"}),
    (lambda: row(event(push=pb.PushInteraction(raw=payload.RawPayload(json=b'{"a":1}'), kind=1))),
     {"payload": '{"a":1}', "interaction": "received"}),
    (lambda: row(event(push=pb.PushInteraction(raw=payload.RawPayload(json=b"\xff")))),
     {"payload": "\ufffd"}),
    (lambda: row(event(push=pb.PushInteraction(
        fcm=payload.FcmPayload(data=payload.FcmData(uri="x"))))),
     {"platform": "android", "link": "x"}),
    (lambda: row(event(), kind=77, source=pb.EVENT_SOURCE_POSTBACK), {"kind": "77",
                                                                     "source": "postback"}),
])
def test_kinds_of_events(made, expected):
    shown = made()
    assert {name: shown[name] for name in expected} == expected


def test_of_a_key_that_comes_twice_the_last_value_counts():
    twice = event(1)
    twice.push.apns.custom_fields["k"] = "old"
    again = pb.TrackingEvent()
    again.push.apns.custom_fields["k"] = "new"
    again.push.apns.custom_fields["l"] = "m"
    plain = event(2)
    plain.push.apns.custom_fields["k"] = "own"
    shown = rows(record(0), record(1, twice.SerializeToString() + again.SerializeToString()),
                 record(2, plain))
    assert [sorted(each["custom"]) for each in shown] == [
        [], [("k", "new"), ("l", "m")], [("k", "own")]]


def test_a_malformed_event_keeps_its_row_and_its_bytes():
    shown = rows(record(1), record(2, b"\x1a\x02\xff\xff"), record(3))
    assert [each["event_id"] for each in shown] == ["e1", None, "e3"]
    assert shown[1]["event"] == b"\x1a\x02\xff\xff" and shown[1]["delivery_id"] == "56c4"


def test_fields_that_are_not_known_stay_in_the_bytes():
    made = event(1).SerializeToString() + b"\xa2\x06\x03new"
    assert row(made)["event"] == made and row(made)["event_id"] == "e1"


def test_without_event_bytes_the_column_is_null():
    assert rows(record(1), has_bytes=False)[0]["event"] is None


def test_rows_are_sorted_by_delivery_in_each_partition():
    records = [record(number, delivery=delivery, micros=TIME + day, tenant=tenant)
               for number, (delivery, day, tenant) in enumerate(
                   [("b", 1, "x"), ("a", 1, "x"), ("c", 0, "x"), ("b", 0, "w"), ("a", 0, "x")])]
    keys = [(each["tenant"], each["receive_date"].day, each["delivery_id"])
            for each in rows(*records)]
    assert keys == sorted(keys)


@pytest.mark.parametrize("count", [hits.SLICE, hits.SLICE + 1])
def test_a_slice_more_changes_nothing(count):
    one = hits.records(request(1, [record(1)]))
    parts = [pa.concat_arrays([one] * count)]
    assert [len(batch) for batch in hits.rows(parts, False)] == [hits.SLICE, 1][:1 + count % 2]


def test_a_malformed_request_raises():
    with pytest.raises(ValueError):
        hits.records(request(1, [record(1)])[:-3])
