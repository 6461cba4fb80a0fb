"""Every call that the server makes on its files fails once, and at every call it is killed once:
what was acked is delivered, or told of as lost."""

import collections
import concurrent.futures
import os
import random
import re
import subprocess

import pytest

from faults import FAULTS, library
from history import History

# Most of a history is waiting.
WORKERS = 3 * (os.cpu_count() or 1)
SAMPLE = 40
SINKS = ["sqlite", "jsonl"]
# Of the library's names, those of the calls that strace sees.
TRACED = {"open": ("open", "openat"), "pwrite": ("pwrite64", "pwritev"), "fsync": ("fsync",),
          "fdatasync": ("fdatasync",), "unlink": ("unlink", "unlinkat"), "pread": ("pread64",),
          "ftruncate": ("ftruncate",), "fallocate": ("fallocate",), "rename": ("rename",)}


@pytest.fixture(autouse=True)
def _compiler():
    if not library():
        pytest.skip("no C compiler here, and faults.c has to be compiled")


def sweep(sink: str, seed: int, cases, figure) -> dict[str, str]:
    """Runs a history for each case, and returns those that broke a promise."""
    met, failures = collections.Counter(), {}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as workers:
        runs = {workers.submit(History(sink, seed).run, first, fault): (first, fault)
                for first, fault in cases}
        for run in concurrent.futures.as_completed(runs):
            first, fault = runs[run]
            outcome = run.result()
            met[fault] += outcome.is_met
            if outcome.fault:
                name, path = (outcome.calls + [("?", "?")] * first)[first - 1]
                failures[f"{sink}, {fault} at call {first} ({name} {path}), seed {seed}"] = (
                    outcome.fault)
    figure(f"syscalls: {sink}: {len(runs)} histories with a fault, of which"
           f" {', '.join(f'{count} {name}' for name, count in sorted(met.items()))} were met;"
           f" {len(failures)} broke a promise")
    return failures


@pytest.mark.timeout(3 * 3600)
@pytest.mark.parametrize("sink", SINKS)
def test_no_call_that_fails_costs_a_hit(sink, seed, amount, figure):
    """D17: each call fails with each of the faults, and the server is killed before it."""
    clean = History(sink, seed).run()
    assert not clean.fault, clean.fault
    count = len(clean.calls)
    names = collections.Counter(name for name, _ in clean.calls)
    figure(f"syscalls: {sink}: {count} calls in a history:"
           f" {', '.join(f'{number} {name}' for name, number in names.most_common())}")
    # Timers make histories differ by a few calls: some more than were counted.
    cases = [(first, fault) for first in range(1, count + 10) for fault in FAULTS]
    sample = amount(SAMPLE, len(cases))
    failures = sweep(sink, seed, random.Random(seed).sample(cases, min(sample, len(cases))),
                     figure)
    for where, what in failures.items():
        figure(f"syscalls: FAILED {where}: {what.splitlines()[0]}")
    assert not failures, "\n\n".join(f"{where}: {what}" for where, what in failures.items())


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
