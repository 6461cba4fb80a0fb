"""Heads, messages and ends of calls that no client library would send: each call ends with its
cause, and the server goes on."""

import base64
import gzip
import itertools
import struct
import time
import urllib.parse
from collections.abc import Iterator

import pytest
from hyperframe.frame import DataFrame, HeadersFrame, RstStreamFrame

from facts import Facts
from peer import Peer
from protos import service as s
from protos import verdict as v
from server import MANY_CONNECTIONS, Server
from stream import METHOD, total

METHODS = {
    "sightline.v1.TrackingService/StreamEvents": "0",
    "sightline.v1.TrackingService/RecordEvents": "3",
    "sightline.v1.TrackingService/ExplainEvents": "3",
    "sightline.v1.TrackingService/InspectPayload": "3",
    "sightline.v1.TrackingService/ExplainDelivery": "3",
    "grpc.health.v1.Health/Check": "13",
    "grpc.health.v1.Health/List": "13",
    "grpc.health.v1.Health/Watch": "13",
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": "0",
}
TIMEOUTS = ["-1S", "-99999H", "+1S", "", "S", "1", "1s", "123456789S", "1.5S", "0x1S", "1S ", "\0",
            "9" * 5000, "1S, 1S"]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("calls") / "data", "--sink", "discard",
                    MANY_CONNECTIONS).start()
    yield server
    server.close()


RECORD = "/sightline.v1.TrackingService/RecordEvents"
TOO_LARGE = struct.pack(">BI", 0, 1 << 31)
# Each test's facts are its own.
SPACES = itertools.count(9700)


def head(peer: Peer, path: str, *extra: tuple[str, str], flags: tuple[str, ...] = (),
         content_type: str = "application/grpc"):
    fields = [(":method", "POST"), (":scheme", "http"), (":authority", "test"), (":path", path),
              ("content-type", content_type), ("te", "trailers"), *extra]
    return HeadersFrame(1, peer.encoder.encode(fields), flags=("END_HEADERS", *flags))


def trailers(peer: Peer) -> HeadersFrame:
    """Those of a client, which end its request."""
    block = peer.encoder.encode([("x-checksum", "abc")])
    return HeadersFrame(1, block, flags=("END_HEADERS", "END_STREAM"))


def event():
    return Facts(7, int(time.time()), space=next(SPACES)).accepted().event


def answers(peer: Peer) -> Iterator[bytes]:
    """The whole messages of the answer that have come, none of them compressed."""
    data = b"".join(f.data for f in peer.frames if isinstance(f, DataFrame))
    while len(data) >= 5:
        length = int.from_bytes(data[1:5], "big")
        if len(data) < 5 + length:
            return
        yield data[5:5 + length]
        data = data[5 + length:]


def acks(peer: Peer) -> list[s.StreamEventsResponse]:
    return [s.StreamEventsResponse.FromString(answer) for answer in answers(peer)]


def check_refused(status: dict[str, str], code: str, reason: str, text: str) -> None:
    """The status of a call: its code, its reason, and what its message has to say."""
    assert status["grpc-status"] == code, status
    assert reason.encode() in base64.b64decode(status["grpc-status-details-bin"] + "==")
    assert text in urllib.parse.unquote(status["grpc-message"]), status


@pytest.mark.parametrize("method", METHODS)
def test_a_head_that_ends_its_stream_is_a_call_without_a_message(server, method):
    """Unary methods say so, each library's in its own way; streams are over, and well."""
    with Peer(server.target) as peer:
        peer.send(head(peer, f"/{method}", flags=("END_STREAM",)))
        status = peer.wait_for_status(1)
        assert status["grpc-status"] == METHODS[method], status
    assert server.process.poll() is None


@pytest.mark.parametrize("value", TIMEOUTS, ids=range(len(TIMEOUTS)))
@pytest.mark.parametrize("method", METHODS)
def test_a_call_with_no_such_timeout_is_refused(server, method, value):
    with Peer(server.target) as peer:
        peer.send(head(peer, f"/{method}", ("grpc-timeout", value)))
        status = peer.wait_for_status(1)
        # A control character breaks HTTP/2 itself.
        if "\0" not in value:
            assert status["grpc-status"] == "3", status
            message = urllib.parse.unquote(status["grpc-message"])
            assert message.startswith('grpc-timeout: "') and len(message) < 200, message
    assert server.process.poll() is None, server.log()


@pytest.mark.parametrize("value", ["9999999H", "99999999H", "99999999S", "99999999n"])
def test_a_long_timeout_is_as_long_as_it_says(server, value):
    """One of 8 digits is heeded, and one of years does not end at once."""
    with Peer(server.target) as peer:
        peer.send(head(peer, "/grpc.health.v1.Health/Watch", ("grpc-timeout", value)))
        peer.send(peer.message(1, b"", end=True))
        peer.wait(lambda f: f.stream_id == 1 and f.type == 0)
        if value.endswith("n"):
            assert peer.wait_for_status(1)["grpc-status"] in ("1", "4", "14")
        else:
            with pytest.raises(AssertionError, match="after 1 s"):
                peer.wait(lambda f: isinstance(f, RstStreamFrame)
                          or "grpc-status" in getattr(f, "fields", {}), 1)


@pytest.mark.parametrize("flag, text", [(1, "no grpc-encoding"), (2, "flag is 2"),
                                        (255, "flag is 255")])
