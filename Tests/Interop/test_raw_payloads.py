"""Raw payloads: the vendor's samples as they are, through every method and into the sinks."""

import base64
import itertools
import pathlib
import subprocess

import pytest

from facts import push_hit_id, verdict_name
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import binary, wait_until
from stream import METHOD, total

SECONDS = 30
SPACES = itertools.count(1)
IOS, ANDROID = e.PLATFORM_IOS, e.PLATFORM_ANDROID
LIMIT = 8 << 10
OPENED = [v.HIT_KIND_CLICK, v.HIT_KIND_OPEN]


def raw(json_text: str | bytes, platform: int, app_id: str = "", kind: int = 3) -> e.TrackingEvent:
    """The three lines of a client."""
    event = e.TrackingEvent(platform=platform, app_id=app_id or f"app-{next(SPACES)}")
    event.push.raw.json = json_text.encode() if isinstance(json_text, str) else json_text
    event.push.kind = kind
    return event


def recorded(running, events: list) -> list[v.EventResult]:
    with running.channel() as channel:
        return list(running.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=events), timeout=SECONDS).results)


def streamed(running, events: list) -> list[v.EventResult]:
    request = s.StreamEventsRequest(sequence=1, events=events)
    request.options.report_accepted = True
    with running.channel() as channel:
        call = channel.stream_stream(METHOD, s.StreamEventsRequest.SerializeToString,
                                     s.StreamEventsResponse.FromString)
        answers = list(call(iter([request]), timeout=SECONDS))
    assert sum(total(answers).values()) == len(events), answers
    return [result for answer in answers for result in answer.results]


def explained(running, events: list) -> list[v.EventResult]:
    with running.channel() as channel:
        return list(running.stub(channel).ExplainEvents(
            s.ExplainEventsRequest(events=events), timeout=SECONDS).results)


METHODS = {"RecordEvents": recorded, "StreamEvents": streamed, "ExplainEvents": explained}


def codes(result: v.EventResult) -> list[tuple[str, str]]:
    return [(violation.field, v.ViolationCode.Name(violation.code).removeprefix("VIOLATION_CODE_"))
            for violation in result.violations]


def padded(size: int) -> str:
    """A payload of so many bytes."""
    text = '{"_dId":"56c4","_mId":"h138a","text":""}'
    return text.replace('""', f'"{"x" * (size - len(text))}"')


def nested(levels: int) -> str:
    return '{"_dId":"56c4","_mId":"h138a","a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name, platform, ids", [
    ("apns-alert", IOS, ("56c4", "h138a")), ("apns-tester", IOS, None),
    ("fcm-sent", ANDROID, ("d57fd6", "h1685a5")), ("fcm-tester", ANDROID, ("d57fd6", "h1685a5")),
    ("fcm-map", ANDROID, ("d57fd6", "h1685a5"))])
def test_the_samples_go_in_as_they_are(running, payloads, method, name, platform, ids):
    """D31, D32, D35: one verdict in each method; stored byte for byte, under the documented id."""
    sample = (payloads / f"{name}.json").read_bytes()
    event = raw(sample, platform)
    (result,) = METHODS[method](running, [event])
    if ids is None:
        assert codes(result) == [("push.raw.json._dId", "REQUIRED"),
                                 ("push.raw.json._mId", "REQUIRED")], result
        return
    assert (result.verdict, list(result.hits)) == (v.VERDICT_ACCEPTED, OPENED), result
    if method == "ExplainEvents":
        assert any("raw" in step for step in result.explanation), result
        return
    for kind in OPENED:
        identity = push_hit_id(kind, "standard", event.app_id, *ids)
        (row,) = wait_until(lambda: running.query(
            "SELECT delivery_id, broadlog_id, platform, event FROM hits WHERE hit_id = ?",
            identity), f"{kind} of {name}")
        assert row[:3] == (*ids, "ios" if platform == IOS else "android")
        assert bytes(row["event"]).startswith(event.SerializeToString())
        stored = e.TrackingEvent.FromString(bytes(row["event"]))
        assert stored.push.raw.json == sample
        assert (stored.raw_ids.delivery_id, stored.raw_ids.message_id) == ids


