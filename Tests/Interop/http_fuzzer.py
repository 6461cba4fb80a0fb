"""Sends the grammar's requests over connections of their own, and looks at every answer."""

import dataclasses
import random
import socket
import threading

from http_answers import Finding, Reader, judge
from http_grammar import Door, Framing, Grammar, Request

MOST_REQUESTS = 4
# What a connection that cannot be read any further may still be told, and how long that takes.
BROKEN_SECONDS = 0.3
# Told of a finding, so that it can be understood where it is read.
TOLD_BYTES = 3000
SENTINEL = Request(b"GET /v1/ HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", Door.OTHER,
                   is_last=True)


@dataclasses.dataclass
class Seen:
    """What came of all connections."""

    requests: int = 0
    answers: dict[int, int] = dataclasses.field(default_factory=dict)
    events: int = 0

    def add(self, request: Request, status: int) -> None:
        self.answers[status] = self.answers.get(status, 0) + 1
        self.events += request.events or 0

    def add_all(self, other: "Seen") -> None:
        self.requests += other.requests
        self.events += other.events
        for status, count in other.answers.items():
            self.answers[status] = self.answers.get(status, 0) + count


def connection_of(seed: int, number: int) -> tuple[random.Random, list[Request]]:
    """A connection's requests: the same for the same seed and number."""
    chance = random.Random(f"{seed}-{number}")
    grammar = Grammar(chance, number + 1)
    requests = []
    for _ in range(chance.choice([1, 1, 1, 2, MOST_REQUESTS])):
        requests.append(grammar.request())
        # No request can come behind one that has no certain end.
        if requests[-1].is_last or requests[-1].framing is not Framing.WHOLE:
            break
    return chance, requests


def send_all(target: tuple[str, int], seed: int, numbers: range) -> tuple[Seen, Exception | None]:
    """Sends connections until one gives a finding; what came of them."""
    seen = Seen()
    for number in numbers:
        try:
            send(target, seed, number, seen)
        except (Finding, OSError) as finding:
            return seen, finding
    return seen, None


def send(target: tuple[str, int], seed: int, number: int, seen: Seen) -> None:
    """Sends one connection's requests; raises a Finding that says how to repeat it."""
    chance, requests = connection_of(seed, number)
    seen.requests += len(requests)
    try:
        _send(target, chance, requests, seen)
    # What is no JSON or no base64, where it should be, is a ValueError.
    except (Finding, ValueError) as finding:
        sent = b"".join(request.data for request in requests)
        framing = ", ".join(request.framing.name for request in requests)
        raise Finding(f"connection {number} of seed {seed} ({framing}): {finding}\n"
                      f"sent: {sent[:TOLD_BYTES]!r}") from None


def _send(target: tuple[str, int], chance: random.Random, requests: list[Request], seen: Seen) -> None:
    last = requests[-1]
    with socket.create_connection(target) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # One more behind them shows whether each ended where it had to.
        behind = [] if last.is_last or last.framing is Framing.CUT else [SENTINEL]
        data = b"".join(request.data for request in requests + behind)
        writer = threading.Thread(target=write, args=(connection, data, chance.random()), daemon=True)
        if len(data) > 1 << 16:
            writer.start()
        else:
            write(connection, data, chance.random())
        if last.framing is not Framing.CUT or len(requests) > 1:
            read(connection, requests, behind, seen)
        shut(connection)
        if writer.ident:
            writer.join(30)


def shut(connection: socket.socket) -> None:
    """Ends both ways, also for a thread that still writes."""
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # The server was first.


def write(connection: socket.socket, data: bytes, split: float) -> None:
    """Sends it in two parts, or what the server takes of it."""
    try:
        at = int(len(data) * split)
        connection.sendall(data[:at])
        connection.sendall(data[at:])
    except OSError:
        pass  # It refused what it had so far.


def read(connection: socket.socket, requests: list[Request], behind: list[Request], seen: Seen) -> None:
    """Holds the answers to the requests, in their order."""
    reader = Reader(connection)
    for request in requests + behind:
        is_certain = request.framing is Framing.WHOLE
        if request.framing is Framing.CUT:
            return
        answer = reader.answer(request.method) if is_certain else reader.answer(
            request.method, BROKEN_SECONDS)
        if answer is None:
            if is_certain:
                raise Finding("no answer to a request that is one")
            return
        judge(request, answer)
        seen.add(request, answer.status)
        if request.framing is Framing.SMUGGLING:
            follow = reader.answer("GET", BROKEN_SECONDS)
            if follow is not None:
                raise Finding(f"after {answer.status} what stood behind was read as a request: "
                              f"{follow.status} {follow.body[:200]!r}")
            return
        if not is_certain or answer.ends:
            return