@pytest.mark.parametrize("method", METHODS)
def test_a_message_with_a_wrong_flag_is_malformed(server, method, flag, text):
    """Flag 1 says that a message is compressed, and this call does not say how."""
    with Peer(server.target) as peer:
        peer.send(head(peer, f"/{method}"), DataFrame(1, struct.pack(">BI", flag, 4) + b"none"))
        check_refused(peer.wait_for_status(1), "3", "REQUEST_MALFORMED", text)
    assert server.process.poll() is None


@pytest.mark.parametrize("arrival", ["in one frame", "in one burst", "once it is acked"])
@pytest.mark.parametrize("fields, refused, code, reason, text", [
    ((), b"\1\0\0\0\4none", "3", "REQUEST_MALFORMED", "no grpc-encoding"),
    ((), b"\2\0\0\0\4none", "3", "REQUEST_MALFORMED", "flag is 2"),
    ((), TOO_LARGE, "8", "REQUEST_TOO_LARGE", "1048576 bytes"),
    ((("grpc-encoding", "gzip"),), b"\1\0\0\0\4none", "3", "REQUEST_MALFORMED", "damaged"),
    ((("grpc-encoding", "gzip"),), b"\2\0\0\0\4none", "3", "REQUEST_MALFORMED", "flag is 2"),
    ((("grpc-encoding", "gzip"),), TOO_LARGE, "8", "REQUEST_TOO_LARGE", "1048576 bytes"),
], ids=range(6))
def test_requests_before_a_refused_message_are_recorded_and_answered(
        server, fields, refused, code, reason, text, arrival):
    """And the refusal is told last, with its cause."""
    events = [event(), event()]
    requests = [s.StreamEventsRequest(sequence=number, events=[one]).SerializeToString()
                for number, one in enumerate(events, 1)]
    data = b"".join(struct.pack(">BI", 0, len(request)) + request for request in requests)
    frames = ([data + refused] if arrival == "in one frame" else [data, refused])
    with Peer(server.target) as peer:
        peer.send(head(peer, METHOD, *fields), DataFrame(1, frames[0]))
        if arrival == "once it is acked":
            peer.wait(lambda _: any(ack.durable_sequence == 2 for ack in acks(peer)))
        for frame in frames[1:]:
            peer.send(DataFrame(1, frame))
        check_refused(peer.wait_for_status(1), code, reason, text)
        assert total(acks(peer))["accepted"] == 2
        assert acks(peer)[-1].durable_sequence == 2
    with server.channel() as channel:
        again = server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events), timeout=10)
    assert [result.verdict for result in again.results] == [v.VERDICT_DUPLICATE] * 2


def test_an_error_of_an_earlier_request_is_told_and_not_the_refusal(server):
    requests = [s.StreamEventsRequest(sequence=1, events=[event()]).SerializeToString()] * 2
    with Peer(server.target) as peer:
        peer.send(head(peer, METHOD), *[peer.message(1, request) for request in requests],
                  DataFrame(1, b"\1\0\0\0\4none"))
        check_refused(peer.wait_for_status(1), "3", "SEQUENCE_NOT_RISING", "sequence 1")
        assert acks(peer)[-1].durable_sequence == 1


@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("path", [METHOD, RECORD])
def test_trailers_of_a_client_end_its_request(server, path, together, is_compressed):
    """HTTP/2 lets them end any request; gRPC has no use for what they say."""
    kind = s.StreamEventsRequest if path == METHOD else s.RecordEventsRequest
    request = kind(events=[event()], **({"sequence": 1} if path == METHOD else {}))
    body = request.SerializeToString()
    fields = (("grpc-encoding", "gzip"),) if is_compressed else ()
    with Peer(server.target) as peer:
        parts = [head(peer, path, *fields),
                 peer.message(1, gzip.compress(body) if is_compressed else body, is_compressed)]
        if together:
            peer.send(*parts, trailers(peer))
        else:
            peer.send(*parts)
            if path == METHOD:
                peer.wait(lambda _: any(ack.durable_sequence == 1 for ack in acks(peer)))
            peer.send(trailers(peer))
        status = peer.wait_for_status(1)
        assert status["grpc-status"] == "0", status
        if path == METHOD:
            assert total(acks(peer))["accepted"] == 1 and acks(peer)[-1].durable_sequence == 1
        else:
            answer = s.RecordEventsResponse.FromString(next(answers(peer)))
            assert [result.verdict for result in answer.results] == [v.VERDICT_ACCEPTED]


@pytest.mark.parametrize("value, status", [
    ("application/grpc", "200"), ("application/grpc+proto", "200"),
    ("application/grpc; charset=utf-8", "200"), ("application/grpc;charset=utf-8", "200"),
    ("application/grpc+proto; charset=utf-8", "200"), ("Application/GRPC", "200"),
    ("application/grpc-web", "415"), ("application/grpc+json", "415"), ("text/plain", "415"),
])
def test_a_content_type_of_grpc_is_served_with_parameters_too(server, value, status):
    with Peer(server.target) as peer:
        request = s.RecordEventsRequest(events=[event()]).SerializeToString()
        peer.send(head(peer, RECORD, content_type=value), peer.message(1, request, end=True))
        frame = peer.wait(lambda f: ":status" in getattr(f, "fields", {}))
        assert frame.fields[":status"] == status
        if status == "200":
            assert peer.wait_for_status(1)["grpc-status"] == "0"
