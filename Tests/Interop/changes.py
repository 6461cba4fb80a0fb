"""Ways in which a journal's files are not as they were left: bit by bit, cut, swapped, doubled,
aged."""

import pathlib
import random
import shutil
from collections.abc import Callable, Iterator

# Where every byte is flipped: a file's own header, and in a segment the first record's.
HEAD_BYTES, RECORDS = 160, 4096
# Given a copy of the directory.
Change = Callable[[pathlib.Path], None]


def edits(file: pathlib.Path, edit: Callable[[bytearray], bytes | bytearray | None]) -> Change:
    """Changes a file's bytes."""
    def change(directory: pathlib.Path) -> None:
        path = directory / file
        data = bytearray(path.read_bytes())
        path.write_bytes(edit(data) or data)
    return change


def flip(file: pathlib.Path, offset: int, mask: int) -> Change:
    def edit(data: bytearray) -> None:
        data[offset] ^= mask
    return edits(file, edit)


def zero(file: pathlib.Path, offset: int, length: int) -> Change:
    def edit(data: bytearray) -> None:
        data[offset:offset + length] = bytes(len(data[offset:offset + length]))
    return edits(file, edit)


def swap(one: pathlib.Path, other: pathlib.Path) -> Change:
    def change(directory: pathlib.Path) -> None:
        first, second = (directory / one).read_bytes(), (directory / other).read_bytes()
        (directory / one).write_bytes(second)
        (directory / other).write_bytes(first)
    return change


def copy(one: pathlib.Path, name: str) -> Change:
    def change(directory: pathlib.Path) -> None:
        shutil.copy(directory / one, (directory / one).with_name(name))
    return change


def age(older: pathlib.Path, file: pathlib.Path) -> Change:
    """Puts an older copy in a file's place, or nothing where there was none."""
    def change(directory: pathlib.Path) -> None:
        if (older / file).exists():
            shutil.copy(older / file, directory / file)
        else:
            (directory / file).unlink()
    return change


def flips(directory: pathlib.Path, files: list[pathlib.Path], chooser: random.Random, count: int
          ) -> Iterator[tuple[str, Change]]:
    """Flips: of every byte of a head, and of others at a stride, up to so many."""
    places = []
    for file in files:
        size = (directory / file).stat().st_size
        heads = {start + byte for start in (0, RECORDS) for byte in range(HEAD_BYTES)}
        stride = max(1, size // max(1, count // len(files)))
        places += [(file, at) for at in sorted(heads | set(range(0, size, stride))) if at < size]
    chooser.shuffle(places)
    for file, at in places[:count]:
        mask = 1 << chooser.randrange(8)
        yield f"flip {file} byte {at} mask {mask:#x}", flip(file, at, mask)


def others(directory: pathlib.Path, older: pathlib.Path, files: list[pathlib.Path],
           chooser: random.Random, count: int) -> Iterator[tuple[str, Change]]:
    """Zeros, cuts, and what becomes of whole files."""
    segments = [file for file in files if file.name.startswith("segment")]
    for number in range(count):
        file = chooser.choice(files)
        size = (directory / file).stat().st_size
        at = chooser.randrange(max(1, size))
        if number % 2:
            length = chooser.choice([8, 48, 512, 4096])
            yield f"zero {file} from {at}, {length}", zero(file, at, length)
        else:
            yield f"cut {file} at {at}", edits(file, lambda data, at=at: data[:at] or b"")
    for file in files:
        yield f"age {file}", age(older, file)
        yield f"remove {file}", lambda directory, file=file: (directory / file).unlink()
        yield f"empty {file}", lambda directory, file=file: (directory / file).write_bytes(b"")
    for number, one in enumerate(segments):
        yield f"double {one}", copy(one, f"segment-{90 + number}")
        for other in segments[number + 1:]:
            yield f"swap {one} and {other}", swap(one, other)
