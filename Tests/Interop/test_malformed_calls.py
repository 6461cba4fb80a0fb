"""Heads of calls that no client library would send: each call ends, and the server goes on."""

import urllib.parse

import pytest
from hyperframe.frame import HeadersFrame, RstStreamFrame

from peer import Peer
from server import MANY_CONNECTIONS, Server

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


def head(peer: Peer, path: str, *extra: tuple[str, str], flags: tuple[str, ...] = ()):
    fields = [(":method", "POST"), (":scheme", "http"), (":authority", "test"), (":path", path),
              ("content-type", "application/grpc"), ("te", "trailers"), *extra]
    return HeadersFrame(1, peer.encoder.encode(fields), flags=("END_HEADERS", *flags))


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
