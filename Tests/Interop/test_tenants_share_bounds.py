"""A tenant that does its worst to a bound that all tenants share takes nothing from another one: each of
the other's requests is accepted, and each of its calls answered.

Each way in has a server whose bound is small, a loud tenant that uses it up, and a quiet one that comes
new. Where tenants have no credentials, the same holds for connections. How fast the quiet one is
served, Benchmarks/run measures on a quiet machine: here it is only told.
"""

import concurrent.futures
import contextlib
import dataclasses
import statistics
import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2
from hyperframe.frame import DataFrame

from attacks import Flow
from details import reason
from facts import Facts
from peer import Peer
from protos import event as e
from protos import service as s
from server import MANY_CONNECTIONS, Server, wait_until
from stream import METHOD, Batch, field
from tenant_attacks import many_results
from test_credentials import KeysFile, bearer
from test_metrics import scrape, values
from test_tap import Reader

KIB, MIB = 1 << 10, 1 << 20
SECONDS = 30
# Longer than any test: what the loud one holds, it holds.
PATIENCE = ["--set=limits.message_seconds=300", "--set=stream.ack_seconds=300"]


@dataclasses.dataclass
class Party:
    """A server, and what its two tenants prove themselves by."""

    server: Server
    facts: Facts
    loud: list[tuple[str, str]]
    quiet: list[tuple[str, str]]


@pytest.fixture(params=["keys", "none"])
def make_party(request, make_server, tmp_path, seed):
    """Starts a server with these flags, for two tenants, or for two clients without credentials."""

    def make(*flags: str) -> Party:
        options, loud, quiet = [], [], []
        if request.param == "keys":
            keys = KeysFile(tmp_path / "keys.jsonl")
            loud, quiet = (bearer(keys.new(name, "--scopes", "tap")) for name in ("loud", "quiet"))
            options = ["--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}"]
        server = make_server("--sink", "discard", MANY_CONNECTIONS, *PATIENCE, *options, *flags)
        return Party(server.start(), Facts(seed, int(time.time()), space=11), loud, quiet)

    return make


def request(facts: Facts, size: int) -> s.RecordEventsRequest:
    """A request of about so many bytes, whose events are all new."""
    events = []
    while sum(event.ByteSize() for event in events) < size:
        event = facts.track_action().event
        # A field that the server does not know, and keeps.
        event.MergeFromString(field(1000, bytes(4000)))
        events.append(event)
    return s.RecordEventsRequest(events=events)


def record(party: Party, who, message: s.RecordEventsRequest) -> s.RecordEventsResponse:
    """Records a request on a connection of its own."""
    with party.server.channel() as channel:
        return party.server.stub(channel).RecordEvents(message, metadata=who, timeout=SECONDS)


def expect_all_accepted(party: Party, count: int = 20) -> None:
    """Each request of the quiet tenant is accepted: single ones, and those of a stream."""
    for _ in range(count):
        message = s.RecordEventsRequest(events=[party.facts.track_action().event])
        assert record(party, party.quiet, message).tally.accepted == 1
    requests = [s.StreamEventsRequest(sequence=number + 1,
                                      events=[party.facts.track_action().event])
                for number in range(count)]
    with party.server.channel() as channel:
        answers = list(party.server.stub(channel).StreamEvents(
            iter(requests), metadata=party.quiet, timeout=SECONDS))
    assert sum(answer.tally.accepted for answer in answers) == count


def test_unfinished_messages_refuse_none_of_another(make_party):
    """Three connections hold all that may wait, in messages that never end."""
    party = make_party(f"--set=limits.bytes_waiting={4 * MIB}")
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            peer = stack.enter_context(Peer(party.server.target))
            flow = Flow(peer, time.monotonic() + SECONDS)
            for stream in range(1, 25, 2):
                peer.send(peer.headers(stream, "RecordEvents", *party.loud))
                flow.send(stream, (MIB - 16).to_bytes(5, "big") + bytes(600 * KIB))
            # Twelve are more than there is room for.
            assert peer.wait(lambda frame: getattr(frame, "fields", {}).get("grpc-status") == "14")
        for size in (20 * KIB, 100 * KIB, 200 * KIB):
            message = request(party.facts, size)
            assert record(party, party.quiet, message).tally.accepted == len(message.events)
        expect_all_accepted(party)


