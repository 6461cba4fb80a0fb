"""No text costs the square of its length. Swift compares and hashes a String in its normal form, for
which it sorts the marks behind a character by insertion: each place where a peer may put text gets a
character with many marks, and the server's CPU is held to what as many letters cost."""

import json
import pathlib
import urllib.error
import urllib.request

import grpc
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from connection_ends import raw
from costs import DATA, Meter
from protos import delivery_service as ds
from protos import erasure_service as es
from protos import event as e
from protos import service as s
from server import MANY_CONNECTIONS

# The square of the marks takes seconds at these sizes: 1.6 s for each comparison of 100 KB in a release
# build, and 6 ms of 3,000 bytes, which are as many as HPACK's table takes beside the other fields.
LONG, HEAD, HEADS = 100_000, 3_000, 100
# What letters cost at most varies by less.
MOST_TIMES, MOST_SECONDS = 2, 0.15
HEALTH = "/grpc.health.v1.Health/"
TRACKING = "/sightline.v1.TrackingService/"
METHODS = {
    TRACKING + "RecordEvents": s.RecordEventsRequest,
    TRACKING + "ExplainEvents": s.ExplainEventsRequest,
    TRACKING + "InspectPayload": s.InspectPayloadRequest,
    TRACKING + "ExplainDelivery": s.ExplainDeliveryRequest,
    TRACKING + "StreamEvents": s.StreamEventsRequest,
    "/sightline.v1.DeliveryService/PutDeliveries": ds.PutDeliveriesRequest,
    "/sightline.v1.ErasureService/ForgetSubject": es.ForgetSubjectRequest,
}
# Its tests compare some hundred requests each, beside others.
pytestmark = pytest.mark.timeout(1200)
JSON = {"content-type": "application/json"}
HOST = "track.example.com"
CONFIGURATION = f"""
http: {{cors_origins: "https://shop.example"}}
postback:
  per_address_per_second: 0
  hosts: [{{host: {HOST}, tenant: default, product: standard, app: com.example.shop}}]
"""


def letters(count: int) -> str:
    return "a" * count


def marks(count: int) -> str:
    """Those that come first stand behind those that come last."""
    each = (count - 1) // 4
    return "a" + "\u0301" * each + "\u0323" * each


def leaves(message: Descriptor, above: tuple[str, ...] = ()):
    """The way to each field that holds text or bytes."""
    if message.full_name in above:
        return
    for field in message.fields:
        if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
            yield (field,)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            if not field.message_type.full_name.startswith("google.protobuf."):
                for rest in leaves(field.message_type, (*above, message.full_name)):
                    yield (field, *rest)


def filled(message: Message, way: tuple[FieldDescriptor, ...], text: str) -> Message:
    """The message with this text at the end of the way, and what an event needs besides."""
    at = message
    for field, below in zip(way, way[1:]):
        if isinstance(at, e.TrackingEvent):
            at.event_id, at.app_id, at.platform = "e", "com.example.shop", e.PLATFORM_IOS
            at.occur_time.GetCurrentTime()
        value = getattr(at, field.name)
        if field.message_type.GetOptions().map_entry:
            value[text if below.name == "key" else "k"] = "v" if below.name == "key" else text
            return message
        if hasattr(value, "add"):
            at = value.add()
        else:
            value.SetInParent()
            at = value
    value = text if way[-1].type == FieldDescriptor.TYPE_STRING else text.encode()
    setattr(at, way[-1].name, value)
    return message


