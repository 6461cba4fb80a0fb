"""Events on disk until they are settled, so that the sender's end loses none, and repeats few.

A folder of segments and their marks, whose form is segment.py's.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import pathlib
import struct
import threading
import time
import weakref
from typing import Callable, Optional, Union

from sightline.segment import (HEAD, MAGIC, MARKS_MAGIC, Place, Segment, marks_in, marks_path_of,
                               path_of, paths_in, place, read, record, runs, sync_found)

# A `struct flock` that locks all of a file for writing.
WHOLE_FILE = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
# Appends within this time share a sync.
SYNC_SECONDS = 0.005
# A block of most file systems. Of a larger file that is emptied a power cut may leave the first block
# empty and old events behind it, which reads as damaged.
BLOCK_BYTES = 4096
# With so many settled events their marks are synced: a power cut brings back fewer, and those of a
# file that was emptied. The end of the process brings none back.
UNSYNCED_EVENTS = 1000
# How long a worker waits for its folder while another one adopts it, and how often it tries.
ADOPTION_SECONDS, ADOPTION_STEP_SECONDS = 5.0, 0.01
# What a lock says that another client has.
HELD = {errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES}
# The bytes that a segment without events, and an event apart from its own, take with their marks.
SEGMENT_BYTES, RECORD_BYTES = len(MAGIC) + len(MARKS_MAGIC), 2 * HEAD.size
# Whose locks a forked child inherits.
OPEN: weakref.WeakSet[Spool] = weakref.WeakSet()

log = logging.getLogger("sightline")


class SpoolLocked(OSError):
    """Another client has the folder open."""


class Spool:
    """A folder of segments and marks with one owner. `send` writes through it; what it returned
    from survives the process. With `sync_sends` it survives a power cut too; else the last few
    milliseconds may not. `max_bytes` bounds all files; beyond it `send` waits. A file of
    `segment_bytes` is full, and deleted with its last event. With `adopt_siblings` the client sends
    at its start also what is in the folders beside this one whose owners are gone, and waits for
    5 s while another one adopts this one. Raises SpoolLocked, OSError."""

    def __init__(self, directory: Union[str, pathlib.Path], *, max_bytes: int = 256 << 20,
                 segment_bytes: int = 4 << 20, sync_sends: bool = False,
                 adopt_siblings: bool = False):
        self.directory = pathlib.Path(directory)
        self.max_bytes = max_bytes
        # So that a few events that are sent again cannot hold all of it.
        self.segment_bytes = min(segment_bytes, max(1, max_bytes // 4))
        self.sync_sends = sync_sends
        self.adopt_siblings = adopt_siblings
        self.bytes = self._last = self._appended = self._synced = 0
        self._sizes: dict[int, int] = {}
        self._counts: dict[int, int] = {}
        self._unsettled: dict[int, int] = {}
        # The segments with a file of marks; what of marks and names is not synced, and the events
        # that were settled since it was.
        self._marked: set[int] = set()
        self._unsynced: set[pathlib.Path] = set()
        self._unsynced_events = 0
        self._is_refusal_told = False  # That the disk takes no marks.
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
        until = time.monotonic() + (ADOPTION_SECONDS if self.adopt_siblings else 0)
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Java has no flock, and only record locks. This one is of the open file: the close
                # of another one leaves it.
                fcntl.fcntl(lock, fcntl.F_OFD_SETLK, WHOLE_FILE)
                return lock
            except OSError as error:
                if error.errno in HELD and time.monotonic() < until:
                    wait_for_adoption()
                    continue
                os.close(lock)
                if error.errno not in HELD:
                    raise
                raise SpoolLocked(error.errno, f"{self.directory} belongs to another client; each "
                                               "needs a folder of its own") from None

    def recover(self) -> list[tuple[Place, bytes]]:
        """What an earlier owner left, in order, each with its place. To be called once, before the
        first append. All of it is synced: later events must not outlive it. A torn end was never
        promised: it is cut. Raises SpoolDamaged, OSError."""
        if self._failure:  # A forked child has no lock, and its siblings may have the same spool.
            raise self._failure
        if self._is_closed:
            raise OSError(f"the spool {self.directory} is closed: make another one")
        paths = paths_in(self.directory)
        segments = [read(path, may_be_torn=path == paths[-1]) for path in paths]
        marks = marks_in(self.directory)
        numbers = {segment.number for segment in segments}
        # Nothing that an earlier owner has marked or removed counts as durable.
        self._unsynced.add(self.directory)
        for number, text in marks.items():
            if number in numbers and text.startswith(MARKS_MAGIC):
                self._marked.add(number)
                self._unsynced.add(marks_path_of(self.directory, number))
            else:  # Of a segment that is gone, or of a form that is not ours.
                marks_path_of(self.directory, number).unlink()
        left: list[tuple[Place, bytes]] = []
        for segment in segments:
            is_marked = segment.number in self._marked
            left += self._keep(segment, marks[segment.number] if is_marked else b"")
        self._sync_marks()
        return left + (self._adopt() if self.adopt_siblings else [])

    def _adopt(self) -> list[tuple[Place, bytes]]:
        """Moves here what the owners of the folders beside this one have left, and are gone."""
        taken: list[tuple[Place, bytes]] = []
        parent = pathlib.Path(os.path.abspath(self.directory)).parent  # Also that of ".".
        try:
            folders = sorted(parent.iterdir())
        except OSError as error:
            log.warning("no folder beside %s is adopted: %s", self.directory, error)
            return taken
        for folder in folders:
            try:
                # Nobody's lock is put into a folder that is no spool.
                if (folder / "lock").is_file() and paths_in(folder):
                    with contextlib.closing(Spool(folder)) as orphan:
                        taken += self._take_over(orphan)
            except SpoolLocked:  # It has an owner, such as this spool.
                pass
            except OSError as error:
                log.warning("the events in %s are left there: %s", folder, error)
        return taken

    def _take_over(self, orphan: Spool) -> list[tuple[Place, bytes]]:
        """Those of another spool's events that have room here. They are removed there once they are
        synced here; if the process ends in between, both have them, and they come as duplicates."""
        found, taken = orphan.recover(), []
        try:
            for _, data in found:
                if not self.has_room(len(data)):
                    break
                taken.append((self.append(data), data))
        except OSError as error:
            log.warning("%s takes no more events: %s", self.directory, error)
        # A file that was full may have failed as it was closed: nothing of it counts as durable.
        if failure := self._failure or self._sync():
            self._fail(failure)
        else:
            orphan.release(*[place for place, _ in found[:len(taken)]])
        if orphan._failure:
            log.warning("what is adopted from %s is not removed there, and comes as duplicates: %s",
                        orphan.directory, orphan._failure)
        if len(taken) < len(found):
            log.warning("%d of %d events have no room here, and are left in %s",
                        len(found) - len(taken), len(found), orphan.directory)
        return taken

    def _keep(self, segment: Segment, marks: bytes) -> list[tuple[Place, bytes]]:
        left = segment.left(marks)
        if segment.end < segment.size:
            log.warning("a torn record of %d bytes is cut from %s, behind %d events",
                        segment.size - segment.end, segment.path, len(segment.events))
        if left:
            sync_found(segment)
        self._last = segment.number
        self._sizes[self._last] = segment.end
        # A torn end may have had events with marks.
        self._counts[self._last] = max(len(segment.events), len(marks) // HEAD.size)
        self._unsettled[self._last] = len(left)
        self.bytes += self._bytes_of(self._last)
        if not left:
            self._remove(self._last)
        return left

    def _bytes_of(self, number: int) -> int:
        """What a segment may take with its marks. Without a magic it has none."""
        return self._sizes[number] + len(MARKS_MAGIC) + self._counts[number] * HEAD.size

    def has_room(self, size: int) -> bool:
        """Whether an event of this size fits now; one always does where nothing else is kept.
        After a failure nobody is to wait: `append` raises it."""
        needed = SEGMENT_BYTES + RECORD_BYTES + size
        return (self._failure is not None or self.bytes <= SEGMENT_BYTES
                or self.bytes + needed <= self.max_bytes)

    def append(self, data: bytes) -> Place:
        """Writes an event; its place, to be released there. Raises OSError, and keeps none of
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
        at = place(self._last, self._counts[self._last], text[:HEAD.size])
        self._sizes[self._last] += len(text)
        self._counts[self._last] += 1
        self.bytes += RECORD_BYTES + len(data)
        self._unsettled[self._last] += 1
        with self._changed:
            self._appended += 1
            self._changed.notify_all()
        return at

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

    def release(self, *places: Place) -> None:
        """Says that events are settled, before anybody is told: then they are not sent again. A
        segment goes with its last one, and in others they are marked. Where the disk fails, they
        come back as duplicates; their verdicts are told, and `append` raises it."""
        for one in places:
            self._unsettled[one.segment] -= 1
        for run in runs(places):
            if self._unsettled[run[0].segment]:
                self._mark(run)
        try:
            for number in {one.segment for one in places}:
                if not self._unsettled[number]:
                    self._end(number)
        except OSError as error:
            self._fail(error)
        self._unsynced_events += len(places)
        if self._unsynced_events >= UNSYNCED_EVENTS:
            self._sync_marks()

    def _mark(self, run: list[Place]) -> None:
        """Writes marks side by side. Those that the disk does not take, as it is full, are missed
        by the next owner alone: their events come back as duplicates."""
        number, path = run[0].segment, marks_path_of(self.directory, run[0].segment)
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                if number not in self._marked:
                    self._marked.add(number)
                    self._unsynced.add(self.directory)
                if os.fstat(file).st_size < len(MARKS_MAGIC):
                    os.pwrite(file, MARKS_MAGIC, 0)
                os.pwrite(file, b"".join(one.head for one in run), run[0].mark)
            finally:
                os.close(file)
            self._unsynced.add(path)
            self._is_refusal_told = False
        except OSError as error:
            # Once until the disk takes one again: there may be thousands a second.
            if not self._is_refusal_told:
                self._is_refusal_told = True
                log.warning("settled events are not marked in %s, and the next owner sends them "
                            "again: %s", path, error)

    def _sync_marks(self) -> None:
        """Makes durable which events are settled. What cannot be synced may come back."""
        for path in self._unsynced:
            try:
                sync(path)
            except OSError as error:
                log.warning("the marks in %s are not synced: %s", path, error)
        self._unsynced.clear()
        self._unsynced_events = 0

    def _end(self, number: int) -> None:
        """Empties or removes a segment without unsettled events."""
        if number == self._last and self._file is not None:
            if self._sizes[number] <= BLOCK_BYTES:
                return self._empty()
            self._close_segment()
        self._remove(number)

    def _empty(self) -> None:
        """Keeps the file that is written to, as it is small. If a power cut undoes this, its events
        come back as duplicates."""
        assert self._file is not None
        os.ftruncate(self._file, len(MAGIC))
        os.lseek(self._file, 0, os.SEEK_END)
        self._remove_marks(self._last)
        self.bytes -= self._bytes_of(self._last) - SEGMENT_BYTES
        self._sizes[self._last] = len(MAGIC)
        self._counts[self._last] = 0

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
            self._sync_marks()
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
        self._counts[self._last] = self._unsettled[self._last] = 0
        self.bytes += SEGMENT_BYTES

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
        self.bytes -= self._bytes_of(number)
        del self._sizes[number], self._counts[number]
        path_of(self.directory, number).unlink()
        self._unsynced.add(self.directory)
        if number in self._marked:
            # A segment that a power cut brings back has its marks.
            self._sync_directory()
            self._remove_marks(number)

    def _remove_marks(self, number: int) -> None:
        if number in self._marked:
            self._marked.remove(number)
            path = marks_path_of(self.directory, number)
            self._unsynced.discard(path)
            path.unlink(missing_ok=True)

    def _sync_directory(self) -> None:
        sync(self.directory)
        self._unsynced.discard(self.directory)


def leave_all_to_parent() -> None:
    """In a forked child."""
    for spool in list(OPEN):
        spool.leave_to_parent()
    OPEN.clear()


os.register_at_fork(after_in_child=leave_all_to_parent)


def wait_for_adoption() -> None:
    """A step of the wait for a folder; tests end the adoption in it."""
    time.sleep(ADOPTION_STEP_SECONDS)


def sync(path: pathlib.Path) -> None:
    """Makes a file, or the names of a folder, durable."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def write_all(file: int, data: bytes) -> None:
    """Writes all of it; a full disk may take a part and then fail."""
    while data:
        data = data[os.write(file, data):]
