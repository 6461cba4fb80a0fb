"""However a connection ends, nothing of it stays: each way, some hundred times, and the resident
memory after. What a connection with one stream leaves behind where it leaves all: 28 KiB."""

import contextlib
import pathlib
import socket
import ssl
import struct
import tempfile

import pytest
from hpack import Encoder
from hyperframe.frame import (ContinuationFrame, DataFrame, GoAwayFrame, HeadersFrame, PingFrame,
                              RstStreamFrame, SettingsFrame)

from certificates import Authority
from peer import PREFACE, Peer
from server import MANY_CONNECTIONS, Server, wait_until

COUNT = 300
WARM_UP = 100
ROUNDS = 6
# A fifth of what is left where all of it is.
GROWTH_KIB = COUNT * 28 // 5


class Encoding:
    """What `Peer.headers` needs of a peer."""

    def __init__(self):
        self.encoder = Encoder()


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """A frame byte for byte, however wrong."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def linger(peer: Peer) -> None:
    """Makes the socket's close a reset."""
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# MARK: What is sent behind the head of a call, in one piece with it, so that both are read at once

WRONG = {
    "DATA on stream 0": frame(0, 0, 0, b"x"),
    "WINDOW_UPDATE of 0": frame(8, 0, 0, bytes(4)),
    "WINDOW_UPDATE of 0 on the stream": frame(8, 0, 1, bytes(4)),
    "a window beyond 2^31": frame(8, 0, 0, b"\x7f\xff\xff\xff") * 2,
    "a stream's window beyond 2^31": frame(8, 0, 1, b"\x7f\xff\xff\xff") * 2,
    "ENABLE_PUSH of 7": frame(4, 0, 0, struct.pack(">HI", 2, 7)),
    "MAX_FRAME_SIZE of 1": frame(4, 0, 0, struct.pack(">HI", 5, 1)),
    "INITIAL_WINDOW_SIZE of 2^32 - 1": frame(4, 0, 0, struct.pack(">HI", 4, 0xFFFFFFFF)),
    "SETTINGS of 5 bytes": frame(4, 0, 0, bytes(5)),
    "SETTINGS on a stream": frame(4, 0, 1, b""),
    "PING of 7 bytes": frame(6, 0, 0, bytes(7)),
    "PING on a stream": frame(6, 0, 1, bytes(8)),
    "GOAWAY of 3 bytes": frame(7, 0, 0, bytes(3)),
    "GOAWAY": GoAwayFrame(0, last_stream_id=0).serialize(),
    "GOAWAY with an error": GoAwayFrame(0, last_stream_id=1, error_code=2).serialize(),
    "RST_STREAM": RstStreamFrame(1, error_code=8).serialize(),
    "RST_STREAM of 3 bytes": frame(3, 0, 1, bytes(3)),
    "RST_STREAM of a stream that never was": RstStreamFrame(7, error_code=8).serialize(),
    "DATA of a stream that never was": DataFrame(7, b"x").serialize(),
    "a stream of the server's": frame(1, 4, 2, b"\x82"),
    "the same stream again": frame(1, 4, 1, b"\x82"),
    "a head that is no HPACK": frame(1, 4, 3, b"\xff\xff\xff\xff\xff\xff\xff\xff"),
    "a head without a field": frame(1, 4, 3, b""),
    "CONTINUATION of nothing": ContinuationFrame(1, b"").serialize(),
    "a head that goes on on another stream":
        HeadersFrame(3, b"\x82").serialize() + ContinuationFrame(5, b"").serialize(),
    "PUSH_PROMISE": frame(5, 4, 1, struct.pack(">I", 2) + b"\x82"),
    "padding longer than its frame": frame(0, 8, 1, b"\xffx"),
    "a frame of 16 MiB": b"\xff\xff\xff\0\0\0\0\0\1" + bytes(100),
    "an unknown frame": frame(0xFA, 0xFF, 1, b"whatever"),
    "PRIORITY on itself": frame(2, 0, 1, struct.pack(">IB", 1, 0)),
    "half a frame": frame(0, 0, 1, b"12345")[:7],
    "half a message": DataFrame(1, b"\0\0\0\x10\0half").serialize(),
    "two empty DATA": DataFrame(1, b"").serialize() * 4,
    "a message too large": DataFrame(1, b"\0\xff\xff\xff\xff").serialize(),
    "a message compressed without a word": DataFrame(1, b"\1\0\0\0\1x").serialize(),
    "an end": DataFrame(1, b"", flags=["END_STREAM"]).serialize(),
}


def wrong(sent: bytes):
    def end(target: str) -> None:
        with Peer(target) as peer:
            peer.send(peer.headers(1).serialize() + sent)
            linger_until_answered(peer)
    return end


def linger_until_answered(peer: Peer) -> None:
    """Waits for anything that shows that all was read, and for the server's end where it ends."""
    peer.send(PingFrame(0, b"areyouup"))
    peer.wait(lambda f: isinstance(f, (GoAwayFrame, PingFrame)))


def reset(target: str) -> None:
    with Peer(target) as peer:
        peer.send(peer.headers(1).serialize() + DataFrame(1, b"\0\0\0\x10\0half").serialize())
        linger(peer)


def reset_after_answer(target: str) -> None:
    with Peer(target) as peer:
        peer.send(peer.headers(1))
        peer.wait(lambda f: isinstance(f, DataFrame))
        linger(peer)


def closed(target: str) -> None:
    with Peer(target) as peer:
        peer.send(peer.headers(1))
        peer.wait(lambda f: isinstance(f, DataFrame))


