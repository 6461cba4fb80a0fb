"""The oracle held to itself: its hashing and its wire code, without a server."""

import hashlib
import time

from facts import Facts, hit_id, in_app_hit_id, push_hit_id
from protos import event as e
from protos import service as s
from protos import verdict as v
from stream import Batch


def test_hit_ids_are_hashed_as_documented():
    """The key's fields, each behind its length, then one byte for what the hit counts."""
    key = (b"\0\0\0\4push" b"\0\0\0\7default" b"\0\0\0\x08standard" b"\0\0\0\3app"
           b"\0\0\0\4" b"56c4" b"\0\0\0\5h138a" b"\0\0\0\0")
    expected = hashlib.sha256(key).digest()[:15] + b"\x02"
    assert push_hit_id(v.HIT_KIND_CLICK, "standard", "app", "56c4", "h138a") == expected
    assert len(expected) == 16


def test_in_app_ids_fall_back_to_the_time():
    """With no event id the time is part of the key."""
    event = e.TrackingEvent(app_id="app", subject_id="s", event_id="e1")
    event.in_app.message_id = "m"
    with_id = in_app_hit_id(7, event, "impression")
    assert with_id == hit_id(7, "in_app", "default", "app", "m", "s", "impression", "e1")
    event.event_id = ""
    event.occur_time.seconds = 1
    event.occur_time.nanos = 2
    time_field = bytes([0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2])
    assert in_app_hit_id(7, event, "impression") == hit_id(
        7, "in_app", "default", "app", "m", "s", "impression", "", time_field)


def test_a_send_that_is_tried_again_counts_by_its_outcome():
    """D60: what failed and then was sent is two facts, what failed twice is one."""
    facts = Facts(1, int(time.time()))
    failed = facts.send(e.PUSH_SEND_OUTCOME_FAILED)
    sent, again = facts.retried(failed), facts.retried(failed, e.PUSH_SEND_OUTCOME_FAILED)
    assert sent.verdict == v.VERDICT_ACCEPTED and again.verdict == v.VERDICT_DUPLICATE
    [first], [second] = failed.hits, sent.hits
    assert first[:15] == second[:15]
    assert (first[15], second[15]) == (v.HIT_KIND_SEND_FAILED, v.HIT_KIND_SENT)
    assert sent.event.push_send.attempt == failed.event.push_send.attempt + 1
    assert not sent.event.push_send.reason and again.event.push_send.reason


def test_batches_are_requests():
    """The hand-made bytes of a batch are the request that protobuf reads."""
    facts = Facts(1, int(time.time()))
    batch = Batch(300, [facts.accepted() for _ in range(50)])
    request = s.StreamEventsRequest.FromString(batch.bytes)
    assert request.sequence == 300
    assert list(request.events) == [fact.event for fact in batch.facts]
    assert request.SerializeToString(deterministic=True)
