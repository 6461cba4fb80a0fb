"""Files of the journal that are not as they were left: bit by bit, cut, swapped, doubled, aged.
What is lost is at most the record that was hit, and that is told of.

A start for each byte would take days: here every byte of the first bytes of each file is flipped,
and others at a stride. The Swift tests flip each byte of a segment in one process.
"""

import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable

import pytest

from facts import Facts
from ledger import Ledger, Verdict
from server import Server

SAMPLE = 40
# Starts of the whole sweep; a tenth of them for each kind of change that is not a flip.
WHOLE = 4000
WORKERS = 2 * (os.cpu_count() or 1)
# A file's head: its own header, and a record's.
HEAD_BYTES = 160
REQUESTS, EVENTS = 9, 6
SEGMENTS = 3
SETTINGS = ["--admin", "off", "--set=journal.segment_bytes=4096", "--set=journal.recent_hits=20000",
            "--set=journal.checkpoint_milliseconds=10", "--set=drain.seconds=1"]
# A start that is refused: nothing is lost, and the operator is told what to do.
REFUSED = {69, 74, 78}
WAIT_SECONDS = 3


@dataclasses.dataclass
class Template:
    """A data directory whose hits no sink has, with an older copy of itself."""

    ledger: Ledger
    directory: pathlib.Path
    older: pathlib.Path

    @property
    def files(self) -> list[pathlib.Path]:
        """The journal's own files and the dead letters, relative to the directory."""
        names = sorted((self.directory / "journal").iterdir())
        names += sorted(self.directory.glob("dead_letters.db*"))
        # What SQLite makes anew at each start is passed over, and so is what holds nothing.
        return [path.relative_to(self.directory) for path in names
                if path.name != "ballast" and not path.name.endswith("-shm")
                and path.stat().st_size]


@pytest.fixture(scope="module")
def template():
    """Made by a server whose sink was unavailable: somebody else held hits.db."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-bytes-"))
    ledger, facts = Ledger(), Facts(11, int(time.time()))
    server = Server(home / "data", *SETTINGS).start()
    try:
        with server.channel() as channel:
            # What is delivered before makes the sink's own files, and a spare.
            first = Ledger()
            for _ in range(3):
                assert first.offer(server.stub(channel), [facts.push() for _ in range(EVENTS)])
            server.wait_for_hits(len(first.owed))
            holder = sqlite3.connect(home / "data" / "hits.db", isolation_level=None)
            holder.execute("BEGIN IMMEDIATE")
            for number in range(REQUESTS):
                assert ledger.offer(server.stub(channel), [facts.push() for _ in range(EVENTS)])
                if number == REQUESTS // 2:
                    time.sleep(0.1)
                    keep(home / "data", home / "older")
            time.sleep(0.1)
        server.kill()
        holder.execute("ROLLBACK")
        holder.close()
        ledger.sent |= first.sent
        made = Template(ledger, home / "data", home / "older")
        segments = [path for path in made.files if path.name.startswith("segment")]
        assert len(segments) >= SEGMENTS, segments
        yield made
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


def keep(data: pathlib.Path, older: pathlib.Path) -> None:
    """Copies what there is by now."""
    (older / "journal").mkdir(parents=True)
    for path in [*(data / "journal").iterdir(), *data.glob("dead_letters.db*")]:
        try:
            shutil.copy(path, older / path.relative_to(data))
        except FileNotFoundError:
            pass  # It was the database's, for a moment.


# MARK: Changes. Each is given a copy of the directory.

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


def age(template: Template, file: pathlib.Path) -> Change:
    def change(directory: pathlib.Path) -> None:
        older = template.older / file
        if older.exists():
            shutil.copy(older, directory / file)
        else:
            (directory / file).unlink()
    return change


def bytes_of(template: Template, chooser: random.Random, count: int):
    """Flips: of every byte of a head, and of others at a stride, up to so many."""
    places = []
    for file in template.files:
        size = (template.directory / file).stat().st_size
        heads = list(range(min(HEAD_BYTES, size)))
        stride = max(1, size // max(1, count // len(template.files)))
        places += [(file, at) for at in heads + list(range(len(heads), size, stride))]
    chooser.shuffle(places)
    for file, at in places[:count]:
        mask = 1 << chooser.randrange(8)
        yield f"flip {file} byte {at} mask {mask:#x}", flip(file, at, mask)


def others(template: Template, chooser: random.Random, count: int):
    """Zeros, cuts, and what becomes of whole files."""
    files = template.files
    segments = [file for file in files if file.name.startswith("segment")]
    for number in range(count):
        file = chooser.choice(files)
        size = (template.directory / file).stat().st_size
        at = chooser.randrange(max(1, size))
        if number % 2:
            length = chooser.choice([8, 48, 512, 4096])
            yield f"zero {file} from {at}, {length}", zero(file, at, length)
        else:
            yield f"cut {file} at {at}", edits(file, lambda data, at=at: data[:at] or b"")
    for file in files:
        yield f"age {file}", age(template, file)
        yield f"remove {file}", lambda directory, file=file: (directory / file).unlink()
        yield f"empty {file}", lambda directory, file=file: (directory / file).write_bytes(b"")
    for number, one in enumerate(segments):
        yield f"double {one}", copy(one, f"segment-{90 + number}")
        for other in segments[number + 1:]:
            yield f"swap {one} and {other}", swap(one, other)


# MARK: The judge


@dataclasses.dataclass
class Result:
    """What came of one change: a start that was refused, or what was delivered."""

    name: str
    exit_code: int | None
    verdict: Verdict | None
    log: str

    def fault(self) -> str:
        if self.exit_code is not None:
            return "" if self.exit_code in REFUSED else f"the start ended with {self.exit_code}"
        if self.verdict.twice:
            return f"{len(self.verdict.twice)} hits are stored twice"
        # How many events a record held whose head is gone, nobody can tell.
        if self.verdict.lost and not self.verdict.told.losses:
            return self.verdict.fault()
        if self.name.startswith("flip") and self.verdict.requests > 1:
            return (f"one bit cost {self.verdict.requests} requests of {self.verdict.events}"
                    f" events;"
                    f" {self.verdict.told.losses} losses of {self.verdict.told.events} were told")
        return ""


def judge(template: Template, name: str, change: Change) -> Result:
    """Changes a copy, starts a server on it, and holds what it delivers to what is owed."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-bytes-"))
    server = Server(home / "data", *SETTINGS)
    try:
        shutil.copytree(template.directory, server.directory)
        change(server.directory)
        try:
            server.start()
        except AssertionError:
            if server.process.poll() is None:
                server.kill()
            return Result(name, server.process.returncode, None, server.log(1200))
        verdict = template.ledger.settle(server, WAIT_SECONDS)
        return Result(name, None, verdict, server.log(1200))
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


