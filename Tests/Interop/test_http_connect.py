"""Connect and gRPC-Web on the HTTP port: clients that others have made call every unary method, and
get the answers, the errors and the details of the gRPC port."""

import base64
import copy
import json
import pathlib
import shutil
import tempfile
import typing

import grpc
import httpx
import pytest
from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from google.protobuf import json_format

import doors
import vectors
from doors import METHODS, Failure
from protos import delivery_service as ds
from protos import erasure_service as es
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import Server
from test_credentials import KeysFile

NAMES = ["grpc", "connect, proto", "connect, json", "connect-web", "buf curl, connect",
         "buf curl, grpcweb", "grpc-web-text"]
HTTP = NAMES[1:]
ORIGIN = "https://app.example.com"
EXPLAIN = METHODS["ExplainDelivery"]


class Place(typing.NamedTuple):
    """A server with an HTTP port, its doors, and keys of a tenant."""
    server: Server
    doors: dict[str, doors.Door]
    # Of every scope, of none besides that of events.
    key: str
    plain: str


@pytest.fixture(scope="module")
def place():
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    keys = KeysFile(home / "keys.jsonl")
    key, plain = keys.new("acme", "--scopes", "erase,deliveries"), keys.new("acme")
    server = Server(
        home / "data", *doors.LISTEN, "--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}",
        f"--set=http.cors_origins={ORIGIN}", "--set=log.level=trace")
    try:
        server.start()
        yield Place(server, doors.doors(server), key, plain)
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


def tap(name: str, number: int = 0) -> e.TrackingEvent:
    """A tap whose ids are of one test's."""
    event = vectors.push(vectors.ANDROID, vectors.OPENED,
                         ids=(name.encode().hex()[:60], f"h{number}"))
    event.event_id = f"{name} {number}"
    return event


def post(place: Place, path: str, body: bytes, content_type: str, **headers) -> httpx.Response:
    return httpx.post(
        place.server.http + path, content=body, timeout=doors.SECONDS,
        headers={"content-type": content_type, "authorization": f"Bearer {place.key}"}
        | {name.replace("_", "-"): value for name, value in headers.items()})


def test_the_doors_are_those_of_the_tests(place):
    assert list(place.doors) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_method_answers_through_every_door(place, name):
    door, key = place.doors[name], place.key
    first = tap(name)
    recorded = door.call(METHODS["RecordEvents"], s.RecordEventsRequest(events=[first]), key)
    assert [result.verdict for result in recorded.results] == [v.VERDICT_ACCEPTED]
    assert recorded.results[0].event_id == first.event_id
    # It may be repeated.
    again = door.call(METHODS["RecordEvents"], s.RecordEventsRequest(events=[first]), key)
    assert again.tally == s.Tally(duplicate=1)

    put = ds.PutDeliveriesRequest(deliveries=[
        ds.DeliveryTotals(delivery_id=first.push.fcm.data.delivery_id, name="Sale \u00e4"),
        ds.DeliveryTotals()])
    stored = door.call(METHODS["PutDeliveries"], put, key)
    assert stored.stored_count == 1 and [one.index for one in stored.rejected] == [1]

    forgotten = door.call(
        METHODS["ForgetSubject"], es.ForgetSubjectRequest(subject_id=f"nobody {name}"), key)
    assert {place.outcome for place in forgotten.places} <= {
        es.ERASURE_OUTCOME_ERASED, es.ERASURE_OUTCOME_TOLD, es.ERASURE_OUTCOME_IMPOSSIBLE}
    assert forgotten.places


@pytest.mark.parametrize("name", HTTP)
def test_what_only_reads_answers_as_grpc_does(place, name):
    for method, request in (
            ("ExplainEvents", s.ExplainEventsRequest(events=[tap("explained"), e.TrackingEvent()])),
            ("InspectPayload", s.InspectPayloadRequest(
                json='{"_mId": "h1", "_dId": "x"}', platform=e.PLATFORM_ANDROID)),
            ("ExplainDelivery", s.ExplainDeliveryRequest(delivery_id="nothing of it"))):
        answers = [place.doors[door].call(METHODS[method], request, place.key)
                   for door in ("grpc", name)]
        assert answers[0] == answers[1] and answers[0].ByteSize() > 0, method