def test_unread_answers_refuse_none_of_another(make_party):
    """Streams whose client never reads hold all that may be in flight."""
    limit = 16 * MIB
    party = make_party(f"--set=limits.bytes_in_flight={limit}")
    with Peer(party.server.target, {4: 0}) as peer:
        streams = range(1, 49, 2)
        peer.send(*[peer.headers(stream, "StreamEvents", *party.loud) for stream in streams])
        flow = Flow(peer, time.monotonic() + SECONDS)
        # The connection takes a stream's first answers, which hold nothing in flight from then on.
        for number in range(1, 25):
            for stream in streams:
                flow.send(stream, many_results(number))
        wait_until(lambda: in_flight(party.server) > limit // 10 * 9, "the memory to be in use")
        expect_all_accepted(party)
        assert in_flight(party.server) > limit // 2, "the loud one has let go"


def in_flight(server: Server) -> float:
    text, _ = scrape(server)
    return values(text)["sightline_memory_in_flight_bytes"]


def test_waiting_calls_refuse_none_of_another(make_party, figure):
    """Calls that record nothing, more than may wait, again and again."""
    party = make_party("--set=limits.waiting_calls=40")
    explained = s.ExplainEventsRequest(
        events=[party.facts.track_action().event for _ in range(100)])
    is_over, refused = threading.Event(), []

    def call_again_and_again(explain) -> None:
        while not is_over.is_set():
            try:
                explain(explained, metadata=party.loud, timeout=SECONDS)
            except grpc.RpcError as error:
                refused.append(reason(error))

    with party.server.channel() as loud, party.server.channel() as quiet, \
            concurrent.futures.ThreadPoolExecutor(max_workers=60) as pool:
        explain = party.server.stub(loud).ExplainEvents
        calls = [pool.submit(call_again_and_again, explain) for _ in range(60)]
        try:
            wait_until(lambda: refused, "the places to be taken")
            times = []
            for number in range(20):
                started = time.monotonic()
                party.server.stub(quiet).ExplainDelivery(
                    s.ExplainDeliveryRequest(delivery_id=f"{number:x}d"), metadata=party.quiet,
                    timeout=SECONDS)
                times.append(time.monotonic() - started)
        finally:
            is_over.set()
        for call in calls:
            call.result(timeout=SECONDS)
    assert set(refused) == {"OVERLOADED"}
    figure(f"tenants: beside 60 calls at once an ExplainDelivery takes "
           f"{statistics.median(times) * 1000:.1f} ms")


@pytest.mark.parametrize("make_party", ["keys"], indirect=True)
def test_readers_of_the_tap_refuse_none_of_another(make_party):
    """Without credentials there is no tap at the port."""
    party = make_party("--set=tap.max_readers=2")
    with party.server.channel() as channel:
        readers = [Reader(channel, party.loud) for _ in range(2)]
        readers.append(Reader(channel, party.quiet))
        for reader in readers:
            reader.call.cancel()


def test_watches_of_an_address_refuse_none_of_another(make_server):
    server = make_server("--set=health.max_watchers=4").start()
    watch = health_pb2.HealthCheckRequest().SerializeToString()

    def statuses(peer: Peer, streams) -> list[bool]:
        """Whether each watch is told a status."""
        for stream in streams:
            head = peer.headers(stream, "Watch", service="grpc.health.v1.Health")
            peer.send(head, peer.message(stream, watch, end=True))
        return [isinstance(peer.wait(lambda frame, stream=stream: frame.stream_id == stream and (
            isinstance(frame, DataFrame) or "grpc-status" in getattr(frame, "fields", {}))),
            DataFrame) for stream in streams]

    with Peer(server.target) as loud, Peer(server.target, source="127.0.0.2") as quiet:
        assert statuses(loud, range(1, 9, 2)) == [True] * 4
        assert statuses(loud, [9]) == [False]
        assert statuses(quiet, [1, 3]) == [True] * 2
        assert statuses(quiet, [5]) == [False]


def test_a_neighbour_at_full_rate_refuses_none_of_another(make_party, figure):
    """Four streams of 500 events a request, and beside them single events."""
    party = make_party()
    batches = [Batch(number + 1, [party.facts.track_action() for _ in range(500)])
               for number in range(15)]
    # The same events on each stream: those that come second are duplicates, and take the same way.
    with party.server.channel() as loud, party.server.channel() as quiet, \
            concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:

        def flood() -> int:
            call = loud.stream_stream(
                METHOD, request_serializer=None,
                response_deserializer=s.StreamEventsResponse.FromString)
            answers = call(iter([batch.bytes for batch in batches]), metadata=party.loud,
                           timeout=4 * SECONDS)
            return sum(answer.tally.accepted + answer.tally.duplicate for answer in answers)

        calls = [pool.submit(flood) for _ in range(4)]
        times = []
        stub = party.server.stub(quiet)
        while not all(call.done() for call in calls) or len(times) < 20:
            message = s.RecordEventsRequest(events=[party.facts.track_action().event])
            started = time.monotonic()
            answer = stub.RecordEvents(message, metadata=party.quiet, timeout=SECONDS)
            times.append(time.monotonic() - started)
            assert answer.tally.accepted == 1
        assert [call.result() for call in calls] == [15 * 500] * 4
    figure(f"tenants: beside 4 streams of 500 events a single one takes "
           f"{statistics.median(times) * 1000:.1f} ms (p50 of {len(times)})")
