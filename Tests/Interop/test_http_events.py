"""Events in JSON over HTTP, as a client in Python sends them: docs/http.md says what comes of it."""

import gzip
import itertools
import json
import pathlib
import re
import subprocess
import tempfile

import httpx
import pytest
from google.protobuf import json_format

import vectors
from doors import LISTEN
from facts import push_hit_id
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import Server, binary, wait_until
from test_vectors import OF_OTHERS

SECONDS = 30
APPS = itertools.count(1)
OPENED = "PUSH_INTERACTION_KIND_OPENED"
JSON, LINES = "application/json", "application/x-ndjson"


@pytest.fixture(scope="module")
def door():
    """One server with its HTTP port open, for all tests of this file."""
    with tempfile.TemporaryDirectory(prefix="sightline-test-") as home:
        server = Server(pathlib.Path(home) / "data", *LISTEN, "--set=log.level=trace")
        try:
            yield server.start()
        finally:
            server.close()


def url(server: Server, path: str = "/v1/events") -> str:
    return server.http + path


def post(server: Server, body, content_type: str | None = JSON, query: str = "",
         **headers) -> httpx.Response:
    """A body as it is, or as JSON."""
    content = body if isinstance(body, (bytes, str)) else json.dumps(body)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if content_type:
        headers["content-type"] = content_type
    return httpx.post(url(server) + query, content=content, headers=headers, timeout=SECONDS)


def push(**fields) -> dict:
    """A notification of its own that was opened."""
    app = f"app-{next(APPS)}"
    return {"appId": app, "push": {"kind": OPENED, "fcm": {
        "data": {"_dId": "56c4", "_mId": "h138a", "_acsDeliveryTracking": "on"}}}} | fields


def problem(answer: httpx.Response, status: int, reason: str) -> dict:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == status and document["reason"] == reason
    assert document["type"].endswith(f"/docs/errors.md#{reason.lower()}")
    return document


# MARK: Forms

@pytest.mark.parametrize("form", ["one", "array", "object", "lines", "unsaid lines", "mark"])
def test_each_form_of_a_body_records_its_events(door, form):
    events = [push(), push()]
    lines = "".join(json.dumps(event) + "\n" for event in events)
    body, content_type, count = {
        "one": (events[0], JSON, 1), "array": (events, JSON, 2),
        "object": ({"events": events}, JSON, 2), "lines": (lines, LINES, 2),
        "unsaid lines": (lines, None, 2),
        "mark": (b"\xef\xbb\xbf" + json.dumps(events).encode(), JSON, 2),
    }[form]
    answer = post(door, body, content_type)
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"results": [], "tally": {
        "accepted": count, "suppressed": 0, "duplicate": 0, "rejected": 0, "retryLater": 0}}
    # Whoever sends it again learns that it is known.
    again = post(door, body, content_type).json()
    assert again["tally"]["duplicate"] == count
    assert [result["verdict"] for result in again["results"]] == ["VERDICT_DUPLICATE"] * count


def test_a_compressed_body_is_read(door):
    answer = post(door, gzip.compress(json.dumps(push()).encode()), content_encoding="gzip")
    assert answer.json()["tally"]["accepted"] == 1


def test_a_request_in_protobuf_is_taken_as_it_is(door):
    event = json_format.ParseDict(push(), e.TrackingEvent())
    request = s.RecordEventsRequest(events=[event])
    answer = post(door, request.SerializeToString(), "application/x-protobuf", "?results=all")
    result, = answer.json()["results"]
    assert result["hits"] == ["HIT_KIND_CLICK", "HIT_KIND_OPEN"]


def test_both_ports_know_the_same_facts(door):
    """What came by one is a duplicate by the other."""
    event = push()
    assert post(door, event).json()["tally"]["accepted"] == 1
    with door.channel() as channel:
        result, = door.stub(channel).RecordEvents(s.RecordEventsRequest(
            events=[json_format.ParseDict(event, e.TrackingEvent())]), timeout=SECONDS).results
    assert result.verdict == v.VERDICT_DUPLICATE


def test_an_event_is_the_message_that_its_json_is(door):
    """Whatever the order of its fields, and under either of their names."""
    event = push(eventId="names", occurTime="2026-11-20T12:00:00.5Z", platform="PLATFORM_ANDROID")
    message = json_format.ParseDict(event, e.TrackingEvent())
    other = json.loads(json_format.MessageToJson(message, preserving_proto_field_name=True))
    other["app_id"] = f"app-{next(APPS)}"
    assert post(door, dict(reversed(other.items()))).json()["tally"]["accepted"] == 1
    hit = push_hit_id(v.HIT_KIND_CLICK, "standard", other["app_id"], "56c4", "h138a")
    row, = wait_until(lambda: door.query("SELECT event FROM hits WHERE hit_id = ?", hit),
                      "the hit is stored")
    message.app_id = other["app_id"]
    assert e.TrackingEvent.FromString(bytes(row["event"])) == message