class Costs:
    """What the same request costs a server with letters and with marks in it."""

    def __init__(self, server):
        self.server = server
        self.channel = grpc.insecure_channel(server.target)
        self.found: list[str] = []
        self.count = 0

    def seconds(self) -> float:
        """The CPU time of the server so far."""
        fields = pathlib.Path(f"/proc/{self.server.process.pid}/stat").read_text().rpartition(")")[2]
        return sum(map(int, fields.split()[11:13])) / 100

    def compare(self, name: str, size: int, ask) -> None:
        """`ask` sends a request with the text that it is given, and waits for the answer."""
        spent = []
        for text in (letters(size), marks(size)):
            before = self.seconds()
            ask(text)
            spent.append(self.seconds() - before)
        self.count += 1
        if spent[1] > MOST_TIMES * spent[0] + MOST_SECONDS:
            self.found.append(f"{name}: {spent[1]:.2f} s with marks, {spent[0]:.2f} s with letters")

    def call(self, path: str, message: bytes) -> None:
        """Sends a message, and waits for all answers, or for the first of those that have no end."""
        call = self.channel.stream_stream(
            path, request_serializer=bytes, response_deserializer=bytes)(
                iter([message]), timeout=120)
        try:
            for _ in call:
                if path.endswith("Watch"):
                    call.cancel()
                    return
        except grpc.RpcError as error:
            assert error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED, f"{path} takes too long"

    def post(self, path: str, value) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        request = urllib.request.Request(self.server.http + path, body, JSON)
        try:
            urllib.request.urlopen(request, timeout=120).read()
        except urllib.error.HTTPError as error:
            error.read()

    def heads(self, target: str, fields: dict[str, str]) -> None:
        """Many streams of HTTP/2 with this head, which HPACK repeats with a few bytes."""
        meter = Meter(target)
        for _ in range(HEADS):
            meter.stream += 2 if meter.stream else 1
            head = {":method": "POST", ":scheme": "http", ":path": "/", ":authority": HOST} | fields
            meter.open.add(meter.stream)
            meter.windows[meter.stream] = meter.stream_window
            # Without Huffman's code, in which marks are longer than letters.
            block = meter.encoder.encode(list(head.items()), huffman=False)
            meter.send(raw(1, 4, meter.stream, block), raw(DATA, 1, meter.stream))
        meter.wait_for_answers()
        assert not meter.open or meter.ended
        meter.socket.close()


@pytest.fixture(name="costs")
def make_costs(make_server, tmp_path):
    configuration = tmp_path / "sightline.yaml"
    configuration.write_text(CONFIGURATION)
    costs = Costs(make_server("--http", "127.0.0.1:0", "--config", str(configuration),
                              MANY_CONNECTIONS).start())
    yield costs
    costs.channel.close()
    assert costs.count and not costs.found, "\n".join(costs.found)


def test_in_each_field_of_each_method(costs):
    for path, kind in METHODS.items():
        for way in leaves(kind.DESCRIPTOR):
            name = f"{path} {'.'.join(field.name for field in way)}"

            def ask(text, path=path, kind=kind, way=way):
                message = filled(kind(), way, text)
                if isinstance(message, s.StreamEventsRequest):
                    message.sequence = 1
                costs.call(path, message.SerializeToString())

            # Below what an event may have, and beyond it.
            costs.compare(name, 15_000, ask)
            costs.compare(name, LONG, ask)
            if kind is not s.StreamEventsRequest:
                costs.compare(f"{name} in JSON", LONG, lambda text, path=path, kind=kind, way=way: (
                    costs.post(path, json_format.MessageToDict(filled(kind(), way, text)))))


@pytest.mark.parametrize("path", [TRACKING + "RecordEvents", TRACKING + "ExplainEvents", "/v1/events"])
def test_in_each_part_of_a_text_in_json(costs, path):
    event = {"eventId": "e", "platform": "PLATFORM_IOS", "appId": "com.example.shop"}
    parts = {
        "a field's name": lambda text: event | {text: 1},
        "a value of an enum": lambda text: event | {"platform": text},
        "a time": lambda text: event | {"occurTime": text},
        "a message": lambda text: event | {"traceContext": text},
        "bytes": lambda text: event | {"push": {"raw": {"json": text}}},
        "a raw payload's key": lambda text: event | {"push": {"raw": {"json": {text: 1}}}},
        "a map's key": lambda text: event | {"inApp": {"appData": {text: "v"}}},
        "a map's value": lambda text: event | {"inApp": {"appData": {"k": text}}},
    }
    for name, part in parts.items():
        for size in (15_000, LONG):
            costs.compare(f"{name} at {path}", size, lambda text, part=part: (
                costs.post(path, {"events": [part(text)]})))


