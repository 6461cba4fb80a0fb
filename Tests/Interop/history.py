"""A fixed history of one data directory, of two lives: a start, events, a stop. Each is lived once
with a fault on its way, and then the directory is opened without."""

import copy
import dataclasses
import pathlib
import shutil
import signal
import tempfile
import time

import changes
from facts import Facts
from faults import FAULTS, PLANTED, Faults
from ledger import Ledger
from server import Server

# Each request fills a segment, and what is delivered is kept for a second: so segments are
# made, released together, used again and removed.
SEGMENT_BYTES = 2 << 10
EVENTS = 8
# Requests between two pauses, in each life.
LIVES = ((6, 2), (2, 1))
RETAIN_SECONDS = 1
# Longer than a checkpoint's delay.
PAUSE_SECONDS = 0.05
SETTINGS = [f"--set=journal.segment_bytes={SEGMENT_BYTES}", "--set=journal.recent_hits=20000",
            # Batches are read back from the segments.
            "--set=journal.checkpoint_milliseconds=40", "--set=journal.cache_bytes=1",
            f"--set=journal.retain_seconds={RETAIN_SECONDS}", "--set=drain.seconds=1"]
# Sinks by name, with files of the jsonl sink that are full after a few requests.
SINKS = {"sqlite": ["--sink=sqlite"], "jsonl": ["--sink=jsonl", "--set=jsonl.file_bytes=5000"],
         "jsonl.zst": ["--sink=jsonl", "--set=jsonl.file_bytes=1500",
                       "--set=jsonl.compression=zstd"]}
# How a process may end: at SIGTERM, at a disk that failed, at a directory that it cannot use.
EXITS = {0, 69, 74, 78}
STOP_SECONDS = 20


@dataclasses.dataclass
class Outcome:
    """What one history came to."""

    calls: list[tuple[str, str]]
    # Those of the last process, which meets no fault.
    recovery: list[tuple[str, str]]
    # The exit code of each process, and whether the fault was met.
    exits: list[int]
    is_met: bool
    owed: int
    # What promise is broken, with what the server logged; "" for none.
    fault: str


class History:
    """One life of it, in a folder of its own: the first, or the one after a history that is
    kept."""

    def __init__(self, sink: str, seed: int, after: "History | None" = None):
        self.sink = sink
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-history-"))
        node = self.home / "node"
        self.faults = Faults(node, self.home)
        self.server = Server(node / "data", "--admin", "off", *SINKS[sink], *SETTINGS,
                             environment=self.faults.environment)
        self.server.log_path = self.home / "stderr"
        self.exits: list[int] = []
        if after:
            shutil.copytree(after.home / "node", node)
            # A bit of a header costs no hit, and the file is renamed once it is not needed.
            segment = min((node / "data" / "journal").glob("segment-*"))
            changes.flip(segment.relative_to(node), 20, 1)(node)
            self.facts, self.ledger = copy.deepcopy((after.facts, after.ledger))
            self.requests = LIVES[1]
        else:
            node.mkdir()
            self.facts, self.ledger = Facts(seed, int(time.time())), Ledger()
            self.requests = LIVES[0]

    def keep(self) -> "History":
        """Lives without a fault, for the life that comes after; `remove` is the caller's."""
        self._live()
        assert self.exits == [0], self.server.log()
        return self

    def remove(self) -> None:
        """Ends what still runs, and removes the folder."""
        if self.server.process and self.server.process.poll() is None:
            self.server.kill()
        shutil.rmtree(self.home, ignore_errors=True)

    def run(self, first: int = 0, fault: str = "EIO", call: str = "") -> Outcome:
        """Lives, the `first` call meeting a fault; then opens it without, and judges."""
        try:
            self.faults.set(first, (FAULTS | PLANTED)[fault], call=call)
            self._live()
            calls, is_met = self.faults.calls(), 0 < first <= self.faults.count
            problem = self._strange_exit() or self._recover()
            if problem:
                problem += f"\n{self.server.log(1500)}"
            return Outcome(calls, self.faults.calls(), self.exits, is_met,
                           len(self.ledger.owed), problem)
        finally:
            self.remove()

    def _live(self) -> None:
        """One process from its start to its end, or to where the fault ends it."""
        try:
            self.server.start()
        except AssertionError:
            self._end()
            return
        with self.server.channel() as channel:
            for index, count in enumerate(self.requests):
                time.sleep((RETAIN_SECONDS + 0.1) * (index > 0 and self._is_alive()))
                self._send(channel, count)
        self._end()

    def _send(self, channel, count: int) -> None:
        for _ in range(count):
            batch = [self.facts.accepted() for _ in range(EVENTS)]
            if self._is_alive():
                self.ledger.offer(self.server.stub(channel), batch)
                time.sleep(PAUSE_SECONDS)

    def _is_alive(self) -> bool:
        return self.server.process.poll() is None

    def _end(self) -> None:
        process = self.server.process
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        self.exits.append(process.wait(STOP_SECONDS))

    def _strange_exit(self) -> str:
        strange = [code for code in self.exits if code not in EXITS and code != -signal.SIGKILL]
        return f"a process ended with {strange}" if strange else ""

    def _recover(self) -> str:
        """Opens it without a fault: what was not acked is sent again, something new comes too, and
        all is delivered."""
        self.faults.clear()
        try:
            self.server.start()
            with self.server.channel() as channel:
                self._send(channel, 1)
            self.ledger.offer_again(self.server)
            verdict = self.ledger.settle(self.server)
            problem = verdict.fault(once=self.sink == "sqlite")
            self._end()
        except AssertionError as error:
            return f"does not recover: {error}".splitlines()[0]
        return problem or self._strange_exit()
