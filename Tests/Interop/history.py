"""A fixed history of one data directory: a start, events, a stop, a start, events, a stop; and the
same again with a fault on its way."""

import dataclasses
import pathlib
import shutil
import signal
import tempfile
import time

from facts import Facts
from faults import FAULTS, PLANTED, Faults
from ledger import Ledger
from server import Server

# Each request fills a segment, and what is delivered is kept for a second: so segments are
# made, released together, used again and removed.
SEGMENT_BYTES = 4 << 10
EVENTS = 16
# Requests between two pauses, in the first process and in the second.
REQUESTS = ((7, 3), (2, 2))
RETAIN_SECONDS = 1
# Longer than a checkpoint's delay.
PAUSE_SECONDS = 0.02
SETTINGS = [f"--set=journal.segment_bytes={SEGMENT_BYTES}", "--set=journal.recent_hits=20000",
            # Batches are read back from the segments.
            "--set=journal.checkpoint_milliseconds=10", "--set=journal.cache_bytes=1",
            "--set=jsonl.file_bytes=10000",
            f"--set=journal.retain_seconds={RETAIN_SECONDS}", "--set=drain.seconds=1"]
# How a process may end: at SIGTERM, at a disk that failed, at a directory that it cannot use.
EXITS = {0, 69, 74, 78}
START_SECONDS, STOP_SECONDS = 20, 20


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
    """One run of it, in a folder of its own."""

    def __init__(self, sink: str, seed: int):
        self.sink, self.seed = sink, seed
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-history-"))
        node = self.home / "node"
        node.mkdir()
        self.faults = Faults(node, self.home)
        self.server = Server(node / "data", "--admin", "off", "--sink", sink, *SETTINGS,
                             environment=self.faults.environment)
        self.server.log_path = self.home / "stderr"
        self.ledger = Ledger()
        self.exits: list[int] = []

    def run(self, first: int = 0, fault: str = "EIO", call: str = "") -> Outcome:
        """Runs it, the `first` call meeting a fault; then once without, and judges."""
        try:
            self.faults.set(first, (FAULTS | PLANTED)[fault], call=call)
            facts = Facts(self.seed, int(time.time()))
            for requests in REQUESTS:
                self._live(facts, requests)
            calls, is_met = self.faults.calls(), 0 < first <= self.faults.count
            problem = self._strange_exit() or self._recover()
            if problem:
                problem += f"\n{self.server.log(1500)}"
            return Outcome(calls, self.faults.calls(), self.exits, is_met,
                           len(self.ledger.owed), problem)
        finally:
            if self.server.process and self.server.process.poll() is None:
                self.server.kill()
            shutil.rmtree(self.home, ignore_errors=True)

    def _live(self, facts: Facts, requests: tuple[int, ...]) -> None:
        """One process from its start to its end, or to where the fault ends it."""
        try:
            self.server.start()
        except AssertionError:
            self._end()
            return
        with self.server.channel() as channel:
            stub = self.server.stub(channel)
            for index, count in enumerate(requests):
                time.sleep((RETAIN_SECONDS + 0.1) * (index > 0 and self._is_alive()))
                for _ in range(count):
                    batch = [facts.accepted() for _ in range(EVENTS)]
                    if self._is_alive():
                        self.ledger.offer(stub, batch)
                        time.sleep(PAUSE_SECONDS)
        self._end()

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
        """Once more without a fault: what was not acked is sent again, and all is delivered."""
        self.faults.clear()
        try:
            self.server.start()
            self.ledger.offer_again(self.server)
            verdict = self.ledger.settle(self.server)
            problem = verdict.fault(once=self.sink == "sqlite")
            self._end()
        except AssertionError as error:
            return f"does not recover: {error}".splitlines()[0]
        return problem or self._strange_exit()
