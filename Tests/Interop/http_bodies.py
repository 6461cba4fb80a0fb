"""Bodies of HTTP requests as clients and strangers send them: JSON by grammar and then changed,
protobuf, frames of Connect and gRPC-Web; compressed in every way, and chunked well or badly."""

import base64
import gzip
import json
import random
import struct
import time
import zlib

from google.protobuf import json_format

from facts import Facts
from protos import service as s

MIB = 1 << 20
# Values in place of another one: what a parser of JSON may stumble over.
STRANGE = [
    b"null", b"true", b"0", b"-0", b"1e999", b"-1e-999", b"1" * 400, b"0x10", b"01", b"1.", b".5",
    b"+1", b"NaN", b"Infinity", b'""', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u0000"', b'"\xff\xfe"',
    b'"\xed\xa0\x80"', b'"\\x41"', b'"a\nb"', b"'a'", b"[]", b"{}", b"[" * 600, b'{"a":' * 600,
    b"[" * 600 + b"]" * 600, b'"' + b"a" * 70_000 + b'"', b"/* */ 1", b"undefined", b'{"":""}',
    b'"2026-13-45T99:99:99Z"', b'"9999-12-31T23:59:60Z"', b'"PUSH_INTERACTION_KIND_NONE"',
    b"9007199254740993", b"18446744073709551616", b'"' + "é😀".encode() + b'"',
]
# What custom fields and raw payloads of vendors look like.
RAW_PAYLOADS = [
    {"aps": {"alert": {"title": "Sale"}}, "_dId": "56c4", "_mId": "h1", "_acsDeliveryTracking": "on"},
    {"message": {"data": {"_dId": "56c4", "_mId": "h1", "_acsDeliveryTracking": "on"}}},
    {"data": {"_dId": 56, "_mId": ["h1"]}}, {}, {"aps": None}, {"aps": {"alert": "text"}},
]
SEPARATORS = [b"\n", b"\r\n", b"\n\n", b"\n \n", b"\r", b"", b",", b"\n\xef\xbb\xbf", b"\0"]
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_BLOCK = 1 << 17
# One time for all bodies: a seed makes the same ones for as long as this process lives.
NOW = int(time.time())