@pytest.mark.parametrize("shape", [
    '{%s:1}', '{"data":{%s:"1"}}', '{"aps":{%s:1}}', '{"aps":{"alert":{%s:1}}}', '{"_dId":%s,"_mId":%s}',
    '{"message":{"data":{%s:"1"}}}', '{"notification":{%s:"1"}}', '{"data":{"acsDeliveryTracking":%s}}',
    '{"mcId":%s}', '{"priority":%s}', '{"aps":%s}'])
def test_in_each_part_of_a_payload(costs, shape):
    def payload(text):
        return shape.replace("%s", json.dumps(text, ensure_ascii=False)).encode()

    def record(text, platform):
        event = e.TrackingEvent(event_id="e", app_id="a", platform=platform)
        event.push.raw.json = payload(text)
        message = s.RecordEventsRequest(events=[event] * 50)
        costs.call(TRACKING + "RecordEvents", message.SerializeToString())

    for platform in (e.PLATFORM_ANDROID, e.PLATFORM_IOS):
        costs.compare(shape, 64_000, lambda text, platform=platform: costs.call(
            TRACKING + "InspectPayload",
            s.InspectPayloadRequest(json=payload(text), platform=platform).SerializeToString()))
        costs.compare(f"{shape} in an event", 7_500, lambda text, platform=platform: (
            record(text, platform)))


def test_in_each_field_of_a_calls_head(costs):
    # `:method` and `te` are left out: nio-http2 itself compares them as Strings.
    calls = {":path": TRACKING + "RecordEvents", "content-type": "application/grpc", "te": "trailers"}
    for name in (":path", ":authority", "content-type", "authorization", "x-api-key", "grpc-timeout",
                 "grpc-encoding", "grpc-accept-encoding", "traceparent", "tracestate", "user-agent",
                 "x-other"):
        costs.compare(name, HEAD, lambda text, name=name: costs.heads(
            costs.server.target, calls | {name: "/" * (name == ":path") + text}))


def test_in_each_part_of_a_requests_head(costs):
    events = {":path": "/v1/events", "content-type": "application/json"}
    connect = {":path": TRACKING + "RecordEvents", "content-type": "application/json"}
    postback = {":path": "/r/?id=h1,56c4,2&mcId=7", ":method": "GET"}
    host, port = costs.server.http_address
    for path in ("/%s", "/v1%s", "/r/%s", "/v1/events?results=%s", "/v1/events?%s", "/r/?id=%s",
                 "/r/?id=h1,56c4,2&mcId=%s", TRACKING + "%s", TRACKING + "InspectPayload?%s"):
        costs.compare(path, HEAD, lambda text, path=path: costs.heads(
            f"{host}:{port}", {":method": "GET", ":path": path.replace("%s", text)}))
    for others in (events, connect, postback):
        for name in (":authority", "content-type", "content-encoding", "origin", "accept",
                     "authorization", "x-api-key", "user-agent", "expect", "via", "cookie",
                     "traceparent", "connect-timeout-ms", "connect-protocol-version", "x-other",
                     "access-control-request-method"):
            costs.compare(
                f"{name} at {others[':path']}", HEAD, lambda text, name=name, others=others: (
                    costs.heads(f"{host}:{port}", others | {name: text})))
        charset = "application/json; charset="
        costs.compare(
            f"a parameter at {others[':path']}", HEAD, lambda text, others=others: costs.heads(
                f"{host}:{port}", others | {"content-type": charset + text}))


@pytest.mark.parametrize("path, message", [
    (HEALTH + "Check", 1),
    (HEALTH + "Watch", 1),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", 3),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", 4),
    ("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", 6)])
def test_in_each_question_to_the_services_of_others(costs, path, message):
    """The number is that of the field with the name that is asked for."""
    for size in (1_000, 15_000):
        costs.compare(f"{path} {message}", size, lambda text: [costs.call(
            path, bytes([message << 3 | 2]) + varint(len(text.encode())) + text.encode())
            for _ in range(10)])


def varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)
