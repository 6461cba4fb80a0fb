"""What a server owes, and what became of it: the judge's own books.

The judge reads only what was promised to people: hits.db, the lines of JSON, the dead letters and
the log. It knows nothing of the journal's files.
"""

import os
import base64
import collections
import dataclasses
import json
import pathlib
import re
import sqlite3
import subprocess
import time

import grpc

from facts import Fact
from protos import service as s
from protos import verdict as v
from server import Server, query

CALL_SECONDS = 10
# What a dead letter says of records that cannot be read.
LOSS = re.compile(r"sequences? (\d+)(?: to (\d+))? of the journal, (?:(\d+)|an unknown number of)"
                  r" events?")


def hits_of(facts) -> set[bytes]:
    return {identity for fact in facts for identity in fact.hits}


def delivered(server: Server) -> collections.Counter:
    """How often each hit id is in the sink."""
    times: collections.Counter = collections.Counter()
    if (server.directory / "hits.db").exists():
        try:
            times.update(bytes(row[0]) for row in server.query("SELECT hit_id FROM hits"))
        except sqlite3.OperationalError:
            pass  # There is no table yet.
    # Unlike a glob, a walk minds no folder that goes meanwhile, as the admin socket's does.
    files = [pathlib.Path(folder) / name for folder, _, names in os.walk(server.directory)
             for name in names if name.startswith("hits-") and ".jsonl" in name]
    for path in sorted(files):
        for line in lines_of(path):
            try:
                times[base64.b64decode(json.loads(line)["hitId"])] += 1
            except ValueError:
                continue  # Half a line: it was never delivered.
    return times


def lines_of(path: pathlib.Path) -> list[bytes]:
    """The lines of a file of the jsonl sink; of a compressed one what `zstd` can read, which
    complains of an empty file and of half a frame."""
    if path.suffix != ".zst":
        return path.read_bytes().splitlines()
    return subprocess.run(["zstd", "-dcq", path], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.splitlines()


@dataclasses.dataclass(frozen=True)
class Loss:
    """Records that cannot be read: the first and last sequence, and the events in them; None where
    nothing tells."""

    first: int
    last: int
    events: int | None


@dataclasses.dataclass
class Told:
    """What a server has said that it cannot deliver."""

    hits: set[bytes] = dataclasses.field(default_factory=set)
    # Losses whose hits are not known, and the events that were in them.
    losses: list[Loss] = dataclasses.field(default_factory=list)
    events: int = 0


def told(server: Server) -> Told:
    """The dead letters, and where they hold no number of events, the log."""
    found = Told()
    path = server.directory / "dead_letters.db"
    rows = []
    if path.exists():
        try:
            rows = [dict(row) for row in query(path, "SELECT * FROM dead_letters")]
        except sqlite3.Error:
            pass
    for row in rows:
        if row["hit_id"] is not None:
            found.hits.add(bytes(row["hit_id"]))
            continue
        match = LOSS.search(row["reason"])
        first, last, events = match.groups() if match else (0, 0, None)
        found.losses.append(
            Loss(int(first), int(last or first), None if events is None else int(events)))
    found.events = max(sum(loss.events or 0 for loss in found.losses), logged_events(server))
    return found


def logged_events(server: Server) -> int:
    """The events of damaged batches, as the log tells of them: each batch once."""
    if not server.log_path.exists():
        return 0
    batches = {}
    for line in server.log_path.read_text(errors="replace").splitlines():
        if "damaged" not in line or "events" not in line:
            continue
        try:
            record = json.loads(line)
        except ValueError:
            continue
        record |= record.get("metadata") or {}
        if str(record.get("events", "")).isdigit():
            batches[str(record.get("sequence"))] = int(record["events"])
    return sum(batches.values())


class Ledger:
    """What one client has sent, and what it was promised."""

    def __init__(self):
        self.sent: set[bytes] = set()
        # In the order in which they were first sent; each is acked once and for all.
        self.requests: list[list[Fact]] = []
        self.open: list[list[Fact]] = []
        self.owed: set[bytes] = set()

    def offer(self, stub, facts: list[Fact]) -> bool:
        """Sends facts once; whether all of them were acked."""
        if facts not in self.open:
            self.requests.append(facts)
            self.open.append(facts)
        self.sent |= hits_of(facts)
        request = s.RecordEventsRequest(events=[fact.event for fact in facts])
        try:
            answer = stub.RecordEvents(request, timeout=CALL_SECONDS)
        except grpc.RpcError:
            return False
        again = {result.index for result in answer.results
                 if result.verdict == v.VERDICT_RETRY_LATER}
        # A duplicate is known already, so it is promised as well.
        self.owed |= hits_of(fact for index, fact in enumerate(facts) if index not in again)
        if again:
            return False
        self.open.remove(facts)
        return True

    def offer_again(self, server: Server, seconds: float = 30) -> None:
        """Sends what was not acked until it is: what the server does not have is new to it."""
        deadline = time.monotonic() + seconds
        with server.channel() as channel:
            stub = server.stub(channel)
            for facts in list(self.open):
                while not self.offer(stub, facts):
                    assert time.monotonic() < deadline, f"not acked\n{server.log()}"
                    time.sleep(0.05)

    def missing(self, server: Server) -> set[bytes]:
        return self.owed - delivered(server).keys()

    def events_of(self, hits: set[bytes]) -> int:
        """How many events these hits are of."""
        return sum(not hits.isdisjoint(fact.hits) for facts in self.requests for fact in facts)

    def requests_of(self, hits: set[bytes]) -> list[int]:
        """Which requests these hits came in, from 0: each was a record of its own."""
        return [number for number, facts in enumerate(self.requests)
                if not hits.isdisjoint(hits_of(facts))]

    def settle(self, server: Server, seconds: float = 10, is_good=None) -> "Verdict":
        """Waits until all that is owed has come or was told of as lost, or else until a verdict is
        as good as its caller wants it."""
        is_good = is_good or (lambda verdict: not verdict.lost)
        deadline = time.monotonic() + seconds
        while True:
            verdict = self.judge(server)
            if is_good(verdict) or time.monotonic() > deadline:
                return verdict
            time.sleep(0.05)

    def judge(self, server: Server) -> "Verdict":
        """Holds what there is now to what is owed."""
        times, loss = delivered(server), told(server)
        missing = self.owed - times.keys() - loss.hits
        events = self.events_of(missing)
        return Verdict(
            owed=len(self.owed), missing=missing, events=events, told=loss,
            requests=self.requests_of(missing),
            lost=set() if events <= loss.events else missing,
            twice={identity for identity, count in times.items() if count > 1},
            strange=times.keys() - self.sent)


@dataclasses.dataclass
class Verdict:
    """What the judge found."""

    owed: int
    # Neither in the sink nor named by a dead letter; how many events, and of which requests.
    missing: set[bytes]
    events: int
    requests: list[int]
    told: Told
    # Missing, and not told of either.
    lost: set[bytes]
    twice: set[bytes]
    strange: set[bytes]

    def fault(self, once: bool = True) -> str:
        """What promise is broken; "" for none. A sink of files may have a hit twice."""
        if self.lost:
            return (f"{len(self.lost)} of {self.owed} hits are lost ({self.events} events of"
                    f" {len(self.requests)} requests, and {self.told.events} were told of)")
        if once and self.twice:
            return f"{len(self.twice)} hits are stored twice"
        if self.strange:
            return f"{len(self.strange)} hits that nobody sent"
        return ""
