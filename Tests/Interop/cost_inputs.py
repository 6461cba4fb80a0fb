"""Inputs that cost a server most for what they have of bytes: by frames, and by each method."""

import dataclasses
import gzip
import socket
import ssl
import struct
from collections.abc import Callable

from attacks import worst_payload
from connection_ends import raw
from costs import DATA, HEADERS, RESET, WIDE, Meter, Site
from http_cost_inputs import HTTP_RUNS
from peer import PREFACE
from protos import delivery_service as ds
from protos import erasure_service as es
from protos import event as e
from protos import service as s

SERVICE = "/sightline.v1.TrackingService/"
STREAM, RECORD, EXPLAIN, INSPECT, EXPLAIN_DELIVERY = (
    SERVICE + name for name in ("StreamEvents", "RecordEvents", "ExplainEvents", "InspectPayload",
                                "ExplainDelivery"))
FORGET = "/sightline.v1.ErasureService/ForgetSubject"
PUT = "/sightline.v1.DeliveryService/PutDeliveries"
CHECK, LIST, WATCH = ("/grpc.health.v1.Health/" + name for name in ("Check", "List", "Watch"))
REFLECT = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
GZIP = ("grpc-encoding", "gzip")
# Below limits.metadata_bytes, and a connection has to send each only once.
LONG = (("x-a", "a" * 1700), ("x-b", "b" * 1700)) * 2
STREAMS = 100
Run = Callable[[Site], None]


@dataclasses.dataclass(frozen=True)
class Input:
    """What is sent, by whom, and to what kind of server."""

    run: Run
    # A forger is a stranger with a token that has a wrong signature.
    sender: str = "stranger"
    is_held: bool = False
    is_tls: bool = False
    # Whether it goes to the HTTP port.
    is_http: bool = False


def message(data: bytes, packed: bool = False) -> bytes:
    body = gzip.compress(data, 9, mtime=0) if packed else data
    return struct.pack(">BI", packed, len(body)) + body


def churns(data: bytes) -> Run:
    """Connections that say this and close."""
    def run(site: Site) -> None:
        host, port = site.target.rsplit(":", 1)
        while site.goes_on:
            with socket.create_connection((host, int(port)), timeout=5) as peer:
                peer.sendall(data)
                peer.settimeout(1)
                peer.recv(1)
                site.others += len(data)
    return run


