"""Clients that never stop: they keep what is not acked, and send it again to whoever is there."""

import collections
import threading
import time

import grpc

from facts import Facts
from stream import Batch, Stream, owed

REQUEST = 100
AGAIN = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


class Client:
    """One stream after another to one server or balancer, at a bounded pace."""

    def __init__(self, server, space: int, requests_per_second: float):
        self.server = server
        self.facts = Facts(space, int(time.time()), space=space)
        self.interval = 1 / requests_per_second
        self.pending: collections.deque[Batch] = collections.deque()
        self.sent: set[bytes] = set()
        self.owed: set[bytes] = set()
        self.acks = self.refused = self.streams = 0
        self.errors: collections.Counter = collections.Counter()
        self.failure: BaseException | None = None
        self.stopped = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _batches(self, sequence: int):
        """New ones, after the sequence that was the last before this stream."""
        while not self.stopped.wait(self.interval):
            facts = [self.facts.accepted() for _ in range(REQUEST)]
            sequence += 1
            self.sent.update(identity for fact in facts for identity in fact.hits)
            yield Batch(sequence, facts)

    def _run(self) -> None:
        try:
            while not self.stopped.is_set() or self.pending:
                self._stream()
        except BaseException as error:  # pylint: disable=broad-except
            self.failure = error

    def _stream(self) -> None:
        self.streams += 1
        try:
            with self.server.channel() as channel:
                # Now: what is pending may be acked before the first new one is asked for.
                last = self.pending[-1].sequence if self.pending else 0
                Stream(channel, self.pending).run(self._batches(last), self._take, 300)
        except grpc.RpcError as error:
            self.errors[f"{error.code().name}: {error.details()}"[:90]] += 1
            if error.code() not in AGAIN:
                raise
            time.sleep(0.2)

    def _take(self, batch, results) -> None:
        facts = owed(batch, results)
        self.acks += 1
        self.refused += len(batch.facts) - len(facts)
        self.owed.update(identity for fact in facts for identity in fact.hits)


class Load:
    """Some clients together, and what they are owed."""

    def __init__(self, servers, clients: int = 2, requests_per_second: float = 15,
                 space: int = 1):
        self.clients = [Client(server, space + number, requests_per_second)
                        for number, server in enumerate(servers * clients)]

    def __add__(self, other: "Load") -> "Load":
        """Both, for what they are owed together."""
        both = Load([])
        both.clients = self.clients + other.clients
        return both

    def __enter__(self) -> "Load":
        for client in self.clients:
            client.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def stop(self, seconds: float = 120) -> None:
        """Sends nothing new, and waits until all is acked."""
        for client in self.clients:
            client.stopped.set()
        for client in self.clients:
            client.thread.join(seconds)
            assert not client.thread.is_alive(), (
                f"a client still has {len(client.pending)} requests after {seconds} s:"
                f" {dict(client.errors)}")
            if client.failure:
                raise client.failure

    @property
    def owed(self) -> set[bytes]:
        return set().union(*(client.owed for client in self.clients))

    @property
    def sent(self) -> set[bytes]:
        return set().union(*(client.sent for client in self.clients))

    @property
    def acks(self) -> int:
        return sum(client.acks for client in self.clients)

    @property
    def refused(self) -> int:
        return sum(client.refused for client in self.clients)

    @property
    def errors(self) -> collections.Counter:
        return sum((client.errors for client in self.clients), collections.Counter())
