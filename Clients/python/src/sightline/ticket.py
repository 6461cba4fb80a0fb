"""What `send` returns: the promise of an event's verdict."""

from __future__ import annotations

import asyncio
import threading
from typing import Callable, Generator, Optional

from sightline.segment import Place
from sightline.v1.event_pb2 import TrackingEvent
from sightline.v1.verdict_pb2 import VERDICT_ACCEPTED, EventResult


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    if value < 0x80:
        return bytes((value,))
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


class Ticket:
    """An event's verdict, once it has one. Also awaitable in asyncio."""

    __slots__ = ("frame", "serial", "place", "callbacks", "_data_start", "_condition", "_guard",
                 "_why", "_check_process", "_result", "has_verdict", "_failure")

    def __init__(self, condition: threading.Condition, data: bytes,
                 guard: Callable[[Callable[[], object]], None], why: Callable[[], str] = str,
                 check_process: Callable[[], object] = str):
        """`guard` calls a user's code, and keeps its failure from whoever is not to have it. `why`
        ends the message of a wait in vain. `check_process` raises in a forked child."""
        head = b"\x12" + varint(len(data))
        self.frame = head + data
        self.serial = 0
        self.place: Optional[Place] = None  # In the spool.
        self.callbacks: tuple[Callable[[Ticket], object], ...] = ()
        self._data_start = len(head)
        self._condition = condition
        self._guard = guard
        self._why = why
        self._check_process = check_process
        self._result: Optional[EventResult] = None
        self.has_verdict = False
        self._failure: Optional[Exception] = None

    @property
    def data(self) -> bytes:
        """The event's bytes."""
        return self.frame[self._data_start:]

    def done(self) -> bool:
        """Whether it has a verdict, or will have none."""
        return self.has_verdict or self._failure is not None

    def result(self, timeout: Optional[float] = None) -> EventResult:
        """The verdict with what belongs to it; waits for it. Raises TimeoutError, or ClientClosed
        where the client ended before, and in a forked child for what has no verdict yet."""
        if not self.done():
            # Before the lock, which a thread of the parent may have held when it forked.
            self._check_process()
            with self._condition:
                if not self._condition.wait_for(self.done, timeout):
                    raise TimeoutError(f"the event has no verdict yet{self._why()}")
        if self.has_verdict:
            return self._own_result()
        assert self._failure
        raise self._failure

    def _own_result(self) -> EventResult:
        """The server's result, with the event's id where the server has not named it: it names
        neither accepted events nor those of a request that it refused as a whole."""
        if self._result and self._result.HasField("index"):
            return self._result
        result = EventResult(verdict=VERDICT_ACCEPTED)
        if self._result:
            result.CopyFrom(self._result)
        result.event_id = TrackingEvent.FromString(self.data).event_id
        return result

    def add_done_callback(self, callback: Callable[[Ticket], object]) -> None:
        """Calls it with this ticket on the client's thread for callbacks, or at once where it is
        done. It must not wait for other tickets. What it raises is logged, and counted in
        `failed_callbacks`. Raises ClientClosed in a forked child, as `result` does."""
        if not self.done():
            self._check_process()
            with self._condition:
                if not self.done():
                    self.callbacks += (callback,)
                    return
        self._guard(lambda: callback(self))

    def settle(self, result: Optional[EventResult]) -> int:
        """For the client: its verdict; None for one that was accepted without more. Returns it."""
        self._result = result
        self.has_verdict = True
        return result.verdict if result else VERDICT_ACCEPTED

    def fail(self, failure: Exception) -> None:
        """For the client: there will be no verdict."""
        self._failure = failure

    def __await__(self) -> Generator[object, None, EventResult]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def tell() -> None:
            if not future.done():
                future.set_result(None)

        if not self.done():
            self.add_done_callback(lambda _: loop.call_soon_threadsafe(tell))
            yield from future
        return self.result(0)
