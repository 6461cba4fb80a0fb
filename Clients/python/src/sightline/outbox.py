"""What waits, is sent, is settled and is to be sent again. It decides, and does no I/O: no clock,
no thread, no connection."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections import deque
from typing import Callable, Iterator, Optional, Union

from sightline.ticket import Ticket
from sightline.v1.tracking_service_pb2 import StreamEventsResponse
from sightline.v1.verdict_pb2 import VERDICT_REJECTED, VERDICT_RETRY_LATER, EventResult

# The bytes of a request apart from its events: sequence (11) and options (4).
REQUEST_OVERHEAD_BYTES = 16
# However little the server asks for, and however much.
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 0.1, 30.0
# A retry comes up to this share later than asked, so that senders do not come back together.
RETRY_JITTER = 0.5
# How long a half-closed stream may take to end beyond the server's grace.
END_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Limits:
    """The limits of requests: the sender's own, tightened by the server's."""

    events: int = 100
    """Events in a request."""
    request_bytes: int = 64 << 10
    """Bytes of a request. An event that is larger travels alone."""
    requests: int = 16
    """Unacknowledged requests."""

    def tightened(self, events: int, request_bytes: int, requests: int) -> Limits:
        """The stricter of both, where 0 says nothing."""
        return Limits(min(self.events, events or self.events),
                      min(self.request_bytes, request_bytes or self.request_bytes),
                      min(self.requests, requests or self.requests))


@dataclasses.dataclass(eq=False)
class Request:
    """Events that travel together under one sequence, however often they are sent."""

    sequence: int
    items: list[Ticket]
    results: dict[int, EventResult] = dataclasses.field(default_factory=dict)
    whole: Optional[EventResult] = None
    was_written: bool = False
    is_first: bool = False
    """The first of its stream carries the options."""

    def exceeds(self, limits: Limits) -> bool:
        """Whether it was made before the limits were known, and its events fit smaller ones."""
        size = sum(len(item.frame) for item in self.items) + REQUEST_OVERHEAD_BYTES
        return len(self.items) > 1 and (len(self.items) > limits.events
                                        or size > limits.request_bytes)


class HalfClose:
    """End the client's side, and read until the server ends its own."""


NEVER = float("inf")
# A request to write, or the time before which only an answer or an event gives something to do.
Step = Union[Request, float, HalfClose]
Settled = list[tuple[Ticket, Optional[EventResult]]]


