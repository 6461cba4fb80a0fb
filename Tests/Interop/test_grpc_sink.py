"""The grpc sink before real backends, the examples in Python and Go, under every fault: judged by the
backends' own files."""

import collections
import itertools
import json
import pathlib
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from concurrent import futures

import grpc
import pytest

from certificates import CLIENT, Authority
from drained import wait_until_drained
from facts import Facts
from grpc_backend import AHEAD, CLOCK_SECONDS, REASON, is_refused
from protos import ROOT
from protos import service as s
from server import binary, conformance_kit, query, wait_until
from test_configuration import CONFIGURATION, UNAVAILABLE, run
from test_kill_loses_no_ack import Client

HITS, WHOLE = 8_000, 100_000
KILLS = 5
STREAMS = 2
DRAIN_SECONDS = 300
HANG_SECONDS = 6
MISSING = 69
BACKEND = pathlib.Path(__file__).with_name("grpc_backend.py")
MOST_LINES = {"sink-go/main.go": 60, "sink-python/backend.py": 97}


class Backend:
    """One folder, and the process that takes hits into it now."""

    def __init__(self, command, folder: pathlib.Path):
        self.command, self.folder, self.port = command, folder, 0
        self.process: subprocess.Popen | None = None

    def start(self) -> "Backend":
        self.process = self.command(self)
        return self

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)

    @property
    def target(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def options(self) -> list[str]:
        return ["--set=sink=grpc", f"--set=grpc.target={self.target}", "--set=grpc.ack_seconds=3",
                "--set=grpc.connect_seconds=3"]

    @property
    def hits(self) -> collections.Counter:
        """What its file has, up to the last line that ends a message."""
        taken, read = collections.Counter(), []
        for line in (self.folder / "hits").read_bytes().splitlines(keepends=True):
            entry = json.loads(line) if line.endswith(b"\n") else {"hit": ""}
            if "hit" in entry:
                read.append(bytes.fromhex(entry["hit"]))
            else:
                taken.update(read)
                read = []
        return taken


def python(*modes: str):
    """The example in Python, which a mode changes."""
    def start(backend: Backend) -> subprocess.Popen:
        (backend.folder / "port").unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, str(BACKEND), str(backend.folder), str(backend.port), *modes],
            stdin=subprocess.DEVNULL)
        wait_until((backend.folder / "port").exists, "a backend that listens")
        backend.port = int((backend.folder / "port").read_text())
        return process
    return start