def handshakes(answers: bool) -> Run:
    """TLS handshakes: the client's first flight alone, or the whole."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])

    def run(site: Site) -> None:
        host, port = site.target.rsplit(":", 1)
        while site.goes_on:
            inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(inward, outward)
            with socket.create_connection((host, int(port)), timeout=5) as peer:
                for _ in range(10):
                    try:
                        tls.do_handshake()
                        is_over = True
                    except ssl.SSLWantReadError:
                        is_over = False
                    flight = outward.read()
                    peer.sendall(flight)
                    site.others += len(flight)
                    if is_over:
                        break
                    answer = peer.recv(1 << 16)
                    if not answers or not answer:
                        break
                    inward.write(answer)
    return run


def floods(frames: bytes | Callable[[Meter], bytes], opened: int = 0) -> Run:
    """Connections that send frames until they are cut off, after some streams were opened."""
    def run(site: Site) -> None:
        while site.goes_on:
            meter = site.meter()
            for _ in range(opened):
                meter.head(CHECK)
            while site.goes_on and not meter.ended:
                meter.send(frames if isinstance(frames, bytes) else frames(meter))
                meter.read(0.001)
            meter.socket.close()
    return run


def resets(meter: Meter) -> bytes:
    """Streams that are reset at once; those of a connection that is not cut off for it."""
    for _ in range(150):
        meter.send(raw(RESET, 0, meter.head(CHECK), struct.pack(">I", 8)))
    meter.ended = True
    return b""


def calls(path: str, data: bytes, *fields, bare: bool = False, at_once: int = 50) -> Run:
    """Calls with this one message, one burst after another."""
    def run(site: Site) -> None:
        meter = site.meter()
        while site.goes_on and not meter.ended:
            for _ in range(at_once):
                stream = meter.head(path, *fields, *site.credentials, end=bare)
                if not bare:
                    meter.data(stream, data, end=True)
            meter.wait_for_answers()
    return run


def opened_in(app: str) -> e.TrackingEvent:
    event = e.TrackingEvent(app_id=app)
    event.push.kind = e.PUSH_INTERACTION_KIND_OPENED
    event.push.apns.MergeFrom(type(event.push.apns)(delivery_id="56c4", message_id="h138a"))
    return event


def asks_why(site: Site) -> None:
    """Calls for a delivery of so many apps that no more of its rows are looked at."""
    with site.server.channel() as channel:
        for first in range(0, 6000, 2000):
            site.server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[
                opened_in(f"app{first + number}") for number in range(2000)]),
                metadata=site.credentials)
    calls(EXPLAIN_DELIVERY, message(s.ExplainDeliveryRequest(delivery_id="56c4")
                                    .SerializeToString()), at_once=5)(site)


def stream(path: str, make: Callable[[int], bytes], *fields, per_burst: int = 1) -> Run:
    """One call with messages that never end."""
    def run(site: Site) -> None:
        meter, number = site.meter(), 0
        at = meter.head(path, *fields, *site.credentials)
        while site.goes_on and at in meter.open:
            meter.data(at, b"".join(make(number + 1 + k) for k in range(per_burst)))
            number += per_burst
            meter.read(0.001)
    return run


def tiny_events(tag: bytes) -> bytes:
    return (tag + b"\0") * 2000


def large_events(tag: bytes, body: bytes) -> bytes:
    """As many events of this size as fit."""
    return (500 << 10) // len(body) * (tag + _varint(len(body)) + body)


# Custom fields, as many as fit; and the same embedded messages again and again.
FAT = e.TrackingEvent()
FAT.push.fcm.data.custom_fields.update({f"{number:x}": "" for number in range(1800)})
MERGED = b"\x52\x04\x12\x02\x22\x00" * 2700
# Names that have to be unescaped before they are known to be none of those that are read: of the
# forms that were tried, these cost most.
RAW = e.TrackingEvent(platform=e.PLATFORM_IOS)
RAW.push.kind = e.PUSH_INTERACTION_KIND_OPENED
RAW.push.raw.json = b'{"_dId":"56c4","_mId":"h138a"' + b',"\\n":0' * 1150 + b"}"


def _varint(value: int) -> bytes:
    return bytes([value & 127 | 128, value >> 7 & 127 | 128, value >> 14])


def zeros(count: int) -> bytes:
    """A field that nobody knows."""
    return b"\xa2\x06" + _varint(count) + bytes(count)


def sequenced(body: bytes, packed: bool = False) -> Callable[[int], bytes]:
    return lambda number: message(
        s.StreamEventsRequest(sequence=number).SerializeToString() + body, packed)


def holds(data: bytes, path: str, *fields, window: int = WIDE, end: bool = False) -> Run:
    """As many streams as one address may have, each with the beginning of a message."""
    def run(site: Site) -> None:
        for _ in range(site.connections):
            meter = site.meter(window)
            for _ in range(STREAMS):
                if not site.goes_on:
                    return
                meter.data(meter.head(path, *fields, *site.credentials), data, end, seconds=1)
            meter.read(0.001)
    return run


def greets(data: bytes) -> Run:
    """Connections that say this and no more."""
    def run(site: Site) -> None:
        for _ in range(site.connections):
            site.meter().send(data)
    return run


def totals(id_bytes: int, name: str) -> bytes:
    """As many deliveries as a request may have."""
    return ds.PutDeliveriesRequest(deliveries=[
        ds.DeliveryTotals(delivery_id=f"{number:0{id_bytes}x}", name=name, platforms=[
            ds.PlatformTotals(platform=platform) for platform in range(3)])
        for number in range(1000)]).SerializeToString()


# A field of 4,000 bytes.
BLOCK = b"\x40\x02xx\x7f\xa1\x1e" + b"x" * 4000
EMPTY = message(b"")
PAYLOAD = s.InspectPayloadRequest(json=worst_payload(), platform=e.PLATFORM_IOS).SerializeToString()

# As small as they can be, as long as they can be, and each refused.
SHORT_TOTALS, LONG_TOTALS = totals(3, ""), totals(256, "n" * 256)
NO_TOTALS = b"\x0a\0" * 1000
FILE = message(b"\x1a\x18sightline/v1/event.proto")

INPUTS: dict[str, Input] = {
    "connection: preface, SETTINGS, close": Input(churns(PREFACE + raw(4, 0, 0))),
    "connection: TLS, first flight": Input(handshakes(False), is_tls=True),
    "connection: TLS, whole handshake": Input(handshakes(True), is_tls=True),
    "frames: SETTINGS": Input(floods(raw(4, 0, 0) * 1000)),
    "frames: windows of 100 streams": Input(floods(
        b"".join(raw(4, 0, 0, struct.pack(">HI", 4, 65535 - n % 2)) for n in range(100)), 100)),
    "frames: PING": Input(floods(raw(6, 0, 0, bytes(8)) * 101)),
    "frames: WINDOW_UPDATE": Input(floods(raw(8, 0, 0, b"\0\0\0\1") * 1000)),
    "frames: PRIORITY": Input(floods(raw(2, 0, 1, bytes(4) + b"\1") * 1000)),
    "frames: unknown": Input(floods(raw(99, 0, 0) * 1000)),
    "frames: empty DATA": Input(floods(raw(DATA, 0, 1) * 100, 1)),
    "frames: CONTINUATION": Input(floods(raw(HEADERS, 0, 1, b"\x82") + raw(9, 0, 1) * 100)),
    "frames: HEADERS and RST_STREAM": Input(floods(resets)),
    "call: unknown method": Input(calls("/a/b", b"", bare=True)),
    "call: no credentials": Input(calls(RECORD, b"", bare=True)),
    "call: no credentials, long metadata": Input(calls(RECORD, b"", *LONG, bare=True)),
    "call: a forged token": Input(calls(RECORD, b"", bare=True), "forger"),
    "Health/Check": Input(calls(CHECK, EMPTY)),
    "Health/List": Input(calls(LIST, EMPTY)),
    "Reflection: a file": Input(stream(REFLECT, lambda _: FILE, per_burst=20), "tenant"),
    "StreamEvents: no message at all": Input(
        stream(STREAM, lambda _: message(b"\xff"), per_burst=500), "tenant"),
    "StreamEvents: empty requests": Input(stream(STREAM, sequenced(b""), per_burst=500), "tenant"),
    "InspectPayload: worst payload": Input(calls(INSPECT, message(PAYLOAD), at_once=5), "tenant"),
    "InspectPayload: zeros, gzip": Input(
        calls(INSPECT, message(b"\x0a\x80\x80\x04" + b"[" + b"0," * 32766 + b"0 ]", True), GZIP,
              at_once=5), "tenant"),
    "ExplainDelivery: 5,000 rows": Input(asks_why, "tenant"),
    "ForgetSubject: one at a time": Input(
        calls(FORGET, message(es.ForgetSubjectRequest(subject_id="a").SerializeToString()),
              at_once=1), "tenant"),
    "PutDeliveries: 1,000 deliveries": Input(
        calls(PUT, message(SHORT_TOTALS), at_once=5), "tenant"),
    "PutDeliveries: 1,000 of the longest, gzip": Input(
        calls(PUT, message(LONG_TOTALS, True), GZIP, at_once=5), "tenant"),
    "PutDeliveries: 1,000 empty ones, each refused": Input(
        calls(PUT, message(NO_TOTALS), at_once=5), "tenant"),
    "PutDeliveries: 1,000 empty ones, gzip": Input(
        calls(PUT, message(NO_TOTALS, True), GZIP, at_once=5), "tenant"),
    "hold: Health/Check": Input(holds(b"", CHECK), is_held=True),
    "hold: Health/Check, long metadata": Input(holds(b"", CHECK, *LONG), is_held=True),
    "hold: Health/Check, gzip": Input(
        holds(message(bytes(64), True)[:-10], CHECK, GZIP), is_held=True),
    "hold: Health/Check, 16 KiB unfinished": Input(
        holds(struct.pack(">BI", 0, 1 << 14) + bytes(16_320), CHECK), is_held=True),
    "hold: Health/Watch": Input(holds(EMPTY, WATCH), is_held=True),
    "hold: head that never ends": Input(greets(raw(HEADERS, 0, 1, BLOCK * 3)), is_held=True),
    "hold: StreamEvents": Input(holds(b"", STREAM), "tenant", is_held=True),
    "hold: RecordEvents, whole, not ended": Input(holds(
        message(zeros(1_040_000)), RECORD), "tenant", is_held=True),
    "hold: StreamEvents, unread answers": Input(
        holds(sequenced(tiny_events(b"\x12"))(1) + sequenced(tiny_events(b"\x12"))(2), STREAM,
              window=0), "tenant", is_held=True),
}
for _name, _path, _tag in (("StreamEvents", STREAM, b"\x12"), ("RecordEvents", RECORD, b"\x0a"),
                           ("ExplainEvents", EXPLAIN, b"\x0a")):
    for _what, _body in {
            "empty events": tiny_events(_tag), "merged events": large_events(_tag, MERGED),
            "fat events": large_events(_tag, FAT.SerializeToString()), "zeros": zeros(520_000),
            "raw payloads": large_events(_tag, RAW.SerializeToString()),
    }.items():
        for _packed in (False, True):
            _run = (stream(_path, sequenced(_body, _packed), *[GZIP] * _packed)
                    if _path == STREAM else
                    calls(_path, message(_body, _packed), *[GZIP] * _packed, at_once=4))
            INPUTS[f"{_name}: {_what}{', gzip' * _packed}"] = Input(_run, "tenant")
    if _path != STREAM:
        INPUTS[f"hold: {_name}, unread answers"] = Input(
            holds(message(tiny_events(_tag)), _path, window=0, end=True), "tenant", is_held=True)
for _name, (_run, _sender) in HTTP_RUNS.items():
    INPUTS[_name] = Input(_run, _sender, is_http=True)
