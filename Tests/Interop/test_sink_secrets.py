"""No secret of a sink in anything that tells of it: the log at its lowest level, the page, metrics, the
configuration as printed, dead letters, a trial. Each sink runs into faults that it has to tell of."""

import base64
import contextlib
import json
import os
import pathlib
import random
import shutil
import tempfile
import time
import typing
import urllib.request

import pytest

import test_sinks_try_servers
from campaign import FAILURES, Receiver as CampaignServer
from database import Database
from facts import Facts
from kafka_mock import Mock
from nats_server import NatsServer, free_port
from protos import service as s
from server import query, wait_until
from test_configuration import CONFIGURATION, run
from test_webhook import Receiver, write


class Secret(typing.NamedTuple):
    """A sink that cannot deliver: its keys, and what may be told nowhere."""

    settings: dict[str, str]
    hidden: list[str]
    # What the log says of the fault.
    told: str
    # Variables of the environment that hold a secret.
    variables: dict[str, str] = {}


@contextlib.contextmanager
def webhook(folder: pathlib.Path):
    """A receiver with another secret, at a URL with a token."""
    receiver = Receiver(folder).start()
    known = receiver.secret.read_text().strip()
    write(folder / "accepted", known)
    other = f"whsec_{base64.b64encode(random.randbytes(32)).decode()}"
    write(receiver.secret, other + "\n")
    token = random.randbytes(12).hex()
    try:
        yield Secret(
            {"webhook.url": f"http://127.0.0.1:{receiver.port}/hits?token={token}",
             "webhook.secret_file": str(receiver.secret), "webhook.allow": "127.0.0.1"},
            [other, other.removeprefix("whsec_"), token, "/hits"], "the receiver answered 401")
    finally:
        receiver.kill()


@contextlib.contextmanager
def webhook_gone(folder: pathlib.Path):
    """Nobody listens at a URL with a token."""
    secret = f"whsec_{base64.b64encode(random.randbytes(32)).decode()}"
    (folder / "secret").write_text(secret + "\n")
    token = random.randbytes(12).hex()
    yield Secret(
        {"webhook.url": f"http://127.0.0.1:{free_port()}/x/{token}",
         "webhook.secret_file": str(folder / "secret"), "webhook.allow": "127.0.0.1"},
        [secret.removeprefix("whsec_"), token], "no answer")


@contextlib.contextmanager
def nats_password(folder: pathlib.Path):
    """A nats-server with another password."""
    server = NatsServer(folder / "nats", "--user", "node", "--pass", "correct horse").start()
    password = random.randbytes(12).hex()
    (folder / "password").write_text(password + "\n")
    try:
        yield Secret({"nats.servers": server.url, "nats.user": "node",
                      "nats.password_file": str(folder / "password")},
                     [password, "correct horse"], "the sink is unavailable")
    finally:
        server.close()


