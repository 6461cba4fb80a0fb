"""What the server records, others can read: a backend in another language whose parser refused an
event would get its batch again for ever, and all tenants' hits would wait behind it.

Facts whose bytes are bent on every level of their messages go through RecordEvents. Of those that are
accepted upb, the parser of Python's, Ruby's and PHP's protobuf, reads each; every field has its own
wire type, as Rust's prost and protobuf.js need it; and the columns of hits.db are texts."""

import random
import sqlite3
import time

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError

from facts import Facts
from protos import event as e
from protos import service as s
from protos import verdict as v
from stream import field, read_varint, varint

REQUEST, SAMPLE, WHOLE = 100, 300, 30_000
# So many of those that are recorded are read from the view of all details.
SHOWN = 2_000
TEXTS = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES, FieldDescriptor.TYPE_MESSAGE)
# Of events that can only be refused a search would learn nothing.
LEAST_TAKEN = 5
UNARY = "/sightline.v1.TrackingService/RecordEvents"
# A key or a value of another type, and what follows it read as the next field, or as its content.
ODD_ENTRIES = [b"\x08\x0a\x01k", b"\x08\x05\x0a\x01k", b"\x10\x12\x01v", b"\x0b\x0c", b"\x0d\x0a\x01kk",
               b"\x09\x0a\x06abcdef", b"\x0a\x01k\x18\x01", b"\x0a\x01k\x0a\x02kk\x12\x00", b"",
               b"\x8a\x80\x00\x01k", b"\x8a\x80\x80\x80\x80\x00\x01k"]


def bent(message, dice: random.Random) -> bytes:
    """A message's bytes with something odd in it, or in one of its messages."""
    parts = []
    for descriptor, value in message.ListFields():
        number, is_map = descriptor.number, descriptor.message_type and (
            descriptor.message_type.GetOptions().map_entry)
        if is_map:
            parts += [field(number, entry_of(key, value[key], dice)) for key in value]
            if dice.random() < 0.2:
                parts.append(field(number, dice.choice(ODD_ENTRIES)))
        elif descriptor.message_type:
            parts.append(field(number, bent(value, dice)))
        else:
            alone = type(message)(**{descriptor.name: value}).SerializeToString()
            parts.append(alone)
    for _ in range(dice.choice([0, 0, 0, 1])):
        parts.insert(dice.randrange(len(parts) + 1), odd(parts, dice))
    return b"".join(parts)


def entry_of(key: str, value: str, dice: random.Random) -> bytes:
    parts = [field(1, key.encode()), field(2, value.encode())]
    if dice.random() < 0.1:
        parts.insert(dice.randrange(3), dice.choice(ODD_ENTRIES))
    return b"".join(parts)


def odd(parts: list[bytes], dice: random.Random) -> bytes:
    """A field that a usual encoder does not write there."""
    number = dice.choice([1, 2, 3, 4, 5, 7, 11, 13, 18, 99, 536_870_911])
    return dice.choice([
        lambda: dice.choice(parts) if parts else b"",
        lambda: varint(number << 3) + varint(dice.getrandbits(dice.choice([7, 32, 64]))),
        lambda: varint(number << 3) + b"\xff" * 9 + bytes([dice.choice([1, 2, 0x7F])]),
        lambda: varint(number << 3 | 5) + dice.randbytes(4),
        lambda: varint(number << 3 | 1) + dice.randbytes(8),
        lambda: varint(number << 3 | 3) + varint(dice.choice([number, number, 6]) << 3 | 4),
        lambda: field(number, dice.randbytes(dice.randrange(4))),
        lambda: varint(number << 3 | 2) + varint(dice.randrange(300)),
        lambda: dice.randbytes(dice.randrange(1, 4)),
        lambda: varint(dice.choice([0, 6, 7, number << 3 | 6])),
    ])()


def facts_of(facts: Facts, dice: random.Random) -> bytes:
    event = dice.choice([facts.push, facts.in_app, facts.track_action, facts.send])().event
    push = event.push
    for fields in ([push.fcm.data.custom_fields] if push.HasField("fcm") else
                   [push.apns.custom_fields, push.apns.aps.other_fields] if push.HasField("apns")
                   else [event.in_app.app_data] if event.HasField("in_app") else []):
        fields["k"] = "v"
    return bent(event, dice)


