"""A disk that is full or broken, a directory that is taken, an end under load."""

import collections
import json
import os
import pathlib
import random
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status

from facts import Facts
from protos import verdict as v
from server import STOP_SECONDS, binary, wait_until
from stream import Batch, Stream, owed

SMALL_DISK = "8m"
EVENTS = 20
SECONDS = 30
# The forwarder's longest pause between two tries, and some more.
RECOVERY_SECONDS = 90
MOST_REQUESTS = 400


@pytest.fixture
def facts() -> Facts:
    return Facts(random.SystemRandom().randrange(1 << 32), int(time.time()))


@pytest.fixture
def small_disk():
    """A tmpfs of its own; skipped where it cannot be mounted."""
    if os.geteuid() != 0:
        pytest.skip("a tmpfs needs root to mount")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sightline-disk-"))
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK}", "tmpfs", folder],
                           capture_output=True, text=True, check=False)
    if mount.returncode != 0:
        folder.rmdir()
        pytest.skip(f"no tmpfs can be mounted here: {mount.stderr.strip()}")
    yield folder
    # A process that has just been killed may hold it for a moment.
    wait_until(lambda: subprocess.run(["umount", folder], capture_output=True,
                                      check=False).returncode == 0, f"{folder} unmounted", 10)
    shutil.rmtree(folder, ignore_errors=True)


def fill(ballast: pathlib.Path) -> None:
    """Takes all the space that is left."""
    with ballast.open("ab", buffering=0) as file:
        for size in (64 << 10, 4 << 10):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue


def make_batch(facts: Facts, sequence: int, events: int = EVENTS) -> Batch:
    return Batch(sequence, [facts.push() for _ in range(events)])


def hits_of(facts) -> set[bytes]:
    return {identity for fact in facts for identity in fact.hits}


def send(server, batch: Batch) -> tuple[set[bytes], str]:
    """Sends one request. The hits that its ack owes us, and how it was refused ("" for not)."""
    answered = []
    with server.channel() as channel:
        stream = Stream(channel, collections.deque())
        try:
            stream.run(iter([batch]), lambda *ack: answered.append(ack), SECONDS)
        except grpc.RpcError as error:
            assert error.code() == grpc.StatusCode.UNAVAILABLE, f"{error}\n{server.log()}"
            assert retry_info(error), f"UNAVAILABLE without RetryInfo: {error}"
            return set(), "unavailable"
    assert answered, f"the stream ended without an ack\n{server.log()}"
    (acked, results), = answered
    promised = hits_of(owed(acked, results))
    others = {result.verdict for result in results} - {v.VERDICT_DUPLICATE}
    if not others:
        return promised, ""
    assert others == {v.VERDICT_RETRY_LATER}, results
    assert any(answer.HasField("retry_delay") for answer in stream.answers), "no retry_delay"
    return promised, "retry_later"


def retry_info(error: grpc.RpcError) -> error_details_pb2.RetryInfo | None:
    """The RetryInfo among a status's details."""
    status = rpc_status.from_call(error)
    for detail in status.details if status else []:
        info = error_details_pb2.RetryInfo()
        if detail.Unpack(info):
            return info
    return None


def check_stored(server, promised: set[bytes], seconds: float = RECOVERY_SECONDS) -> None:
    """Every hit that an ack promised comes to be in hits.db, and none is there twice."""

    def missing():
        return promised - {bytes(row[0]) for row in server.query("SELECT hit_id FROM hits")}

    try:
        wait_until(lambda: server.hit_count() >= len(promised) and not missing(),
                   "every acked hit in hits.db", seconds, every=0.2)
    except AssertionError as error:
        raise AssertionError(f"{error}: {len(missing())} of {len(promised)} are missing\n"
                             f"{server.log()}") from None
    (total, distinct), = server.query("SELECT count(*), count(DISTINCT hit_id) FROM hits")
    assert total == distinct


