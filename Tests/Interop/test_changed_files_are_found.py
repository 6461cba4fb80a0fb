"""Files of the journal that are not as they were left: bit by bit, cut, swapped, doubled, aged.
What is lost is at most the record that was hit, and that is told of.

A start for each byte would take hours: here every byte of the first bytes of each file is flipped,
and others at a stride. EveryByteTests.swift flips each byte of such a directory in one process.
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

import pytest

import changes
from changes import Change
from facts import Facts
from ledger import Ledger, Loss, Verdict
from server import Server

SAMPLE = 40
# Starts of the whole sweep; a tenth of them for each kind of change that is not a flip.
WHOLE = 4000
WORKERS = 2 * (os.cpu_count() or 1)
# Requests that the sink has, and those that it has yet to get; each is a record, from sequence 1.
DELIVERED, REQUESTS, EVENTS = 3, 9, 6
SEGMENTS = 3
SETTINGS = ["--admin", "off", "--set=journal.segment_bytes=4096", "--set=journal.recent_hits=20000",
            "--set=journal.checkpoint_milliseconds=10", "--set=drain.seconds=1"]
# A start that is refused: nothing is lost, and the operator is told what to do.
REFUSED = {69, 74, 78}
# How long what is whole may take to come, on a busy machine.
WAIT_SECONDS = 10


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

    def flips(self, chooser: random.Random, count: int):
        return changes.flips(self.directory, self.files, chooser, count)

    def others(self, chooser: random.Random, count: int):
        return changes.others(self.directory, self.older, self.files, chooser, count)


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
            for _ in range(DELIVERED):
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
        if self.name.startswith("flip"):
            return self._flip_fault()
        # A zeroed or older checkpoint knows no number of events up to its last record.
        return self.verdict.fault() if not self.verdict.told.losses else ""

    def _flip_fault(self) -> str:
        """One bit costs one request at most, and what is told of is what is missing."""
        losses, missing = self.verdict.told.losses, self.verdict.requests
        owed = [Loss(DELIVERED + 1 + number, DELIVERED + 1 + number, EVENTS)
                for number in missing]
        if "segment-" not in self.name:
            # A bit of the checkpoint or the dead letters costs no hit. In the checkpoint's -wal it
            # takes the newest transactions away: what is told then are sequences that the sink
            # has had, since their segments have been written over.
            losses = [loss for loss in losses if loss.last > DELIVERED]
            owed = []
        if len(missing) > 1 or losses != owed or self.verdict.events != EVENTS * len(missing):
            return (f"one bit cost {self.verdict.events} events of requests {missing},"
                    f" and told were {losses}")
        return ""


def judge(template: Template, name: str, change: Change) -> Result:
    """Changes a copy, starts a server on it, and holds what it delivers to what is owed."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-bytes-"))
    server = Server(home / "data", *SETTINGS)
    try:
        # The socket of a process that was killed is no file to be copied.
        shutil.copytree(template.directory, server.directory,
                        ignore=shutil.ignore_patterns("admin.sock", ".admin"))
        change(server.directory)
        try:
            server.start()
        except AssertionError:
            if server.process.poll() is None:
                server.kill()
            return Result(name, server.process.returncode, None, server.log(1200))
        # As many events may be told of as are still to come: only what they are tells.
        verdict = template.ledger.settle(
            server, WAIT_SECONDS, lambda found: not Result(name, None, found, "").fault())
        return Result(name, None, verdict, server.log(1200))
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


def sweep(template: Template, cases, figure) -> dict[str, str]:
    started = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        results = list(workers.map(lambda case: judge(template, *case), cases))
    speed = len(cases) / (time.monotonic() - started)
    kinds = collections.Counter(result.name.split()[0] for result in results)
    refused = sum(result.exit_code in REFUSED for result in results)
    told = sum(bool(r.verdict and r.verdict.requests and not r.fault()) for r in results)
    failures = {result.name: f"{result.fault()}\n{result.log}"
                for result in results if result.fault()}
    figure(f"bytes: {', '.join(f'{count} {kind}' for kind, count in kinds.items())}: {told} told"
           f" of a loss, {refused} refused to start, {len(failures)} broke a promise;"
           f" {speed:.1f} starts/s")
    for name, what in failures.items():
        figure(f"bytes: FAILED {name}: {what.splitlines()[0]}")
    return failures


@pytest.mark.timeout(4 * 3600)
def test_a_byte_costs_at_most_its_record(template, seed, amount, figure):
    count = amount(SAMPLE, WHOLE)
    failures = sweep(template, list(template.flips(random.Random(seed), count)), figure)
    assert not failures, "\n\n".join(f"{name}: {what}" for name, what in failures.items())


@pytest.mark.timeout(3600)
def test_a_changed_file_loses_nothing_silently(template, seed, amount, figure):
    count = amount(SAMPLE, WHOLE) // 10
    failures = sweep(template, list(template.others(random.Random(seed), count)), figure)
    assert not failures, "\n\n".join(f"{name}: {what}" for name, what in failures.items())


def test_an_untouched_directory_is_delivered(template):
    """The judge itself: with nothing changed nothing is missing, and what is taken is found."""
    clean = judge(template, "nothing", lambda directory: None)
    assert not clean.fault() and clean.verdict.owed and not clean.verdict.missing, clean


def test_the_judge_finds_what_is_taken(template):
    """Planted: a journal that is taken away whole tells of nothing."""
    gone = judge(template, "all", lambda directory: shutil.rmtree(directory / "journal"))
    assert "are lost" in gone.fault(), gone


def test_the_judge_finds_a_bit_that_costs_two_records(template):
    """Planted: what is told of is right, and more than a bit may cost."""
    segments = [file for file in template.files if file.name.startswith("segment")]

    def change(directory: pathlib.Path) -> None:
        for file in segments:
            changes.flip(file, changes.RECORDS, 1)(directory)

    result = judge(template, f"flip {segments[0]}", change)
    assert "one bit cost" in result.fault(), result
