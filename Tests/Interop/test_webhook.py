"""The webhook sink before a receiver that the libraries of Standard Webhooks and CloudEvents verify
with, while both are killed."""

import base64
import collections
import itertools
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import pytest

from certificates import Authority
from drained import wait_until_drained
from facts import Facts
from server import query, wait_until
from test_credentials import KeysFile, bearer
from test_kill_loses_no_ack import Client, kill_under_load, resend_all
from test_quarantine import send as record
from test_sinks import listed
from test_terminal_commands import run
from webhook_receiver import DROP, LOSE, REASON, SLOW, STALL, is_refused

ROUNDS, WHOLE = 4, 50
STREAMS = 2
# A request of the client is about 60 hits: 100,000 with --whole.
FAULTY_ROUNDS, WHOLE_FAULTY_ROUNDS, REQUESTS = 4, 170, 10
SHARES = {"503": 0.03, "507": 0.01, "429": 0.002, "302": 0.01, "404": 0.01, STALL: 0.002,
          DROP: 0.01, LOSE: 0.01, SLOW: 0.01}
MAX_HITS = 20
# What a kill of the server may send again: what was under way, and since the last checkpoint.
MOST_REPEATED = 300
RECEIVER = pathlib.Path(__file__).with_name("webhook_receiver.py")


def new_secret() -> str:
    return f"whsec_{base64.b64encode(random.randbytes(32)).decode()}\n"


def write(path: pathlib.Path, text: str) -> None:
    """Writes a file anew, so that nobody reads a part of it."""
    made = path.with_suffix(".new")
    made.write_text(text)
    made.rename(path)


