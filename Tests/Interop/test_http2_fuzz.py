"""Any frames of HTTP/2 to the HTTP port: the server lives, stays small, and keeps no connection and no
stream. What an answer says is the business of `test_http_fuzz.py`, by HTTP/1.1.

`--seed N` sends the same connections again; a finding tells its seed and its connection's number."""

import concurrent.futures
import contextlib
import os
import pathlib
import random
import re
import socket
import struct
import urllib.request

import pytest

from connection_ends import raw
from costs import DATA, END_HEADERS, END_STREAM, HEADERS, RESET, SETTINGS, WINDOW_UPDATE
from effects import resident
from http_grammar import POSTBACK_HOST
from peer import PREFACE
from server import MANY_CONNECTIONS, wait_until

SAMPLE, WHOLE, THREADS = 1_500, 200_000, 4
WARM_UP = range(WHOLE, WHOLE + 300)
MOST_GROWN_MIB = 32
PRIORITY, PUSH_PROMISE, PING, GOAWAY, CONTINUATION = 2, 5, 6, 7, 9
# A peer listens for so long before it says that it sends no more, and then until the server ends.
LISTEN_SECONDS, END_SECONDS = 0.03, 20
FRAME_BYTES = 1 << 14
CONFIGURATION = f"""
http: {{cors_origins: "https://shop.example"}}
postback:
  per_address_per_second: 0
  hosts: [{{host: {POSTBACK_HOST}, tenant: default, product: standard, app: com.example.shop}}]
"""
METHODS = ["GET", "POST", "POST", "HEAD", "OPTIONS", "CONNECT", "TRACE", "a b", "é", ""]
PATHS = ["/v1/events", "/v1/", "/r/?id=h1,56c4,2&mcId=7", "/sightline.v1.TrackingService/RecordEvents",
         "/x", "*", "", "/é"]
TYPES = ["application/json", "application/proto", "application/grpc-web+proto", "application/grpc"]
NAMES = [":method", ":scheme", ":path", ":authority", ":status", ":protocol", ":x", "", "host",
         "content-length", "content-type", "content-encoding", "te", "connection", "transfer-encoding",
         "expect", "cookie", "origin", "Upper", "x y", "x\xe9", "upgrade", "trailer", "keep-alive",
         "accept", "authorization", "access-control-request-method", "grpc-timeout", "x-a", "via",
         "connect-timeout-ms", "user-agent"]
VALUES = [*METHODS, *PATHS, *TYPES, "a", "http", POSTBACK_HOST, "a:1", "[::1]", "0", "1", "-1",
          "9" * 20, "1, 2", "gzip", "zstd", "trailers", "close", "chunked", "100-continue", "a\r\nb",
          "a\0b", " a ", "\t", "x" * 300, "é" * 200, "x" * 5000, "200", "websocket"]
BODIES = [b"", b"[]", b"{}", b'{"eventId":"e"}', bytes(5), b"x" * 100, b"x" * FRAME_BYTES]


def field(name: str, value: str) -> bytes:
    """A field as HPACK has it without a table (RFC 7541, section 6.2.2)."""
    return b"\0" + text(name.encode("latin-1")) + text(value.encode())


def text(data: bytes) -> bytes:
    if len(data) < 127:
        return bytes([len(data)]) + data
    rest, length = len(data) - 127, b"\x7f"
    while rest >= 128:
        length, rest = length + bytes([rest & 127 | 128]), rest >> 7
    return length + bytes([rest]) + data


