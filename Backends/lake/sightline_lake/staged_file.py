"""Batches of one journal and sink that are acknowledged and not in the table yet, as they came."""

import errno
import os
import pathlib
import struct
import time
import zlib
from collections.abc import Iterator, Sequence

import pyarrow as pa

from . import hits
from .position import Position

# Before an entry's bytes: their length, and the position of its end. Behind them is a checksum.
HEAD = struct.Struct("<IQII")
# Sequences begin with 1.
NOWHERE = Position(0, 0, 0)


def count_known(files: Sequence["StagedFile"], position: Position | None) -> int | None:
    """How many of a journal's and sink's files, which follow each other, a table has that is at a
    position; None if they do not follow it either."""
    ends = [files[0].after, *(file.end for file in files)]
    return ends.index(position) if position in ends else None


class StagedFile:
    """Entries: first the name of a journal and sink, with the position that the file follows, and
    then requests. Each is synced before its ack; what a crash leaves behind the last whole one had
    none."""

    def __init__(self, path: pathlib.Path, app: str, after: Position | None) -> None:
        self.path, self.app, self.after, self.end = path, app, after, after
        self.size, self.since = 0, time.time()
        # What the requests hold; None where they are to be read again.
        self.parts: list[pa.StructArray] | None = []

    @classmethod
    def read(cls, path: pathlib.Path) -> "StagedFile | None":
        """What an earlier process has left; None without a batch."""
        entries = cls._entries(path)
        name, after = next(entries, (b"", NOWHERE))
        ends = [end for _, end in entries]
        if not ends:
            return None
        file = cls(path, name.decode(), None if after == NOWHERE else after)
        file.end, file.parts = ends[-1], None
        file.size, file.since = path.stat().st_size, path.stat().st_mtime
        return file

    def add(self, request: bytes, end: Position, part: pa.StructArray, is_held: bool) -> None:
        """Makes a request durable; after an OSError the file is as it was."""
        first = b"" if self.size else self._entry(self.app.encode(), self.after or NOWHERE)
        entry = first + self._entry(request, end)
        # Not at the file's end: what a failed write has left there is written over.
        with open(self.path, "r+b" if self.size else "wb", buffering=0) as file:
            if first:  # Its name lasts before it holds anything, or it might come back later.
                folder = os.open(self.path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
            file.seek(self.size)
            try:
                if file.write(entry) != len(entry):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                file.truncate(self.size)
                os.fsync(file.fileno())
                raise
        self.size, self.end = self.size + len(entry), end
        self.parts = [*self.parts, part] if is_held and self.parts is not None else None

    def records(self) -> list[pa.StructArray]:
        """What the requests hold, from memory or from the file."""
        if self.parts is None:
            return [hits.records(request) for request, _ in list(self._entries(self.path))[1:]]
        return self.parts

    @staticmethod
    def _entry(content: bytes, end: Position) -> bytes:
        head = HEAD.pack(len(content), end.sequence, end.index, end.check)
        return head + content + zlib.crc32(content, zlib.crc32(head)).to_bytes(4, "little")

    @staticmethod
    def _entries(path: pathlib.Path) -> Iterator[tuple[bytes, Position]]:
        with open(path, "rb") as file:
            while len(head := file.read(HEAD.size)) == HEAD.size:
                length, *numbers = HEAD.unpack(head)
                content, end = file.read(length), Position(*numbers)
                if StagedFile._entry(content, end) != head + content + file.read(4):
                    return
                yield content, end