# MARK: Vectors

def json_path(path: str) -> str:
    """A violation's path in the names of JSON, by the descriptors."""
    message = e.TrackingEvent.DESCRIPTOR
    parts = []
    for part in path.split("."):
        field = message.fields_by_name.get(part) if message else None
        first, *others = part.split("_")
        camel = first + "".join(word[:1].upper() + word[1:] for word in others)
        parts.append(field.json_name if field else camel if message else part)
        is_map = field is not None and field.message_type is not None and (
            field.message_type.GetOptions().map_entry)
        message = field.message_type if field and not is_map else None
    return ".".join(parts)


def rows_of(name: str) -> list[dict]:
    return json.loads((vectors.FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def of_an_app(row: dict) -> dict:
    """The row's event as a fact of its own, unless the app is what the row is about."""
    if any(violation["field"] == "app_id" for violation in row["violations"]):
        return row["event"]
    return row["event"] | {"appId": f"app-{next(APPS)}"}


@pytest.mark.parametrize("content_type", [JSON, LINES])
@pytest.mark.parametrize("name", ["flag-table", "verdicts", "raw-payloads"])
def test_the_door_says_what_the_vectors_say(door, name, content_type):
    rows = rows_of(name)
    texts = [json.dumps(of_an_app(row)) for row in rows]
    body = "\n".join(texts) if content_type == LINES else f"[{','.join(texts)}]"
    answer = post(door, body, content_type, "?results=all")
    assert answer.status_code == 200, answer.text
    results = answer.json()["results"]
    assert [result["index"] for result in results] == list(range(len(rows)))
    for row, result in zip(rows, results):
        assert result["verdict"] == row["verdict"], (row, result)
        assert result.get("hits", []) == [hit["kind"] for hit in row["hits"]], (row, result)
        assert [warning for warning in result.get("warnings", [])
                if warning not in OF_OTHERS] == row["warnings"], (row, result)
        assert [(violation["field"], violation["code"])
                for violation in result.get("violations", [])] == [
            (json_path(violation["field"]), violation["code"])
            for violation in row["violations"]], (row, result)


def test_hit_ids_are_those_of_the_vectors(make_server):
    server = make_server(*LISTEN).start()
    rows = [row for row in rows_of("hit-ids") if row["tenant"] == "default"]
    assert len(rows) > 10
    answer = post(server, [row["event"] for row in rows])
    assert answer.json()["tally"]["rejected"] == 0, answer.text
    expected = {bytes.fromhex(hit["hit_id"]) for row in rows for hit in row["hits"]}
    server.wait_for_hits(len(expected))
    assert {row["hit_id"] for row in server.query("SELECT hit_id FROM hits")} == expected


# MARK: Raw payloads

@pytest.mark.parametrize("payload", [
    '{ "_dId":"56c4", "_mId" : "h138a","n":1.50,"x":[1,{"y":null}] }',
    '{"_dId":"56c4","_mId":"h138a","text":"\\ud83d"}',
    '{"_dId":"56c4","_mId":"h138a","text":"caf\u00e9 \\u00e9 \U0001f600"}',
])
def test_a_payload_is_json_itself_and_its_bytes_are_kept(door, payload):
    app = f"app-{next(APPS)}"
    body = (f'{{"appId":"{app}","platform":"PLATFORM_ANDROID","push":{{"kind":"{OPENED}",'
            f'"raw":{{"json":{payload}}}}}}}')
    answer = post(door, body.encode(), query="?results=all")
    result, = answer.json()["results"]
    assert result["verdict"] == "VERDICT_ACCEPTED", answer.text
    hit = push_hit_id(v.HIT_KIND_CLICK, "standard", app, "56c4", "h138a")
    row, = wait_until(lambda: door.query("SELECT event FROM hits WHERE hit_id = ?", hit),
                      "the hit is stored")
    assert e.TrackingEvent.FromString(bytes(row["event"])).push.raw.json == payload.encode()


def test_a_time_in_milliseconds_is_stored_as_it_is(door):
    app = f"app-{next(APPS)}"
    event = push(appId=app, occurTimeMillis=1_790_000_000_123)
    assert post(door, event).json()["tally"]["accepted"] == 1
    hit = push_hit_id(v.HIT_KIND_CLICK, "standard", app, "56c4", "h138a")
    row, = wait_until(lambda: door.query("SELECT event FROM hits WHERE hit_id = ?", hit),
                      "the hit is stored")
    stored = e.TrackingEvent.FromString(bytes(row["event"])).occur_time
    assert (stored.seconds, stored.nanos) == (1_790_000_000, 123_000_000)


# MARK: Faults

@pytest.mark.parametrize("event, field, word", [
    ({"eventID": "x"}, "eventID", "did you mean eventId?"),
    (push(consent="YES"), "consent", "CONSENT_OPTED_IN"),
    (push(eventId=5), "eventId", "a string"),
    ({"push": {"kind": OPENED}, "trackAction": {}}, "trackAction", "alone"),
    ({"push": {"raw": {"json": "{}"}}}, "push.raw.json", "base64"),
    ([], "", "an object"),
])
def test_an_event_that_cannot_be_read_is_rejected_alone(door, event, field, word):
    answer = post(door, [push(), event, push()])
    assert answer.status_code == 200, answer.text
    assert answer.json()["tally"] == {
        "accepted": 2, "suppressed": 0, "duplicate": 0, "rejected": 1, "retryLater": 0}
    result, = answer.json()["results"]
    assert (result["index"], result["verdict"]) == (1, "VERDICT_REJECTED")
    violation, = result["violations"]
    assert violation["field"] == field and word in violation["description"], violation


def test_a_bad_line_is_rejected_alone(door):
    body = json.dumps(push()) + "\n{\"eventId\":\n\n" + json.dumps(push()) + "\n"
    answer = post(door, body, LINES)
    assert answer.json()["tally"]["accepted"] == 2
    result, = answer.json()["results"]
    assert result["index"] == 1
    assert result["violations"][0]["description"].startswith("line 2 ")


def test_what_is_no_json_is_refused_as_a_whole(door):
    event = push()
    document = problem(post(door, f"[{json.dumps(event)},\n{{]"), 400, "REQUEST_MALFORMED")
    assert document["line"] == 2
    # Nothing of it was recorded.
    assert post(door, event).json()["tally"]["accepted"] == 1


@pytest.mark.parametrize("count, status", [(2000, 200), (2001, 413)])
def test_a_request_has_so_many_events_and_not_one_more(door, count, status):
    answer = post(door, "{}\n" * count, LINES)
    assert answer.status_code == status
    if status == 413:
        problem(answer, 413, "REQUEST_TOO_LARGE")


def test_other_types_methods_and_paths_are_told_what_there_is(door):
    form = post(door, "a=b", "application/x-www-form-urlencoded")
    assert "application/x-ndjson" in problem(form, 415, "MEDIA_TYPE_UNSUPPORTED")["detail"]
    problem(post(door, b"[]", content_encoding="br"), 415, "MEDIA_TYPE_UNSUPPORTED")
    got = httpx.get(url(door), timeout=SECONDS)
    problem(got, 405, "METHOD_NOT_ALLOWED")
    assert "POST" in got.headers["allow"]
    problem(httpx.get(url(door, "/v1/none"), timeout=SECONDS), 404, "PATH_UNKNOWN")
    greeting = httpx.get(url(door, "/v1/"), timeout=SECONDS)
    assert greeting.status_code == 200 and "curl" in greeting.text


def test_the_description_has_every_field_of_an_event(door):
    document = httpx.get(url(door, "/v1/openapi.json"), timeout=SECONDS).json()
    assert document["openapi"].startswith("3.1")
    schemas = document["components"]["schemas"]

    def check(descriptor, seen: set) -> None:
        if descriptor.full_name in seen:
            return
        seen.add(descriptor.full_name)
        properties = schemas[descriptor.name]["properties"]
        for field in descriptor.fields:
            assert field.json_name in properties and field.name in properties, field.full_name
            inner = field.message_type
            if inner and inner.file.package == "sightline.v1" and not (
                    inner.GetOptions().map_entry):
                check(inner, seen)

    seen: set = set()
    check(e.TrackingEvent.DESCRIPTOR, seen)
    assert len(seen) > 10


def test_credentials_are_asked_for_as_over_grpc(make_server, tmp_path):
    path = tmp_path / "keys"
    made = subprocess.run([str(binary()), "keys", "new", "--tenant", "shop", "--keys-file",
                           str(path)], capture_output=True, text=True, timeout=60, check=True)
    key = re.search(r"slk_\S+", made.stdout)[0]
    server = make_server(*LISTEN, "--set=auth.mode=keys",
                         f"--set=auth.keys_file={path}").start()
    answer = post(server, push())
    problem(answer, 401, "CREDENTIALS_MISSING")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    problem(post(server, push(), authorization="Bearer slk_none"), 401, "CREDENTIALS_REFUSED")
    for headers in ({"authorization": f"Bearer {key}"}, {"x_api_key": key}):
        assert post(server, push(), **headers).json()["tally"]["accepted"] == 1


def test_a_quota_is_429_with_the_time_to_wait(make_server):
    server = make_server(*LISTEN, "--set=quotas.events_per_second=1").start()
    answers = [post(server, [push() for _ in range(5)]) for _ in range(10)]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert refused, [answer.status_code for answer in answers]
    problem(refused[0], 429, "QUOTA_EXCEEDED")
    assert int(refused[0].headers["retry-after"]) >= 1
