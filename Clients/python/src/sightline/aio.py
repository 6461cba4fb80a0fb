"""The same client for asyncio: its methods wait without holding the loop."""

from __future__ import annotations

import asyncio
from typing import Any, Optional

from sightline.client import Client
from sightline.errors import FlushReport, QueueFull
from sightline.session import Stats
from sightline.ticket import Ticket
from sightline.v1.event_pb2 import TrackingEvent


class AsyncClient:
    """Takes the arguments of Client. `on_result` and done callbacks run on the client's thread."""

    def __init__(self, target: str, **options: Any):
        self._client = Client(target, **options)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def send(self, event: TrackingEvent, timeout: Optional[float] = None) -> Ticket:
        """Takes an event; waits while the client is full. `await` the ticket for its verdict."""
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        while True:
            room = loop.create_future()
            try:
                return self._client.send_or_call(
                    event, lambda: loop.call_soon_threadsafe(set_once, room))
            except QueueFull:
                try:
                    await asyncio.wait_for(
                        room, None if deadline is None else deadline - loop.time())
                except asyncio.TimeoutError:
                    raise QueueFull("no room in time") from None

    def try_send(self, event: TrackingEvent) -> Ticket:
        """Takes an event, or raises QueueFull at once."""
        return self._client.try_send(event)

    async def flush(self, timeout: Optional[float] = None) -> FlushReport:
        """See Client.flush."""
        return await asyncio.to_thread(self._client.flush, timeout)

    async def close(self, timeout: Optional[float] = 30.0) -> FlushReport:
        """See Client.close."""
        return await asyncio.to_thread(self._client.close, timeout)

    def unacknowledged(self) -> list[TrackingEvent]:
        """See Client.unacknowledged."""
        return self._client.unacknowledged()

    def stats(self) -> Stats:
        """See Client.stats."""
        return self._client.stats()


def set_once(future: asyncio.Future[None]) -> None:
    """Ends the wait, unless it has ended by itself."""
    if not future.done():
        future.set_result(None)
