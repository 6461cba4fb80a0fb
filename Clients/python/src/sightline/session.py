"""What a client's threads share, under one lock: the outbox, the spool, who waits for what."""

from __future__ import annotations

import collections
import dataclasses
import logging
import os
import threading
import time
from typing import Callable, Optional

from sightline.errors import (ENDED, LATER, ClientClosed, ClientFailed, FlushReport,
                              FlushTimeout, QueueFull, StreamFailure, events)
from sightline.outbox import Outbox, Settled
from sightline.segment import Place
from sightline.spool import Spool
from sightline.ticket import Ticket
from sightline.v1.verdict_pb2 import EventResult
from sightline.verdict import Verdict

log = logging.getLogger("sightline")

# The shortest time between two warnings: a server that comes and goes is one piece of news.
WARNING_SECONDS = 60.0


@dataclasses.dataclass
class Stats:
    """What a client holds now, and has done since it was made."""

    pending: int = 0
    pending_bytes: int = 0
    streams: int = 0
    resent_requests: int = 0
    retried_events: int = 0
    refused_events: int = 0
    failed_callbacks: int = 0
    verdicts: collections.Counter[Verdict] = dataclasses.field(default_factory=collections.Counter)
    last_failure: str = ""
    """Why the last stream ended, or that its last answer was RETRY_LATER; empty once a verdict has
    come since."""


@dataclasses.dataclass(eq=False)
class Flush:
    """Waits for the events up to a serial, `left` of which have no verdict yet."""

    serial: int
    left: int


