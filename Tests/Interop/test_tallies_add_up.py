"""The books balance: whatever a request holds, the tallies of its answers add up to its events."""

import grpc
import pytest

from details import reason
from facts import Facts
from protos import event as e
from protos import service as s
from server import MANY_CONNECTIONS, Server
from stream import METHOD, count_events, field, fields, total, varint
from test_client_contract import OpenStream
from test_raw_payloads import LIMIT, nested, raw
from test_raw_payloads import padded as padded_payload
from test_one_bad_event_fails_alone import answers_to, facts, request, results_of  # noqa: F401
from test_limits_of_size import KIB, MIB, sized
from test_terminal_commands import run

SECONDS = 30
BAD_EVENT = b"\x0a\xff\xff"
SOUND = 5


def numbered(sequence: int, *events: bytes) -> bytes:
    """A request of events' bytes, whatever they are."""
    return s.StreamEventsRequest(sequence=sequence).SerializeToString() + b"".join(
        field(2, event) for event in events)


def sound(facts: Facts, count: int = SOUND) -> list[bytes]:  # noqa: F811
    return [facts.push(kind=1).event.SerializeToString() for _ in range(count)]


def whole(make) -> tuple:
    return make, "whole"


def alone(make) -> tuple:
    return make, "events"


def merged(facts: Facts) -> bytes:  # noqa: F811
    """A push in two parts, which protobuf merges."""
    event = facts.push(kind=1).event
    first, second = e.TrackingEvent(), e.TrackingEvent()
    first.CopyFrom(event)
    second.push.kind = first.push.kind
    first.push.ClearField("kind")
    return first.SerializeToString() + second.SerializeToString()


def with_options(events: list[bytes], options: bytes) -> bytes:
    return numbered(2, *events) + field(3, options)


# What stands in the second request, by its events; whether it is refused as a whole, each event is
# judged, or the request cannot be parsed, so that nothing in it counts.
HOSTILE = {
    "no events": alone(lambda f: numbered(2)),
    "sound events": alone(lambda f: numbered(2, *sound(f))),
    "an event that is no protobuf": alone(lambda f: numbered(2, *sound(f), BAD_EVENT, *sound(f))),
    "events that are all no protobuf": alone(lambda f: numbered(2, *[BAD_EVENT] * 9)),
    "2,000 empty events": alone(lambda f: numbered(2, *[b""] * 2000)),
    "2,001 empty events": whole(lambda f: numbered(2, *[b""] * 2001)),
    "2,001 events that are no protobuf": whole(lambda f: numbered(2, *[BAD_EVENT] * 2001)),
    "100,000 empty events": whole(lambda f: numbered(2, *[b""] * 100_000)),
    "512 KiB": alone(lambda f: sized(numbered(2, *sound(f)), 512 * KIB)),
    "512 KiB and 1": whole(lambda f: sized(numbered(2, *sound(f)), 512 * KIB + 1)),
    "1 MiB": whole(lambda f: sized(numbered(2, *sound(f)), MIB)),
    "too many and too large": whole(
        lambda f: sized(numbered(2, *[b""] * 2001), 512 * KIB + 1)),
    "too large, and cut off": (lambda f: sized(numbered(2, *sound(f)), 600 * KIB) + b"\x12\x7f",
                               "nothing"),
    "an event of 16 KiB and 1": alone(lambda f: numbered(
        2, sized(sound(f, 1)[0], 16 * KIB + 1), *sound(f))),
    "an event twice": alone(lambda f: numbered(2, *sound(f, 1) * 2)),
    "events that are known": alone(lambda f: numbered(2, *[
        known.SerializeToString() for known in f.known])),
    "events before the sequence": alone(lambda f: b"".join(
        field(2, event) for event in sound(f)) + b"\x08\x02"),
    "two sequences, the last of which counts": alone(
        lambda f: b"\x08\x07" + numbered(2, *sound(f))),
    "a sequence in more bytes than it needs": alone(
        lambda f: b"\x08\x82\x80\x00" + b"".join(field(2, event) for event in sound(f))),
    "a length in more bytes than it needs": alone(
        lambda f: numbered(2) + b"\x12\x80\x80\x00" + b"".join(
            field(2, event) for event in sound(f))),
    "unknown fields between the events": alone(lambda f: numbered(2) + b"".join(
        field(2, event) + field(900, b"x") + varint(901 << 3) + b"\x07" for event in sound(f))),
    "a group that is unknown": alone(
        lambda f: numbered(2, *sound(f)) + varint(50 << 3 | 3) + varint(50 << 3 | 4)),
    "events as numbers": alone(lambda f: numbered(2) + b"\x10\x05" * 3),
    "options": alone(lambda f: with_options(sound(f), b"\x08\x01")),
    "options that are no protobuf": (lambda f: with_options(sound(f), b"\xff"), "nothing"),
    "cut off in an event": (lambda f: numbered(2, *sound(f))[:-1], "nothing"),
    "a length that goes beyond": (lambda f: numbered(2, *sound(f)) + b"\x12\x7f", "nothing"),
    "an end of no group": (lambda f: numbered(2, *sound(f)) + b"\x0c", "nothing"),
    "field 0": (lambda f: numbered(2, *sound(f)) + b"\x00", "nothing"),
    "a push in two parts": alone(lambda f: numbered(2, merged(f), *sound(f))),
    "an id that is not UTF-8": alone(lambda f: numbered(2, b"\x0a\x01\xff", *sound(f))),
    "raw payloads at and beyond their limits": alone(lambda f: numbered(2, *[
        raw(text, e.PLATFORM_IOS).SerializeToString() for text in (
            padded_payload(LIMIT), padded_payload(LIMIT + 1), nested(32), nested(33), "{", "")])),
    "every verdict": alone(lambda f: numbered(2, *[
        fact.event.SerializeToString() for fact in (
            f.invalid(), f.opted_out(), f.flag_off(), f.accepted(), f.in_app(),
            f.track_action())])),
}


