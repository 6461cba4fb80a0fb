"""Events on disk until they are settled, so that the sender's end loses none.

A folder of segments, whose form is segment.py's.
"""

from __future__ import annotations

import fcntl
import logging
import os
import pathlib
import struct
import threading
import weakref
from typing import Callable, Optional, Union

from sightline.segment import HEAD, MAGIC, path_of, paths_in, read, record, sync_found

# A `struct flock` that locks all of a file for writing.
WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
# Appends within this time share a sync.
SYNC_SECONDS = 0.005
# A block of most file systems. Of a larger file that is emptied a power cut may leave the first block
# empty and old events behind it, which reads as damaged.
BLOCK_BYTES = 4096
# Whose locks a forked child inherits.
OPEN: weakref.WeakSet[Spool] = weakref.WeakSet()

log = logging.getLogger("sightline")


class SpoolLocked(OSError):
    """Another client has the folder open."""


class Spool:
    """A folder of segments with one owner. `send` writes through it; what it returned from survives
    the process. With `sync_sends` it survives a power cut too; else the last few milliseconds may
    not. `max_bytes` bounds all segments; beyond it `send` waits."""

    def __init__(self, directory: Union[str, pathlib.Path], *, max_bytes: int = 256 << 20,
                 segment_bytes: int = 4 << 20, sync_sends: bool = False):
        self.directory = pathlib.Path(directory)
        self.max_bytes = max_bytes
        # So that a few events that are sent again cannot hold all of it.
        self.segment_bytes = min(segment_bytes, max(1, max_bytes // 4))
        self.sync_sends = sync_sends
        self.bytes = self._last = self._appended = self._synced = 0
        self._sizes: dict[int, int] = {}
        self._unsettled: dict[int, int] = {}
        self._file: Optional[int] = None
        self._failure: Optional[OSError] = None
        self._is_closed = False
        self._changed = threading.Condition()
        # Whom to call once so many appended events are synced.
        self._calls: list[tuple[int, Callable[[Optional[OSError]], object]]] = []
        # Held while a segment is synced: it may not be closed meanwhile.
        self._syncing = threading.Lock()
        self._lock = self._take_lock()
        OPEN.add(self)

    def _take_lock(self) -> int:
        self.directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(self.directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Java has no flock, and only record locks. This one is of the open file: the close of
            # another one leaves it.
            fcntl.fcntl(lock, fcntl.F_OFD_SETLK, WHOLE_FILE)
        except OSError as error:
            os.close(lock)
            raise SpoolLocked(error.errno, f"{self.directory} belongs to another client; each "
                                           "needs a folder of its own") from None
        return lock

    def recover(self) -> list[tuple[int, bytes]]:
        """What an earlier owner left, in order, each with its segment. To be called once, before
        the first append. All of it is synced: later events must not outlive it. A torn end was
        never promised: it is cut. Raises SpoolDamaged, OSError."""
        paths = paths_in(self.directory)
        segments = [read(path, may_be_torn=path == paths[-1]) for path in paths]
        for segment in segments:
            if segment.end < segment.size:
                log.warning("a torn record of %d bytes is cut from %s, behind %d events",
                            segment.size - segment.end, segment.path, len(segment.events))
            if segment.events:
                sync_found(segment)
            self._last = segment.number
            self._sizes[self._last] = segment.end
            self._unsettled[self._last] = len(segment.events)
            self.bytes += segment.end
            if not segment.events:
                self._remove(self._last)
        return [(segment.number, data) for segment in segments for data in segment.events]

    def has_room(self, size: int) -> bool:
        """Whether an event of this size fits now; one always does where nothing else is kept.
        After a failure nobody is to wait: `append` raises it."""
        needed = len(MAGIC) + HEAD.size + size
        return (self._failure is not None or self.bytes <= len(MAGIC)
                or self.bytes + needed <= self.max_bytes)

    def append(self, data: bytes) -> int:
        """Writes an event; its segment, to be released there. Raises OSError, and keeps none of
        it, where the disk fails."""
        if self._failure:
            raise self._failure
        text = record(data)
        if self._file is None or self._sizes[self._last] >= self.segment_bytes:
            self._rotate()
        assert self._file is not None
        try:
            write_all(self._file, text)
        except OSError:
            self._cut()
            raise
        self._sizes[self._last] += len(text)
        self.bytes += len(text)
        self._unsettled[self._last] += 1
        with self._changed:
            self._appended += 1
            self._changed.notify_all()
        return self._last

    def _cut(self) -> None:
        """Removes what a failed write has left: a record that is not whole may only be the last."""
        assert self._file is not None
        try:
            os.ftruncate(self._file, self._sizes[self._last])
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """The end of the spool: nobody knows what is durable after it. The first one is kept."""
        with self._changed:
            self._failure = self._failure or error
            self._tell()

    def release(self, segment: int, count: int = 1) -> None:
        """Says that events of a segment are settled. It goes with its last one. Where the disk
        fails, they come back as duplicates; their verdicts are told, and `append` raises it."""
        self._unsettled[segment] -= count
        if self._unsettled[segment]:
            return
        try:
            if segment == self._last and self._file is not None:
                if self._sizes[segment] <= BLOCK_BYTES:
                    return self._empty()
                self._close_segment()
            self._remove(segment)
        except OSError as error:
            self._fail(error)

    def _empty(self) -> None:
        """Keeps the file that is written to, as it is small. If a power cut undoes this, its events
        come back as duplicates."""
        assert self._file is not None
        os.ftruncate(self._file, len(MAGIC))
        os.lseek(self._file, 0, os.SEEK_END)
        self.bytes -= self._sizes[self._last] - len(MAGIC)
        self._sizes[self._last] = len(MAGIC)

    def wait_for_sync(self) -> None:
        """Waits until all that was appended is synced, where sends are to be."""
        if not self.sync_sends:
            return
        with self._changed:
            mark = self._appended
            self._changed.wait_for(lambda: self._synced >= mark or self._failure)
            if self._failure:
                raise self._failure

    def call_when_synced(self, callback: Callable[[Optional[OSError]], object]) -> bool:
        """As wait_for_sync, but calls back, on the spool's thread, with the failure if there is one.
        It must not block, nor raise. False, without a call, where there is nothing to wait for."""
        if not self.sync_sends:
            return False
        with self._changed:
            if self._failure:
                raise self._failure
            if self._synced >= self._appended:
                return False
            self._calls.append((self._appended, callback))
            return True

    def _tell(self) -> None:
        """Called under the lock: more is synced, or nothing will be."""
        self._changed.notify_all()
        calls, self._calls = self._calls, []
        for mark, callback in calls:
            if self._synced >= mark or self._failure:
                callback(self._failure)
            else:
                self._calls.append((mark, callback))

    def run(self) -> None:
        """Syncs what is appended, until the spool is closed; on a thread of its own."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._appended > self._synced or self._is_closed)
                if self._appended == self._synced:
                    return
                if not self.sync_sends:
                    self._changed.wait_for(lambda: self._is_closed, SYNC_SECONDS)
                mark = self._appended
            failure = self._sync()
            with self._changed:
                self._synced, self._failure = mark, self._failure or failure
                self._tell()

    def _sync(self) -> Optional[OSError]:
        with self._syncing:
            try:
                if self._file is not None:
                    os.fdatasync(self._file)
            except OSError as error:
                return error
        return None

    def close(self) -> None:
        """Syncs and closes it. What is not settled stays for the next owner."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._changed.notify_all()
        try:
            self._close_segment()
            if self._unsettled.get(self._last) == 0:
                self._remove(self._last)
        finally:
            OPEN.discard(self)
            os.close(self._lock)

    def leave_to_parent(self) -> None:
        """In a forked child: else the folder is locked until the child ends, whatever becomes of
        its owner."""
        os.close(self._lock)
        # A thread of the parent may have held it.
        self._changed, self._calls = threading.Condition(), []
        self._is_closed = True
        self._failure = OSError("the spool is of another process: make one after the fork")

    def _rotate(self) -> None:
        self._close_segment()
        path = path_of(self.directory, self._last + 1)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            write_all(file, MAGIC)
            self._sync_directory()
        except OSError:
            os.close(file)
            path.unlink()
            raise
        self._file = file
        self._last += 1
        self._sizes[self._last] = len(MAGIC)
        self._unsettled[self._last] = 0
        self.bytes += len(MAGIC)

    def _close_segment(self) -> None:
        with self._syncing:
            if self._file is None:
                return
            file, self._file = self._file, None
            try:
                os.fdatasync(file)
            except OSError as error:
                self._fail(error)
                raise
            finally:
                os.close(file)

    def _remove(self, number: int) -> None:
        del self._unsettled[number]
        self.bytes -= self._sizes.pop(number)
        path_of(self.directory, number).unlink()

    def _sync_directory(self) -> None:
        folder = os.open(self.directory, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def leave_all_to_parent() -> None:
    """In a forked child."""
    for spool in list(OPEN):
        spool.leave_to_parent()
    OPEN.clear()


os.register_at_fork(after_in_child=leave_all_to_parent)


def write_all(file: int, data: bytes) -> None:
    """Writes all of it; a full disk may take a part and then fail."""
    while data:
        data = data[os.write(file, data):]
