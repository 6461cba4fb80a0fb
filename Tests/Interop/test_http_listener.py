"""The HTTP port: what it reads, what it refuses, and what a connection may do. Raw sockets
throughout: no client library sends most of these."""

import contextlib
import gzip
import json
import pathlib
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
import urllib.request

import pytest
from hpack import Decoder
from hyperframe.frame import (ContinuationFrame, DataFrame, GoAwayFrame, HeadersFrame, PingFrame,
                              RstStreamFrame, SettingsFrame)

from certificates import CLIENT, Authority
from frame_peer import Peer, goaways
from server import MANY_CONNECTIONS, Server, binary, wait_until

HTTP = ("--http", "127.0.0.1:0", MANY_CONNECTIONS)
HOST = b"Host: localhost\r\n"
# Nothing is at this path; its request is read whole all the same.
NOWHERE = b"POST /nowhere HTTP/1.1\r\n" + HOST
BODY_BYTES = 1 << 20
HEADER_BYTES = 8 << 10
HEADER_FIELDS = 100


def run(*arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(binary()), *arguments], capture_output=True, text=True, timeout=60)


def place(server) -> tuple[str, int]:
    host, port = server.http.split("/")[2].rsplit(":", 1)
    return host, int(port)


class Connection:
    """A connection with HTTP/1.1."""

    def __init__(self, server, tls: ssl.SSLContext | None = None, receive_bytes: int = 0):
        self.socket = socket.socket()
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(10)
        self.socket.connect(place(server))
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.buffer = b""

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, *parts: bytes) -> "Connection":
        with contextlib.suppress(OSError):
            self.socket.sendall(b"".join(parts))
        return self

    def _more(self) -> bool:
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return bool(data)

    def answer(self, has_body: bool = True) -> tuple[int, dict[str, str], bytes]:
        """The next answer: its status, its fields with names in lower case, its body."""
        self.socket.settimeout(10)
        while b"\r\n\r\n" not in self.buffer:
            assert self._more(), f"closed before an answer: {self.buffer!r}"
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode().split("\r\n")
        fields = {name.lower(): value for name, value in (x.split(": ", 1) for x in lines[1:])}
        length = int(fields.get("content-length", 0)) if has_body else 0
        while len(self.buffer) < length:
            assert self._more(), "closed within a body"
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return int(lines[0].split()[1]), fields, body

    def is_closed(self, seconds: float = 10) -> bool:
        """Whether the server closes the connection in time, and sends nothing more."""
        self.socket.settimeout(seconds)
        try:
            return not self._more() and not self.buffer
        except TimeoutError:
            return False

    def is_read(self) -> bool:
        """Whether the server has all that was sent: the kernel keeps none of it, on neither side."""
        own, peers = (f"{name[1]:04X}" for name in (
            self.socket.getsockname(), self.socket.getpeername()))
        queues = {}
        for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, remote, _, queue, *_ = line.split()
            queues[local.rpartition(":")[2], remote.rpartition(":")[2]] = queue.split(":")
        # What is to be sent here, and what is to be read there.
        return int(queues[own, peers][0], 16) == int(queues[peers, own][1], 16) == 0

    def is_ended(self, seconds: float = 10) -> bool:
        """Whether the server closes the connection in time, whatever it sends before."""
        self.socket.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            while self._more():
                pass
            return True
        return False


def get(server, path: bytes = b"/nowhere") -> int:
    with Connection(server) as connection:
        return connection.send(b"GET " + path + b" HTTP/1.1\r\n", HOST, b"\r\n").answer()[0]


def metrics(server, name: str) -> dict[str, float]:
    with urllib.request.urlopen(server.admin + "metrics") as answer:
        text = answer.read().decode()
    return {labels: float(value) for labels, value in
            re.findall(rf"^{name}(\{{.*\}})? (\S+)$", text, re.MULTILINE)}