def test_a_full_disk_refuses_and_recovers(make_server, small_disk, facts, figure):
    """Clients are told to retry, nothing acked is lost, and space brings it back by itself."""
    server = make_server(directory=small_disk / "data")
    server.log_path = pathlib.Path(f"{small_disk}.stderr")
    server.start()
    promised, refusal = send(server, make_batch(facts, 1))
    assert not refusal
    ballast = small_disk / "ballast"
    refused = None
    for _ in range(MOST_REQUESTS):
        fill(ballast)
        refused = make_batch(facts, 1)
        more, refusal = send(server, refused)
        promised |= more
        if refusal:
            break
    assert refusal, f"{MOST_REQUESTS} requests were accepted on a full disk"
    assert server.process.poll() is None, f"a full disk ended the server\n{server.log()}"

    ballast.unlink()
    again = wait_until(lambda: not send_all(server, refused, promised), "accepted again",
                       RECOVERY_SECONDS, every=0.2)
    assert again and hits_of(refused.facts) <= promised
    check_stored(server, promised)
    figure(f"disk: full was answered with {refusal}; {len(promised)} acked hits, none lost")
    assert server.terminate() == 0, server.log()
    server.log_path.unlink()


@pytest.mark.parametrize("is_killed", [False, True])
def test_a_disk_that_the_journal_has_filled_recovers(make_server, small_disk, tmp_path, facts,
                                                     figure, is_killed):
    """A sink is down until the journal has taken the last page; it comes back, and all goes on,
    also in a process that starts on the full disk."""
    data = small_disk / "data"
    data.mkdir(mode=0o700)
    (data / "hits.db").symlink_to(tmp_path / "hits.db")
    server = make_server(directory=data)
    server.log_path = tmp_path / "stderr"
    server.start()
    promised, refusal = send(server, make_batch(facts, 1))
    assert not refusal
    check_stored(server, promised)
    # Whoever holds the database's write lock makes the sink unavailable.
    holder = sqlite3.connect(tmp_path / "hits.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    refused = None
    for _ in range(MOST_REQUESTS):
        refused = make_batch(facts, 1, 1000)
        more, refusal = send(server, refused)
        promised |= more
        if refusal:
            break
    assert refusal == "retry_later", refusal
    free = shutil.disk_usage(small_disk).free
    assert free <= 1 << 20, f"{free} bytes are left on the disk"
    if is_killed:
        server.kill()
    holder.execute("ROLLBACK")
    holder.close()
    if is_killed:
        server.start()
    wait_until(lambda: not send_all(server, refused, promised), "accepted again",
               RECOVERY_SECONDS, every=0.2)
    check_stored(server, promised)
    figure(f"disk: {len(promised)} hits filled it, none lost, and the journal goes on")
    assert server.terminate() == 0, server.log()


def send_all(server, batch: Batch, promised: set[bytes]) -> str:
    """Sends a request once more and notes what is promised; how it was refused."""
    more, refusal = send(server, batch)
    if not refusal:
        # A duplicate is known already, so its hits are promised as well.
        promised |= hits_of(batch.facts) | more
    return refusal


def test_a_taken_directory_is_refused(make_server, facts):
    """A second process ends with 69, and says who holds the directory; the first goes on."""
    holder = make_server().start()
    second = subprocess.run(
        [binary(), "serve", "--listen", "127.0.0.1:0", "--data-dir", holder.directory],
        capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL, check=False)
    assert second.returncode == 69, second
    assert str(holder.process.pid) in second.stderr, second.stderr
    promised, refusal = send(holder, make_batch(facts, 1))
    assert not refusal
    check_stored(holder, promised)


def test_an_end_under_load_loses_nothing(make_server, facts, figure):
    """SIGTERM while a client streams: exit 0 in time, and what was acked is there."""
    server = make_server().start()
    promised: set[bytes] = set()
    loaded = threading.Event()
    failures = []

    def acked(batch, results):
        promised.update(hits_of(owed(batch, results)))
        if batch.sequence >= 50:
            loaded.set()

    def stream():
        try:
            with server.channel() as channel:
                batches = (make_batch(facts, sequence) for sequence in range(1, 1 << 30))
                Stream(channel, collections.deque()).run(batches, acked, 120)
        except grpc.RpcError as error:
            failures.append(error)

    client = threading.Thread(target=stream)
    client.start()
    assert loaded.wait(SECONDS), f"no load after {SECONDS} s\n{server.log()}"
    started = time.monotonic()
    code = server.terminate()
    seconds = time.monotonic() - started
    client.join(SECONDS)
    assert not client.is_alive(), "the client hangs"
    assert code == 0, server.log()
    assert [error.code() for error in failures] in ([], [grpc.StatusCode.UNAVAILABLE]), failures
    figure(f"drain: exit 0 after {seconds:.1f} s of {STOP_SECONDS}, {len(promised):,} hits owed")
    server.start()
    check_stored(server, promised)


@pytest.mark.parametrize("checkpoint_milliseconds", [50, 60_000])
def test_a_failed_sync_is_the_end(make_server, facts, checkpoint_milliseconds):
    """When the disk can no longer sync, nothing more is acked, and the process exits with 74: as a
    checkpoint fails, or where none is due, as the log does."""
    if not shutil.which("strace"):
        pytest.skip("no strace here: `make bootstrap` installs it")
    server = make_server(
        f"--set=journal.checkpoint_milliseconds={checkpoint_milliseconds}").start()
    promised, refusal = send(server, make_batch(facts, 1))
    assert not refusal
    check_stored(server, promised)
    trace = server.directory.parent / "strace"
    tracer = break_syncs(server.process.pid, trace)
    try:
        check_no_ack(server, make_batch(facts, 1))
        assert server.wait(SECONDS, "to end after a failed sync") == 74, server.log()
    finally:
        # It ends with the process that it traces.
        if tracer.poll() is None:
            server.close()
        tracer.wait(10)
    server.start()
    check_stored(server, promised)


def break_syncs(pid: int, trace: pathlib.Path) -> subprocess.Popen:
    """Makes every sync of a running process fail from now on."""
    log = trace.with_suffix(".log")
    with log.open("wb") as stderr:
        tracer = subprocess.Popen(
            ["strace", "-f", "-p", str(pid), "-o", trace, "-e", "trace=fsync,fdatasync",
             "-e", "inject=fsync,fdatasync:error=EIO"], stderr=stderr)

    def text():
        return log.read_text(errors="replace").strip()

    wait_until(lambda: "attached" in text() or tracer.poll() is not None, "strace attached", 10)
    # Where it has been attached and has ended, the server has: cursors are synced soon, too.
    if "attached" not in text():
        pytest.skip(f"strace may not trace here: {text()}")
    return tracer


def check_no_ack(server, batch: Batch) -> None:
    """The request gets no ack that promises anything: an error, or RETRY_LATER for its events."""
    answered = []
    with server.channel() as channel:
        stream = Stream(channel, collections.deque())
        try:
            stream.run(iter([batch]), lambda *ack: answered.append(ack), SECONDS)
        except grpc.RpcError as error:
            assert error.code() != grpc.StatusCode.DEADLINE_EXCEEDED, server.log()
    promised = [fact for ack in answered for fact in owed(*ack)]
    assert not promised, f"{len(promised)} events were acked after a failed sync\n{server.log()}"


@pytest.mark.parametrize("limit, warns", [("1024TB", True), ("1MB", False)])
def test_limits_beyond_the_disk_are_warned_of_at_the_start(make_server, limit, warns):
    """Before the disk is full: hits.db alone may grow to more than there is, or to nothing much."""
    server = make_server("--set=journal.max_bytes=64MB", "--set=quarantine.max_bytes=1MB",
                         f"--set=sqlite.max_bytes={limit}").start()
    records = [json.loads(line) for line in server.log_path.read_text().splitlines()]
    told = [record for record in records if record["msg"].startswith("the limits exceed the disk")]
    assert len(told) == warns, told
    for record in told:
        assert record["level"] == "warning" and "the sink sqlite" in record["limits"]
        assert record["bytes"] > record["room_bytes"] > 0