def half_closed(target: str) -> None:
    with Peer(target) as peer:
        peer.send(peer.headers(1))
        peer.wait(lambda f: isinstance(f, DataFrame))
        peer.socket.shutdown(socket.SHUT_WR)
        peer.wait_for_end()


def silent(target: str) -> None:
    host, port = target.rsplit(":", 1)
    socket.create_connection((host, int(port))).close()


def half_preface(target: str) -> None:
    host, port = target.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as peer:
        peer.sendall(PREFACE[:10])


def no_http2(target: str) -> None:
    host, port = target.rsplit(":", 1)
    with socket.create_connection((host, int(port))) as peer:
        peer.sendall(b"GET / HTTP/1.1\r\nHost: test\r\n\r\n")
        with contextlib.suppress(OSError):
            while peer.recv(4096):
                pass


def refused_call(*fields: tuple[str, str], method: str = "StreamEvents"):
    # Encoded once: a long value takes the encoder far longer than the server.
    head = Peer.headers(Encoding(), 1, method, *fields).serialize()

    def end(target: str) -> None:
        with Peer(target) as peer:
            peer.send(head)
            peer.wait_for_status(1)
    return end


def whole_call(target: str) -> None:
    with Peer(target) as peer:
        peer.send(peer.headers(1, "RecordEvents"), peer.message(1, b"\x12\0", end=True))
        assert peer.wait_for_status(1)["grpc-status"] == "0"


def many_streams(target: str) -> None:
    with Peer(target) as peer:
        heads = b"".join(peer.headers(number).serialize() for number in range(1, 41, 2))
        peer.send(heads + WRONG["DATA on stream 0"])
        peer.wait_for_end()


ENDINGS = {name: wrong(sent) for name, sent in WRONG.items()} | {
    "a TCP reset at once": reset, "a TCP reset later": reset_after_answer,
    "a close": closed, "a half-close": half_closed, "nothing sent": silent,
    "half a preface": half_preface, "HTTP/1.1": no_http2,
    "a call with no such timeout": refused_call(("grpc-timeout", "-1S")),
    "a call with too much metadata": refused_call(("x-large", "x" * 9000)),
    "no such method": refused_call(method="Nothing"),
    "a whole call": whole_call, "20 streams and an error": many_streams,
}


def resident(server: Server) -> int:
    """KiB of memory that the process takes, while nobody is connected."""
    def is_quiet() -> bool:
        port = int(server.target.rsplit(":", 1)[1])
        lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
        ends = [line.split() for line in lines]
        return not [1 for end in ends if end[1].endswith(f":{port:04X}") and end[3] in ("01", "08")]

    wait_until(is_quiet, "all connections have gone")
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)


@pytest.fixture(scope="module")
def server():
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SIGHTLINE_CONNECTIONS_MAX_PER_ADDRESS", "2000")
        server = Server(home / "data", "--sink", "discard", MANY_CONNECTIONS).start()
    yield server
    server.close()


def grown(server: Server, end) -> int:
    """KiB by which the memory grows while connections end so, in the round that grows least: what
    stays of each of them grows in every round, room that is kept for the next one only at first."""
    for _ in range(WARM_UP):
        end(server.target)
    least = None
    for _ in range(ROUNDS):
        before = resident(server)
        for _ in range(COUNT):
            end(server.target)
        growth = resident(server) - before
        least = growth if least is None else min(least, growth)
        if least < GROWTH_KIB:
            break
    return least


@pytest.mark.timeout(240)
@pytest.mark.parametrize("name", ENDINGS)
def test_nothing_stays_of_a_connection_that_ends_with(server, figure, name):
    growth = grown(server, ENDINGS[name])
    figure(f"endings: {name}: {growth} KiB after {COUNT}")
    assert server.process.poll() is None, server.log()
    assert growth < GROWTH_KIB


@pytest.fixture
def secured(make_server, tmp_path, monkeypatch):
    authority = Authority()
    certificate, key = authority.issue().write(tmp_path, "server")
    monkeypatch.setenv("SIGHTLINE_TLS_MODE", "tls")
    monkeypatch.setenv("SIGHTLINE_TLS_CERTIFICATE", certificate)
    monkeypatch.setenv("SIGHTLINE_TLS_KEY", key)
    context = ssl.create_default_context(cadata=authority.pem.decode())
    context.set_alpn_protocols(["h2"])
    return make_server("--sink", "discard", MANY_CONNECTIONS).start(), context


@pytest.mark.timeout(240)
def test_nothing_stays_of_a_connection_that_ends_behind_tls(secured, figure):
    server, context = secured
    host, port = server.target.rsplit(":", 1)

    def connect(alpn: bool = True):
        connection = socket.create_connection((host, int(port)), timeout=10)
        return context.wrap_socket(connection, server_hostname="localhost")

    def error_in_a_stream(_: str) -> None:
        with connect() as peer:
            head = Peer.headers(Encoding(), 1).serialize()
            peer.sendall(PREFACE + SettingsFrame(0).serialize() + head + WRONG["DATA on stream 0"])
            with contextlib.suppress(OSError):
                while peer.recv(4096):
                    pass

    def broken_handshake(_: str) -> None:
        with socket.create_connection((host, int(port)), timeout=10) as peer:
            peer.sendall(b"\x16\x03\x01\x00\x05hello")
            with contextlib.suppress(OSError):
                while peer.recv(4096):
                    pass

    def handshake_alone(_: str) -> None:
        connect().close()

    for end in (error_in_a_stream, broken_handshake, handshake_alone):
        growth = grown(server, end)
        figure(f"endings: TLS: {end.__name__}: {growth} KiB after {COUNT}")
        assert growth < GROWTH_KIB, end.__name__