class Grammar:
    """The bytes of a connection: requests, some of them changed, among frames of all kinds."""

    def __init__(self, seed: int, number: int):
        self.chance = random.Random(f"{seed}-{number}")
        self.data = PREFACE + raw(SETTINGS, 0, 0)
        self.streams: list[int] = []
        for _ in range(self.chance.choice([1, 2, 5, 20])):
            self.chance.choice([self.request] * 4 + [self.reset, self.window, self.other])()

    def head(self) -> bytes:
        chance = self.chance
        fields = [(":method", chance.choice(METHODS[:5])), (":scheme", "http"),
                  (":path", chance.choice(PATHS[:5])), (":authority", POSTBACK_HOST),
                  ("content-type", chance.choice(TYPES))]
        for _ in range(chance.choice([0, 0, 1, 1, 2, 4])):
            at = chance.randrange(len(fields))
            change = chance.randrange(4)
            if change == 0 and len(fields) > 1:
                fields.pop(at)
            elif change == 1:
                fields[at] = (fields[at][0], chance.choice(VALUES))
            elif change == 2:
                fields.append(fields[at])
            else:
                fields.insert(at, (chance.choice(NAMES), chance.choice(VALUES)))
        block = b"".join(field(name, value) for name, value in fields)
        return chance.randbytes(40) if chance.random() < 0.02 else block[:FRAME_BYTES]

    def request(self) -> None:
        chance, stream = self.chance, 2 * len(self.streams) + 1
        self.streams.append(stream)
        block, end = self.head(), END_STREAM * (chance.random() < 0.4)
        if chance.random() < 0.1:
            self.data += raw(HEADERS, end, stream, block[:2])
            self.data += raw(CONTINUATION, END_HEADERS, stream, block[2:])
        else:
            self.data += raw(HEADERS, END_HEADERS | end, stream, block)
        if end:
            return
        for _ in range(chance.choice([0, 1, 1, 3])):
            self.data += raw(DATA, chance.choice([0, END_STREAM]), stream, chance.choice(BODIES))
        if chance.random() < 0.2:
            self.data += raw(HEADERS, END_HEADERS | END_STREAM, stream, self.head())

    def reset(self) -> None:
        if self.streams:
            code = self.chance.choice([0, 1, 8, 11])
            self.data += raw(RESET, 0, self.chance.choice(self.streams), struct.pack(">I", code))

    def window(self) -> None:
        more = self.chance.choice([0, 1, 2**31 - 1])
        stream = self.chance.choice([0, *self.streams])
        self.data += raw(WINDOW_UPDATE, 0, stream, struct.pack(">I", more))

    def other(self) -> None:
        chance = self.chance
        kind = chance.choice([PRIORITY, SETTINGS, PUSH_PROMISE, PING, GOAWAY, 10, 99])
        self.data += raw(kind, chance.choice([0, 0, 1, 255]), chance.choice([0, 0, 1, 4]),
                         bytes(chance.choice([0, 4, 5, 6, 8])))


def send(target: tuple[str, int], seed: int, number: int) -> None:
    """Sends one connection's bytes in two parts, and listens until the server ends it."""
    grammar = Grammar(seed, number)
    at = grammar.chance.randrange(len(grammar.data))
    with socket.create_connection(target, 10) as connection, contextlib.suppress(ConnectionError):
        connection.sendall(grammar.data[:at])
        connection.sendall(grammar.data[at:])
        connection.settimeout(LISTEN_SECONDS)
        with contextlib.suppress(TimeoutError):
            while connection.recv(1 << 16):
                pass
        try:
            connection.shutdown(socket.SHUT_WR)
        except OSError:
            return  # The server was first.
        connection.settimeout(END_SECONDS)
        while connection.recv(1 << 16):
            pass


def search(target: tuple[str, int], seed: int, numbers: range) -> None:
    """Sends connections by several threads; fails with the first that did not end."""
    def part(first: int) -> None:
        for number in numbers[first::THREADS]:
            try:
                send(target, seed, number)
            except OSError as error:
                raise AssertionError(f"connection {number} of seed {seed}: {error}") from None

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(part, range(THREADS)))


def metric(server, name: str) -> float:
    with urllib.request.urlopen(f"{server.admin.rstrip('/')}/metrics") as answer:
        lines = re.findall(rf"^{name}(?:\{{[^}}]*\}})? (\S+)$", answer.read().decode(), re.MULTILINE)
    return sum(map(float, lines))


@pytest.mark.timeout(6 * 3600)
def test_no_frames_harm_the_http_port(make_server, seed, amount, figure, tmp_path):
    configuration = tmp_path / "sightline.yaml"
    configuration.write_text(CONFIGURATION)
    server = make_server("--http", "127.0.0.1:0", "--sink", "discard", "--set=log.level=critical",
                         "--set=journal.recent_hits=1000", "--config", str(configuration),
                         MANY_CONNECTIONS).start()
    count = amount(SAMPLE, WHOLE)
    search(server.http_address, seed, WARM_UP)
    files, idle = len(os.listdir(f"/proc/{server.process.pid}/fd")), resident(server, "VmRSS")
    search(server.http_address, seed, range(count))
    assert server.process.poll() is None, f"the server ended with {server.process.poll()}"
    grown, requests = resident(server, "VmRSS") - idle, metric(server, "sightline_http_requests_total")
    figure(f"http/2 fuzz: {count} connections, {requests:.0f} requests; {grown / (1 << 20):+.0f} MiB")
    assert requests > count / 4
    assert grown <= MOST_GROWN_MIB << 20
    wait_until(lambda: metric(server, "sightline_http_connections") == 0, "no connection", 60)
    wait_until(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) <= files + 4, "the files", 30)