def events_in(data: bytes, fate: str) -> int:
    """The events of a request, as the table has them."""
    return 0 if fate == "nothing" else count_events(data)


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """Each row has connections of its own."""
    server = Server(tmp_path_factory.mktemp("books") / "data", MANY_CONNECTIONS)
    try:
        yield server.start()
    finally:
        server.close()


@pytest.fixture
def known(running, facts):  # noqa: F811
    """Facts, some of which the server has."""
    facts.known = [facts.push(kind=1).event for _ in range(SOUND)]
    answers_to(running, request(1, *facts.known))
    return facts


@pytest.mark.parametrize("is_reporting", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_the_tallies_of_a_stream_are_its_events(running, known, name, is_reporting):
    """Beside sound requests, whose events count as ever; results stand for the same events."""
    make, fate = HOSTILE[name]
    hostile = make(known)
    count = events_in(hostile, fate)
    before = request(1, *(known.push(kind=1).event for _ in range(3)), report=is_reporting)
    answers = answers_to(running, before, hostile, request(3, known.push(kind=1).event))
    sums = total(answers)
    assert sum(sums.values()) == count + 4, sums
    assert answers[-1].durable_sequence == 3
    results = [result for result in results_of(answers) if result.sequence not in (1, 3)]
    if fate in ("whole", "nothing"):
        assert [result.HasField("index") for result in results] == [False], results
        assert sums["rejected"] == count
    elif is_reporting:
        assert [result.index for result in results] == list(range(count))
    else:
        assert sum(sums.values()) - sums["accepted"] == len(results)


@pytest.mark.parametrize("name", [name for name, (_, fate) in HOSTILE.items() if fate == "events"])
def test_the_tally_of_a_call_is_its_events(running, known, name):
    """RecordEvents, whose request has the events in field 1."""
    events = [part for number, part in fields(HOSTILE[name][0](known))
              if number == 2 and part[0] == 0x12]
    with running.channel() as channel:
        call = channel.unary_unary("/sightline.v1.TrackingService/RecordEvents",
                                   request_serializer=None,
                                   response_deserializer=s.RecordEventsResponse.FromString)
        answer = call(b"".join(b"\x0a" + part[1:] for part in events), timeout=SECONDS)
    assert sum(total([answer]).values()) == len(events) == len(answer.results)


def test_compressed_the_books_are_the_same(running, known):
    with running.channel() as channel:
        call = channel.stream_stream(METHOD, request_serializer=None,
                                     response_deserializer=s.StreamEventsResponse.FromString)
        for name, (make, fate) in HOSTILE.items():
            hostile = make(known)
            answers = list(call(iter([hostile]), timeout=SECONDS,
                                compression=grpc.Compression.Gzip))
            assert sum(total(answers).values()) == events_in(hostile, fate), name


@pytest.mark.parametrize("kind", ["full", "without a journal"])
def test_the_books_of_other_servers(make_server, facts, kind):  # noqa: F811
    """One whose journal is full, so that sound events have to come again, and one without."""
    server = make_server(MANY_CONNECTIONS, *{"full": ["--set=journal.max_bytes=20000"],
                           "without a journal": ["--set=journal.mode=off"]}[kind]).start()
    facts.known = [facts.push(kind=1).event for _ in range(SOUND)]
    answers_to(server, request(1, *facts.known))
    if kind == "full":
        run("sinks", "pause", "sqlite", "--data-dir", server.directory)
        while not total(answers_to(server, numbered(1, *sound(facts, 50))))["retry_later"]:
            pass
    later = 0
    for name, (make, fate) in HOSTILE.items():
        hostile = make(facts)
        sums = total(answers_to(server, hostile))
        assert sum(sums.values()) == events_in(hostile, fate), (name, sums)
        later += sums["retry_later"]
    assert (later > 0) == (kind == "full")


@pytest.mark.parametrize("end, last", [
    ("SEQUENCE_NOT_RISING", lambda f: numbered(1, *sound(f))),
    ("REQUEST_TOO_LARGE", lambda f: sized(numbered(4, *sound(f)), MIB + 1))])
def test_the_books_of_a_stream_that_ends_badly(running, facts, end, last):  # noqa: F811
    """What was settled is in the tallies, and nothing else is."""
    requests = [numbered(number, *sound(facts, number)) for number in (1, 2, 3)]
    with OpenStream(running) as stream:
        stream.send(*requests, last(facts))
        answers, error = stream.rest()
    assert reason(error) == end
    settled = answers[-1].durable_sequence if answers else 0
    assert sum(total(answers).values()) == sum(map(count_events, requests[:settled]))
