"""The files of a spool, the same in all client libraries. A segment is a magic and then records, each
the length of an event's bytes and the CRC-32 of length and bytes, both 4 bytes little-endian, and the
bytes. Its marks say which events are settled: a magic, and behind it, at 8 times an event's index, the
head of its record. What else stands there is no mark."""

from __future__ import annotations

import dataclasses
import errno
import os
import pathlib
import re
import struct
import zlib
from typing import Iterable, Iterator, NamedTuple, Optional

MAGIC = b"SLSPOOL1"
MARKS_MAGIC = b"SLMARKS1"
HEAD = struct.Struct("<II")
NAME = re.compile(r"[0-9a-f]{16}\.spool")
MARKS_NAME = re.compile(r"[0-9a-f]{16}\.settled")


class SpoolDamaged(OSError):
    """A file that was synced cannot be read: at `byte`, behind `events` whole ones, stands no whole
    record, and what stands there is no torn end. No file was changed."""

    def __init__(self, path: pathlib.Path, byte: int, events: int):
        super().__init__(errno.EBADMSG, f"the spool's file {path} is damaged at byte {byte}, "
                         f"behind {events} whole events: only the end of the last file may be "
                         "torn. No file was changed. To go on, keep a copy of it and cut it at "
                         "that byte, or move it away")
        self.path, self.byte, self.events = path, byte, events


def head(data: bytes) -> bytes:
    """The length and checksum of an event's bytes. The length is summed too: a tail of zeros, as a
    power cut may leave it, is no record. So no head is zeros alone, and no gap is a mark."""
    length = struct.pack("<I", len(data))
    return length + struct.pack("<I", zlib.crc32(data, zlib.crc32(length)))


def record(data: bytes) -> bytes:
    """An event's bytes behind their head."""
    return head(data) + data


class Place(NamedTuple):
    """Where an event stands: its segment, the byte of its mark, and the head of its record. The
    mark is that head: so it is none of another event that is written to the same place."""

    segment: int
    mark: int
    head: bytes


def place(segment: int, index: int, head: bytes) -> Place:
    """That of the event with this index, from 0, in its segment."""
    return Place(segment, len(MARKS_MAGIC) + index * HEAD.size, head)


def runs(places: Iterable[Place]) -> Iterator[list[Place]]:
    """Places in groups whose marks stand side by side."""
    run: list[Place] = []
    for one in places:
        if run and (one.segment, one.mark) != (run[-1].segment, run[-1].mark + HEAD.size):
            yield run
            run = []
        run.append(one)
    if run:
        yield run


@dataclasses.dataclass(frozen=True)
class Segment:
    """What a file has: its events, and the end of the last whole record; 0 without a magic."""

    path: pathlib.Path
    size: int
    events: list[bytes]
    end: int

    @property
    def number(self) -> int:
        return int(self.path.stem, 16)

    def left(self, marks: bytes) -> list[tuple[Place, bytes]]:
        """The events without a mark, each with its place."""
        places = (place(self.number, index, head(data)) for index, data in enumerate(self.events))
        return [(one, data) for one, data in zip(places, self.events)
                if marks[one.mark:one.mark + HEAD.size] != one.head]


def path_of(directory: pathlib.Path, number: int) -> pathlib.Path:
    """The file of a segment."""
    return directory / f"{number:016x}.spool"


def marks_path_of(directory: pathlib.Path, number: int) -> pathlib.Path:
    """The file of a segment's marks."""
    return directory / f"{number:016x}.settled"


def paths_in(directory: pathlib.Path) -> list[pathlib.Path]:
    """A folder's segments in order. Files of other names, such as a user's copies, are not ours."""
    return sorted(path for path in directory.iterdir() if NAME.fullmatch(path.name))


def marks_in(directory: pathlib.Path) -> dict[int, bytes]:
    """The files of marks by their segments' numbers."""
    paths = (path for path in directory.iterdir() if MARKS_NAME.fullmatch(path.name))
    return {int(path.stem, 16): path.read_bytes() for path in paths}


def read(path: pathlib.Path, may_be_torn: bool) -> Segment:
    """Reads a file up to its end, or to its first record that is not whole. Such a one is torn
    where the file may be, and has no whole record behind it: it was never synced. Else raises
    SpoolDamaged."""
    text = path.read_bytes()
    if not text.startswith(MAGIC):
        if not (may_be_torn and MAGIC.startswith(text.rstrip(b"\0"))):
            raise SpoolDamaged(path, 0, 0)
        return Segment(path, len(text), [], 0)
    events, end = [], len(MAGIC)
    while (data := event_at(text, end)) is not None:
        events.append(data)
        end += HEAD.size + len(data)
    behind = range(end + 1, len(text))
    if end < len(text) and not (
            may_be_torn and all(event_at(text, place) is None for place in behind)):
        raise SpoolDamaged(path, end, len(events))
    return Segment(path, len(text), events, end)


def event_at(text: bytes, place: int) -> Optional[bytes]:
    """The event whose whole record begins at a place, if there is one."""
    start = place + HEAD.size
    if start > len(text):
        return None
    length, checksum = HEAD.unpack_from(text, place)
    if length > len(text) - start:
        return None
    data = text[start:start + length]
    return data if checksum == zlib.crc32(data, zlib.crc32(text[place:place + 4])) else None


def sync_found(segment: Segment) -> None:
    """Makes durable what another process may have left in memory, without a torn end."""
    file = os.open(segment.path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(file, segment.end)
        os.fdatasync(file)
    finally:
        os.close(file)