@contextlib.contextmanager
def nats_credentials(folder: pathlib.Path):
    """Credentials that a nats-server does not know."""
    server = NatsServer(folder / "nats", "--user", "node", "--pass", "correct horse").start()
    token = "eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ." + random.randbytes(24).hex()
    seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
    (folder / "creds").write_text(
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n")
    try:
        yield Secret({"nats.servers": server.url, "nats.credentials_file": str(folder / "creds")},
                     [token, seed], "the sink is unavailable")
    finally:
        server.close()


@contextlib.contextmanager
def campaign(_folder: pathlib.Path):
    """A Campaign server in trouble: its URLs name people, so they are as secret."""
    server = CampaignServer(1, dict.fromkeys(FAILURES, 0) | {503: 1})
    servers = [{"tenant": "default", "standard": server.url, "classic": server.url}]
    try:
        yield Secret({"campaign.servers": json.dumps(servers)}, ["mcId", "?id="], "status 503")
    finally:
        server.close()


@contextlib.contextmanager
def kafka(folder: pathlib.Path):
    """Brokers that take no passwords."""
    password = random.randbytes(12).hex()
    (folder / "password").write_text(password + "\n")
    with Mock(folder) as mock:
        yield Secret(
            {"kafka.brokers": mock.bootstrap, "kafka.sasl.mechanism": "plain",
             "kafka.sasl.user": "writer", "kafka.sasl.password_file": str(folder / "password"),
             "kafka.connect_seconds": "1", "kafka.request_seconds": "1",
             "kafka.delivery_seconds": "2"}, [password], "the sink is unavailable")


@contextlib.contextmanager
def asking_database(_folder: pathlib.Path):
    """A PostgreSQL server that takes one password alone; its URL, and the password."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-postgresql-"))
    database = Database(home / "server").start()
    known = random.randbytes(12).hex()
    try:
        database.run(f"CREATE ROLE writer LOGIN PASSWORD '{known}'")
        (database.folder / "data" / "pg_hba.conf").write_text(
            "local all writer scram-sha-256\nlocal all all trust\n")
        database.reload()
        yield database.url.replace("postgres@", "writer@"), known
    finally:
        database.close()
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def postgresql_password(folder: pathlib.Path):
    """Another password, in a file."""
    password = random.randbytes(12).hex()
    (folder / "password").write_text(password + "\n")
    with asking_database(folder) as (url, known):
        yield Secret({"postgresql.url": url, "postgresql.password_file": str(folder / "password")},
                     [password, known, url], "SQLSTATE 28P01")


@contextlib.contextmanager
def postgresql_environment(folder: pathlib.Path):
    """Another password, in the environment."""
    password = random.randbytes(12).hex()
    with asking_database(folder) as (url, known):
        yield Secret({"postgresql.url": url}, [password, known, url], "SQLSTATE 28P01",
                     {"PGPASSWORD": password})


@contextlib.contextmanager
def grpc_key(folder: pathlib.Path):
    """A backend that takes another key."""
    key = random.randbytes(24).hex()
    (folder / "key").write_text(key + "\n")
    with test_sinks_try_servers.backend(folder, "key") as (port, _):
        yield Secret({"grpc.target": f"localhost:{port}", "grpc.key_file": str(folder / "key")},
                     [key, test_sinks_try_servers.PASSWORD], "unauthenticated")


# A sink that comes later has its rows here: the sink's type, and what puts it into trouble.
TABLE = [("webhook", webhook), ("webhook", webhook_gone), ("nats", nats_password),
         ("nats", nats_credentials), ("campaign", campaign), ("kafka", kafka),
         ("postgresql", postgresql_password), ("postgresql", postgresql_environment),
         ("grpc", grpc_key)]


@pytest.mark.parametrize("sink, trouble", TABLE, ids=lambda value: getattr(value, "__name__", ""))
def test_no_secret_is_told(make_server, tmp_path, sink, trouble):
    facts = Facts(1, int(time.time()), space=1)
    with trouble(tmp_path) as secret:
        arguments = ["--sink", sink, *[f"--set={k}={v}" for k, v in secret.settings.items()]]
        server = make_server(*arguments, "--set=log.level=trace",
                             environment=os.environ | secret.variables).start()
        events = [facts.push(flag="on").event for _ in range(20)]
        with server.channel() as channel:
            server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events), timeout=20)
        wait_until(lambda: secret.told in server.log(1 << 20), "the fault in the log")
        told = {path: page(server, path) for path in ("", "metrics", "stats.json")}
        trial = run("sinks", "try", sink, *arguments, "--data-dir", str(tmp_path / "try"),
                    **secret.variables)
        assert server.terminate() == 0, server.log()
    told["log"] = server.log_path.read_text()
    told["try"] = trial.stdout + trial.stderr
    told["letters"] = str([row["reason"] for row in query(
        server.directory / "dead_letters.db", "SELECT reason FROM dead_letters")])
    prefix = f"{sink}."
    item = {"type": sink} | {name.removeprefix(prefix): json.loads(value) if value[0] == "[" else
                             value for name, value in secret.settings.items()}
    for place, options in {"config": arguments,
                           "item": [f"--set=sinks={json.dumps([item])}"]}.items():
        printed = run("config", "print", *options)
        told[place] = printed.stdout + printed.stderr
        assert printed.returncode == 0, printed
    assert "FAILED" in told["try"], told["try"]
    found = {(where, hidden) for where, text in told.items() for hidden in secret.hidden
             if hidden in text}
    assert not found, found


PASSWORD = "hunter2-of-a-url"


@pytest.mark.parametrize("setting", [
    "campaign.servers=[{tenant: a, standard: 'https://me:%s@c.example'}]",
    "campaign.servers=[{tenant: a, classic: \"https://%s@c.example/r/\"}]",
    "campaign.servers=https://me:%s@c.example",
    "webhook.url=https://me:%s@h.example", "webhook.source=urn://me:%s@h.example\x07",
    "postgresql.url=postgresql://me:%s@db/x",
    "sinks=[{type: webhook, url: 'https://h.example/?token=%s', secret_file: /none}]",
    "sinks=[{type: webhook, url: 'https://h.example/?token=%s'",
    "sinks=[{\"type\": \"webhook\", \"url\": \"https://h.example/%s\\u0007\"}]",
    "sinks=[{type: postgresql, url: postgresql://me:%s@db/x}]",
    "sinks=[{type: campaign, servers: [{tenant: a, standard: 'https://me:%s@c.example'}]}]",
])
def test_an_error_quotes_no_password(tmp_path, setting):
    """The value that is wrong is told with its place, but for what may be secret in it."""
    section = setting.split(".")[0]
    sink = [] if setting.startswith("sinks") else ["--sink", section]
    answer = run("serve", *sink, f"--set={setting % PASSWORD}", "--data-dir", str(tmp_path / "data"))
    assert answer.returncode == CONFIGURATION, answer
    assert PASSWORD not in answer.stdout + answer.stderr, answer.stderr
    assert "configuration: --set: " in answer.stderr, answer.stderr


def page(server, path: str) -> str:
    with urllib.request.urlopen(f"{server.admin}{path}", timeout=10) as answer:
        return answer.read().decode()
