"""gzip and deflate: taken in requests, given in answers to those that ask, bounded in what comes
out of them."""

import gzip
import time
import zlib

import grpc
import pytest
from hyperframe.frame import DataFrame

from details import failure, reason
from facts import Facts
from peer import Peer
from protos import service as s
from protos import verdict as v
from stream import METHOD
from test_limits_of_size import KIB, MIB, RECORD, SECONDS, check_too_large, peak_kib, record

NAMES = {"gzip": grpc.Compression.Gzip, "deflate": grpc.Compression.Deflate}
INFLATE = {"gzip": gzip.decompress, "deflate": zlib.decompress}
DEFLATE = {"gzip": gzip.compress, "deflate": zlib.compress}
INSPECT = s.InspectPayloadRequest(json="{}", platform=1).SerializeToString()
ZIPPED = gzip.compress(INSPECT, mtime=0)  # The same in each process of a run.
OUT_OF_ROOM = grpc.StatusCode.RESOURCE_EXHAUSTED


def events(space: int, count: int) -> list:
    facts = Facts(7, int(time.time()), space=space)
    return [facts.accepted().event for _ in range(count)]


def configured(make_server, tmp_path, text: str):
    path = tmp_path / "sightline.yaml"
    path.write_text(text)
    return make_server("--config", str(path)).start()


def inspect(server, *fields: tuple[str, str], encoding: str = "") -> tuple[dict, bytes, bool]:
    """The head of an answer, its message's bytes as they came, and whether they are compressed."""
    with Peer(server.target) as peer:
        body = DEFLATE[encoding](INSPECT) if encoding else INSPECT
        peer.send(peer.headers(1, "InspectPayload", *fields),
                  peer.message(1, body, is_compressed=bool(encoding), end=True))
        assert peer.wait_for_status(1)["grpc-status"] == "0"
        head = next(f.fields for f in peer.frames if ":status" in getattr(f, "fields", {}))
        data = b"".join(f.data for f in peer.frames if isinstance(f, DataFrame))
    return head, data[5:], data[0] == 1


@pytest.mark.parametrize("name", NAMES)
def test_compressed_requests_are_taken(running, name):
    space = 9100 + len(name)
    with running.channel() as channel:
        stub = running.stub(channel)
        answer = stub.RecordEvents(s.RecordEventsRequest(events=events(space, 500)),
                                   timeout=SECONDS, compression=NAMES[name])
        assert answer.tally.accepted == 500
        requests = [s.StreamEventsRequest(sequence=n, events=events(space + 10 * n, 200))
                    for n in range(1, 6)]
        answers = list(stub.StreamEvents(iter(requests), timeout=SECONDS,
                                         compression=NAMES[name]))
    assert sum(a.tally.accepted for a in answers) == 1000
    assert answers[-1].durable_sequence == 5


@pytest.mark.parametrize("fields, encoding, expected", [
    ((), "", None),
    # What grpcio and C++ send: able to read it, and not asking for it.
    ((("grpc-accept-encoding", "identity, deflate, gzip"),), "", None),
    # A client that compresses asks for answers in kind.
    ((("grpc-encoding", "gzip"), ("grpc-accept-encoding", "identity, deflate, gzip")), "gzip",
     "gzip"),
    ((("grpc-encoding", "deflate"), ("grpc-accept-encoding", "identity, deflate, gzip")),
     "deflate", "deflate"),
    # One that cannot read what it writes gets what it can read.
    ((("grpc-encoding", "gzip"), ("grpc-accept-encoding", "identity")), "gzip", None),
    ((("grpc-encoding", "gzip"),), "gzip", None),
    ((("grpc-encoding", "identity"), ("grpc-accept-encoding", "gzip")), "", "gzip"),
    ((("grpc-accept-encoding", "gzip"),), "", "gzip"),
    ((("grpc-accept-encoding", "deflate,gzip"),), "", "deflate"),
    ((("grpc-accept-encoding", "zstd, gzip"),), "", "gzip"),
    ((("grpc-accept-encoding", "snappy"),), "", None),
])
def test_answers_are_compressed_for_clients_that_ask(running, fields, encoding, expected):
    head, data, is_compressed = inspect(running, *fields, encoding=encoding)
    assert head.get("grpc-encoding", "identity") == (expected or "identity")
    assert is_compressed == (expected is not None)
    plain = INFLATE[expected](data) if expected else data
    assert s.InspectPayloadResponse.FromString(plain).findings


def test_beyond_the_bound_answers_are_plain(make_server, tmp_path):
    server = configured(make_server, tmp_path, "compression:\n  max_streams: 1\n")
    asks = ("grpc-accept-encoding", "gzip")
    with Peer(server.target) as peer:
        peer.send(peer.headers(1, "StreamEvents", asks))
        peer.wait(lambda frame: ":status" in getattr(frame, "fields", {}))
        assert inspect(server, asks)[2] is False
    # The place is free again when that stream is gone.
    deadline = time.monotonic() + 10
    while not inspect(server, asks)[2]:
        assert time.monotonic() < deadline