class Session:
    """The state of a client. Its conditions have one lock: `work` is the writer's, `room` that of
    full senders, `settled` that of who waits for verdicts, `ended` that of streams, and `told`
    that of the thread which calls back."""

    def __init__(self, outbox: Outbox, spool: Optional[Spool], max_pending: int,
                 max_pending_bytes: int, on_result: Optional[Callable[[EventResult], None]]):
        self.outbox, self.spool = outbox, spool
        self.max_pending, self.max_pending_bytes = max_pending, max_pending_bytes
        self.on_result = on_result
        self.lock = threading.RLock()
        self.work, self.room, self.settled, self.ended, self.told = (
            threading.Condition(self.lock) for _ in range(5))
        self.is_closing = self.is_over = False
        self.failure: Optional[StreamFailure] = None
        self._is_warned, self._next_warning = False, float("-inf")
        self.stats = Stats()
        self.caller = threading.Thread(target=self.call_back, daemon=True, name="sightline")
        self._process = os.getpid()
        self._serial = self._undelivered = self._undelivered_bytes = 0
        self._flushes: list[Flush] = []
        self._results: collections.deque[list[Ticket]] = collections.deque()
        self._room_callbacks: list[Callable[[], object]] = []
        with self.lock:
            for place, data in spool.recover() if spool else ():
                self._add(self.ticket(data), place)

    @property
    def undelivered(self) -> int:
        """How many results no callback has begun to take."""
        return self._undelivered

    def ticket(self, data: bytes) -> Ticket:
        """That of an event which is to be taken."""
        return Ticket(self.settled, data, self.guard, self.why, self.check_process)

    def wake(self) -> None:
        """Called under the lock: whoever waits looks again."""
        for condition in (self.work, self.room, self.settled, self.ended, self.told):
            condition.notify_all()
        self._tell_of_room()

    def take(self, ticket: Ticket, timeout: Optional[float],
             on_room: Optional[Callable[[], object]] = None) -> None:
        """Takes an event; waits for room. Where there is none in time, raises QueueFull, and calls
        `on_room` once there is. A callback never waits: it is what makes room."""
        self.check_process()
        with self.lock:
            self._check_open()
            if not self._has_room(ticket):
                if threading.current_thread() is self.caller or timeout == 0 or not (
                        self.room.wait_for(lambda: self.is_closing or self.is_over
                                           or self._has_room(ticket), timeout)):
                    if on_room:
                        self._room_callbacks.append(on_room)
                    else:
                        self.stats.refused_events += 1
                    raise QueueFull(f"{self.outbox.count} events are pending, and the verdicts of "
                                    f"{self._undelivered} wait for their callbacks{self.why()}")
                self._check_open()
            self._add(ticket, self.spool.append(ticket.data) if self.spool else None)

    def _has_room(self, ticket: Ticket) -> bool:
        """What waits for its callbacks counts too: slow ones slow the senders down."""
        size = len(ticket.frame)
        count = self.outbox.count + self._undelivered
        held = self.outbox.bytes + self._undelivered_bytes
        return (count < self.max_pending and (held + size <= self.max_pending_bytes or not count)
                and (not self.spool or self.spool.has_room(size)))

    def _add(self, ticket: Ticket, place: Optional[Place]) -> None:
        self._serial += 1
        ticket.serial, ticket.place = self._serial, place
        if self.outbox.add(ticket, time.monotonic()):
            self.work.notify_all()

    def _check_open(self) -> None:
        if self.is_closing or self.is_over:
            raise self.end()

    def check_process(self) -> None:
        """Before the lock, which a thread of the parent may have held when it forked."""
        if os.getpid() != self._process:
            raise ClientClosed("the client belongs to another process: make one after the fork")

    def end(self) -> ClientClosed:
        """Why there is no verdict any more."""
        if self.failure and not self.failure.is_retryable:
            return ClientFailed(self.failure)
        return ClientClosed(f"the client is closed{self.why()}")

    def why(self) -> str:
        """The end of a message about missing verdicts."""
        if self.failure is LATER:
            return f"; the last answer was {self.failure}"
        return f"; the last stream ended with {self.failure}" if self.failure else ""

    def fail(self, failure: StreamFailure, retry: str, now: float) -> None:
        """Called under the lock: a stream has ended, or settles nothing. The first of an outage is
        a warning, or a later one where the last warning is too recent for that."""
        self.failure = failure
        is_news = not self._is_warned and failure is not ENDED and now >= self._next_warning
        if is_news:
            self._is_warned, self._next_warning = True, now + WARNING_SECONDS
        log.log(logging.WARNING if is_news else logging.INFO, "%s no verdict, and %s: %s",
                events(self.outbox.count), retry, failure)

    def flush(self, timeout: Optional[float]) -> FlushReport:
        """Waits until all that was taken before has its verdict."""
        self.check_process()
        with self.lock:
            count = self.outbox.count
            flush = Flush(self._serial, count)
            self._flushes.append(flush)
            self.outbox.hurry()
            self.wake()
            self.settled.wait_for(lambda: not flush.left or self.is_over, timeout)
            self._flushes.remove(flush)
            if flush.left and self.is_over:
                raise self.end()
        report = FlushReport(count - flush.left, flush.left)
        if flush.left:
            raise FlushTimeout(report, self.why())
        return report

    def settle(self, settled: Settled) -> None:
        """Called under the lock: hands verdicts on, and forgets their events."""
        if self.spool:
            self.spool.release(*[ticket.place for ticket, _ in settled if ticket.place])
        if settled:
            self.failure, self._is_warned = None, False
        for ticket, result in settled:
            self.stats.verdicts[Verdict(ticket.settle(result))] += 1
            for flush in self._flushes:
                flush.left -= ticket.serial <= flush.serial
        self._hand_on([ticket for ticket, _ in settled if self.on_result or ticket.callbacks])
        self.settled.notify_all()
        self._tell_of_room()

    def fail_rest(self) -> None:
        """Called under the lock: what is left has no verdict. It stays in the outbox."""
        if self.is_over:
            return
        self.is_over = True
        tickets = list(self.outbox.unsettled())
        for ticket in tickets:
            ticket.fail(self.end())
        self._hand_on([ticket for ticket in tickets if ticket.callbacks])
        self.wake()

    def _hand_on(self, tickets: list[Ticket]) -> None:
        if tickets:
            self._results.append(tickets)
            self._undelivered += len(tickets)
            self._undelivered_bytes += sum(len(ticket.frame) for ticket in tickets)
            self.told.notify_all()

    def _tell_of_room(self) -> None:
        self.room.notify_all()
        callbacks, self._room_callbacks = self._room_callbacks, []
        for callback in callbacks:
            self.guard(callback)

    def call_back(self) -> None:
        """Calls whoever wants to hear of verdicts, in order; ends once all is told."""
        while True:
            with self.lock:
                self.told.wait_for(lambda: self._results or self.is_over)
                if not self._results:
                    return
                tickets = self._results.popleft()
            for ticket in tickets:
                with self.lock:
                    # Before the callback: whoever it wakes may send in the room that this makes.
                    self._undelivered -= 1
                    self._undelivered_bytes -= len(ticket.frame)
                if self.on_result and ticket.has_verdict:
                    self.guard(lambda: self.on_result and self.on_result(ticket.result()))
                for callback in ticket.callbacks:
                    self.guard(lambda: callback(ticket))
            with self.lock:
                self._tell_of_room()

    def guard(self, callback: Callable[[], object]) -> None:
        """Calls a user's code, on any thread."""
        try:
            callback()
        except BaseException as error:  # It must not end the client, nor may its sys.exit.
            if isinstance(error, KeyboardInterrupt) and is_main_thread():
                raise  # Ctrl-C.
            with self.lock:
                self.stats.failed_callbacks += 1
            log.exception("a callback failed")


def is_main_thread() -> bool:
    """Whether this is the thread that interrupts come to."""
    return threading.current_thread() is threading.main_thread()