class Outbox:
    """The events without a final verdict, in order, and the state of the stream that sends them."""

    def __init__(self, limits: Limits = Limits(), linger: float = 0.005,
                 answer_seconds: float = 120.0, jitter: Callable[[], float] = random.random):
        self.own_limits, self.linger, self.answer_seconds = limits, linger, answer_seconds
        self.count = self.bytes = self.resent_requests = self.retried_events = 0
        self._jitter = jitter
        self._limits = limits
        self._waiting: deque[Ticket] = deque()
        self._waiting_bytes = self._hurried = 0
        self._due = self._retry_at = 0.0
        self._pending: deque[Request] = deque()
        self._next_sequence = 1
        self._is_finishing = False
        self._end_stream()

    def _end_stream(self) -> None:
        self._written = 0
        self._is_first = True
        self._has_answer = self._is_closing = self._is_half_closed = False
        # When the stream is given up unless it makes progress.
        self.deadline = NEVER

    @property
    def is_done(self) -> bool:
        """Whether the sender has finished, and every event has its verdict."""
        return self._is_finishing and self.count == 0

    def unsettled(self) -> Iterator[Ticket]:
        """The events without a final verdict, in the order in which they will be sent."""
        sent = (request.items for request in self._pending)
        return itertools.chain(itertools.chain.from_iterable(sent), self._waiting)

    def add(self, item: Ticket, now: float) -> bool:
        """Takes an event; says whether that gave the writer something to do."""
        if not self._waiting:
            self._due = now + self.linger
        self._waiting.append(item)
        self._waiting_bytes += len(item.frame)
        self.count += 1
        self.bytes += len(item.frame)
        return len(self._waiting) == 1 or self._is_full

    def hurry(self) -> None:
        """What waits now is sent without lingering."""
        self._hurried = len(self._waiting)

    def finish(self) -> None:
        """No event comes any more: the stream is half-closed once every one is settled."""
        self._is_finishing = True
        self.hurry()

    def open_stream(self) -> None:
        """A new stream: all that is not settled is sent again, in order, with its sequences."""
        self._end_stream()
        self._limits = self.own_limits
        for request in self._pending:
            # It is judged again.
            request.results, request.whole = {}, None

    def next_step(self, now: float) -> Step:
        """What the stream's writer does next."""
        if self._is_closing or self.is_done:
            if not self._is_half_closed:
                self._is_half_closed = True
                if not self._is_closing:
                    self.deadline = now + END_SECONDS
            return HalfClose()
        # One request until the first answer has told the server's limits.
        if self._written >= (self._limits.requests if self._has_answer else 1):
            return NEVER
        if self._written == len(self._pending) and (until := self._make_request(now)) > now:
            return until
        return self._write_next(now)

    def _make_request(self, now: float) -> float:
        """Adds a request of what waits, or returns the time before which there is none."""
        if not self._waiting:
            return NEVER
        lingers = not (self._is_full or self._hurried or self._is_finishing)
        until = max(self._retry_at, self._due if lingers else 0)
        if until > now:
            return until
        self._pending.append(Request(self._next_sequence, self._take_batch()))
        self._next_sequence += 1
        self._due = now + self.linger
        return now

    @property
    def _is_full(self) -> bool:
        return (len(self._waiting) >= self._limits.events
                or self._waiting_bytes + REQUEST_OVERHEAD_BYTES >= self._limits.request_bytes)

    def _take_batch(self) -> list[Ticket]:
        """The events that fit a request; at least one."""
        batch: list[Ticket] = []
        room = self._limits.request_bytes - REQUEST_OVERHEAD_BYTES
        while self._waiting and len(batch) < self._limits.events:
            size = len(self._waiting[0].frame)
            if batch and size > room:
                break
            room -= size
            self._waiting_bytes -= size
            batch.append(self._waiting.popleft())
        self._hurried = max(0, self._hurried - len(batch))
        return batch

    def _write_next(self, now: float) -> Request:
        request = self._pending[self._written]
        if self._written == 0:
            self.deadline = now + self.answer_seconds
        self._written += 1
        self.resent_requests += request.was_written
        request.was_written = True
        request.is_first, self._is_first = self._is_first, False
        return request

    def receive(self, answer: StreamEventsResponse, now: float) -> Settled:
        """Takes an answer; the events that have their final verdict by it, each with its result,
        or None where the watermark alone says that it was accepted."""
        self._has_answer = True
        if answer.HasField("limits"):
            told = answer.limits
            self._limits = self.own_limits.tightened(
                told.max_events, told.max_request_bytes, told.max_unacknowledged_requests)
        for result in answer.results:
            self._keep(result)
        settled, again = self._settle(answer.durable_sequence)
        if again:
            self._put_back(again)
        if answer.HasField("retry_delay"):
            self._delay(answer.retry_delay.ToTimedelta().total_seconds(), now)
        elif any(result.verdict == VERDICT_RETRY_LATER for result in answer.results):
            self._delay(0, now)
        if answer.HasField("closing"):
            self._is_closing = True
            grace = answer.closing.grace.ToTimedelta().total_seconds()
            self.deadline = now + grace + END_SECONDS
        elif not self._is_half_closed:
            self.deadline = now + self.answer_seconds if self._written else NEVER
        return settled

    def _keep(self, result: EventResult) -> None:
        """Keeps a result until the watermark passes its request. Sequences under way have no
        gaps: requests are added at one end and settled at the other."""
        place = result.sequence - (self._pending[0].sequence if self._pending else 0)
        if not 0 <= place < self._written:
            return
        if result.HasField("index"):
            self._pending[place].results[result.index] = result
        else:
            self._pending[place].whole = result

    def _settle(self, watermark: int) -> tuple[Settled, list[Ticket]]:
        """Removes the requests up to the watermark that were written on this stream; the server
        cannot have settled others."""
        settled: Settled = []
        again: list[Ticket] = []
        while self._written and self._pending[0].sequence <= watermark:
            request = self._pending.popleft()
            self._written -= 1
            whole = request.whole
            if whole and whole.verdict == VERDICT_REJECTED and request.exceeds(self._limits):
                again += request.items
            elif not whole and not request.results:
                settled += [(item, None) for item in request.items]
            else:
                self._judge(request, settled, again)
        self.count -= len(settled)
        self.bytes -= sum(len(item.frame) for item, _ in settled)
        return settled, again

    def _judge(self, request: Request, settled: Settled, again: list[Ticket]) -> None:
        for index, item in enumerate(request.items):
            result = request.results.get(index, request.whole)
            if result and result.verdict == VERDICT_RETRY_LATER:
                again.append(item)
                self.retried_events += 1
            else:
                settled.append((item, result))

    def _put_back(self, items: list[Ticket]) -> None:
        self._waiting.extendleft(reversed(items))
        self._waiting_bytes += sum(len(item.frame) for item in items)
        self._hurried += len(items)

    def _delay(self, asked: float, now: float) -> None:
        seconds = min(max(asked, MIN_RETRY_SECONDS), MAX_RETRY_SECONDS)
        at = now + seconds * (1 + RETRY_JITTER * self._jitter())
        self._retry_at = max(self._retry_at, at)