def test_a_fact_counts_once_raw_or_typed(running):
    """D17: the second report is a duplicate, whichever form it has."""
    text = '{"message": {"data": {"_mId": "h138a", "title": "t", "_\\u0064Id": "56c4"}}}'
    for first in (0, 1):
        typed = e.TrackingEvent(platform=ANDROID, app_id=f"app-{next(SPACES)}")
        typed.push.kind = e.PUSH_INTERACTION_KIND_OPENED
        typed.push.fcm.data.delivery_id, typed.push.fcm.data.message_id = "56c4", "h138a"
        forms = [typed, raw(text, ANDROID, typed.app_id)]
        verdicts = [recorded(running, [form])[0].verdict
                    for form in (forms[first], forms[1 - first], forms[first])]
        assert verdicts == [v.VERDICT_ACCEPTED, v.VERDICT_DUPLICATE, v.VERDICT_DUPLICATE]


REFUSED = [
    ("", ANDROID, ("push.raw.json", "MALFORMED")), ("[1]", IOS, ("push.raw.json", "MALFORMED")),
    (b'{"a":"\xff"}', IOS, ("push.raw.json", "MALFORMED")),
    ('{"_dId":"a","_mId":"h1"', IOS, ("push.raw.json", "MALFORMED")),
    ('{"_dId":"a","_mId":"h1"}', e.PLATFORM_UNSPECIFIED, ("platform", "REQUIRED")),
    ('{"_dId":"a","_mId":"h1","_dId":"b"}', IOS, ("push.raw.json", "CONFLICT")),
    ('{"_dId":"b","data":{"_dId":"a","_mId":"h1"}}', ANDROID, ("push.raw.json", "CONFLICT")),
    ('{"aps":{},"_dId":"a","_mId":"h1"}', ANDROID, ("platform", "CONFLICT")),
    ('{"data":{"_dId":"a b","_mId":"h1"}}', ANDROID, ("push.raw.json.data._dId", "FORMAT")),
    (padded(LIMIT), IOS, None), (padded(LIMIT + 1), IOS, ("push.raw.json", "TOO_LARGE")),
    (nested(32), IOS, None), (nested(33), IOS, ("push.raw.json", "TOO_LARGE")),
    ("[" * LIMIT, IOS, ("push.raw.json", "TOO_LARGE")),
]


@pytest.mark.parametrize("method", METHODS)
def test_what_is_refused_is_refused_alone_and_in_each_method(running, method):
    """D39: a violation each, at the limit none; its neighbours are accepted."""
    good = [raw('{"_dId":"56c4","_mId":"h138a"}', IOS) for _ in REFUSED]
    events = [event for pair in zip(good, (raw(text, platform) for text, platform, _ in REFUSED))
              for event in pair]
    results = METHODS[method](running, events)
    assert [result.verdict for result in results[::2]] == [v.VERDICT_ACCEPTED] * len(good)
    for (text, platform, violation), result in zip(REFUSED, results[1::2]):
        expected = [violation] if violation else []
        assert codes(result) == expected, (text[:60], platform, result)
        assert verdict_name(result.verdict) == ("rejected" if violation else "accepted")


def test_the_limits_are_keys(make_server):
    server = make_server("--set=limits.raw_payload_bytes=100",
                         "--set=limits.raw_payload_levels=3").start()
    texts = [padded(100), padded(101), nested(3), nested(4)]
    results = recorded(server, [raw(text, IOS) for text in texts])
    too_large = [("push.raw.json", "TOO_LARGE")]
    assert [codes(result) for result in results] == [[], too_large, [], too_large]


def test_a_person_who_said_no_is_in_no_answer(running):
    """D23: neither a violation of form nor a suppression tells an id."""
    texts = ['{"_dId":"5ec8e7","_mId":"h5ec8e7"}', '{"_dId":"5ec8e7","_dId":"5ec8e8"}',
             '{"_dId":"5ec8e7",', '{"_dId":"5ec8 e7"}']
    events = [raw(text, IOS) for text in texts]
    for event in events:
        event.consent = e.CONSENT_OPTED_OUT
    results = recorded(running, events)
    assert "5ec8" not in str(results)
    suppressed, rejected = v.VERDICT_SUPPRESSED_CONSENT, v.VERDICT_REJECTED
    verdicts = [suppressed, rejected, rejected, suppressed]
    assert [result.verdict for result in results] == verdicts


def test_they_survive_a_kill_and_reach_the_jsonl_sink(make_server, payloads):
    """Acked, killed, started again: each hit once, and the payload byte for byte."""
    sample = (payloads / "apns-alert.json").read_bytes()
    server = make_server("--sink=jsonl").start()
    events = [raw(sample, IOS, f"app {number}", 1) for number in range(50)]
    verdicts = {result.verdict for result in recorded(server, events)}
    server.kill()
    server.start()
    verdicts_again = {result.verdict for result in recorded(server, events)}
    assert (verdicts, verdicts_again) == ({v.VERDICT_ACCEPTED}, {v.VERDICT_DUPLICATE})
    wait_until(lambda: len({line["hitId"] for line in server.jsonl_lines()}) == len(events),
               "all hits in the file")
    assert server.terminate() == 0, server.log()
    for line in server.jsonl_lines(is_over=True):
        assert base64.b64decode(line["event"]["push"]["raw"]["json"]) == sample
        assert line["event"]["rawIds"] == {"_dId": "56c4", "_mId": "h138a"}
        assert (line["deliveryId"], line["broadlogId"]) == ("56c4", "h138a")