def sweep(template: Template, cases, figure) -> dict[str, str]:
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        results = list(workers.map(lambda case: judge(template, *case), cases))
    kinds = collections.Counter(result.name.split()[0] for result in results)
    refused = sum(result.exit_code in REFUSED for result in results)
    told = sum(bool(r.verdict and r.verdict.requests and not r.fault()) for r in results)
    failures = {result.name: f"{result.fault()}\n{result.log}"
                for result in results if result.fault()}
    figure(f"bytes: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}: {told} told"
           f" of a loss, {refused} refused to start, {len(failures)} broke a promise")
    for name, what in failures.items():
        figure(f"bytes: FAILED {name}: {what.splitlines()[0]}")
    return failures


@pytest.mark.timeout(4 * 3600)
def test_a_byte_costs_at_most_its_record(template, seed, amount, figure):
    count = amount(SAMPLE, WHOLE)
    failures = sweep(template, list(bytes_of(template, random.Random(seed), count)), figure)
    assert not failures, "\n\n".join(f"{name}: {what}" for name, what in failures.items())


@pytest.mark.timeout(3600)
def test_a_changed_file_loses_nothing_silently(template, seed, amount, figure):
    count = amount(SAMPLE, WHOLE) // 10
    failures = sweep(template, list(others(template, random.Random(seed), count)), figure)
    assert not failures, "\n\n".join(f"{name}: {what}" for name, what in failures.items())


def test_an_untouched_directory_is_delivered(template):
    """The judge itself: with nothing changed nothing is missing, and what is taken is found."""
    clean = judge(template, "nothing", lambda directory: None)
    assert not clean.fault() and clean.verdict.owed and not clean.verdict.missing, clean


def test_the_judge_finds_what_is_taken(template):
    """Planted: a journal that is taken away whole tells of nothing."""
    gone = judge(template, "all", lambda directory: shutil.rmtree(directory / "journal"))
    assert "are lost" in gone.fault(), gone