class Bodies:
    """Makes bodies from one source of chance."""

    def __init__(self, chance: random.Random, space: int):
        self.chance = chance
        self.facts = Facts(chance.randrange(1 << 30), NOW, space)

    def event(self) -> dict:
        """An event of some kind, as protobuf's JSON has it; mostly a good one."""
        pick = self.chance.random()
        fact = (self.facts.accepted() if pick < 0.8 else self.facts.invalid() if pick < 0.9
                else self.facts.opted_out())
        if fact.event.occur_time.nanos > 999_999_999:
            # JSON has no words for it.
            fact.event.ClearField("occur_time")
        event = json_format.MessageToDict(fact.event)
        if "push" in event and self.chance.random() < 0.3:
            event["push"].pop("apns", None)
            event["push"].pop("fcm", None)
            payload = dict(self.chance.choice(RAW_PAYLOADS))
            if "_mId" in payload:
                payload["_mId"] = f"h{next(self.facts.numbers):x}"
            event["push"]["raw"] = {"json": payload}
        return event

    def good_events(self) -> tuple[bytes, str, int]:
        """A body that every rule of form allows, its type, and how many events it has."""
        count = self.chance.choice([1, 1, 2, 5, 30])
        events = [json_format.MessageToDict(self.facts.accepted().event) for _ in range(count)]
        form = self.chance.randrange(3)
        if form == 0:
            return json.dumps(events).encode(), "application/json", count
        if form == 1:
            return json.dumps(events[0]).encode(), "application/json", 1
        lines = "".join(json.dumps(event) + "\n" for event in events)
        return lines.encode(), "application/x-ndjson", count

    def events(self) -> bytes:
        """Events in some form, and perhaps not quite."""
        chance = self.chance
        events = [self.odd(self.event()) for _ in range(chance.choice([0, 1, 1, 2, 4, 40]))]
        form = chance.random()
        if form < 0.4:
            body = b"[" + b",".join(events) + b"]"
        elif form < 0.9:
            body = chance.choice(SEPARATORS[:2] * 4 + SEPARATORS).join(events)
        else:
            body = chance.choice(STRANGE)
        return self.changed(body) if chance.random() < 0.4 else body

    def odd(self, event: dict) -> bytes:
        """An event's JSON, with a member that was left out, renamed, doubled, or made strange."""
        chance = self.chance
        if chance.random() < 0.5:
            return json.dumps(event).encode()
        place = event
        while True:
            name = chance.choice(list(place) or [""])
            if isinstance(place.get(name), dict) and place[name] and chance.random() < 0.7:
                place = place[name]
                continue
            break
        pick = chance.randrange(5)
        if pick == 0:
            place.pop(name, None)
        elif pick == 1 and name:
            place[chance.choice([name.upper(), name + "_", "_" + name, name[1:], "__proto__", "@type",
                                 "\u0000", "push", "customFields"])] = place.pop(name)
        text = json.dumps(event).encode()
        key = json.dumps(name).encode() + b": "
        if pick == 2:
            return text.replace(key, key + chance.choice(STRANGE) + b"," + key, 1)
        if pick >= 3:
            at = text.find(key)
            end = min((text.find(c, at + len(key)) for c in (b",", b"}")
                       if text.find(c, at + len(key)) >= 0), default=len(text))
            return text[:at + len(key)] + chance.choice(STRANGE) + text[end:] if at >= 0 else text
        return text

    def changed(self, body: bytes) -> bytes:
        """Some bytes of it changed, lost, doubled or put in."""
        chance = self.chance
        for _ in range(chance.choice([1, 1, 2, 8])):
            at, to = sorted(chance.randrange(len(body) + 1) for _ in range(2))
            match chance.randrange(5):
                case 0: body = body[:at] + chance.randbytes(chance.randrange(5)) + body[at:]
                case 1: body = body[:at] + body[to:]
                case 2: body = body[:to] + body[at:to][:4096] + body[to:]
                case 3: body = body[:at]
                case _: body = body[:at] + bytes([chance.randrange(256)]) + body[at + 1:]
        return body

    def request(self) -> s.RecordEventsRequest:
        return s.RecordEventsRequest(
            events=[self.facts.accepted().event for _ in range(self.chance.choice([0, 1, 3, 20]))])

    def message(self, is_json: bool) -> bytes:
        """A request of RecordEvents in either encoding, and perhaps not quite."""
        request = self.request()
        body = (json_format.MessageToJson(request, indent=None).encode() if is_json
                else request.SerializeToString())
        return self.changed(body) if self.chance.random() < 0.4 else body

    def framed(self, is_json: bool, is_text: bool) -> bytes:
        """Frames of gRPC-Web or envelopes of Connect: a byte of flags, a length, a message."""
        chance = self.chance
        frames = b""
        for _ in range(chance.choice([0, 1, 1, 1, 2])):
            message = self.message(is_json)
            length = len(message) if chance.random() < 0.8 else chance.choice(
                [0, len(message) + 1, max(0, len(message) - 1), 0xFFFFFFFF, 0x80000000])
            frames += struct.pack(">BI", chance.choice([0] * 8 + [1, 2, 0x80, 0xFF]), length) + message
        if chance.random() < 0.1:
            frames += b"\x80" + struct.pack(">I", 15) + b"grpc-status:0\r\n"
        if is_text:
            frames = base64.b64encode(frames)
            if chance.random() < 0.2:
                frames = self.changed(frames)
        return frames


