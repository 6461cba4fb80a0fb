"""What the server records, others can read: a backend in another language whose parser refused an
event would get its batch again for ever, and all tenants' hits would wait behind it.

Facts whose bytes are bent on every level of their messages go through RecordEvents, and upb, the
parser of Python's, Ruby's and PHP's protobuf, reads those that are accepted."""

import random
import time

import pytest
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError

from facts import Facts
from protos import event as e
from protos import service as s
from protos import verdict as v
from stream import field, varint

REQUEST, SAMPLE, WHOLE = 100, 300, 30_000
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


@pytest.mark.timeout(6 * 3600)
def test_what_is_recorded_upb_reads(make_server, seed, amount, figure):
    assert api_implementation.Type() == "upb"
    server = make_server("--sink", "discard").start()
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
    figure(f"taken and read by upb: {taken:,} of {count * REQUEST:,}")
    assert taken * LEAST_TAKEN > count * REQUEST