@pytest.fixture(scope="module")
def go():
    """The example in Go, built with Debian's packages; or no test."""
    folder = ROOT / ".build" / "clients"
    build = subprocess.run([ROOT / "Scripts" / "build-clients", folder], capture_output=True,
                           text=True)
    if build.returncode == MISSING:
        pytest.skip(build.stderr.strip())
    assert build.returncode == 0, build.stderr

    def start(backend: Backend) -> subprocess.Popen:
        process = subprocess.Popen(
            [folder / "sink-go", str(backend.folder / "hits"), backend.target],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line = process.stdout.readline()
        assert line.startswith("listening on port "), line
        backend.port = int(line.split()[-1])
        return process
    return start


@pytest.fixture
def make_backend():
    """Makes backends in folders of their own, and ends them after the test."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-grpc-"))
    made: list[Backend] = []

    def make(command) -> Backend:
        folder = home / str(len(made))
        folder.mkdir()
        made.append(Backend(command, folder))
        return made[-1].start()

    yield make
    for backend in made:
        backend.kill()
    shutil.rmtree(home, ignore_errors=True)


def letters(server) -> dict[bytes, str]:
    rows = query(server.directory / "dead_letters.db", "SELECT hit_id, reason FROM dead_letters")
    found = {bytes(row["hit_id"]): row["reason"] for row in rows}
    assert len(found) == len(rows), "a hit has two dead letters"
    return found


def faults(backend: Backend, moments: random.Random):
    """What happens to the backend, in turn and without an end."""
    def pause(longest: float) -> None:
        # The random moment is the test: this waits for nothing else.
        threading.Event().wait(moments.uniform(0, longest))

    def killed() -> None:
        pause(0.5)
        backend.kill()
        pause(0.5)
        backend.start()

    def hanging() -> None:
        pause(0.5)
        backend.process.send_signal(signal.SIGSTOP)
        threading.Event().wait(HANG_SECONDS)
        backend.process.send_signal(signal.SIGCONT)

    return itertools.cycle([killed, hanging, killed])


def send(server, clients, requests: int, fault) -> None:
    """Sends requests on all streams while the fault happens."""
    threads = [threading.Thread(target=client.run, args=(
        server, itertools.islice(client.batches(), requests), threading.Event(), 300))
        for client in clients]
    for thread in threads:
        thread.start()
    fault()
    for thread in threads:
        thread.join(300)
        assert not thread.is_alive(), f"a client hangs\n{server.log()}"
    for client in clients:
        assert client.failure is None, f"{client.failure!r}\n{server.log()}"


def send_under_faults(server, clients, backend, hits: int, moments) -> None:
    """Delivers at least so many hits, while both are killed and the backend hangs."""
    happening = faults(backend, moments)
    for number in range(KILLS):
        server.start()

        def fault() -> None:
            next(happening)()
            if number < KILLS:  # Ours too, at any moment of the delivery.
                threading.Event().wait(moments.uniform(0, 0.5))
                server.kill()

        share = hits // (KILLS + 1) // STREAMS // 50
        send(server, clients, max(1, share), fault)
    server.start()
    for client in clients:
        client.run(server, iter(()), threading.Event(), 300)
        assert client.failure is None and not client.pending, repr(client.failure)
    while sum(len(client.owed) for client in clients) < hits:
        send(server, clients, 10 + hits // 2000, next(happening))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("modes", ["python", "go"])
def test_hits_come_once_under_every_fault(make_server, make_backend, request, figure, amount, seed,
                                          modes):
    """The backend killed and back, hanging, refusing every tenth hit, busy; ours killed five times:
    each acked hit is taken or refused once, and the dead letters are the refused ones."""
    command = python("tenth", "busy") if modes == "python" else request.getfixturevalue("go")
    backend = make_backend(command)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server(*backend.options)
    send_under_faults(server, clients, backend, amount(HITS, WHOLE), moments)
    wait_until_drained(server, "grpc")
    assert server.terminate() == 0, server.log()
    taken, kept = backend.hits, letters(server)
    owed = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    lost = owed - taken.keys() - kept.keys()
    twice = sum(taken.values()) - len(taken)
    figure(f"grpc, {modes}, after {KILLS} kills of ours: {len(owed):,} hits owed, {len(lost)} lost,"
           f" {twice} twice, {len(kept):,} dead letters")
    assert not lost, f"{len(lost)} hits are lost, e.g. {next(iter(lost)).hex()}"
    assert twice == 0 and not taken.keys() & kept.keys()
    assert taken.keys() | kept.keys() <= sent
    if modes == "python":
        assert {hit for hit in taken if is_refused(hit)} == set()
        assert all(is_refused(hit) for hit in kept) and len(kept) > len(owed) / 20
        assert set(kept.values()) == {f"the backend refused it: INVALID: {REASON}"}
    else:
        assert not kept


def test_a_backend_that_lost_its_file_gets_what_the_journal_keeps(make_server, make_backend, seed):
    """A file that goes while the server runs, and one that goes while it does not."""
    backend = make_backend(python())
    server = make_server(*backend.options, "--set=journal.retain_seconds=3600")
    client = Client(0, seed)
    for is_running in (True, False):
        server.start()
        client.run(server, itertools.islice(client.batches(), 5), threading.Event(), 60)
        assert client.failure is None and client.owed
        wait_until_drained(server, "grpc")
        if not is_running:
            assert server.terminate() == 0
        backend.kill()
        (backend.folder / "hits").unlink()
        backend.start()
        if not is_running:
            server.start()
        client.run(server, itertools.islice(client.batches(), 1), threading.Event(), 60)
        wait_until(lambda: backend.hits.keys() >= client.owed, "all hits once more", DRAIN_SECONDS)
        assert set(backend.hits.values()) == {1}
        assert "the sink has lost hits" in server.log_path.read_text()
        assert server.terminate() == 0, server.log()


def send_each(server, client, requests: int) -> None:
    """Each in a group of its own."""
    for batch in itertools.islice(client.batches(), requests):
        client.run(server, iter([batch]), threading.Event(), 60)
        assert client.failure is None and not client.pending, repr(client.failure)


def wait_until_stopped(server) -> None:
    wait_until(lambda: "the sink is paused" in server.log_path.read_text(), "the sink to stop")
    assert "whose newest group is" in server.log_path.read_text()


def test_a_backend_that_is_ahead_of_the_journal_stops_its_sink(make_server, make_backend, seed):
    """It says that it has hits which the journal does not have: none is called delivered."""
    backend = make_backend(python("ahead"))
    server = make_server(*backend.options)
    client = Client(0, seed)
    server.start()
    send_each(server, client, 3)
    wait_until_stopped(server)
    assert f"{AHEAD}/0" in server.log_path.read_text() and not backend.hits
    backend.kill()
    backend.command = python()
    backend.start()
    resume = subprocess.run(
        [binary(), "sinks", "resume", "grpc", "--data-dir", server.directory], text=True,
        capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
    assert resume.returncode == 0, resume
    wait_until_drained(server, "grpc")
    assert backend.hits.keys() == client.owed and set(backend.hits.values()) == {1}
    assert server.terminate() == 0, server.log()


@pytest.mark.parametrize("has_new_id", [True, False])
def test_a_restored_directory_leaves_out_none_of_its_hits(make_server, make_backend, seed,
                                                          has_new_id):
    """The backend has later groups than the copy: the sink stops, until the journal has a new id, as
    docs/operations.md has it, or has come beyond the backend's position with other hits."""
    backend = make_backend(python())
    server = make_server(*backend.options)
    before, after = Client(0, seed), Client(1, seed)
    copy = server.directory.with_name("copy")
    for requests in (2, 5):
        server.start()
        send_each(server, before, requests)
        wait_until_drained(server, "grpc")
        assert server.terminate() == 0, server.log()
        if not copy.exists():
            shutil.copytree(server.directory, copy)
    shutil.rmtree(server.directory)
    copy.rename(server.directory)
    server.start()
    send_each(server, after, 1)
    wait_until_stopped(server)
    send_each(server, after, 9)
    assert server.terminate() == 0, server.log()
    if has_new_id:
        with sqlite3.connect(server.directory / "journal" / "checkpoint.db") as checkpoint:
            checkpoint.execute(
                "UPDATE journal SET identity = lower(hex(randomblob(16))), checksum = NULL")
        checkpoint.close()
    server.start()
    wait_until_drained(server, "grpc")
    assert before.owed | after.owed <= backend.hits.keys()
    assert set(backend.hits.values()) == {1}
    assert ("that group has other hits" in server.log_path.read_text()) != has_new_id
    assert server.terminate() == 0, server.log()


def test_refused_hits_come_again_by_a_replay(make_server, make_backend, seed):
    """In a journal of the replay's own, beside what is delivered meanwhile."""
    backend = make_backend(python("tenth"))
    server = make_server(*backend.options)
    client = Client(0, seed)
    server.start()
    client.run(server, itertools.islice(client.batches(), 10), threading.Event(), 60)
    assert client.failure is None
    wait_until_drained(server, "grpc")
    assert letters(server).keys() | backend.hits.keys() == client.owed and letters(server)
    backend.kill()
    backend.command = python()
    backend.start()
    replay = subprocess.run(
        [binary(), "replay", "--data-dir", server.directory, *backend.options], text=True,
        capture_output=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
    assert replay.returncode == 0, replay
    client.run(server, itertools.islice(client.batches(), 1), threading.Event(), 60)
    wait_until_drained(server, "grpc")
    assert backend.hits.keys() == client.owed and set(backend.hits.values()) == {1}
    assert not letters(server)


def test_an_exception_that_names_a_recipient_is_neither_logged_nor_shown(
        make_server, make_backend, seed):
    backend = make_backend(python("raises"))
    server = make_server(*backend.options, "--set=log.level=trace").start()
    event = Facts(seed, int(time.time()), space=9).push().event
    event.subject_id = f"subject-{random.randbytes(12).hex()}"
    with server.channel() as channel:
        answer = server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[event]), timeout=30)
    assert answer.tally.accepted == 1

    def last_error() -> str | None:
        with urllib.request.urlopen(f"{server.admin}stats.json", timeout=10) as page:
            text = page.read().decode()
        assert event.subject_id not in text
        return json.loads(text)["sinks"][0].get("last_error")

    wait_until(last_error, "the failure to be shown")
    # The code stands there, in our words.
    assert "the backend" in last_error() and "unknown" in last_error()
    assert "unknown" in server.log_path.read_text()
    assert event.subject_id not in server.log_path.read_text()