@pytest.mark.parametrize("text, platform, tracked, key", [
    ('{"_dId":"56c4","_mId":"h138a"}', ANDROID, True, ""),
    ('{"message":{"token":"t","data":{"_dId":"56c4","_mId":"h138a"}}}', ANDROID, True, "message"),
    ('{"notification":{"title":"t"},"data":{"_dId":"56c4","_mId":"h138a"}}', ANDROID, True,
     "notification"),
    ('{"message":{"notification":{},"data":{"_dId":"56c4","_mId":"h138a"}}}', ANDROID, True,
     "message.notification"),
    ('{"_dId":"1","data":{"_dId":"56c4","_mId":"h138a"}}', ANDROID, False, "_dId")])
def test_the_inspector_says_the_same(running, text, platform, tracked, key):
    """D55: tracked exactly where the event is accepted, and the form is named."""
    with running.channel() as channel:
        answer = running.stub(channel).InspectPayload(
            s.InspectPayloadRequest(json=text, platform=platform), timeout=SECONDS)
    (result,) = explained(running, [raw(text, platform)])
    assert answer.tracked == tracked == (result.verdict == v.VERDICT_ACCEPTED), answer
    assert key in [finding.key for finding in answer.findings], answer


NUMBERS = ('{"aps":{"alert":{"title":"t","body":"b"}},"_dId":"c11d","_mId":"h1c40",'
           '"orderId":18446744073709551615,"snowflake":1610521604143693812,"price":19.90,'
           '"ratio":1.0,"scale":1e2,"small":0.1}')
LOOK_ALIKES = '{"_dId":"c12d","_mId":"h1c50","caf\u00e9":"composed","cafe\u0301":"decomposed"}'
TWICE = '{"_dId":"c12e","_mId":"h1c51","promo":"first","promo":"second"}'


@pytest.mark.parametrize("text", [NUMBERS, LOOK_ALIKES, TWICE], ids=["digits", "names", "twice"])
@pytest.mark.parametrize("platform", ["ios", "android"])
def test_the_command_sends_a_payload_as_it_is(make_server, tmp_path, text, platform):
    """Each digit and each key, also of two that are equal in Unicode's sense, reaches the sink."""
    if platform == "android":
        text = '{"data":' + text.replace('"aps":{"alert":{"title":"t","body":"b"}},', "") + "}"
    path = tmp_path / "payload.json"
    path.write_text(text, encoding="utf-8")
    sent_as_it_is(make_server, path, platform)


@pytest.mark.parametrize("name, platform, ids", [
    ("c03-universal.json", "ios", ("56c4", "h1c03")),
    ("c03-universal.json", "android", ("56c4", "h1c03")),
    ("c10-data-object.json", "android", ("c10a", "h1c30")),
    ("c10-other-object.json", "android", ("c10c", "h1c32")),
    ("c11-numbers.json", "ios", ("c11d", "h1c40")),
    ("c11-numbers-fcm.json", "android", ("c11e", "h1c41")),
    ("c16-pretty.json", "ios", ("c16d", "h1c70"))])
def test_reported_payloads_are_sent_as_they_are(make_server, payloads, name, platform, ids):
    """Payloads after reports of faults elsewhere: they count, and no byte of them changes."""
    line = sent_as_it_is(make_server, payloads / "reported" / name, platform)
    assert (line["deliveryId"], line["broadlogId"]) == ids


def sent_as_it_is(make_server, path: pathlib.Path, platform: str) -> dict:
    """Sends a payload with the command, and returns the hit that the sink has of it."""
    server = make_server("--sink=jsonl").start()
    command = [str(binary()), "send", str(path), "--target", server.target, "--platform", platform,
               "--interaction", "received"]
    subprocess.run(command, check=True, timeout=SECONDS)
    wait_until(server.jsonl_lines, "the hit in the file")
    (line,) = server.jsonl_lines(is_over=True)
    assert base64.b64decode(line["event"]["push"]["raw"]["json"]) == path.read_bytes()
    assert line["event"]["rawIds"] == {"_dId": line["deliveryId"], "_mId": line["broadlogId"]}
    return line
