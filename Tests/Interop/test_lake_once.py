"""A lake has each hit once, whatever is killed, hangs or fills up, while it compacts and erases:
judged by readers that have no code of ours, by the facts that were acked and by hits.db."""

import collections
import json
import os
import pathlib
import random
import subprocess
import threading
import time

import pytest

import lake
from drained import wait_until_drained
from lake import SINK, Lake, Peer, asked
from protos import record as r
from server import binary, wait_until
from test_full_or_broken_disk import fill
from test_grpc_sink import STREAMS, send_under_faults
from test_kill_loses_no_ack import Client
from test_lake_queries import opening

HITS, WHOLE = 6_000, 100_000
BENCH, WHOLE_BENCH = 20_000, 2_000_000
KILLS, WHOLE_KILLS = 2, 10
# Small, so that it fills within seconds.
DISK = "24m"
BUSY = ("--publish-seconds=1", "--tidy-seconds=1", "--retention-hours=0")
COUNT = "SELECT count(*) AS hits, count(DISTINCT hit_id) AS ids FROM hits"


@pytest.fixture
def make_lake(tmp_path):
    """Makes lakes in folders of their own, and ends them after the test."""
    made: list[Lake] = []

    def make(*options: str, table=None, state=None, **others) -> Lake:
        home = tmp_path / f"lake{len(made)}"
        home.mkdir()
        made.append(Lake(table or home / "lake", state or home / "state", *options, **others))
        return made[-1]

    yield make
    for one in made:
        one.close()


def record(number: int, tenant: str = "elsewhere", subject: str = "s") -> r.TrackingRecord:
    """A hit as a server delivers it, whose id is its number."""
    made = r.TrackingRecord(hit_id=number.to_bytes(16, "big"), kind=3, campaign_action=1,
                            delivery_id=f"{number % 97:x}", broadlog_id=f"h{number:x}",
                            tenant=tenant)
    made.receive_time.GetCurrentTime()
    made.event.app_id, made.event.subject_id = "com.example.shop", subject
    made.event.track_action.delivery_id = made.delivery_id
    made.event.track_action.broadlog_id = made.broadlog_id
    made.event.track_action.action = 1
    return made


def check(folder: pathlib.Path, owed: set[bytes], sent: set[bytes], figure, what: str) -> None:
    """The table `lake` of a folder has what is owed, each hit once, by three readers."""
    table = folder / "lake"
    rows = lake.columns(table, "hit_id", "tenant").to_pylist()
    stored = collections.Counter(row["hit_id"] for row in rows if row["tenant"] == "default")
    lost = owed - stored.keys()
    twice = [identity for identity, count in stored.items() if count > 1]
    strange = stored.keys() - sent
    figure(f"{what}: {len(owed):,} hits owed, {len(lost)} lost, {len(twice)} twice,"
           f" {len(strange)} never sent")
    assert not lost, f"{len(lost)} acked hits are lost, e.g. {next(iter(lost)).hex()}"
    assert not twice, f"{len(twice)} hits are there twice, e.g. {twice[0].hex()}"
    assert not strange, f"{len(strange)} hits that nobody sent"
    for engine, mark in (("duckdb", "to_pyarrow_dataset"), ("clickhouse", "chdb")):
        [[count]] = [asked(folder, engine, [opening(mark)], [COUNT])]
        assert count == [[len(rows), len(rows)]], (engine, count)


class Meanwhile:
    """Hits of another journal, and recipients who are forgotten, until the end."""

    def __init__(self, own: Lake):
        self.lake, self.ending = own, threading.Event()
        self.acked: set[int] = set()
        self.erased: set[int] = set()
        self.broken: list[str] = []
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self.run)

    def __enter__(self) -> "Meanwhile":
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.ending.set()
        self.thread.join(120)
        assert not self.thread.is_alive() and self.failure is None, self.failure

    def run(self) -> None:
        sequence = 0
        while not self.ending.is_set():
            try:
                with Peer(self.lake, "another") as peer:
                    durable = peer.welcome.durable.sequence
                    assert durable in (sequence, sequence + 1), (durable, sequence)
                    self.acked |= {durable} - {0}
                    sequence = durable
                    while not self.ending.wait(0.1):
                        # The odd ones are erased at once.
                        subject = f"meanwhile-{sequence + 1}"
                        peer.deliver(sequence + 1, [record(sequence + 1, subject=subject)])
                        sequence += 1
                        self.acked.add(sequence)
                        if sequence % 2:
                            erased = peer.erase("elsewhere", subject)
                            assert not erased.failure, erased
                            self.erased.add(sequence)
            except (AssertionError, lake.grpc.RpcError) as error:
                if isinstance(error, AssertionError) and "ended before" not in str(error):
                    self.failure = error
                    return
                # It was killed.
                self.broken.append(repr(error)[:200])
                self.ending.wait(0.3)


