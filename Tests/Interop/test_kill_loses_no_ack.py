"""kill -9 under load, twenty times on one data directory (or --amount N, 500 with --whole): what was
acked is there, exactly once."""

import collections
import random
import threading
import time

import grpc
import pytest

from facts import Facts
from stream import Batch, Stream, owed

ROUNDS, WHOLE = 8, 500
STREAMS = 4
REQUEST = 50
ROUND_SECONDS = 30
LONGEST_LIFE_SECONDS = 1.0


class Client:
    """One of the four: its numbers, what it has not seen acked, and what is owed to it."""

    def __init__(self, number: int, seed: int):
        self.facts = Facts(seed + number, int(time.time()), space=number + 1)
        self.random = random.Random(seed + number)
        self.sequence = 0
        self.pending: collections.deque[Batch] = collections.deque()
        self.sent: set[bytes] = set()
        self.owed: set[bytes] = set()
        self.failure: BaseException | None = None

    def batches(self):
        """New requests without end; some of their facts come twice."""
        while True:
            facts = [self.facts.accepted() for _ in range(REQUEST - 2)]
            facts += [self.facts.again(facts[0]), self.facts.opted_out()]
            self.random.shuffle(facts)
            self.sequence += 1
            batch = Batch(self.sequence, facts)
            self.sent.update(identity for fact in facts for identity in fact.hits)
            yield batch

    def run(self, server, batches, first_ack: threading.Event, seconds: float) -> None:
        """Streams until the server is gone. Any other end is a failure."""
        try:
            with server.channel() as channel:
                Stream(channel, self.pending).run(
                    batches, lambda *ack: self.take(first_ack, *ack), seconds)
        except grpc.RpcError as error:
            if error.code() not in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED):
                self.failure = error
        except BaseException as error:  # pylint: disable=broad-except
            self.failure = error

    def take(self, first_ack, batch, results) -> None:
        first_ack.set()
        self.owed.update(identity for fact in owed(batch, results) for identity in fact.hits)


@pytest.mark.timeout(3600)
def test_nothing_acked_is_lost(make_server, figure, amount, seed):
    """D17: killed again and again under four streams, every acked hit is stored exactly once."""
    rounds = amount(ROUNDS, WHOLE)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server()
    for number in range(rounds):
        if number % 5 == 4:
            kill_while_recovering(server, moments)
        kill_under_load(server, clients, moments, f"round {number}, seed {seed}")
    resend_all(server, clients)
    check_hits(server, clients, figure, f"{rounds} kills")


def kill_while_recovering(server, moments) -> None:
    """A crash can meet the next start as well."""
    server.spawn()
    delay = threading.Event()
    delay.wait(moments.uniform(0, 0.3))
    server.kill()


def kill_under_load(server, clients, moments, where: str) -> None:
    server.start()
    first_ack = threading.Event()
    threads = [threading.Thread(target=client.run,
                                args=(server, client.batches(), first_ack, ROUND_SECONDS))
               for client in clients]
    for thread in threads:
        thread.start()
    acked = first_ack.wait(ROUND_SECONDS)
    if acked:
        # The random moment is the test, so this wait is for nothing else.
        threading.Event().wait(moments.uniform(0, LONGEST_LIFE_SECONDS))
    alive = server.process.poll() is None
    server.kill()
    for thread in threads:
        thread.join(ROUND_SECONDS)
        assert not thread.is_alive(), f"a client hangs after the kill ({where})"
    assert acked, f"nothing was acked within {ROUND_SECONDS} s ({where})\n{server.log()}"
    assert alive, f"the server ended by itself ({where})\n{server.log()}"
    for client in clients:
        assert client.failure is None, f"{client.failure!r} ({where})\n{server.log()}"


def resend_all(server, clients) -> None:
    """The last start: what is still pending is sent again until it is acked."""
    server.start()
    for client in clients:
        client.run(server, iter(()), threading.Event(), ROUND_SECONDS)
        assert client.failure is None and not client.pending, (
            f"{len(client.pending)} requests are not acked: {client.failure!r}\n{server.log()}")


def check_hits(server, clients, figure, faults: str) -> None:
    obligations = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    server.wait_for_hits(len(obligations), seconds=120)
    assert server.terminate() == 0, server.log()
    stored = [bytes(row[0]) for row in server.query("SELECT hit_id FROM hits")]
    times = collections.Counter(stored)
    lost = obligations - times.keys()
    twice = [identity for identity, count in times.items() if count > 1]
    strange = times.keys() - sent
    figure(f"after {faults}: {len(obligations):,} hits owed, {len(lost)} lost,"
           f" {len(twice)} twice, {len(strange)} never sent")
    assert not lost, f"{len(lost)} acked hits are lost, e.g. {next(iter(lost)).hex()}"
    assert not twice, f"{len(twice)} hits are stored twice, e.g. {twice[0].hex()}"
    assert not strange, f"{len(strange)} hits that nobody sent"