class Receiver:
    """One folder, and the process that receives into it now."""

    def __init__(self, folder: pathlib.Path, *identity: str, scheme: str = "http"):
        self.folder, self.identity, self.scheme = folder, identity, scheme
        self.secret = folder / "secret"
        self.secret.write_text(new_secret())
        self.port = 0
        self.process: subprocess.Popen | None = None

    def start(self) -> "Receiver":
        (self.folder / "port").unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, str(RECEIVER), str(self.folder), str(self.port), *self.identity],
            stdin=subprocess.DEVNULL)
        wait_until((self.folder / "port").exists, "a receiver that listens")
        self.port = int((self.folder / "port").read_text())
        return self

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)

    @property
    def options(self) -> list[str]:
        return ["--set=sink=webhook", f"--set=webhook.secret_file={self.secret}",
                f"--set=webhook.url={self.scheme}://localhost:{self.port}/hits",
                "--set=webhook.allow=localhost"]

    def noted(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text().splitlines() if path.exists() else []

    def received(self) -> int:
        """About how many hits were taken or refused."""
        return sum((self.folder / name).stat().st_size // 33 for name in ("taken", "refused")
                   if (self.folder / name).exists())

    def ids(self, name: str) -> collections.Counter:
        # A kill may leave half a line; its request was not answered.
        return collections.Counter(
            bytes.fromhex(line) for line in self.noted(name) if len(line) == 32)


@pytest.fixture
def receiver():
    """A receiver over plain HTTP, running."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sightline-webhook-"))
    made = Receiver(folder)
    try:
        yield made.start()
    finally:
        made.kill()
        shutil.rmtree(folder, ignore_errors=True)


def letters(server) -> dict[bytes, str]:
    rows = query(server.directory / "dead_letters.db", "SELECT hit_id, reason FROM dead_letters")
    found = {bytes(row["hit_id"]): row["reason"] for row in rows}
    assert len(found) == len(rows), "a hit has two dead letters"
    return found


@pytest.mark.timeout(3600)
def test_nothing_is_lost_while_both_are_killed(make_server, receiver, figure, amount, seed):
    """Every acked hit is taken or refused, each at least once; the dead letters are exactly the
    refused ones; every request that ever came was right."""
    rounds = amount(ROUNDS, WHOLE)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    # A fast server has more refused hits in 50 rounds than are kept by default.
    server = make_server(*receiver.options, "--set=dead_letters.max_rows=100000000")
    for number in range(rounds):
        ending = threading.Timer(moments.uniform(0, 1), receiver.kill)
        ending.start()
        kill_under_load(server, clients, moments, f"round {number}, seed {seed}")
        ending.join()
        receiver.kill()
        receiver.start()
    resend_all(server, clients)
    wait_until_drained(server, "webhook")
    assert server.terminate() == 0, server.log()
    check(server, receiver, clients, figure, f"{rounds} kills of both")


def check(server, receiver, clients, figure, where: str) -> int:
    """Judges by the receiver's files; returns how many hits came again."""
    taken, refused, kept = receiver.ids("taken"), receiver.ids("refused"), letters(server)
    owed = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    lost = owed - taken.keys() - refused.keys()
    repeats = sum((taken + refused).values()) - len(taken) - len(refused)
    figure(f"webhook after {where}: {len(owed):,} hits owed, {len(lost)} lost,"
           f" {len(refused):,} refused, {len(kept):,} dead letters, {repeats:,} repeats")
    for name in ("faults", "unverified"):
        assert not receiver.noted(name), receiver.noted(name)[:3]
    assert not lost, f"{len(lost)} hits are lost, e.g. {next(iter(lost)).hex()}"
    assert taken.keys() | refused.keys() <= sent
    assert kept.keys() == refused.keys()
    assert all(is_refused(identity) for identity in kept) and (
        len(kept) > len(owed) / 20 or len(owed) < 2000)
    assert set(kept.values()) == {f"the receiver refused it: {REASON}"}
    secret = receiver.secret.read_text().strip()
    log = server.log_path.read_text()
    assert secret not in log and "/hits" not in log
    return repeats


@pytest.mark.timeout(3600)
def test_nothing_is_lost_through_every_kind_of_failure(make_server, receiver, figure, amount, seed):
    """Statuses, redirects, stalled sockets, lost and late answers, while either side is killed: a
    hit comes twice only where its answer was lost."""
    rounds = amount(FAULTY_ROUNDS, WHOLE_FAULTY_ROUNDS)
    every, moments, kills = max(1, rounds // 10), random.Random(seed), 0
    receiver.kill()
    (receiver.folder / "shares").write_text(json.dumps(SHARES))
    receiver.start()
    client = Client(0, seed)
    server = make_server(*receiver.options, "--set=webhook.timeout_seconds=2",
                         f"--set=webhook.max_hits={MAX_HITS}", "--set=journal.group_bytes=1",
                         "--set=journal.checkpoint_milliseconds=1").start()
    for number in range(rounds):
        known = receiver.received() + moments.randrange(1, REQUESTS * 40)
        send(server, client)
        if number % every:
            continue
        wait_until(lambda known=known: receiver.received() >= known, "deliveries", 120)
        kills += 1
        (server if number // every % 2 else receiver).kill()
        (server if number // every % 2 else receiver).start()
    wait_until_drained(server, "webhook")
    assert server.terminate() == 0, server.log()
    failed = collections.Counter(receiver.noted("failed"))
    del failed[""]
    figure(f"webhook: {dict(failed)}")
    repeats = check(server, receiver, [client], figure, f"{kills} kills")
    assert failed.keys() >= {"503", DROP, LOSE}
    assert repeats <= MAX_HITS * (failed[LOSE] + failed[SLOW]) + MOST_REPEATED * kills


def send(server, client, requests: int = REQUESTS) -> None:
    """Sends some requests, and waits until all are acked."""
    client.run(server, itertools.islice(client.batches(), requests), threading.Event(), 60)
    assert client.failure is None, f"{client.failure!r}\n{server.log()}"


def test_a_secret_is_changed_without_a_request_that_fails(make_server, receiver, figure, seed):
    """Both sign while it is changed; one that is not the receiver's delivers nothing and loses
    nothing."""
    old, new = receiver.secret.read_text(), new_secret()
    accepted = receiver.folder / "accepted"
    client, server = Client(0, seed), make_server(*receiver.options).start()
    for known, signed in [(old, old), (old, old + new), (new, old + new), (new, new)]:
        write(receiver.secret, signed)
        write(accepted, known)
        send(server, client, 2)
        wait_until_drained(server, "webhook")
        assert not receiver.noted("unverified")
    write(receiver.secret, old)
    send(server, client, 2)
    wait_until(lambda: receiver.noted("unverified"), "a request with the wrong secret")
    wait_until(lambda: "the receiver answered 401" in server.log(), "a reason in the log")
    write(receiver.secret, new)
    wait_until_drained(server, "webhook")
    assert server.terminate() == 0, server.log()
    (receiver.folder / "unverified").unlink()
    check(server, receiver, [client], figure, "a changed secret")
    log = server.log_path.read_text()
    assert old.strip() not in log and new.strip() not in log


@pytest.mark.parametrize("seconds", [-600, 600])
def test_a_wrong_clock_delays_and_loses_nothing(make_server, receiver, figure, seed, seconds):
    write(receiver.folder / "shift", str(seconds))
    client, server = Client(0, seed), make_server(*receiver.options).start()
    send(server, client, 2)
    wait_until(lambda: "the receiver answered 401" in server.log(), "a reason in the log")
    assert "too old" in str(receiver.noted("unverified")) or seconds < 0
    assert not receiver.received()
    (receiver.folder / "shift").unlink()
    wait_until_drained(server, "webhook")
    assert server.terminate() == 0, server.log()
    (receiver.folder / "unverified").unlink()
    check(server, receiver, [client], figure, f"a clock that was {seconds} s wrong")


def test_410_pauses_the_sink_until_it_is_resumed(make_server, receiver, figure, seed):
    receiver.kill()
    (receiver.folder / "shares").write_text(json.dumps({"410": 1}))
    receiver.start()
    client, server = Client(0, seed), make_server(*receiver.options).start()
    send(server, client, 2)
    row = wait_until(lambda: (rows := listed(server))["webhook"]["is_paused"] and rows["webhook"],
                     "the sink to be paused")
    assert "the receiver answered 410" in json.dumps(row), row
    assert [line for line in receiver.noted("failed") if line] == ["410"]
    receiver.kill()
    (receiver.folder / "shares").unlink()
    receiver.start()
    send(server, client, 2)
    assert listed(server)["webhook"]["is_paused"] and not receiver.received()
    run("sinks", "resume", "webhook", "--data-dir", server.directory)
    wait_until_drained(server, "webhook")
    assert server.terminate() == 0, server.log()
    check(server, receiver, [client], figure, "410 and a resume")


def test_a_tenant_whose_hits_are_refused_stops_no_other(
        make_server, receiver, tmp_path, figure, seed):
    """The receiver answers 400 to 250 hits of one tenant, the first that it ever gets: they become
    that tenant's dead letters, the log tells of it once, and another tenant's hits are delivered."""
    keys = KeysFile(tmp_path / "keys.yaml")
    noisy, quiet = keys.new("noisy"), keys.new("quiet")
    write(receiver.folder / "unwanted", "noisy")
    server = make_server(*receiver.options, "--set=auth.mode=keys",
                         f"--set=auth.keys_file={keys.path}").start()
    facts = Facts(seed, int(time.time()), space=9)

    def impressions(count: int) -> list:
        return [facts.push(kind=1).event for _ in range(count)]

    assert record(server, impressions(250), bearer(noisy)).accepted == 250
    wait_until(lambda: len(letters(server)) == 250, "the dead letters of the noisy one")
    assert record(server, impressions(50), bearer(quiet)).accepted == 50
    wait_until_drained(server, "webhook")
    taken, refused = receiver.ids("taken"), receiver.ids("refused")
    assert len(taken.keys() | refused.keys()) == 50
    kept = {row[0]: row[1] for row in query(
        server.directory / "dead_letters.db",
        "SELECT tenant, count(*) FROM dead_letters GROUP BY tenant")}
    assert kept["noisy"] == 250 and kept.get("quiet", 0) == len(refused), kept
    requests = [line for line in receiver.noted("unwanted_hits") if line]
    # 101 are found one by one, at two requests each; the others by the hundred.
    assert len(requests) < 250, len(requests)
    told = server.log_path.read_text()
    assert told.count("too many hits of a tenant are refused") == 1 and '"tenant":"noisy"' in told
    figure(f"250 refused hits of a tenant: {len(requests)} requests, 50 of another delivered")
    assert server.terminate() == 0, server.log()
    assert not receiver.noted("faults")


def test_the_log_says_that_hits_were_refused(make_server, receiver, seed):
    """A record says which sink's, how many and where the first is."""
    write(receiver.folder / "unwanted", "default")
    server = make_server(*receiver.options).start()
    event = Facts(seed, int(time.time()), space=9).push(kind=1).event
    assert record(server, [event]).accepted == 1
    wait_until(lambda: letters(server), "the dead letter")
    told, = wait_until(lambda: [
        record for record in map(json.loads, server.log_path.read_text().splitlines())
        if record["msg"].startswith("hits were refused")], "the log to tell of it")
    assert told["level"] == "warning" and told["sink"] == "webhook"
    first, = query(server.directory / "dead_letters.db", "SELECT sequence FROM dead_letters")
    assert told["letters"] == 1 and told["sequence"] == first["sequence"]


def test_a_replay_of_kept_hits_ends_with_1_where_some_are_refused(make_server, receiver, seed):
    client = Client(0, seed)
    server = make_server(*receiver.options, "--set=journal.retain_seconds=3600").start()
    send(server, client)
    wait_until_drained(server, "webhook")
    refused = len(receiver.ids("refused"))
    told = run("replay", *receiver.options, "--data-dir", server.directory, "--since", "1h",
               "--json", code=1)
    assert json.loads(told.stdout)["refused"] == refused > 0


@pytest.mark.parametrize("is_known", [True, False])
def test_the_receivers_certificate_has_to_be_its_hosts(make_server, folder, seed, is_known):
    """TLS to the address that was checked: the name in the certificate still counts."""
    authority = Authority()
    (folder / "roots.pem").write_bytes(authority.pem)
    identity = authority.issue(hosts=("localhost",) if is_known else ("other.example",))
    receiver = Receiver(folder, *identity.write(folder, "receiver"), scheme="https").start()
    try:
        server = make_server(*receiver.options, f"--set=webhook.tls.roots={folder}/roots.pem")
        client = Client(0, seed)
        batch = next(client.batches())
        server.start()
        client.run(server, iter([batch]), threading.Event(), 30)
        assert client.failure is None and client.owed
        if is_known:
            wait_until_drained(server, "webhook")
            assert receiver.ids("taken").keys() | receiver.ids("refused").keys() == client.owed
        else:
            wait_until(lambda: "no answer" in server.log_path.read_text(), "a reason in the log")
            assert not receiver.noted("taken") and not receiver.noted("refused")
        assert not receiver.noted("faults")
    finally:
        receiver.kill()
