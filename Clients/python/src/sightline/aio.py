"""The same client for asyncio: its methods wait without holding the loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
from typing import Any, Callable, Concatenate, Optional, ParamSpec, Union

from sightline.client import DEFAULT, Client, Default, failures_behind
from sightline.errors import FlushReport, QueueFull
from sightline.session import Stats
from sightline.ticket import Ticket
from sightline.v1.event_pb2 import TrackingEvent


Options = ParamSpec("Options")


def with_options_of(_: Callable[Options, Client]) -> Callable[
        [Callable[..., None]], Callable[Concatenate[AsyncClient, Options], None]]:
    """For editors, checkers of types and `help`: an initializer with the arguments of Client's."""

    def decorate(initialize: Any) -> Any:
        initialize.__signature__ = inspect.signature(Client.__init__)
        return initialize

    return decorate


class AsyncClient:
    """Takes the arguments of Client. `on_result` and done callbacks run on the client's thread."""

    @with_options_of(Client)
    def __init__(self, *arguments: Any, **options: Any):
        self._client = Client(*arguments, **options)
        # An append waits for the disk where a file is full. One thread keeps the events' order.
        self._writer = (concurrent.futures.ThreadPoolExecutor(1, "sightline")
                        if options.get("spool") else None)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, _: object, error: Optional[BaseException], *__: object) -> None:
        with failures_behind(error):
            await self.close()

    async def send(self, event: TrackingEvent, timeout: Optional[float] = None) -> Ticket:
        """Takes an event; waits while the client is full, and with `sync_sends` until it is synced.
        `await` the ticket for its verdict. One that is cancelled may have taken the event."""
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        while True:
            room = loop.create_future()
            take = functools.partial(
                self._client.send_or_call, event, functools.partial(tell, room))
            try:
                if not self._writer:
                    return take()
                self._client.check_process()
                ticket = await loop.run_in_executor(self._writer, take)
                await self._synced()
                return ticket
            except QueueFull:
                try:
                    await asyncio.wait_for(
                        room, None if deadline is None else deadline - loop.time())
                except asyncio.TimeoutError:
                    raise QueueFull("no room in time") from None

    async def _synced(self) -> None:
        """Waits until all that was taken is synced."""
        synced = asyncio.get_running_loop().create_future()
        if self._client.call_when_synced(functools.partial(tell, synced)):
            await synced

    def try_send(self, event: TrackingEvent) -> Ticket:
        """Takes an event, or raises QueueFull at once. It does not wait for the event's sync; where
        a file of the spool is full, it waits until that is synced."""
        return self._client.send_or_call(event)

    async def flush(self, timeout: Optional[float] = None) -> FlushReport:
        """See Client.flush."""
        return await asyncio.to_thread(self._client.flush, timeout)

    async def close(self, timeout: Union[float, None, Default] = DEFAULT) -> FlushReport:
        """See Client.close."""
        return await asyncio.to_thread(self._client.close, timeout)

    def unacknowledged(self) -> list[TrackingEvent]:
        """See Client.unacknowledged."""
        return self._client.unacknowledged()

    def stats(self) -> Stats:
        """See Client.stats."""
        return self._client.stats()


def tell(future: asyncio.Future[None], failure: Optional[Exception] = None) -> None:
    """Ends a wait from any thread, unless it has ended by itself."""

    def end() -> None:
        if future.done():
            return
        if failure:
            future.set_exception(failure)
        else:
            future.set_result(None)

    try:
        future.get_loop().call_soon_threadsafe(end)
    except RuntimeError:  # The loop is closed, and so nobody waits.
        pass
