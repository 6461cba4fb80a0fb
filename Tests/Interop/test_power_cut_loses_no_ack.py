"""Power cuts: the disk is copied as it stands in the middle of a load, and the server is started on
the copy. What was acked before the cut is there."""

import os
import pathlib
import random
import shutil
import signal
import tempfile
import threading
import time

import grpc
import pytest

import disk_image
from facts import Facts
from faults import FOR_EVER, LIE, Faults, library
from history import SINKS
from ledger import Ledger, Verdict
from server import Server, wait_until

SAMPLE, WHOLE = 3, 100
EVENTS = 20
CLIENTS = 2
LONGEST_LIFE_SECONDS = 1.5
# Cuts of a server that does not sync.
MOST_LIES = 20
SETTINGS = ["--admin", "off", "--set=journal.segment_bytes=65536",
            "--set=journal.recent_hits=100000", "--set=journal.checkpoint_milliseconds=20",
            "--set=drain.seconds=1"]


@pytest.fixture
def folder():
    """A folder for images; skipped where they cannot be mounted."""
    if os.geteuid() != 0:
        pytest.skip("to mount an image needs root")
    if not shutil.which("mkfs.ext4"):
        pytest.skip("no mkfs.ext4 here")
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-power-"))
    try:
        disk_image.unmount(disk_image.mount(disk_image.make(home / "probe"), home / "mounted"))
    except OSError as error:
        shutil.rmtree(home, ignore_errors=True)
        pytest.skip(f"no image can be mounted here: {error}")
    yield home
    shutil.rmtree(home, ignore_errors=True)


class Cut:
    """One life of a server on an image, its end by a cut, and what the next start delivers."""

    def __init__(self, home: pathlib.Path, number: int, chooser: random.Random, lies: bool = False):
        self.home, self.chooser, self.lies = home / f"cut{number}", chooser, lies
        self.home.mkdir()
        self.ledgers = [Ledger() for _ in range(CLIENTS)]
        self.image = disk_image.make(self.home / "image")
        self.folder = disk_image.mount(self.image, self.home / "mounted")

    def run(self) -> list[Verdict]:
        """Runs it; a verdict for each client."""
        sink = self.chooser.choice(list(SINKS))
        try:
            copy = self._live(sink)
        finally:
            disk_image.unmount(self.folder)
        disk_image.mount(copy, self.folder)
        try:
            return self._judge(sink)
        finally:
            disk_image.unmount(self.folder)
            disk_image.remove(self.home)

    def _server(self, sink: str, environment=None) -> Server:
        server = Server(self.folder / "data", *SINKS[sink], *SETTINGS, environment=environment)
        server.log_path = self.home / "stderr"
        return server

    def _live(self, sink: str) -> pathlib.Path:
        environment = None
        if self.lies:
            faults = Faults(self.folder, self.home)
            faults.set(1, LIE, FOR_EVER, call="fdatasync")
            environment = faults.environment
        server = self._server(sink, environment).start()
        stop = threading.Event()
        clients = [threading.Thread(target=self._send, args=(server, number, stop))
                   for number in range(CLIENTS)]
        for client in clients:
            client.start()
        try:
            wait_until(lambda: all(ledger.owed for ledger in self.ledgers), "acked", 20)
            time.sleep(self.chooser.uniform(0, LONGEST_LIFE_SECONDS))
            pause(server)
            # What is acked is what clients have heard of; what is in the sockets will come.
            copy = disk_image.cut(self.image, self.home / "copy")
        finally:
            stop.set()
            server.kill()
            for client in clients:
                client.join(30)
        return copy

    def _send(self, server: Server, number: int, stop: threading.Event) -> None:
        facts = Facts(self.chooser.randrange(1 << 32), int(time.time()), space=number + 1)
        with server.channel() as channel:
            stub = server.stub(channel)
            while not stop.is_set():
                try:
                    self.ledgers[number].offer(stub, [facts.accepted() for _ in range(EVENTS)])
                except grpc.RpcError:
                    return

    def _judge(self, sink: str) -> list[Verdict]:
        server = self._server(sink).start()
        try:
            verdicts = []
            for ledger in self.ledgers:
                ledger.offer_again(server)
                verdicts.append(ledger.settle(server))
            for verdict in verdicts:
                verdict.twice = verdict.twice if sink == "sqlite" else set()
                # Each client knows its own alone.
                verdict.strange -= set().union(*(ledger.sent for ledger in self.ledgers))
            return verdicts
        finally:
            server.kill()


def pause(server: Server) -> None:
    """Stops the process, and waits until no thread of it is in the kernel any more."""
    server.process.send_signal(signal.SIGSTOP)
    tasks = pathlib.Path(f"/proc/{server.process.pid}/task")

    def states():
        return [task.joinpath("stat").read_text().rsplit(") ", 1)[1][0]
                for task in tasks.iterdir()]

    wait_until(lambda: set(states()) == {"T"}, "all threads stopped", 10, every=0.001)


@pytest.mark.timeout(3600)
def test_a_power_cut_loses_nothing_that_was_acked(folder, seed, amount, figure):
    """D17, on a disk that forgets what was not synced."""
    cuts = amount(SAMPLE, WHOLE)
    owed, failures = 0, []
    for number in range(cuts):
        verdicts = Cut(folder, number, random.Random(seed + number)).run()
        owed += sum(verdict.owed for verdict in verdicts)
        failures += [f"cut {number}, seed {seed}: {verdict.fault()}"
                     for verdict in verdicts if verdict.fault()]
    figure(f"power: {cuts} cuts, {owed:,} hits owed, {len(failures)} broke a promise")
    assert not failures, "\n".join(failures)


def test_the_judge_finds_a_server_that_does_not_sync(folder, seed, figure):
    """Planted: every fdatasync succeeds and does nothing."""
    if not library():
        pytest.skip("no C compiler here, and faults.c has to be compiled")
    found = []
    # Until one loses something: the system may write by itself what nobody syncs.
    for number in range(MOST_LIES):
        try:
            found += [verdict.fault() for verdict in
                      Cut(folder, number, random.Random(seed + number), lies=True).run()]
        except AssertionError as error:
            # Without a sync even what the database is made of may be missing.
            found.append(f"does not start: {error}".splitlines()[0])
        if any(found):
            break
    figure(f"power: without syncs: {[fault for fault in found if fault][:2]}")
    assert any(found), f"{MOST_LIES} cuts without a sync, and nothing was lost"