FAILURES = {
    "no credentials": ("RecordEvents", s.RecordEventsRequest(), "none",
                       grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_MISSING"),
    "no scope to erase": ("ForgetSubject", es.ForgetSubjectRequest(subject_id="s"), "plain",
                          grpc.StatusCode.PERMISSION_DENIED, "SCOPE_MISSING"),
    "no scope for totals": ("PutDeliveries", ds.PutDeliveriesRequest(), "plain",
                            grpc.StatusCode.PERMISSION_DENIED, "SCOPE_MISSING"),
    "no subject": ("ForgetSubject", es.ForgetSubjectRequest(), "key",
                   grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_MALFORMED"),
    "no JSON": ("InspectPayload", s.InspectPayloadRequest(json="{", platform=e.PLATFORM_IOS),
                "key", grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_MALFORMED"),
    "too many events": (
        "RecordEvents", s.RecordEventsRequest(events=[e.TrackingEvent()] * 2001), "key",
        grpc.StatusCode.RESOURCE_EXHAUSTED, "REQUEST_TOO_LARGE"),
    "too many events to explain": (
        "ExplainEvents", s.ExplainEventsRequest(events=[e.TrackingEvent()] * 2001), "key",
        grpc.StatusCode.RESOURCE_EXHAUSTED, "REQUEST_TOO_LARGE"),
    "no delivery": ("ExplainDelivery", s.ExplainDeliveryRequest(), "key",
                    grpc.StatusCode.INVALID_ARGUMENT, "REQUEST_MALFORMED"),
}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize("name", HTTP)
def test_each_failure_is_that_of_grpc_with_its_details(place, name, what):
    method, request, key, code, reason = FAILURES[what]
    key = {"none": "", "plain": place.plain, "key": place.key}[key]
    failures = []
    for door in ("grpc", name):
        with pytest.raises(Failure) as failed:
            place.doors[door].call(METHODS[method], request, key)
        failures.append(failed.value)
    assert failures[1].code == code and failures[1].reason == reason
    assert failures[0].code == code and failures[0].message == failures[1].message
    assert failures[0].details == failures[1].details


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("codec", [google_protobuf_binary_codec, google_protobuf_json_codec])
def test_what_only_reads_may_be_asked_by_get(place, codec, compressed):
    options = {} if compressed else {"send_compression": None}
    client = doors.ConnectPython(place.server, codec, **options)
    request = s.ExplainDeliveryRequest(delivery_id="got, \u00e4")
    assert client.call(EXPLAIN, request, place.key, use_get=True) == client.call(
        EXPLAIN, request, place.key)
    with pytest.raises(Failure) as failed:
        client.call(EXPLAIN, request, use_get=True)
    assert failed.value.reason == "CREDENTIALS_MISSING"


def test_what_records_may_not_be_asked_by_get(place):
    answer = httpx.get(
        place.server.http + METHODS["RecordEvents"].path,
        params={"connect": "v1", "encoding": "json", "message": "{}"},
        headers={"authorization": f"Bearer {place.key}"}, timeout=doors.SECONDS)
    assert answer.status_code == 405 and answer.headers["allow"] == "POST"


@pytest.mark.parametrize("protocol", [ProtocolType.CONNECT, ProtocolType.GRPC_WEB])
def test_a_stream_says_where_streams_are(place, protocol):
    client = ConnectClientSync(
        place.server.http, codec=google_protobuf_binary_codec(), protocol=protocol,
        timeout_ms=doors.SECONDS * 1000)
    stream = MethodInfo(
        name="StreamEvents", service_name="sightline.v1.TrackingService",
        input=s.StreamEventsRequest, output=s.StreamEventsResponse,
        stream_type=StreamType.SERVER_STREAM, idempotency_level=IdempotencyLevel.UNKNOWN)
    with pytest.raises(ConnectError) as failed:
        list(client.execute_server_stream(
            request=s.StreamEventsRequest(sequence=1), method=stream,
            headers=doors.credentials(place.key)))
    assert failed.value.code == Code.UNIMPLEMENTED
    assert "gRPC port" in failed.value.message and "RecordEvents" in failed.value.message


def test_a_deadline_ends_the_call(place):
    answer = post(place, EXPLAIN.path, b"{}", "application/json", connect_timeout_ms="0")
    assert answer.status_code == 504 and answer.json()["code"] == "deadline_exceeded"
    answer = post(place, EXPLAIN.path, b"{}", "application/json", connect_timeout_ms="1" * 11)
    assert answer.status_code == 400 and "connect-timeout-ms" in answer.json()["message"]
    answer = post(place, EXPLAIN.path, bytes(5), "application/grpc-web", grpc_timeout="0m")
    assert answer.headers["grpc-status"] == "4"


def test_an_unknown_field_is_refused_by_its_name(place):
    answer = post(place, METHODS["RecordEvents"].path, b'{"events": [{"pusch": {}}]}',
                  "application/json")
    assert answer.status_code == 400 and '"pusch"' in answer.json()["message"]
    details = answer.json()["details"]
    assert details[0]["debug"] == {"domain": "sightline.v1", "reason": "REQUEST_MALFORMED"}


def test_a_text_may_come_in_chunks_each_with_its_padding(place):
    request = s.ExplainDeliveryRequest(delivery_id="text")
    sent = request.SerializeToString()
    frames = b"\0" + len(sent).to_bytes(4, "big") + sent
    expected = place.doors["grpc"].call(EXPLAIN, request, place.key)
    for size in (1, 2, 4, 5, len(frames)):
        body = b"".join(base64.b64encode(frames[start:start + size])
                        for start in range(0, len(frames), size))
        answer = post(place, EXPLAIN.path, body, "application/grpc-web-text")
        message, trailers = doors.in_frames(base64.b64decode(answer.text))
        assert trailers["grpc-status"] == "0"
        assert s.ExplainDeliveryResponse.FromString(message) == expected


def test_pages_of_a_listed_origin_may_call_and_others_may_not(place):
    address = place.server.http + EXPLAIN.path
    asked = {"access-control-request-method": "POST",
             "access-control-request-headers": "content-type,x-grpc-web"}
    allowed = httpx.options(address, headers=asked | {"origin": ORIGIN})
    assert allowed.status_code == 204
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    assert allowed.headers["access-control-max-age"] == "7200"
    assert "x-grpc-web" in allowed.headers["access-control-allow-headers"]
    refused = httpx.options(address, headers=asked | {"origin": ORIGIN + ".evil"})
    assert refused.status_code == 403
    assert "access-control-allow-origin" not in refused.headers
    # An error can be read, too.
    answer = httpx.post(address, content=b"{}", headers={
        "content-type": "application/json", "origin": ORIGIN})
    assert answer.status_code == 401
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "Origin" in answer.headers["vary"]
    assert answer.headers["www-authenticate"] == "Bearer"
    # And so can one of the listener, which the page would else take for a lost connection.
    for path in (EXPLAIN.path, "/v1/events"):
        refused = httpx.post(place.server.http + path, content=bytes(2 << 20), headers={
            "content-type": "application/json", "origin": ORIGIN})
        assert refused.status_code == 413
        assert refused.headers["access-control-allow-origin"] == ORIGIN


# The vectors

RECORDED = {
    "grpc": doors.GRPC,
    "connect, json": lambda server: doors.ConnectPython(
        server, google_protobuf_json_codec, send_compression=None),
    "connect-web": lambda server: doors.ConnectPython(server, protocol=ProtocolType.GRPC_WEB),
    "grpc-web-text": doors.WebText,
    "/v1/events": doors.PostedEvents,
}
FILES = ["flag-table", "verdicts", "raw-payloads"]


def told_apart(file: str) -> list[dict]:
    """A file's rows, each with an app of its own, where the app is not what the row is about: so
    that none is another's duplicate."""
    rows = json.loads((vectors.FOLDER / f"{file}.json").read_text(encoding="utf-8"))
    for number, row in enumerate(rows):
        if row["event"].get("appId") == "com.example.shop":
            row["event"]["appId"] += f".{number}"
            row["is_alone"] = True
    return rows


class Recorded(typing.NamedTuple):
    verdicts: list[tuple]
    hit_ids: list[str]


def recorded(make_server, door, rows: list[dict]) -> Recorded:
    """What a server makes of the rows' events that come through a door."""
    server = make_server(*doors.LISTEN).start()
    events = [json_format.ParseDict(row["event"], e.TrackingEvent()) for row in rows]
    answer = door(server).call(METHODS["RecordEvents"], s.RecordEventsRequest(events=events))
    verdicts = [(result.verdict, list(result.hits), list(result.warnings),
                 [violation.code for violation in result.violations]) for result in answer.results]
    server.wait_for_hits(sum(len(hits) for _, hits, _, _ in verdicts))
    hit_ids = [row[0].hex() for row in server.query("SELECT hit_id FROM hits ORDER BY hit_id")]
    return Recorded(verdicts, hit_ids)


@pytest.mark.parametrize("file", FILES)
def test_the_vectors_have_equal_verdicts_and_hit_ids_through_each_door(make_server, file):
    rows = told_apart(file)
    found = {name: recorded(make_server, door, copy.deepcopy(rows))
             for name, door in RECORDED.items()}
    for row, (verdict, hits, _, _) in zip(rows, found["grpc"].verdicts, strict=True):
        if row.get("is_alone"):
            assert v.Verdict.Name(verdict) == row["verdict"], row
            assert [v.HitKind.Name(hit) for hit in hits] == [hit["kind"] for hit in row["hits"]]
    assert len(found["grpc"].hit_ids) > 20
    for name, others in found.items():
        assert others == found["grpc"], name