def misread(data: bytes, descriptor: Descriptor) -> str:
    """The first known field with another wire type than its own; upb has read the bytes."""
    at = groups = 0
    while at < len(data):
        tag, at = read_varint(data, at)
        known = None if groups else descriptor.fields_by_number.get(tag >> 3)
        if known and tag & 7 != (2 if known.type in TEXTS else 0):
            return f"{known.full_name} with the wire type {tag & 7}"
        if tag & 7 == 0:
            _, at = read_varint(data, at)
        elif tag & 7 == 2:
            length, at = read_varint(data, at)
            content, at = data[at:at + length], at + length
            if known and known.message_type and (found := misread(content, known.message_type)):
                return found
        else:
            at += {1: 8, 5: 4}.get(tag & 7, 0)
            groups += {3: 1, 4: -1}.get(tag & 7, 0)
    return ""


# Parts of a push in which readers of hits.db could meet bytes that are no text, and whether an event
# with the part in front of its own is accepted.
NO_TEXTS = {
    "a payload that another one replaces": (field(7, field(1, b"\xff")), False),
    "a payload twice": (field(7, field(1, b"\xff") + field(1, b"{}")), False),
    "a group with what looks like a text": (
        b"\xeb\x01" + b"\xe8\x01\x96\x01" + b"\x22\x01\xff" + b"\xec\x01", True),
}


@pytest.mark.parametrize("part, is_taken", NO_TEXTS.values(), ids=NO_TEXTS.keys())
def test_every_column_of_what_is_recorded_is_text(make_server, part, is_taken):
    server = make_server().start()
    event = Facts(1, int(time.time())).push(kind=1, platform=e.PLATFORM_IOS).event
    crooked = event.SerializeToString() + field(10, part + event.push.SerializeToString())
    with server.channel() as channel:
        call = channel.unary_unary(UNARY, request_serializer=None,
                                   response_deserializer=s.RecordEventsResponse.FromString)
        [result] = call(field(1, crooked), timeout=30).results
    assert (result.verdict == v.VERDICT_ACCEPTED) == is_taken, result
    if is_taken:
        server.wait_for_hits(1)
        assert len(details(server)) == 1


def details(server) -> list[tuple]:
    """As a reader gets them who takes texts for texts."""
    with sqlite3.connect(f"file:{server.directory / 'hits.db'}?mode=ro", uri=True) as file:
        return file.execute(f"SELECT * FROM details LIMIT {SHOWN}").fetchall()


@pytest.mark.timeout(6 * 3600)
def test_what_is_recorded_others_read(make_server, seed, amount, figure):
    assert api_implementation.Type() == "upb"
    server = make_server().start()
    dice, facts, taken = random.Random(seed), Facts(seed, int(time.time()), space=31), 0
    with server.channel() as channel:
        call = channel.unary_unary(UNARY, request_serializer=None,
                                   response_deserializer=s.RecordEventsResponse.FromString)
        count = amount(SAMPLE, WHOLE)
        for _ in range(count):
            events = [facts_of(facts, dice) for _ in range(REQUEST)]
            answer = call(b"".join(field(1, event) for event in events), timeout=30)
            assert len(answer.results) == REQUEST
            for event, result in zip(events, answer.results):
                if result.verdict in (v.VERDICT_ACCEPTED, v.VERDICT_DUPLICATE):
                    taken += 1
                    try:
                        e.TrackingEvent.FromString(event)
                    except DecodeError:
                        pytest.fail(f"recorded, and upb refuses it: {event.hex()}")
                    found = misread(event, e.TrackingEvent.DESCRIPTOR)
                    assert not found, f"recorded, and it has {found}: {event.hex()}"
    figure(f"taken and read by upb: {taken:,} of {count * REQUEST:,}")
    assert taken * LEAST_TAKEN > count * REQUEST
    server.wait_for_hits(SHOWN)
    assert len(details(server)) == SHOWN
