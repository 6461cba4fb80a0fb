"""A client of StreamEvents that keeps what is not acked, with a bound on what is under way."""

import collections
import threading

import grpc

from facts import Fact
from protos import service as s
from protos import verdict as v

METHOD = "/sightline.v1.TrackingService/StreamEvents"


class Batch:
    """A request: its sequence, its facts, its bytes."""

    def __init__(self, sequence: int, facts: list[Fact]):
        self.sequence = sequence
        self.facts = facts
        request = s.StreamEventsRequest(sequence=sequence)
        # A repeated field of messages is the concatenation of its parts: the facts' own bytes stay.
        self.bytes = request.SerializeToString() + b"".join(field(2, f.bytes) for f in facts)


def field(number: int, data: bytes) -> bytes:
    """A length-delimited field on the wire."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def fields(data: bytes):
    """The top-level fields of a message, each with its number and all its bytes; ends at what is
    none."""
    at = 0
    while at < len(data):
        start = at
        try:
            tag, at = read_varint(data, at)
            if tag & 7 == 2:
                size, at = read_varint(data, at)
                at += size
            elif tag & 7 == 0:
                _, at = read_varint(data, at)
        except IndexError:
            return
        if at > len(data):
            return
        yield tag >> 3, data[start:at]


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def count_events(request: bytes) -> int:
    """The events of a request of a stream, whatever they hold."""
    return sum(number == 2 and part[0] == 0x12 for number, part in fields(request))


class Stream:
    """One stream. `pending` outlives it: what it has not seen acked goes into the next one."""

    def __init__(self, channel: grpc.Channel, pending: collections.deque, window: int = 16):
        self.pending = pending
        self.window = window
        self.condition = threading.Condition()
        self.durable = 0
        self.ended = False
        self.answers: list[s.StreamEventsResponse] = []
        self.call = channel.stream_stream(
            METHOD, request_serializer=None,
            response_deserializer=s.StreamEventsResponse.FromString)

    def run(self, batches, acked, timeout: float, metadata=None) -> None:
        """Sends what is pending and then the batches, and reads until all of it is acked.

        `acked(batch, results)` is called for each batch that the watermark has passed, with the
        results that named it. Raises grpc.RpcError when the stream ends before that.
        """
        results = collections.defaultdict(list)
        call = self.call(self._requests(batches), timeout=timeout, metadata=metadata)
        try:
            for answer in call:
                self.answers.append(answer)
                for result in answer.results:
                    results[result.sequence].append(result)
                if answer.durable_sequence < self.durable:
                    raise AssertionError(f"the watermark went back from {self.durable} to"
                                         f" {answer.durable_sequence}")
                for batch in self._settle(answer.durable_sequence):
                    acked(batch, results.pop(batch.sequence, []))
        finally:
            with self.condition:
                self.ended = True
                self.condition.notify_all()
            call.cancel()

    def _requests(self, batches):
        """Yields requests as the window opens. Ends when nothing is left to send, all acked."""
        for batch in list(self.pending):
            yield batch.bytes
        for batch in batches:
            with self.condition:
                self.condition.wait_for(lambda: self.ended or len(self.pending) < self.window)
                if self.ended:
                    return
                self.pending.append(batch)
            yield batch.bytes
        with self.condition:
            self.condition.wait_for(lambda: self.ended or not self.pending)

    def _settle(self, durable: int) -> list[Batch]:
        with self.condition:
            self.durable = durable
            settled = []
            while self.pending and self.pending[0].sequence <= durable:
                settled.append(self.pending.popleft())
            self.condition.notify_all()
            return settled


def total(answers) -> dict[str, int]:
    """The tallies of all answers, added up."""
    names = ["accepted", "suppressed", "duplicate", "rejected", "retry_later"]
    return {name: sum(getattr(a.tally, name) for a in answers) for name in names}


def owed(batch: Batch, results) -> list[Fact]:
    """The facts of an acked batch whose hits must be in the sink: all but those that the server
    asked to be sent again, and those that give none."""
    again = {r.index for r in results if r.verdict == v.VERDICT_RETRY_LATER and r.HasField("index")}
    if any(r.verdict == v.VERDICT_RETRY_LATER and not r.HasField("index") for r in results):
        return []
    return [fact for index, fact in enumerate(batch.facts) if index not in again and fact.hits]