@pytest.mark.parametrize("is_known", [True, False])
def test_tls_shows_both_certificates_and_the_key(make_server, folder, seed, is_known):
    """The backend's certificate has to be its host's, ours is shown, and no log has the key."""
    import grpc_backend  # pylint: disable=import-outside-toplevel
    authority = Authority()
    (folder / "roots.pem").write_bytes(authority.pem)
    identity = authority.issue(hosts=("localhost",) if is_known else ("other.example",))
    shown = authority.issue(usage=CLIENT).write(folder, "client")
    secret = f"secret-{random.randbytes(16).hex()}"
    (folder / "key").write_text(f"{secret}\n")
    seen = []

    class Backend(grpc_backend.example.Backend):  # pylint: disable=redefined-outer-name
        """Notes who calls."""

        def Deliver(self, requests, context):
            seen.append((dict(context.invocation_metadata()).get("authorization"),
                         context.peer_identities() is not None))
            yield from super().Deliver(requests, context)

    backend = grpc.server(futures.ThreadPoolExecutor(8))
    service = Backend(str(folder / "hits"))
    grpc_backend.example.pb_grpc.add_SinkServiceServicer_to_server(service, backend)
    port = backend.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(
        [(identity.key_pem, identity.pem)], authority.pem, require_client_auth=True))
    backend.start()
    server = make_server(
        "--set=sink=grpc", f"--set=grpc.target=localhost:{port}", "--set=grpc.tls.mode=tls",
        f"--set=grpc.tls.roots={folder}/roots.pem", f"--set=grpc.tls.certificate={shown[0]}",
        f"--set=grpc.tls.key={shown[1]}", f"--set=grpc.key_file={folder}/key",
        "--set=log.level=trace")
    try:
        server.start()
        client = Client(0, seed)
        client.run(server, itertools.islice(client.batches(), 1), threading.Event(), 60)
        assert client.failure is None and client.owed
        if is_known:
            wait_until_drained(server, "grpc")
            assert set(seen) == {(f"Bearer {secret}", True)}
        else:
            wait_until(lambda: "the sink is unavailable" in server.log_path.read_text(),
                       "a reason in the log")
            assert not seen
        assert server.terminate() == 0 or not is_known
        assert secret not in server.log_path.read_text()
    finally:
        backend.stop(None)


