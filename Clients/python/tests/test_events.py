"""Events in one call each, and verdicts by name."""

import collections
import csv
import json
import pathlib
import time

import pytest

import sightline
from fake import SECONDS
from sightline.v1 import event_pb2 as pb
from sightline.v1 import verdict_pb2

ROOT = pathlib.Path(__file__).parents[3]
ANSWERS = list(csv.DictReader((ROOT / "Tests/Fixtures/send-answers.csv").open()))
SAMPLE = {"_mId": "h1", "_dId": "1f"}
TEXT = json.dumps(SAMPLE)


@pytest.mark.parametrize("make, kind", [
    (sightline.push_received, pb.PUSH_INTERACTION_KIND_RECEIVED),
    (sightline.push_opened, pb.PUSH_INTERACTION_KIND_OPENED),
    (sightline.push_dismissed, pb.PUSH_INTERACTION_KIND_DISMISSED)])
@pytest.mark.parametrize("payload", [TEXT, TEXT.encode(), SAMPLE])
@pytest.mark.parametrize("platform, number", [("android", pb.PLATFORM_ANDROID),
                                              ("ios", pb.PLATFORM_IOS)])
def test_a_push_is_one_call(make, kind, payload, platform, number):
    event = make(payload, platform=platform, app="shop", subject="someone")
    assert (event.platform, event.app_id, event.subject_id) == (number, "shop", "someone")
    assert event.push.kind == kind and event.push.raw.json == TEXT.encode()


@pytest.mark.parametrize("make", [sightline.push_opened, sightline.push_dismissed])
def test_a_button_of_a_push_is_told(make):
    assert make(TEXT, platform="ios", button="buy").push.action_identifier == "buy"


def test_what_happened_to_an_in_app_message_is_one_call():
    shown = sightline.in_app_shown("m", app="shop", campaign="Spring").in_app
    assert (shown.message_id, shown.campaign_name) == ("m", "Spring")
    assert shown.HasField("impression")
    click = sightline.in_app_clicked("m", url="https://shop.example", text="Buy").in_app.click
    assert (click.action_url, click.action_text) == ("https://shop.example", "Buy")
    for how, number in [("", pb.IN_APP_DISMISS_TYPE_UNSPECIFIED),
                        ("auto", pb.IN_APP_DISMISS_TYPE_AUTO),
                        ("click", pb.IN_APP_DISMISS_TYPE_CLICK),
                        ("swipe", pb.IN_APP_DISMISS_TYPE_SWIPE)]:
        dismissal = sightline.in_app_dismissed("m", how=how).in_app
        assert dismissal.HasField("dismissal") and dismissal.dismissal.type == number


def test_each_call_is_a_fact_of_its_own_that_happens_now():
    first, second = (sightline.in_app_shown("m") for _ in range(2))
    assert first.event_id and first.event_id != second.event_id
    assert abs(first.occur_time.seconds - time.time()) < SECONDS
    assert sightline.in_app_shown("m", event_id="mine").event_id == "mine"


def test_what_a_sender_did_is_one_call():
    sent = sightline.push_sent("1f", "h1", platform="ios", app="shop", subject="someone",
                               message_id="8c7d", attempt=2, display="app")
    assert (sent.platform, sent.app_id, sent.subject_id) == (pb.PLATFORM_IOS, "shop", "someone")
    assert sent.event_id and abs(sent.occur_time.seconds - time.time()) < SECONDS
    assert sent.push_send == pb.PushSend(
        delivery_id="1f", broadlog_id="h1", outcome=pb.PUSH_SEND_OUTCOME_SENT,
        provider_message_id="8c7d", attempt=2, display=pb.PUSH_DISPLAY_APP)
    failed = sightline.push_send_failed("1f", "h1", platform="android", reason="unregistered",
                                        code="UNREGISTERED", message_id="m", attempt=1,
                                        display="system")
    assert failed.platform == pb.PLATFORM_ANDROID
    assert failed.push_send == pb.PushSend(
        delivery_id="1f", broadlog_id="h1", outcome=pb.PUSH_SEND_OUTCOME_FAILED,
        reason=pb.PUSH_SEND_REASON_UNREGISTERED, provider_code="UNREGISTERED",
        provider_message_id="m", attempt=1, display=pb.PUSH_DISPLAY_SYSTEM)
    skipped = sightline.push_send_skipped("1f", "h1", platform="ios", reason="no_consent",
                                          display="silent")
    assert skipped.push_send == pb.PushSend(
        delivery_id="1f", broadlog_id="h1", outcome=pb.PUSH_SEND_OUTCOME_SKIPPED,
        reason=pb.PUSH_SEND_REASON_NO_CONSENT, display=pb.PUSH_DISPLAY_SILENT)


@pytest.mark.parametrize("number, name", [(number, name.removeprefix("PUSH_SEND_REASON_").lower())
                                          for name, number in pb.PushSendReason.items() if number])
def test_every_reason_of_the_contract_has_its_name(number, name):
    event = sightline.push_send_skipped("1f", "h1", platform="ios", reason=name)
    assert event.push_send.reason == number


@pytest.mark.parametrize("row", ANSWERS, ids=lambda row: ",".join(row.values())[:60])
def test_an_answer_of_a_push_service_means_what_the_table_says(row):
    status, expected = int(row["status"]), (row["outcome"], row["reason"], row["code"])
    if row["service"] != "fcm":
        assert sightline.apns_outcome(status, row["word"]) == expected
    if row["service"] != "apns":
        assert sightline.fcm_outcome(status, row["word"], field=row["field"],
                                     message=row["message"]) == expected


@pytest.mark.parametrize("make, said", [
    (lambda: sightline.push_opened(TEXT, platform="Android"),
     "platform is 'Android', and has to be one of 'android', 'ios'"),
    (lambda: sightline.in_app_dismissed("m", how="tap"),
     "how is 'tap', and has to be one of '', 'auto', 'click', 'swipe'"),
    (lambda: sightline.push_sent("1f", "h1", platform="web"), "platform is 'web'"),
    (lambda: sightline.push_sent("1f", "h1", platform="ios", display="x"), "display is 'x'"),
    (lambda: sightline.push_send_failed("1f", "h1", platform="ios", reason=""), "reason is ''")])
def test_a_name_that_is_none_is_refused_with_those_that_are(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_every_verdict_of_the_contract_has_its_name():
    assert {f"VERDICT_{verdict.name}": int(verdict) for verdict in sightline.Verdict} == dict(
        verdict_pb2.Verdict.items())


@pytest.mark.parametrize("number, name", [(1, "ACCEPTED"), (8, "REJECTED"), (99, "VERDICT_99")])
def test_a_verdict_prints_its_name_and_equals_its_number(number, name):
    """Also one of a later server."""
    verdict = sightline.Verdict(number)
    assert str(verdict) == repr(verdict) == name and verdict == number
    assert str(collections.Counter([verdict])) == f"Counter({{{name}: 1}})"
    assert collections.Counter([verdict])[number] == 1


def test_the_statistics_name_verdicts(connect):
    client = connect()
    client.send(sightline.in_app_shown("m")).result(SECONDS)
    assert "Counter({ACCEPTED: 1})" in str(client.stats())


def test_the_version_is_that_of_the_release():
    assert sightline.__version__ == (ROOT / "VERSION").read_text().strip()