def ends(server) -> dict[str, float]:
    return metrics(server, "sightline_connections_ended_total")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One server for the tests that need no keys of their own."""
    server = Server(tmp_path_factory.mktemp("http") / "data", *HTTP).start()
    yield server
    server.close()


def test_the_port_is_off_unless_it_is_asked_for(make_server):
    server = make_server().start()
    assert server.http == ""
    assert make_server(*HTTP).start().http.startswith("http://127.0.0.1:")


def test_a_path_without_a_door_says_what_this_port_is(shared):
    before = metrics(shared, "sightline_http_requests_total")
    with Connection(shared) as connection:
        for _ in range(2):
            connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n")
            status, fields, body = connection.answer()
            assert (status, fields["content-type"]) == (404, "application/problem+json")
            assert fields["x-content-type-options"] == "nosniff" and "connection" not in fields
            assert fields["date"].endswith(" GMT") and fields["cache-control"] == "no-store"
            problem = json.loads(body)
            assert problem["status"] == 404 and "POST /v1/events" in problem["detail"]
        connection.send(b"HEAD / HTTP/1.1\r\n", HOST, b"\r\n")
        status, fields, _ = connection.answer(has_body=False)
        assert status == 404 and int(fields["content-length"]) > 0
        connection.send(b"GET / HTTP/1.1\r\n", HOST, b"Connection: close\r\n\r\n")
        assert connection.answer()[1]["connection"] == "close"
        assert connection.is_closed()
    label = '{door="other",status="4xx"}'
    after = metrics(shared, "sightline_http_requests_total")
    assert after[label] == before[label] + 4


@pytest.mark.parametrize("path", [b"/v1/", b"/v1/openapi.json"])
def test_head_says_the_length_of_the_body_that_get_has(shared, path):
    with Connection(shared) as connection:
        connection.send(b"HEAD ", path, b" HTTP/1.1\r\n", HOST, b"\r\n")
        status, head, _ = connection.answer(has_body=False)
        connection.send(b"GET ", path, b" HTTP/1.1\r\n", HOST, b"\r\n")
        _, fields, body = connection.answer()
    assert status == 200 and int(head["content-length"]) == len(body) > 0
    assert head["content-type"] == fields["content-type"]


CHUNKED = b"Transfer-Encoding: chunked\r\n"
SMUGGLED = {
    "a length and a coding": (400, NOWHERE + b"Content-Length: 5\r\n" + CHUNKED
                              + b"\r\n0\r\n\r\n"),
    "a coding and a length": (400, NOWHERE + CHUNKED + b"Content-Length: 5\r\n\r\n0\r\n\r\n"),
    "two lengths": (400, NOWHERE + b"Content-Length: 0\r\nContent-Length: 5\r\n\r\n"),
    "two equal lengths": (400, NOWHERE + b"Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
    "a list of lengths": (400, NOWHERE + b"Content-Length: 0, 0\r\n\r\n"),
    "a signed length": (400, NOWHERE + b"Content-Length: +0\r\n\r\n"),
    "a negative length": (400, NOWHERE + b"Content-Length: -1\r\n\r\n"),
    "a length in hexadecimal": (400, NOWHERE + b"Content-Length: 0x0\r\n\r\n"),
    "a length of 70 bits": (400, NOWHERE + b"Content-Length: 999999999999999999999\r\n\r\n"),
    "no digits": (400, NOWHERE + b"Content-Length: \r\n\r\n"),
    "a space before a colon": (400, NOWHERE + b"Content-Length : 0\r\n\r\n"),
    "a space before a coding's colon": (400, NOWHERE + b"Transfer-Encoding : chunked\r\n\r\n"),
    "an unknown coding": (501, NOWHERE + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    "identity": (501, NOWHERE + b"Transfer-Encoding: identity\r\n\r\n"),
    "gzip, chunked": (501, NOWHERE + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    "chunked twice": (400, NOWHERE + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n"),
    "a coding in HTTP/1.0": (400, b"POST /nowhere HTTP/1.0\r\n" + HOST + CHUNKED
                             + b"\r\n0\r\n\r\n"),
    "a folded line": (400, NOWHERE + b"X-A: b\r\n c\r\n\r\n"),
    "a folded coding": (400, NOWHERE + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n"),
    "a bare LF": (400, NOWHERE + b"X-A: b\nX-B: c\r\n\r\n"),
    "an end of bare LFs": (400, NOWHERE + b"X-A: b\n\n"),
    "a bare LF behind the target": (400, b"POST /nowhere HTTP/1.1\n" + HOST + b"\r\n"),
    "a bare CR": (400, NOWHERE + b"X-A: b\rc\r\n\r\n"),
    "a NUL": (400, NOWHERE + b"X-A: b\0c\r\n\r\n"),
    "no Host": (400, b"POST /nowhere HTTP/1.1\r\n\r\n"),
    "two Hosts": (400, NOWHERE + HOST + b"\r\n"),
    "a list of Hosts": (400, b"POST /nowhere HTTP/1.1\r\nHost: localhost, other\r\n\r\n"),
    "a Host with a path": (400, b"POST /nowhere HTTP/1.1\r\nHost: localhost/a\r\n\r\n"),
    "a Host with a user": (400, b"POST /nowhere HTTP/1.1\r\nHost: a@localhost\r\n\r\n"),
    "another host's URI": (400, b"POST http://other/x HTTP/1.1\r\n" + HOST + b"\r\n"),
    "a target without a slash": (400, b"POST nowhere HTTP/1.1\r\n" + HOST + b"\r\n"),
    "CONNECT": (400, b"CONNECT localhost:1 HTTP/1.1\r\n" + HOST + b"\r\n"),
    "HTTP/1.2": (400, b"POST /nowhere HTTP/1.2\r\n" + HOST + b"\r\n"),
    "tabs for spaces": (400, b"POST\t/nowhere\tHTTP/1.1\r\n" + HOST + b"\r\n"),
    "a name in brackets": (400, NOWHERE + b"X[A]: b\r\n\r\n"),
    "chunks that end with LF": (400, NOWHERE + CHUNKED + b"\r\n1\na\n0\n\n"),
    "a chunk's size with 0x": (400, NOWHERE + CHUNKED + b"\r\n0x1\r\na\r\n0\r\n\r\n"),
    "a signed chunk's size": (400, NOWHERE + CHUNKED + b"\r\n+1\r\na\r\n0\r\n\r\n"),
    "a chunk's size of 68 bits": (400, NOWHERE + CHUNKED + b"\r\nfffffffffffffffff\r\na\r\n"),
    "a chunk that goes on": (400, NOWHERE + CHUNKED + b"\r\n1\r\naX0\r\n\r\n"),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_what_could_be_smuggled_is_refused(shared, name):
    status, form = SMUGGLED[name]
    with Connection(shared) as connection:
        # What follows is never taken for a request.
        connection.send(form, b"GET /smuggled HTTP/1.1\r\n", HOST, b"\r\n")
        seen, fields, body = connection.answer()
        assert (seen, fields["connection"]) == (status, "close"), body
        # The connection writes it here, and not who writes it for the doors.
        assert fields["date"].endswith(" GMT")
        assert json.loads(body)["status"] == status
        assert connection.is_closed()
    assert get(shared) == 404


@pytest.mark.parametrize("form", [
    NOWHERE + b"Content-Length: 2\r\n\r\nok", NOWHERE + CHUNKED + b"\r\n2;a=b\r\nok\r\n0\r\n\r\n",
    NOWHERE + b"Transfer-Encoding: Chunked\r\n\r\n0\r\nX-Trailer: 1\r\n\r\n",
    b"\r\n" + NOWHERE + b"\r\n", b"GET http://localhost/nowhere HTTP/1.1\r\n" + HOST + b"\r\n",
    b"POST /nowhere HTTP/1.1\r\nHost: localhost \t\r\n\r\n",
    b"POST /nowhere HTTP/1.1\r\nHost:\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n"])
def test_what_is_in_order_is_read_and_the_next_request_too(shared, form):
    with Connection(shared) as connection:
        for _ in range(2):
            connection.send(form)
            status, fields, _ = connection.answer()
            assert status == 404 and "connection" not in fields


def test_a_head_that_is_refused_gets_no_body(shared):
    with Connection(shared) as connection:
        connection.send(b"HEAD / HTTP/1.1\r\n\r\n")
        status, fields, _ = connection.answer(has_body=False)
        assert status == 400 and int(fields["content-length"]) > 0
        assert connection.is_closed()


def test_a_request_in_pieces_is_read(shared):
    with Connection(shared) as connection:
        for byte in NOWHERE + b"Content-Length: 2\r\n\r\nok":
            connection.send(bytes([byte]))
        assert connection.answer()[0] == 404


def test_pipelined_requests_are_answered_in_order(shared):
    with Connection(shared) as connection:
        connection.send((NOWHERE + b"Content-Length: 2\r\n\r\nok") * 50,
                        b"GET / HTTP/1.1\r\n", HOST, b"Connection: close\r\n\r\n")
        for _ in range(50):
            assert connection.answer()[0] == 404
        assert connection.answer()[1]["connection"] == "close"
        assert connection.is_closed()


def test_no_other_protocol_is_upgraded_to(shared):
    with Connection(shared) as connection:
        connection.send(b"GET / HTTP/1.1\r\n", HOST, b"Connection: Upgrade, HTTP2-Settings\r\n"
                        b"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n")
        status, fields, _ = connection.answer()
        assert (status, fields["connection"]) == (404, "close")
        assert connection.is_closed()


def test_continue_is_said_to_who_waits_for_it(shared):
    with Connection(shared) as connection:
        connection.send(NOWHERE, b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        assert connection.answer()[0] == 100
        assert connection.send(b"ok").answer()[0] == 404
        # A body that would be refused is not asked for.
        connection.send(NOWHERE, b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n"
                        % (BODY_BYTES + 1))
        assert connection.answer()[0] == 413
    # A client of HTTP/1.0 would take it for the answer.
    with Connection(shared) as connection:
        connection.send(b"POST /nowhere HTTP/1.0\r\nContent-Length: 2\r\n"
                        b"Expect: 100-continue\r\n\r\nok")
        assert connection.answer()[0] == 404


@pytest.mark.parametrize("is_chunked", [False, True])
def test_a_body_at_the_limit_is_read_and_refused_one_byte_beyond(shared, is_chunked):
    def request(count: int) -> bytes:
        body = b"x" * count
        if is_chunked:
            return NOWHERE + CHUNKED + b"\r\n%x\r\n%b\r\n0\r\n\r\n" % (count, body)
        return NOWHERE + b"Content-Length: %d\r\n\r\n%b" % (count, body)

    with Connection(shared) as connection:
        assert connection.send(request(BODY_BYTES)).answer()[0] == 404
        thread = threading.Thread(target=connection.send, args=(request(BODY_BYTES + 1),))
        thread.start()
        status, fields, body = connection.answer()
        assert (status, fields["connection"]) == (413, "close")
        assert str(BODY_BYTES) in json.loads(body)["detail"]
        thread.join(10)
        assert connection.is_closed()


def test_an_endless_body_is_cut_off(shared):
    with Connection(shared) as connection:
        connection.send(NOWHERE, CHUNKED, b"\r\n")
        chunk = b"8000\r\n" + b"x" * 0x8000 + b"\r\n"
        thread = threading.Thread(target=lambda: [connection.send(chunk) for _ in range(1000)])
        thread.start()
        assert connection.answer()[0] == 413
        thread.join(20)
        assert not thread.is_alive()
    assert get(shared) == 404


@pytest.mark.parametrize("is_http2", [False, True])
def test_header_fields_at_their_limits_are_read_and_refused_one_beyond(shared, is_http2):
    # Host counts with HTTP/1.1, and so does the target.
    own = 0 if is_http2 else len("Host" + "localhost" + "/nowhere")
    own_fields = 0 if is_http2 else 1

    def status(fields: list[tuple[str, str]]) -> int:
        if is_http2:
            return http2_status(shared, fields)
        with Connection(shared) as connection:
            lines = "".join(f"{name}: {value}\r\n" for name, value in fields)
            connection.send(NOWHERE, lines.encode(), b"\r\n")
            return connection.answer()[0]

    def fields(size: int) -> list[tuple[str, str]]:
        """Eight of them, with so many bytes together."""
        values = [size // 8 - 3] * 7 + [size - 7 * (size // 8) - 3]
        return [(f"x-{number}", "v" * count) for number, count in enumerate(values)]

    assert status(fields(HEADER_BYTES - own)) == 404
    assert status(fields(HEADER_BYTES - own + 1)) == 431
    many = [(f"x-{number}", "v") for number in range(HEADER_FIELDS - own_fields)]
    assert status(many) == 404
    assert status(many + [("y", "v")]) == 431


def http2_fields(fields=(), method: str = "POST", path: str = "/nowhere"):
    return [(":method", method), (":scheme", "http"), (":path", path), (":authority", "localhost"),
            *fields]


def http2_peer(server, tls: ssl.SSLContext | None = None) -> Peer:
    host, port = place(server)
    return Peer(f"{host}:{port}", tls).greet()


def http2_head(peer: Peer, stream: int, fields=(), flags=("END_HEADERS", "END_STREAM"), **more):
    frame = HeadersFrame(stream, data=peer.encoder.encode(http2_fields(fields, **more)))
    for flag in flags:
        frame.flags.add(flag)
    return frame


def http2_status(server, fields=()) -> int:
    with http2_peer(server) as peer:
        # No entry for each in the table, which is to stay small.
        peer.send(http2_head(peer, 1, fields))
        head = peer.wait_for(HeadersFrame)
        return int(dict(Decoder().decode(head.data))[":status"])


def test_http2_by_prior_knowledge_serves_streams_beside_each_other(shared):
    with http2_peer(shared) as peer:
        peer.send(*(http2_head(peer, stream, flags=("END_HEADERS",)) for stream in (1, 3, 5)))
        for stream in (5, 3, 1):
            end = DataFrame(stream, data=b"ok")
            end.flags.add("END_STREAM")
            peer.send(end)
        decoder, seen = Decoder(), {}
        while len(seen) < 3:
            frame = peer.wait_for(HeadersFrame)
            fields = dict(decoder.decode(frame.data))
            seen[frame.stream_id] = fields[":status"]
            assert "connection" not in fields
        assert seen == {1: "404", 3: "404", 5: "404"}


@pytest.mark.parametrize("hosts, status", [
    (["localhost"], 404), (["LOCALHOST:80"], 404), (["other"], 400), (["localhost", "localhost"], 400),
    ([""], 400), (["a@localhost"], 400)])
def test_a_request_of_http2_is_of_one_host(shared, hosts, status):
    assert http2_status(shared, [("host", host) for host in hosts]) == status


def test_a_stream_that_is_refused_early_ends_without_its_connection(shared):
    with http2_peer(shared) as peer:
        peer.send(http2_head(peer, 1, [("content-length", str(BODY_BYTES + 1))],
                             flags=("END_HEADERS",)))
        decoder = Decoder()
        assert dict(decoder.decode(peer.wait_for(HeadersFrame).data))[":status"] == "413"
        reset = peer.wait_for(RstStreamFrame)
        assert (reset.stream_id, reset.error_code) == (1, 0)
        peer.send(http2_head(peer, 3))
        assert dict(decoder.decode(peer.wait_for(HeadersFrame).data))[":status"] == "404"


def test_streams_beyond_their_limit_end_the_connection(make_server):
    server = make_server(*HTTP, "--set", "http.streams_per_connection=5").start()
    with http2_peer(server) as peer:
        # Until a client has acknowledged the limit, the library's own holds: 100.
        peer.send(SettingsFrame(flags=["ACK"]))
        peer.send(*(http2_head(peer, 1 + 2 * n, flags=("END_HEADERS",)) for n in range(5)))
        peer.ping(1)
        peer.wait_for_answer(1)
        peer.send(http2_head(peer, 11, flags=("END_HEADERS",)))
        _, frames = peer.wait_for_close()
        assert goaways(frames)
    assert get(server) == 404


def continuations(peer: Peer):
    head = http2_head(peer, 1, flags=())
    return [head, *(ContinuationFrame(1) for _ in range(100))]


def empty_data(peer: Peer):
    return [http2_head(peer, 1, flags=("END_HEADERS",)), *(DataFrame(1) for _ in range(100))]


def resets(peer: Peer):
    for number in range(1000):
        yield http2_head(peer, 1 + 2 * number, flags=("END_HEADERS",))
        yield RstStreamFrame(1 + 2 * number, error_code=8)


@pytest.mark.parametrize("frames", [
    continuations, empty_data, resets,
    lambda peer: [SettingsFrame(settings={4: 1 << 16})] * 1000,
    lambda peer: [PingFrame(opaque_data=b"12345678")] * 1000])
def test_floods_of_http2_frames_end_their_connection_alone(shared, frames):
    with http2_peer(shared) as peer:
        with contextlib.suppress(OSError):
            peer.send(*frames(peer))
        seconds, _ = peer.wait_for_close()
        assert seconds < 5
    assert get(shared) == 404


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: loc", b"PRI * HTTP/2.0\r\n\r\nS"])
def test_who_sends_no_whole_header_in_time_is_closed(make_server, sent):
    server = make_server(*HTTP, "--set", "http.header_seconds=1").start()
    with Connection(server) as connection:
        assert connection.send(sent).is_ended(5)
    assert ends(server)['{reason="handshake"}'] == 1


def test_an_idle_connection_is_closed(make_server):
    # The peer answers no PING: with HTTP/2 it has the grace.
    server = make_server(*HTTP, "--set", "http.idle_seconds=1", "--set",
                         "connections.grace_seconds=3").start()
    with Connection(server) as connection:
        connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()
        assert connection.send(b"GET / HTTP/1.1\r\nHost: loc").is_closed(5)
    with http2_peer(server) as peer:
        peer.send(http2_head(peer, 1))
        _, frames = peer.wait_for_close()
        assert goaways(frames)
    assert ends(server)['{reason="idle"}'] == 2


def test_a_body_that_is_not_whole_in_time_is_refused(make_server):
    server = make_server(*HTTP, "--set", "http.body_seconds=1").start()
    with Connection(server) as connection:
        connection.send(NOWHERE, b"Content-Length: 2\r\n\r\no")
        status, fields, _ = connection.answer()
        assert (status, fields["connection"]) == (408, "close")
        assert connection.is_closed()
    with http2_peer(server) as peer:
        peer.send(http2_head(peer, 1, flags=("END_HEADERS",)))
        assert dict(Decoder().decode(peer.wait_for(HeadersFrame).data))[":status"] == "408"


def test_who_does_not_read_an_answer_is_closed(make_server):
    server = make_server(*HTTP, "--set", "http.answer_seconds=1").start()
    with Connection(server, receive_bytes=4096) as connection:
        # More than the kernel holds of answers: some 11 MiB.
        connection.send((b"GET /v1/openapi.json HTTP/1.1\r\n" + HOST + b"\r\n") * 500)
        wait_until(lambda: ends(server)['{reason="unread"}'] == 1, "it is closed", 60)
    assert get(server) == 404


def test_connections_beyond_their_limits_are_closed_at_once(make_server):
    server = make_server(*HTTP, "--set", "http.max_per_address=3").start()
    with contextlib.ExitStack() as stack:
        for _ in range(3):
            connection = stack.enter_context(Connection(server))
            assert connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()[0] == 404
        assert stack.enter_context(Connection(server)).is_closed(5)
        assert ends(server)['{reason="too_many_of_address"}'] == 1
        assert metrics(server, "sightline_http_connections")[""] == 3
    wait_until(lambda: metrics(server, "sightline_http_connections")[""] == 0, "all have gone")
    assert get(server) == 404


def test_bodies_that_wait_count_with_those_of_grpc(make_server):
    server = make_server(*HTTP, "--set", "limits.bytes_waiting=1048576").start()
    head = NOWHERE + b"Content-Length: 1000000\r\n\r\n"
    with Connection(server) as first, Connection(server) as second:
        first.send(head, b"x" * 900_000)
        wait_until(first.is_read, "the server to have what the first has sent")
        second.send(head, b"x" * 900_000)
        status, fields, _ = second.answer()
        assert (status, fields["retry-after"]) == (503, "1")
        assert first.send(b"x" * 100_000).answer()[0] == 404
    with Connection(server) as third:
        assert third.send(head, b"x" * 1_000_000).answer()[0] == 404


def test_a_connection_ends_at_its_age(make_server):
    server = make_server(*HTTP, "--set", "connections.max_age_seconds=1").start()
    with Connection(server) as connection:
        deadline = time.monotonic() + 5
        fields = {}
        while "connection" not in fields and time.monotonic() < deadline:
            try:
                fields = connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()[1]
            except AssertionError:
                break  # It was idle at that moment.
        assert connection.is_closed()
    assert ends(server)['{reason="age"}'] >= 1


def test_a_stopping_server_ends_each_connection_with_its_answer(make_server):
    server = make_server(*HTTP, "--set", "drain.delay_seconds=1").start()
    with Connection(server) as idle, Connection(server) as busy, http2_peer(server) as peer:
        idle.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()
        busy.send(NOWHERE, b"Content-Length: 2\r\n\r\no")
        peer.send(http2_head(peer, 1, flags=("END_HEADERS",)))
        peer.ping(1)
        peer.wait_for_answer(1)
        server.process.terminate()
        wait_until(lambda: "draining" in server.log(), "it drains")
        assert idle.is_closed(5)
        status, fields, _ = busy.send(b"k").answer()
        assert (status, fields["connection"]) == (404, "close")
        assert busy.is_closed(5)
        peer.wait_for(GoAwayFrame)
        end = DataFrame(1)
        end.flags.add("END_STREAM")
        peer.send(end)
        statuses = []
        for frame in peer.frames():
            if isinstance(frame, PingFrame) and "ACK" not in frame.flags:
                peer.answer(frame)
            if isinstance(frame, HeadersFrame):
                statuses.append(dict(Decoder().decode(frame.data))[":status"])
        assert statuses == ["404"]
    assert server.wait(20, "to end") == 0


def test_a_stop_is_not_held_up_by_who_does_not_end(make_server):
    server = make_server(*HTTP, "--set", "drain.seconds=1").start()
    with Connection(server) as connection:
        connection.send(NOWHERE, b"Content-Length: 2\r\n\r\no")
        server.process.terminate()
        assert server.wait(10, "to end") == 0


def test_a_port_in_use_is_exit_69(make_server, shared):
    taken = shared.http.split("/")[2]
    answer = run("serve", "--listen", "127.0.0.1:0", "--admin", "off", "--http", taken,
                        "--data-dir", str(make_server().directory))
    assert answer.returncode == 69
    assert f'http.listen is "{taken}", but that cannot be bound' in answer.stderr
    assert answer.stdout == ""


def test_an_open_port_without_tls_is_refused(tmp_path):
    answer = run("serve", "--http", "0.0.0.0:0", "--data-dir", str(tmp_path))
    assert answer.returncode == 78
    assert '--http: http.listen is "0.0.0.0:0", but without TLS' in answer.stderr


# MARK: TLS


@pytest.fixture(scope="module")
def pki(tmp_path_factory):
    folder = tmp_path_factory.mktemp("http-tls")
    authority = Authority()
    certificate, key = authority.issue().write(folder, "server")
    roots = folder / "roots.pem"
    roots.write_bytes(authority.pem)
    client = authority.issue("shop", usage=CLIENT).write(folder, "client")
    return {"roots": str(roots), "client": client, "keys": [
        part for name, value in (("tls.certificate", certificate), ("tls.key", key))
        for part in ("--set", f"{name}={value}")]}


def context(pki, *protocols: str, client: bool = False) -> ssl.SSLContext:
    made = ssl.create_default_context(cafile=pki["roots"])
    if protocols:
        made.set_alpn_protocols(list(protocols))
    if client:
        made.load_cert_chain(*pki["client"])
    return made


def test_tls_offers_both_protocols(make_server, pki):
    server = make_server(*HTTP, *pki["keys"], "--set", "tls.mode=tls").start()
    assert server.http.startswith("https://")
    for protocols in ((), ("http/1.1",)):
        with Connection(server, context(pki, *protocols)) as connection:
            assert connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()[0] == 404
    tls = context(pki, "h2", "http/1.1")
    with http2_peer(server, tls) as peer:
        assert peer.socket.selected_alpn_protocol() == "h2"
        peer.send(http2_head(peer, 1))
        assert dict(Decoder().decode(peer.wait_for(HeadersFrame).data))[":status"] == "404"
    # Without TLS a client is told so.
    with Connection(server) as connection:
        status, _, body = connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()
        assert status == 400 and b"https://" in body


def test_client_certificates_are_asked_for_as_on_the_grpc_port(make_server, pki):
    server = make_server(*HTTP, *pki["keys"], "--set", "tls.mode=mtls", "--set",
                         f"tls.client_roots={pki['roots']}").start()
    with Connection(server, context(pki, client=True)) as connection:
        assert connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()[0] == 404
    with pytest.raises((ssl.SSLError, OSError, AssertionError)):
        with Connection(server, context(pki)) as connection:
            connection.send(b"GET / HTTP/1.1\r\n", HOST, b"\r\n").answer()


def test_a_client_whose_authority_is_trusted_no_more_records_nothing(make_server, pki, tmp_path):
    """Also on a connection that was there before: each call looks, as on the gRPC port."""
    roots = tmp_path / "clients.pem"
    roots.write_bytes(pathlib.Path(pki["roots"]).read_bytes())
    server = make_server(*HTTP, *pki["keys"], "--set", "tls.mode=mtls", "--set",
                         f"tls.client_roots={roots}").start()
    with Connection(server, context(pki, client=True)) as connection:
        def record() -> int:
            return connection.send(
                b"POST /v1/events HTTP/1.1\r\n", HOST, b"Content-Type: application/json\r\n"
                b"Content-Length: 2\r\n\r\n[]").answer()[0]

        assert record() == 200
        roots.write_bytes(Authority().pem)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: record() == 401, "the authority to be trusted no more")


def test_a_tls_handshake_that_stops_is_closed_in_time(make_server, pki):
    server = make_server(*HTTP, *pki["keys"], "--set", "tls.mode=tls", "--set",
                         "http.header_seconds=1").start()
    with Connection(server) as connection:
        assert connection.send(b"\x16\x03\x01").is_closed(5)


def test_a_compressed_body_counts_as_sent_until_a_door_decodes_it(shared):
    body = gzip.compress(b"x" * 10 * BODY_BYTES)
    with Connection(shared) as connection:
        connection.send(NOWHERE, b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b"
                        % (len(body), body))
        assert connection.answer()[0] == 404