def test_a_wrong_configuration_stops_the_start(folder):
    """Each exits with 78 before anything listens, and says what is wrong and how to mend it."""
    key = folder / "key"
    key.write_text("hidden key\n")
    rows = [
        ([], 'grpc.target is "", but the grpc sink needs it, as in backend.example.com:443'),
        (["grpc.target=example.com"], "has to be a host and a port from 1 to 65535"),
        (["grpc.target=example.com:0"], "has to be a host and a port from 1 to 65535"),
        (["grpc.target=https://example.com:1"], "has to be a host and a port from 1 to 65535"),
        (["grpc.target=a.example:1", "grpc.tls.mode=plaintext"], "set grpc.allow_insecure to true"),
        (["grpc.target=a.example:1", "grpc.tls.mode=on"], "grpc.tls.mode is"),
        (["grpc.target=localhost:1", "grpc.tls.roots=a.pem"], "set grpc.tls.mode to tls"),
        (["grpc.target=a.example:1", "grpc.tls.certificate=a.pem"], "but needs grpc.tls.key too"),
        (["grpc.target=a.example:1", "grpc.tls.key=a.key"], "but needs grpc.tls.certificate too"),
        (["grpc.target=a.example:1", f"grpc.tls.roots={key}"], "but has to be a PEM file"),
        (["grpc.target=localhost:1", f"grpc.key_file={key}"], "hold one line with a key"),
        (["grpc.target=localhost:1", f"grpc.key_file={folder}/none"], "grpc.key_file is"),
        (["grpc.target=localhost:1", "grpc.window_bytes=4096"], "at least grpc.message_bytes"),
        (["grpc.target=localhost:1", "grpc.ack_seconds=0"], "grpc.ack_seconds is"),
    ]
    for number, (settings, words) in enumerate(rows):
        data = folder / str(number)
        answer = run("serve", "--sink", "grpc", "--data-dir", str(data), "--listen", "127.0.0.1:0",
                     *(f"--set={setting}" for setting in settings))
        assert answer.returncode == CONFIGURATION, (settings, answer)
        assert words in answer.stderr and "hidden" not in answer.stderr, (settings, answer.stderr)
        assert answer.stdout == "", answer


