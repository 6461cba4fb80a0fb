"""Takes hits and brings them into the table: one thread stages, one commits, one tidies up."""

import asyncio
import time
from asyncio import wrap_future
from collections import Counter
from collections.abc import Awaitable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from typing import Any

from .configuration import Configuration
from .lock import Refused
from .log import log
from .metrics import FIGURES
from .position import Position
from .stage import Stage
from .staged_file import StagedFile
from .table import Table

# The pause after a failed commit doubles up to this.
MAX_PAUSE_SECONDS = 30.0


class Superseded(Exception):
    """A later stream has the journal and sink."""


class Lake:
    """The stage and the table, and what goes on between them."""

    def __init__(self, configuration: Configuration, stage: Stage, table: Table) -> None:
        self.configuration, self.stage, self.table = configuration, stage, table
        self._values = dict.fromkeys(FIGURES, 0.0)
        self._staging, self._committing, self._tidying = (ThreadPoolExecutor(1) for _ in range(3))
        self._publishing = asyncio.Lock()
        # An erasure and a compaction would rewrite the same files.
        self._rewriting = asyncio.Lock()
        self._is_due = asyncio.Event()
        self._has_room = asyncio.Condition()
        self._streams: dict[str, object] = {}

    async def begin(self, app: str, stream: object) -> Position | None:
        """Gives a journal and sink to a stream: no earlier one adds anything from here on."""
        self._streams[app] = stream
        # Behind what an earlier stream has under way.
        return await wrap_future(self._staging.submit(self.stage.position, app))

    def end(self, app: str, stream: object) -> None:
        """Adds nothing more from a stream that is over."""
        if self._streams.get(app) is stream:
            del self._streams[app]

    async def add(self, app: str, stream: object, request: bytes, end: Position) -> None:
        """Makes a batch durable, once there is room; raises as Stage.add, or Superseded."""
        async with self._has_room:
            await self._has_room.wait_for(lambda: self.stage.size < self.configuration.stage_bytes)
        if self._streams.get(app) is not stream:
            raise Superseded("a later stream has the journal and sink")
        count = await wrap_future(self._staging.submit(self.stage.add, app, request, end))
        self._values["hits_total"] += count
        if self.stage.size >= self.configuration.publish_bytes:
            self._is_due.set()

    async def erase(self, tenant: str, subjects: list[str]) -> tuple[int, int | None]:
        """Deletes a recipient's hits; returns how many, and until when older versions have them."""
        hours = self.configuration.retention_hours
        async with self._rewriting:
            await self.publish()
            count, erased = await wrap_future(
                self._committing.submit(self.table.erase, tenant, subjects))
            if hours == 0:
                await self._vacuum()
        # Looked for once in that time, behind what is tidied up then.
        until = erased and erased + 3600 * hours + 2 * self.configuration.tidy_seconds
        return count, until if hours and until and until > time.time() else None

    async def publish_regularly(self) -> None:
        """Commits every publish_seconds, or as soon as there is enough; raises Refused."""
        pause = 1.0
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), self.configuration.publish_seconds)
            try:
                await self.publish()
                pause = 1.0
            except Refused:
                raise
            except Exception as error:
                self._values["commit_failures_total"] += 1
                log("warning", "the table cannot be written", error=type(error).__name__,
                    pause_seconds=pause, staged_bytes=self.stage.size)
                await asyncio.sleep(pause)
                self._is_due.set()
                pause = min(2 * pause, MAX_PAUSE_SECONDS)

    async def publish(self) -> None:
        """Commits all that is staged now."""
        async with self._publishing:
            self._is_due.clear()
            files = await wrap_future(self._staging.submit(self.stage.seal))
            while files:
                sizes = accumulate(file.size for file in files)
                count = sum(size <= self.configuration.publish_bytes for size in sizes) or 1
                await self._commit(files[:count])
                files = files[count:]

    async def _commit(self, files: list[StagedFile]) -> None:
        start, has_bytes = time.time(), self.configuration.event_bytes == 1
        count = await wrap_future(self._committing.submit(self.table.append, files, has_bytes))
        await wrap_future(self._staging.submit(self.stage.drop, files))
        async with self._has_room:
            self._has_room.notify_all()
        self._values["commits_total"] += 1
        self._values["committed_hits_total"] += count
        self._values["last_commit_timestamp_seconds"] = time.time()
        seconds = round(time.time() - start, 3)
        log("info", "committed", hits=count, files=len(files), seconds=seconds)

    async def tidy_regularly(self) -> None:
        """Compacts files, and removes those that no version has any more; raises Refused."""
        while True:
            # First what makes room, and removes who was erased, whatever becomes of the rest.
            await self._tidy(self._vacuum())
            small = await self._tidy(self._small_partitions())
            done = [await self._tidy(self._compact(*each)) for each in small or ()]
            if small is not None and all(done):
                self._values["last_compaction_timestamp_seconds"] = time.time()
            await asyncio.sleep(self.configuration.tidy_seconds)

    async def _tidy(self, work: Awaitable[Any]) -> Any:
        """What the work returns; None if it fails."""
        try:
            async with self._rewriting:
                return await work
        except Refused:
            raise
        except Exception as error:
            log("warning", "the table cannot be tidied up", error=type(error).__name__)
            return None

    async def _small_partitions(self) -> list[tuple[str, str]]:
        """Tenant and day of those with more than one small file."""
        files = await wrap_future(self._tidying.submit(self.table.files))
        self._values["files"] = len(files)
        self._values["table_bytes"] = sum(file["size_bytes"] for file in files)
        limit = self.configuration.file_bytes // 2
        small = Counter((file["partition.tenant"], str(file["partition.receive_date"]))
                        for file in files if file["size_bytes"] < limit)
        return [partition for partition, count in small.items() if count > 1]

    async def _compact(self, tenant: str, day: str) -> bool:
        """A day that is over is sorted; to it hardly anything is added any more."""
        size, today = self.configuration.file_bytes, time.strftime("%Y-%m-%d", time.gmtime())
        await wrap_future(self._tidying.submit(self.table.compact, tenant, day, size, day < today))
        return True

    async def _vacuum(self) -> None:
        """Without a retention, a commit under way would lose its files: so it goes between two."""
        hours = self.configuration.retention_hours
        thread = self._tidying if hours else self._committing
        await wrap_future(thread.submit(self.table.vacuum, hours))

    def figures(self) -> dict[str, float]:
        """What metrics.FIGURES names, as it is now."""
        files = [*self.stage.sealed, *self.stage.opened.values()]
        lag = max(0.0, time.time() - files[0].since) if files else 0.0
        return {**self._values, "staged_bytes": self.stage.size, "lag_seconds": lag}
