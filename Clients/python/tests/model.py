"""A model of the server, and random histories of an outbox against it: cuts, refusals, closings, and
answers at any time. Its clock is a number."""

import dataclasses
import random
import threading
from collections import deque

from sightline.outbox import NEVER, HalfClose, Limits, Outbox, Request
from sightline.ticket import Ticket
from sightline.v1.event_pb2 import TrackingEvent
from sightline.v1.tracking_service_pb2 import StreamEventsResponse
from sightline.v1.verdict_pb2 import (VERDICT_DUPLICATE, VERDICT_REJECTED, VERDICT_RETRY_LATER,
                                      EventResult)

CONDITION = threading.Condition()
RETRY_SECONDS = 2.0
STEPS, ROUNDS = 400, 5000


class Broken(AssertionError):
    """A client's rule that a history broke."""


def require(is_true: bool, rule: str) -> None:
    if not is_true:
        raise Broken(rule)


@dataclasses.dataclass
class Stream:
    """One stream as the server sees it."""

    limits: Limits
    requests: deque = dataclasses.field(default_factory=deque)
    answers: deque = dataclasses.field(default_factory=deque)
    judged: list = dataclasses.field(default_factory=list)
    last_sequence: int = 0
    watermark: int = 0
    written: list = dataclasses.field(default_factory=list)
    told_limits: bool = False
    heard_closing: bool = False
    half_closed: bool = False