def check(target: str) -> subprocess.CompletedProcess:
    return subprocess.run([conformance_kit(), "backend", "--target", target], text=True,
                          capture_output=True, timeout=300, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("name", ["python", "go"])
def test_the_examples_keep_to_the_protocol(make_backend, request, name):
    """Nothing is wrong with them, and a hit that lacks everything is refused and told of."""
    command = python() if name == "python" else request.getfixturevalue("go")
    backend = make_backend(command)
    answer = check(backend.target)
    assert answer.returncode == 0 and "WRONG" not in answer.stdout, answer
    assert answer.stdout.count("ok ") == 12
    for words in ("It refused nothing", "It does not name SINK_CAPABILITY_ERASURE"):
        assert (words in answer.stdout) == (name == "go"), answer.stdout
    assert "It says that it had nothing" not in answer.stdout


@pytest.mark.parametrize(("mode", "sentence"), [
    ("early", "It acknowledges before it stores: it had acknowledged 3/4"),
    ("forgets", "It has forgotten its position: it had acknowledged 3/4"),
    ("global", "it ignores the journal's id, and hits would be left out"),
    ("keeps", "the first time it left some"),
    ("grabs", "hits of a recipient whom nobody knows: they were of somebody else"),
    ("cannot", "It cannot forget a recipient: the disk is read-only"),
])
def test_a_wrong_backend_is_told_of_in_words(make_backend, mode, sentence):
    answer = check(make_backend(python(mode)).target)
    assert answer.returncode == 1 and answer.stdout.count("WRONG") >= 1, answer
    assert sentence in answer.stdout, answer.stdout


def test_a_backend_that_commits_by_time_is_told_what_that_costs(make_backend):
    """Nothing is wrong with it, but it is slow: an ack after a second lets a window of hits through."""
    answer = check(make_backend(python("clock")).target)
    assert answer.returncode == 0, answer
    told = re.search(r"It waits: the ack of a message with awaits_ack took ([0-9]+) ms: with a "
                     r"window of 16384 hits, at most ([0-9]+) hits/s", answer.stdout)
    assert told, answer.stdout
    milliseconds, rate = map(int, told.groups())
    assert milliseconds >= CLOCK_SECONDS * 1000 and rate <= 16_384 / CLOCK_SECONDS


def test_a_backend_that_is_not_there_is_not_called_wrong():
    answer = check("127.0.0.1:9")
    assert answer.returncode == UNAVAILABLE and "no backend answers" in answer.stderr, answer


def test_the_examples_are_short():
    """Few lines that say something: no blank lines, comments, imports or closing brackets."""
    empty = re.compile(r'\s*(//.*|#.*|[])}"]*|package .*|import .*|from .*|".*"|pb ".*")')
    for path, most in MOST_LINES.items():
        text = re.sub(r'""".*?"""', "", (ROOT / "Examples" / path).read_text(), flags=re.DOTALL)
        lines = [line for line in text.splitlines() if not empty.fullmatch(line)]
        assert len(lines) <= most, (path, len(lines))