@pytest.mark.timeout(3600)
def test_each_acked_hit_is_there_once_whatever_dies(make_server, make_lake, figure, amount, seed):
    """The lake killed and back, and hanging; the server killed; compaction each second, and
    recipients of another tenant forgotten meanwhile."""
    own = make_lake(*BUSY).start()
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server(own.sinks(ack_seconds=3))
    with Meanwhile(own) as meanwhile:
        send_under_faults(server, clients, own, amount(HITS, WHOLE), moments)
        wait_until_drained(server, SINK)
    assert server.terminate() == 0, server.log()
    assert own.terminate() == 0, own.log()
    owed = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    check(own.table.parent, owed, sent, figure,
          f"after kills, {len(meanwhile.erased)} erasures, {len(meanwhile.broken)} broken streams")
    rows = lake.columns(own.table, "hit_id", "tenant").to_pylist()
    others = [int.from_bytes(row["hit_id"], "big") for row in rows if row["tenant"] == "elsewhere"]
    # Of a question that a kill left without an answer, the hit may be there or not.
    assert len(set(others)) == len(others) and meanwhile.erased
    assert {number for number in meanwhile.acked if number % 2 == 0} <= {*others}
    assert {*others} <= meanwhile.acked - meanwhile.erased


class Load:
    """`sightline bench`, again and again; hits.db of the same server is the oracle."""

    def __init__(self, server, events: int):
        self.server, self.events = server, events
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        while not self.ending.is_set():
            process = subprocess.Popen(
                [binary(), "bench", "--target", self.server.target, "--events", str(self.events),
                 "--mix", "real", "--yes", "--wait", "5"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while process.poll() is None:
                if self.ending.wait(0.1):
                    process.kill()
            process.wait()

    def stop(self) -> None:
        self.ending.set()
        self.thread.join(60)


@pytest.mark.timeout(7200)
def test_a_load_is_there_once_after_kills_of_both(make_server, make_lake, figure, amount, seed):
    """Two million with --whole, and ten kills of each side."""
    count = amount(BENCH, WHOLE_BENCH)
    kills = KILLS if count < WHOLE_BENCH else WHOLE_KILLS
    own = make_lake("--publish-seconds=2", "--tidy-seconds=5").start()
    moments = random.Random(seed)
    server = make_server(own.sinks({"type": "sqlite"})).start()
    load = Load(server, max(count // (2 * kills + 1), 1))
    begun = time.monotonic()
    try:
        for number in range(1, 2 * kills + 1):
            share = count * number // (2 * kills + 1)
            wait_until(lambda: server.hit_count() >= share, f"{share} hits", 600)
            # The random moment is the test: this waits for nothing else.
            threading.Event().wait(moments.uniform(0, 1))
            victim = (server, own)[number % 2]
            victim.kill()
            victim.start()
        wait_until(lambda: server.hit_count() >= count, f"{count} hits", 600)
    finally:
        load.stop()
    wait_until_drained(server, "sqlite", SINK)
    seconds = time.monotonic() - begun
    assert server.terminate() == 0, server.log()
    assert own.terminate() == 0, own.log()
    stored = {bytes(row[0]) for row in server.query("SELECT hit_id FROM hits")}
    check(own.table.parent, stored, stored, figure,
          f"after {kills} kills of each side in {seconds:.0f} s")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("full", ["state", "lake"])
def test_a_full_disk_loses_nothing(make_server, make_lake, tmp_path, figure, seed, full):
    """Of the staged hits, or of the table: the sink waits, and goes on by itself."""
    if os.geteuid() != 0:
        pytest.skip("a tmpfs needs root to mount")
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk],
                      capture_output=True, check=False).returncode:
        pytest.skip("no tmpfs can be mounted here")
    try:
        places = {"table": tmp_path / "lake", "state": tmp_path / "state"}
        places["table" if full == "lake" else "state"] = disk / full
        own = make_lake("--publish-seconds=1", **places).start()
        client = Client(0, seed)
        server = make_server(own.sinks()).start()
        send(server, client, 5)
        wait_until_drained(server, SINK)
        fill(disk / "ballast")
        send(server, client, 40)
        # It meets the full disk, and says so.
        wait_until(lambda: failures(own) or own.process.poll() is not None, "a failure to be told")
        assert own.process.poll() is None, own.log()
        send(server, client, 5)
        (disk / "ballast").unlink()
        wait_until_drained(server, SINK)
        assert server.terminate() == 0, server.log()
        assert own.terminate() == 0, own.log()
        check(own.table.parent, client.owed, client.sent, figure, f"after a full disk of {full}")
    finally:
        own.close()
        wait_until(lambda: subprocess.run(["umount", disk], capture_output=True, check=False
                                          ).returncode == 0, "the disk unmounted", 10)


def failures(own: Lake) -> list[dict]:
    """Log lines that are warnings or worse. A library may print what is no line of ours."""
    lines = own.log_path.read_text().splitlines(keepends=True)
    return [line for line in map(json.loads, (text for text in lines if text.startswith("{")
                                              and text.endswith("}\n")))
            if line["level"] in ("warning", "error")]


def send(server, client: Client, requests: int) -> None:
    batches = (batch for batch, _ in zip(client.batches(), range(requests)))
    client.run(server, batches, threading.Event(), 60)
    assert client.failure is None and not client.pending, repr(client.failure)
