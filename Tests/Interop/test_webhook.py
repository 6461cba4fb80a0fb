"""The webhook sink before a receiver that the libraries of Standard Webhooks and CloudEvents verify
with, while both are killed."""

import base64
import collections
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import threading

import pytest

from certificates import Authority
from server import query, wait_until
from test_crash import Client, kill_under_load, resend_all
from test_metrics import scrape, values
from webhook_receiver import REASON, is_refused

ROUNDS, WHOLE = 4, 50
STREAMS = 2
DRAIN_SECONDS = 120
RECEIVER = pathlib.Path(__file__).with_name("webhook_receiver.py")


class Receiver:
    """One folder, and the process that receives into it now."""

    def __init__(self, folder: pathlib.Path, *identity: str, scheme: str = "http"):
        self.folder, self.identity, self.scheme = folder, identity, scheme
        self.secret = folder / "secret"
        self.secret.write_text(f"whsec_{base64.b64encode(random.randbytes(32)).decode()}\n")
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


def drain(server) -> None:
    """Waits until the sink has passed everything that was acked."""
    name = 'sightline_sink_lag_groups{sink="webhook"}'
    wait_until(lambda: values(scrape(server)[0]).get(name) == 0,
               "the receiver to have everything", DRAIN_SECONDS, every=0.2)


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
    server = make_server(*receiver.options)
    for number in range(rounds):
        ending = threading.Timer(moments.uniform(0, 1), receiver.kill)
        ending.start()
        kill_under_load(server, clients, moments, f"round {number}, seed {seed}")
        ending.join()
        receiver.kill()
        receiver.start()
    resend_all(server, clients)
    drain(server)
    assert server.terminate() == 0, server.log()
    taken, refused, kept = receiver.ids("taken"), receiver.ids("refused"), letters(server)
    owed = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    lost = owed - taken.keys() - refused.keys()
    repeats = sum((taken + refused).values()) - len(taken) - len(refused)
    figure(f"webhook after {rounds} kills of both: {len(owed):,} hits owed, {len(lost)} lost,"
           f" {len(refused):,} refused, {len(kept):,} dead letters, {repeats:,} repeats")
    assert not receiver.noted("faults"), receiver.noted("faults")[:3]
    assert not lost, f"{len(lost)} hits are lost, e.g. {next(iter(lost)).hex()}"
    assert taken.keys() | refused.keys() <= sent
    assert kept.keys() == refused.keys()
    assert all(is_refused(identity) for identity in kept) and len(kept) > len(owed) / 20
    assert set(kept.values()) == {f"the receiver refused it: {REASON}"}
    secret = receiver.secret.read_text().strip()
    log = server.log_path.read_text()
    assert secret not in log and "/hits" not in log


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
            drain(server)
            assert receiver.ids("taken").keys() | receiver.ids("refused").keys() == client.owed
        else:
            wait_until(lambda: "no answer" in server.log_path.read_text(), "a reason in the log")
            assert not receiver.noted("taken") and not receiver.noted("refused")
        assert not receiver.noted("faults")
    finally:
        receiver.kill()