def test_switched_off_it_is_refused_with_the_list_of_what_is_taken(make_server, tmp_path):
    server = configured(make_server, tmp_path, "compression:\n  enabled: false\n")
    with server.channel() as channel:
        error = failure(lambda: server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=events(1, 1)), timeout=SECONDS,
            compression=grpc.Compression.Gzip))
        assert error.code() == grpc.StatusCode.UNIMPLEMENTED
        assert reason(error) == "UNIMPLEMENTED"
    assert inspect(server, ("grpc-accept-encoding", "gzip"))[2] is False


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [512 * KIB + 1, MIB, MIB + 1, 64 * MIB])
def test_limits_hold_for_what_comes_out(running, name, size):
    before = peak_kib(running)
    with running.channel() as channel:
        call = channel.unary_unary(RECORD, request_serializer=None, response_deserializer=None)
        # Zeros are no message either; its size is judged first.
        check_too_large(failure(lambda: call(bytes(size), timeout=SECONDS,
                                             compression=NAMES[name])))
        good = s.RecordEventsRequest(events=events(9300, 1)).SerializeToString()
        assert len(record(channel, good).results) == 1
    assert peak_kib(running) - before < 24 * KIB


def test_many_bombs_at_once_leave_memory_bounded(make_server, amount, figure):
    bombs = amount(10, 30)
    server = make_server().start()
    with server.channel() as channel:
        inspect(server)
        before = peak_kib(server)
        call = channel.unary_unary(RECORD, request_serializer=None, response_deserializer=None)
        calls = [call.future(bytes(64 * MIB), timeout=SECONDS, compression=grpc.Compression.Gzip)
                 for _ in range(bombs)]
        assert {c.exception().code() for c in calls} == {OUT_OF_ROOM}
    grown = (peak_kib(server) - before) // KIB
    figure(f"{bombs} gzip bombs of 64 MiB: the server's peak grew by {grown} MiB")
    assert grown < 64


@pytest.mark.parametrize("body", [
    b"", b"no gzip at all", ZIPPED[:-9], ZIPPED[:1], ZIPPED[:-1], ZIPPED + b"more",
    zlib.compress(INSPECT)])
def test_what_cannot_be_decompressed_ends_its_call_alone(running, body):
    with Peer(running.target) as peer:
        peer.send(peer.headers(1, "InspectPayload", ("grpc-encoding", "gzip")),
                  peer.message(1, body, is_compressed=True, end=True))
        trailers = peer.wait_for_status(1)
        assert trailers["grpc-status"] == f"{grpc.StatusCode.INVALID_ARGUMENT.value[0]}"
        assert "grpc-status-details-bin" in trailers
        peer.send(peer.headers(3, "InspectPayload"), peer.message(3, INSPECT, end=True))
        assert peer.wait_for_status(3)["grpc-status"] == "0"


def test_gzip_of_several_members_is_taken_whole(running):
    """What appends to a gzip stream makes several members (RFC 1952, section 2.2)."""
    request = s.RecordEventsRequest(events=events(9450, 3)).SerializeToString()
    members = [request[i:i + 100] for i in range(0, len(request), 100)] + [b""]
    with Peer(running.target) as peer:
        peer.send(peer.headers(1, "RecordEvents", ("grpc-encoding", "gzip")),
                  peer.message(1, b"".join(map(gzip.compress, members)), is_compressed=True,
                               end=True))
        assert peer.wait_for_status(1)["grpc-status"] == "0"
        data = b"".join(f.data for f in peer.frames if isinstance(f, DataFrame))
    answer = s.RecordEventsResponse.FromString(data[5:])
    assert [result.verdict for result in answer.results] == [v.VERDICT_ACCEPTED] * 3


def test_a_bomb_of_several_members_is_too_large(running):
    before = peak_kib(running)
    with Peer(running.target) as peer:
        peer.send(peer.headers(1, "RecordEvents", ("grpc-encoding", "gzip")),
                  peer.message(1, gzip.compress(bytes(300 * KIB)) * 4, is_compressed=True,
                               end=True))
        assert peer.wait_for_status(1)["grpc-status"] == f"{OUT_OF_ROOM.value[0]}"
    assert peak_kib(running) - before < 24 * KIB


def test_a_bomb_ends_its_stream_and_says_why(running):
    with running.channel() as channel:
        call = channel.stream_stream(METHOD, request_serializer=None,
                                     response_deserializer=s.StreamEventsResponse.FromString)
        good = s.StreamEventsRequest(sequence=1, events=events(9400, 1)).SerializeToString()
        answers = []

        def read() -> None:
            for answer in call(iter([good, bytes(64 * MIB)]), timeout=SECONDS,
                               compression=grpc.Compression.Gzip):
                answers.append(answer)

        check_too_large(failure(read))
    assert answers[-1].durable_sequence == 1, "what came before it is answered"


def test_the_verdict_of_an_event_is_the_same_compressed_or_not(running):
    event = events(9500, 1)[0]
    with running.channel() as channel:
        stub = running.stub(channel)
        request = s.RecordEventsRequest(events=[event])
        first = stub.RecordEvents(request, timeout=SECONDS, compression=grpc.Compression.Gzip)
        again = stub.RecordEvents(request, timeout=SECONDS)
    assert first.results[0].verdict == v.VERDICT_ACCEPTED
    assert again.results[0].verdict == v.VERDICT_DUPLICATE