class History:
    """One random history. The event ids of `recorded` are durable."""

    def __init__(self, seed: int, kind=Outbox):
        self.random = random.Random(seed)
        self.now = 0.0
        self.own = Limits(self.random.randint(1, 8), self.random.choice([60, 200, 1000]),
                          self.random.randint(1, 6))
        self.outbox = kind(self.own, linger=self.random.choice([0.0, 0.5]),
                           jitter=self.random.random)
        self.is_full = False
        self.recorded: set[str] = set()
        self.added: list[str] = []
        self.verdicts: dict[str, int] = {}
        self.by_sequence: dict[int, list[str]] = {}
        self.not_before = 0.0
        self.stream = None

    def run(self) -> None:
        """Anything may happen for a while; then the server is well, and all must be settled."""
        for _ in range(STEPS):
            self.random.choice([self.add, self.write, self.write, self.take, self.take, self.answer,
                                self.hear, self.hear, self.pass_time, self.rarely])()
        self.is_full = False
        self.outbox.finish()
        for _ in range(ROUNDS):
            if self.outbox.is_done:
                break
            if self.stream is None or self.stream.heard_closing:
                self.open()
            for step in (self.write, self.take, self.answer, self.hear, self.pass_time):
                step()
        require(set(self.verdicts) == set(self.added), "every event gets a verdict")
        require(self.outbox.count == 0 and self.outbox.bytes == 0, "nothing is left")

    def add(self) -> None:
        identity = f"{self.random.choice('gggi')}{len(self.added)}"
        self.added.append(identity)
        event = TrackingEvent(event_id=identity, app_id="a" * self.random.randint(0, 80))
        self.outbox.add(Ticket(CONDITION, event.SerializeToString(), lambda call: call()), self.now)

    def open(self) -> None:
        limits = Limits(self.random.randint(1, 10), self.random.choice([0, 80, 500]),
                        self.random.randint(1, 8))
        self.stream = Stream(limits)
        self.outbox.open_stream()
        if self.random.random() < 0.5:
            self.stream.answers.append(self.message())

    def rarely(self) -> None:
        what = self.random.randrange(12)
        if what == 0:
            self.stream = None  # A cut: what is under way is lost, in both directions.
        elif what == 1:
            self.is_full = not self.is_full
        elif what == 2 and self.stream:
            message = self.message()
            message.closing.grace.seconds = 1
            self.stream.answers.append(message)
        elif what == 3:
            self.outbox.hurry()

    def write(self) -> None:
        stream = self.stream
        if stream is None:
            return self.open()
        if stream.half_closed:
            return None
        step = self.outbox.next_step(self.now)
        if isinstance(step, HalfClose):
            require(stream.heard_closing or self.outbox.is_done, "no half-close before the end")
            stream.half_closed = True
        elif isinstance(step, Request):
            self.check(step)
            stream.requests.append((step.sequence, self.by_sequence[step.sequence], 
                                    sum(len(item.frame) for item in step.items) + 16))
        elif step == NEVER and self.outbox.count and not stream.heard_closing:
            require(bool(stream.written), "with nothing under way, something is to be sent")
        return None

    def check(self, request: Request) -> None:
        stream = self.stream
        require(not stream.heard_closing, "nothing is sent after closing")
        identities = [TrackingEvent.FromString(item.data).event_id for item in request.items]
        known = self.by_sequence.get(request.sequence)
        if known is None:
            require(self.now >= self.not_before, "a retry waits as long as the server asks")
            require(len(identities) <= self.own.events, "no more events than a request may have")
        require(known in (None, identities), "a sequence stands for the same events always")
        require(all(i not in self.verdicts for i in identities), "what is settled is not sent")
        self.by_sequence[request.sequence] = identities
        stream.written.append(request.sequence)
        most = min(self.own.requests, stream.limits.requests) if stream.told_limits else 1
        require(len(stream.written) <= most, "no more requests under way than allowed")

    def take(self) -> None:
        """The server reads a request."""
        stream = self.stream
        if not stream or not stream.requests:
            return
        sequence, identities, size = stream.requests.popleft()
        require(sequence > stream.last_sequence, "sequences rise")
        stream.last_sequence = sequence
        too_large = len(identities) > stream.limits.events or (
            len(identities) > 1 and size > (stream.limits.request_bytes or size))
        if too_large:
            results = [EventResult(sequence=sequence, verdict=VERDICT_REJECTED)]
        elif self.is_full:
            results = [EventResult(sequence=sequence, verdict=VERDICT_RETRY_LATER)]
        else:
            results = [r for i, name in enumerate(identities) if (r := self.judge(sequence, i, name))]
        stream.judged.append((sequence, results))

    def judge(self, sequence: int, index: int, identity: str):
        verdict = None
        if identity in self.recorded:
            verdict = VERDICT_DUPLICATE
        elif identity[0] == "i":
            verdict = VERDICT_REJECTED
        elif self.random.random() < 0.05:
            verdict = VERDICT_RETRY_LATER
        else:
            self.recorded.add(identity)
        return verdict and EventResult(sequence=sequence, index=index, event_id=identity,
                                       verdict=verdict)

    def message(self) -> StreamEventsResponse:
        message = StreamEventsResponse(durable_sequence=self.stream.watermark)
        if not self.stream.told_limits:
            limits = self.stream.limits
            message.limits.max_events = limits.events
            message.limits.max_request_bytes = limits.request_bytes
            message.limits.max_unacknowledged_requests = limits.requests
        return message

    def answer(self) -> None:
        """The server tells of some of what it has judged."""
        stream = self.stream
        if not stream or not stream.judged:
            return
        count = self.random.randint(1, len(stream.judged))
        told, stream.judged = stream.judged[:count], stream.judged[count:]
        stream.watermark = told[-1][0]
        message = self.message()
        message.results.extend(result for _, results in told for result in results)
        if any(result.verdict == VERDICT_RETRY_LATER for result in message.results):
            message.retry_delay.FromMilliseconds(int(RETRY_SECONDS * 1000))
        stream.answers.append(message)

    def hear(self) -> None:
        """The client reads an answer; a closing server ends the stream after the last."""
        stream = self.stream
        if not stream:
            return
        if not stream.answers:
            if stream.heard_closing and stream.half_closed and not (
                    stream.requests or stream.judged):
                self.stream = None
            return
        message = stream.answers.popleft()
        stream.told_limits = True
        stream.heard_closing = stream.heard_closing or message.HasField("closing")
        settled = self.outbox.receive(message, self.now)
        if message.HasField("retry_delay"):
            self.not_before = self.now + RETRY_SECONDS
        stream.written = [s for s in stream.written if s > message.durable_sequence]
        for ticket, result in settled:
            self.settle(ticket, result)

    def settle(self, ticket: Ticket, result) -> None:
        identity = TrackingEvent.FromString(ticket.data).event_id
        require(identity not in self.verdicts, "an event is settled once")
        verdict = ticket.settle(result)
        self.verdicts[identity] = verdict
        if verdict == VERDICT_REJECTED:
            require(identity[0] == "i", "only what was rejected counts as rejected")
        else:
            require(identity in self.recorded, "what counts as accepted is durable")

    def pass_time(self) -> None:
        self.now += self.random.choice([0.01, 0.3, 1.0])
