"""Every call that the server makes on its files fails once, and at every call it is killed once:
what was acked is delivered, or told of as lost."""

import collections
import concurrent.futures
import dataclasses
import os
import random
import re
import subprocess
import time

import pytest

from faults import FAULTS, library
from history import SINKS, History, Outcome

# Most of a history is waiting.
WORKERS = 3 * (os.cpu_count() or 1)
SAMPLE = 40
# Calls that can move a part of the bytes.
MOVES = {"pread", "pwrite", "read", "write"}
# Of the library's names, those of the calls that strace sees.
TRACED = {"open": ("open", "openat"), "pwrite": ("pwrite64", "pwritev"), "fsync": ("fsync",),
          "fdatasync": ("fdatasync",), "unlink": ("unlink", "unlinkat"), "pread": ("pread64",),
          "ftruncate": ("ftruncate",), "fallocate": ("fallocate",), "rename": ("rename",)}


@pytest.fixture(autouse=True)
def _compiler():
    if not library():
        pytest.skip("no C compiler here, and faults.c has to be compiled")


@dataclasses.dataclass(frozen=True)
class Case:
    """One fault: in which life, at which of its calls."""

    life: int
    first: int
    fault: str


def cases_of(life: int, calls: list[tuple[str, str]]) -> list[Case]:
    """Every call of a life with every fault; short where bytes are moved."""
    # Timers make histories differ by a few calls: some more than were counted.
    names = [name for name, _ in calls] + [""] * 9
    return [Case(life, first, fault) for first, name in enumerate(names, start=1)
            for fault in FAULTS if fault != "SHORT" or name in MOVES]


class Sweep:
    """Histories of one sink, and what came of them."""

    def __init__(self, sink: str, seed: int, figure):
        self.sink, self.seed, self.figure = sink, seed, figure
        # How often each call has met each fault.
        self.met: collections.Counter[tuple[str, str]] = collections.Counter()
        self.failures: dict[str, str] = {}

    def run(self, choose) -> None:
        """Counts the calls of both lives, and repeats them with the faults that are chosen."""
        started = time.monotonic()
        kept = History(self.sink, self.seed).keep()
        try:
            lives = [None, kept]
            cases = []
            for life, after in enumerate(lives):
                clean = History(self.sink, self.seed, after).run()
                assert not clean.fault, clean.fault
                names = collections.Counter(name for name, _ in clean.calls)
                self.figure(f"syscalls: {self.sink}, life {life + 1}: {len(clean.calls)} calls: "
                            + ", ".join(f"{count} {name}" for name, count in names.most_common()))
                cases += cases_of(life, clean.calls)
            chosen = choose(cases)
            with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
                for case, outcome in workers.map(
                        lambda case: (case, self._outcome(case, lives[case.life])), chosen):
                    self._note(case, outcome)
        finally:
            kept.remove()
        self._tell(len(chosen), len(cases), time.monotonic() - started)

    def _outcome(self, case: Case, after: History | None) -> Outcome:
        return History(self.sink, self.seed, after).run(case.first, case.fault)

    def _note(self, case: Case, outcome: Outcome) -> None:
        name, path = (outcome.calls + [("?", "?")] * case.first)[case.first - 1]
        if outcome.is_met:
            self.met[name, case.fault] += 1
        if outcome.fault:
            where = f"{self.sink}, {case} ({name} {path}), seed {self.seed}"
            self.failures[where] = outcome.fault
            # Seen at once with -s: the whole sweep takes long.
            print(f"{where}: {outcome.fault}", flush=True)
        if sum(self.met.values()) % 100 == 0:
            print(f"{time.strftime('%X')} {sum(self.met.values())} faults met", flush=True)

    def _tell(self, ran: int, all_of_them: int, seconds: float) -> None:
        self.figure(f"syscalls: {self.sink}: {ran} of {all_of_them} histories with a fault in"
                    f" {seconds:.0f} s, {sum(self.met.values())} met it;"
                    f" {len(self.failures)} broke a promise")
        self.figure(f"syscalls: {'met':10}" + "".join(f"{fault:>8}" for fault in FAULTS))
        for name in sorted({name for name, _ in self.met}):
            self.figure(f"syscalls: {name:10}"
                        + "".join(f"{self.met[name, fault]:8}" for fault in FAULTS))
        for where, what in self.failures.items():
            self.figure(f"syscalls: FAILED {where}: {what.splitlines()[0]}")


@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("sink", SINKS)
def test_no_call_that_fails_costs_a_hit(sink, seed, amount, figure):
    """D17: each call fails with each of the faults, and the server is killed before it."""
    def choose(cases: list[Case]) -> list[Case]:
        return random.Random(seed).sample(cases, min(amount(SAMPLE, len(cases)), len(cases)))

    sweep = Sweep(sink, seed, figure)
    sweep.run(choose)
    assert not sweep.failures, "\n\n".join(
        f"{where}: {what}" for where, what in sweep.failures.items())


def test_the_library_counts_every_call(seed, tmp_path):
    """strace sees the same calls on the directory's files as the library that counts them."""
    history = History("sqlite", seed)
    trace = tmp_path / "trace"
    # -D: the process that was started is the server, and not strace.
    tracer = ["strace", "-D", "-f", "-y", "-E", "LD_PRELOAD=" + str(library()),
              "-A", "-o", str(trace),
              "-e", "trace=" + ",".join(call for calls in TRACED.values() for call in calls)]
    if subprocess.run(["strace", "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    environment = history.server.environment
    # Only the server is to meet the library, and not strace.
    environment.pop("LD_PRELOAD")
    history.server.prefix = tracer
    outcome = history.run()
    counted = collections.Counter(name for name, path in outcome.calls + outcome.recovery
                                  if path.startswith("/data"))
    counted["open"] += counted["opendir"]
    folder = str(history.faults.directory) + "/data"
    seen = collections.Counter()
    for name, calls in TRACED.items():
        pattern = re.compile(rf"^\d+ +({'|'.join(calls)})\(.*{re.escape(folder)}")
        seen[name] = sum(bool(pattern.match(line)) for line in trace.read_text().splitlines())
    missed = {name: (seen[name], counted[name]) for name in TRACED if seen[name] != counted[name]}
    assert sum(seen.values()) and not missed, f"strace saw, and the library counted: {missed}"


def test_the_judge_finds_a_write_that_was_not_made(seed):
    """A sink that believes to have written a line: planted, so that finding it is seen."""
    outcome = History("jsonl", seed).run(3, "LIE", "write")
    assert "hits are lost" in outcome.fault, outcome