def zstd(body: bytes) -> bytes:
    """A frame of zstd with blocks that are not compressed."""
    blocks = [body[at:at + ZSTD_BLOCK] for at in range(0, len(body), ZSTD_BLOCK)] or [b""]
    # A window of 1 MiB; no checksum, no size.
    return ZSTD_MAGIC + b"\x00\x50" + b"".join(
        struct.pack("<I", len(block) << 3 | (at == len(blocks) - 1))[:3] + block
        for at, block in enumerate(blocks))


def zstd_bomb(size: int) -> bytes:
    """A frame of blocks of 4 bytes that are each 128 KiB of one byte."""
    count = size // ZSTD_BLOCK
    return ZSTD_MAGIC + b"\x00\x50" + b"".join(
        struct.pack("<I", ZSTD_BLOCK << 3 | 1 << 1 | (at == count - 1))[:3] + b" "
        for at in range(count))


_SMALL, _LARGE = (gzip.compress(b" " * (size * MIB), mtime=0) for size in (2, 16))
BOMBS = {"gzip": [_SMALL, _LARGE, gzip.compress(_LARGE, mtime=0)],
         "zstd": [zstd_bomb(2 * MIB), zstd_bomb(1024 * MIB)],
         "deflate": [zlib.compress(b" " * (16 * MIB))]}


def compressed(chance: random.Random, body: bytes) -> tuple[bytes, str]:
    """The body in some encoding, and its name: true, or not; whole, or not."""
    encoding = chance.choice(["gzip", "gzip", "zstd", "zstd", "deflate", "br", "identity", "x-gzip",
                              "GZIP", "gzip, gzip", "gzip,zstd", "compress", "", "nonsense"])
    if chance.random() < 0.08 and encoding in BOMBS:
        return chance.choice(BOMBS[encoding]), encoding
    family = encoding.lower()
    if "gzip" in family:
        data = gzip.compress(body, compresslevel=1, mtime=0)
        if family == "gzip, gzip":
            data = gzip.compress(data, mtime=0)
        if chance.random() < 0.1:
            data += data  # Members one behind the other.
    elif family == "zstd":
        data = zstd(body)
        if chance.random() < 0.1:
            # A frame that is to be skipped, and another one behind it.
            data = b"\x50\x2a\x4d\x18\x04\0\0\0abcd" + data + zstd(b"")
    elif family == "deflate":
        data = zlib.compress(body)
    else:
        data = body
    if data and chance.random() < 0.2:
        at = chance.randrange(len(data))
        data = data[:at] if chance.random() < 0.5 else (
            data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:])
    return data, encoding


def chunked(chance: random.Random, body: bytes) -> bytes:
    """The body in chunks, as they may be."""
    data = b""
    while body:
        size = min(len(body), chance.choice([1, 7, 100, 5000, 70_000]))
        number = f"{size:x}" if chance.random() < 0.7 else f"{size:X}".rjust(8, "0")
        extension = chance.choice([""] * 8 + [";a", ";a=b", ';a="b;c"'])
        data += f"{number}{extension}\r\n".encode() + body[:size] + b"\r\n"
        body = body[size:]
    trailers = chance.choice([b""] * 6 + [b"X-Trailer: a\r\n"])
    return data + b"0\r\n" + trailers + b"\r\n"


# Chunks that no reader may take for anything: what follows would be read as another request.
BAD_CHUNKS = [
    b"-1\r\na\r\n0\r\n\r\n", b"0x1\r\na\r\n0\r\n\r\n", b"g\r\na\r\n0\r\n\r\n",
    b"ffffffffffffffff1\r\na\r\n0\r\n\r\n", b"fffffffffffffffff\r\na", b"1\na\n0\n\n", b"\r\n\r\n",
    b"1 1\r\na\r\n0\r\n\r\n", b"1\r\nab\r\n0\r\n\r\n", b"+1\r\na\r\n0\r\n\r\n",
    b"1;\na\r\na\r\n0\r\n\r\n", b"1\r\na0\r\n\r\n", b"1\x00\r\na\r\n0\r\n\r\n",
]
