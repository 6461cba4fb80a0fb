"""`sightline sinks try` for kafka, postgresql and grpc: what fails is told before a real backend, and
what a whole probe leaves there is read from the backend."""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import tempfile
import threading
from concurrent import futures

import confluent_kafka
import grpc
import pytest

import grpc_backend
from certificates import Authority
from database import Database
from kafka_mock import UNAUTHORIZED, Mock, Tansu
from nats_server import free_port
from protos import record as r
from server import wait_until
from test_configuration import run
from test_sinks_try import FAILED, MARK, steps
from tls_front import TlsFront

UNKNOWN_TOPIC = 3
PASSWORD = "correct-horse-battery"
WRONG = "wrong-horse-battery"
# How long a backend takes that commits by time.
SLOW_SECONDS = 0.5


def check(name: str, settings: dict, data: pathlib.Path, wanted: str, words: str = "",
          **variables: str) -> dict[str, dict]:
    """The probe has these steps in this order. With words, the last one has failed with them and has
    a fix; else none has. No step tells a password."""
    code, told = steps(name, f"--set=sink={name}",
                       *[f"--set={name}.{key}={value}" for key, value in settings.items()],
                       "--data-dir", str(data), **variables)
    assert list(told) == wanted.split(), told
    assert PASSWORD not in json.dumps(told) and WRONG not in json.dumps(told)
    failed = [line for line in told.values() if line["outcome"] == "failed"]
    if words:
        last = told[wanted.split()[-1]]
        assert failed == [last] and code == FAILED, told
        assert words in last["text"] and last["fix"], last
    else:
        assert not failed and code == 0, told
    return told


@contextlib.contextmanager
def silence():
    """A port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.fixture(scope="module")
def home():
    """A folder with certificates and passwords that servers of other users may read."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="sightline-try-"))
    path.chmod(0o755)
    authority = Authority()
    (path / "roots.pem").write_bytes(authority.pem)
    (path / "other.pem").write_bytes(Authority("another").pem)
    (path / "password").write_text(PASSWORD + "\n")
    (path / "wrong").write_text(WRONG + "\n")
    authority.issue(hosts=("localhost",)).write(path, "server")
    authority.issue(hosts=("other.example",)).write(path, "strange")
    yield path
    shutil.rmtree(path, ignore_errors=True)


# PostgreSQL

SQL = f"""
    CREATE ROLE writer LOGIN PASSWORD '{PASSWORD}';
    CREATE ROLE plain LOGIN PASSWORD '{PASSWORD}';
    CREATE ROLE reader LOGIN PASSWORD '{PASSWORD}';
    ALTER ROLE reader SET default_transaction_read_only = on;
    GRANT CREATE, TEMPORARY ON DATABASE postgres TO writer;
    GRANT USAGE ON SCHEMA made TO plain; GRANT SELECT ON made.format TO plain;
    GRANT USAGE ON SCHEMA made TO writer; GRANT SELECT ON made.format TO writer;
    GRANT INSERT ON made.stored_hits TO writer;
    GRANT USAGE ON SEQUENCE made.hits_rowid TO writer;
    GRANT SELECT, INSERT, UPDATE ON made.cursor TO writer"""


@pytest.fixture(scope="module")
def database(home):
    """A server that takes TLS and passwords alone over TCP, with the sink's tables in the schema
    `made`, without a partition."""
    key = shutil.copy(home / "server.key", home / "postgresql.key")
    os.chmod(key, 0o600)
    if os.geteuid() == 0:
        shutil.chown(key, "postgres")
    port = free_port()
    server = Database(
        home / "database", "listen_addresses = '127.0.0.1'", f"port = {port}", "ssl = on",
        f"ssl_cert_file = '{home}/server.pem'", f"ssl_key_file = '{key}'").start()
    try:
        (server.folder / "data" / "pg_hba.conf").write_text(
            "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n")
        server.reload()
        server.url = server.url.replace(":5432/", f":{port}/")
        server.run(printed("made") + SQL)
        for row in server.run("SELECT inhrelid::regclass::text FROM pg_inherits"
                              " WHERE inhparent = 'made.stored_hits'::regclass"):
            server.run(f"DROP TABLE {row[0]}")
        server.run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
        server.port = port
        yield server
    finally:
        server.close()


def printed(schema: str) -> str:
    answer = run("sinks", "sql", "postgresql", "--days", "0", "--schema", schema)
    assert answer.returncode == 0, answer
    return answer.stdout + ";"


def kept(database) -> tuple:
    """All that a probe could leave: schemas, relations, and rows of the tables that are there."""
    return (database.run("SELECT nspname FROM pg_namespace WHERE nspname !~ 'temp' ORDER BY 1"),
            database.run("SELECT oid::regclass::text FROM pg_class WHERE relnamespace::regnamespace"
                         "::text !~ '^pg_|information' ORDER BY 1"),
            database.run("SELECT count(*) FROM made.stored_hits"),
            database.run("SELECT count(*) FROM made.cursor"))


def postgresql(database, home, user: str = "writer", name: str = "postgres", **changes) -> dict:
    """The keys of a sink, but for their changes."""
    host = changes.pop("host", f"localhost:{database.port}")
    return {"url": f"postgresql://{user}@{host}/{name}", "password_file": home / "password",
            "tls.roots": home / "roots.pem", "connect_seconds": 1} | changes


REACHED = "name connection"
WRITE = f"{REACHED} write"


@pytest.mark.parametrize("changes, wanted, words", [
    ({"host": "nobody.invalid"}, "name", "nobody.invalid is not found"),
    ({"host": "localhost:{free}"}, REACHED, "Connection refused"),
    ({"host": "localhost:{silent}"}, WRITE, "no answer within 1 s"),
    ({"tls.roots": "{home}/other.pem"}, f"{REACHED} TLS", "certificate verify failed"),
    ({"host": "127.0.0.1:{port}"}, f"{REACHED} TLS", "does not match host name"),
    ({"tls.mode": "disable", "tls.roots": ""}, WRITE, "no encryption"),
    ({"password_file": "{home}/wrong"}, WRITE, "SQLSTATE 28P01"),
    ({"user": "nobody"}, WRITE, "SQLSTATE 28P01"),
    ({"password_file": ""}, WRITE, "no password supplied"),
    ({"name": "nowhere"}, WRITE, "SQLSTATE 3D000"),
    ({"user": "reader"}, WRITE, "session is read-only"),
    ({"user": "reader", "target_session_attrs": "any"}, WRITE,
     "SQLSTATE 25006"),
    ({"name": "latin"}, WRITE, "encoding is LATIN1"),
    ({"migrate": "false"}, WRITE, "schema sightline are missing"),
    ({"user": "plain"}, WRITE, "SQLSTATE 42501"),
    ({"user": "plain", "schema": "made"}, WRITE, "SQLSTATE 42501"),
    ({"schema": "made", "migrate": "false"}, WRITE,
     "no partition of relation"),
], ids=lambda value: str(value) if isinstance(value, dict) else "")
def test_postgresql_says_what_fails(database, home, tmp_path, changes, wanted, words):
    before = kept(database)
    with silence() as silent:
        places = {"home": home, "free": free_port(), "silent": silent, "port": database.port}
        changes = {name: text.format(**places) for name, text in changes.items()}
        check("postgresql", postgresql(database, home, **changes), tmp_path, wanted, words)
    assert kept(database) == before


@pytest.mark.parametrize("schema", ["sightline", "made"])
def test_postgresql_keeps_nothing_of_a_probe(database, home, tmp_path, schema):
    """Whether the tables are there or not; the day's partition is not."""
    before = kept(database)
    user = "writer" if schema == "sightline" else "postgres"
    settings = postgresql(database, home, user, schema=schema)
    database.run(f"ALTER ROLE postgres PASSWORD '{PASSWORD}'")
    for _ in range(2):
        told = check("postgresql", settings, tmp_path, f"{REACHED} TLS write")
        assert "rolled back" in told["write"]["text"]
    assert kept(database) == before and before[2:] == ([(0,)], [(0,)])


def test_a_host_that_is_gone_is_passed_over(database, home, tmp_path):
    """As the sink does; and if no host takes hits, all are told of."""
    host = f"localhost:{free_port()},localhost:{database.port}"
    settings = postgresql(database, home, host=host)
    check("postgresql", settings, tmp_path, f"{REACHED} TLS write")
    settings |= {"password_file": home / "wrong"}
    code, told = steps("postgresql", "--set=sink=postgresql", "--data-dir", str(tmp_path),
                       *[f"--set=postgresql.{key}={value}" for key, value in settings.items()])
    assert code == FAILED and "28P01" in told["write"]["text"], told


def test_a_socket_has_no_name(database, home, tmp_path):
    check("postgresql", {"url": database.url}, tmp_path, "write")
    check("postgresql", {"url": database.url.replace("database", "nothing")}, tmp_path,
          "write", "No such file or directory")


# Kafka

HASTY = {"connect_seconds": 1, "request_seconds": 1, "delivery_seconds": 2}


@pytest.fixture(scope="module")
def mock(home):
    with Mock(home, topic="hits", partitions=2) as made:
        for topic, code in (("closed", UNAUTHORIZED), ("nowhere", UNKNOWN_TOPIC)):
            made.tell(f"topic {topic} 1")
            made.tell(f"topic_error {topic} {code}")
        yield made


def messages(bootstrap: str, **options: str) -> list[confluent_kafka.Message]:
    """All that is in the topic `hits`."""
    consumer = confluent_kafka.Consumer({
        "bootstrap.servers": bootstrap, "group.id": "judge", "enable.auto.commit": False,
        "auto.offset.reset": "earliest", "log_level": 0} | options)
    try:
        parts = [confluent_kafka.TopicPartition("hits", number, 0) for number in range(2)]
        ends = sum(consumer.get_watermark_offsets(part, timeout=30)[1] for part in parts)
        consumer.assign(parts)
        found: list[confluent_kafka.Message] = []
        wait_until(lambda: found.extend(consumer.consume(100, timeout=0.2)) or len(found) >= ends,
                   "all messages")
        return found
    finally:
        consumer.close()


def is_probe(message) -> bool:
    headers = {name: value.decode() for name, value in message.headers()}
    record = r.TrackingRecord.FromString(message.value())
    return headers["ce-subject"] == record.delivery_id == record.event.subject_id == MARK


def test_kafka_has_one_test_hit_of_a_probe(mock, tmp_path):
    told = check("kafka", {"brokers": mock.bootstrap, "topic": "hits"}, tmp_path,
                 f"{WRITE} removal")
    assert told["write"]["text"] == "the topic hits has the test hit"
    assert told["removal"]["outcome"] == "skipped"
    found = messages(mock.bootstrap)
    assert len(found) == 1 and is_probe(found[0])


@pytest.mark.parametrize("changes, wanted, words", [
    ({"brokers": "nobody.invalid:9092"}, "name", "nobody.invalid is not found"),
    ({"brokers": "localhost:{free}"}, REACHED, "Connection refused"),
    ({"brokers": "localhost:{silent}"}, WRITE, "ApiVersion"),
    ({"tls.enabled": "true"}, f"{REACHED} TLS", "SSL"),
    ({"sasl.mechanism": "plain", "sasl.user": "writer", "sasl.password_file": "{home}/password"},
     WRITE, "SASL"),
    ({"topic": "nowhere"}, WRITE, "nowhere: Broker: Unknown topic or partition"),
    ({"topic": "closed"}, WRITE, "closed: Broker: Topic authorization failed"),
])
def test_kafka_says_what_fails(mock, home, tmp_path, changes, wanted, words):
    with silence() as silent:
        places = {"home": home, "free": free_port(), "silent": silent}
        changes = {name: text.format(**places) for name, text in changes.items()}
        check("kafka", {"brokers": mock.bootstrap, "topic": "hits"} | HASTY | changes, tmp_path,
              wanted, words)


def test_a_write_that_kafka_denies(home, tmp_path):
    with Mock(home, topic="hits", partitions=2) as mock:  # pylint: disable=redefined-outer-name
        mock.fail(UNAUTHORIZED, 100)
        check("kafka", {"brokers": mock.bootstrap, "topic": "hits"} | HASTY, tmp_path,
              WRITE, "allow the user of kafka.sasl.user to WRITE")
        mock.tell("clear 0")
        assert messages(mock.bootstrap) == []


@contextlib.contextmanager
def tansu(tmp_path: pathlib.Path, **options):
    """A broker that is no mock, with the library that it takes."""
    folder = tmp_path / "tansu"
    folder.mkdir()
    with Tansu(folder, topic="hits", partitions=2, **options) as broker:
        yield broker, {"LD_LIBRARY_PATH": broker.environment["LD_LIBRARY_PATH"]}


@pytest.mark.parametrize("changes, wanted, words", [
    ({}, f"{REACHED} TLS write removal", ""),
    ({"tls.roots": "{home}/other.pem"}, f"{REACHED} TLS", "certificate verify failed"),
    ({"tls.enabled": "false"}, WRITE, ""),
])
def test_kafka_over_tls(home, tmp_path, changes, wanted, words):
    with TlsFront(str(home / "server.pem"), str(home / "server.key")) as front, \
            tansu(tmp_path, advertised=f"localhost:{front.port}") as (broker, variables):
        front.before(broker.bootstrap)
        settings = {"brokers": f"localhost:{front.port}", "topic": "hits", "tls.enabled": "true",
                    "tls.roots": "{home}/roots.pem"} | HASTY | changes
        settings = {name: str(text).format(home=home) for name, text in settings.items()}
        if settings["tls.enabled"] == "false":
            settings.pop("tls.roots")
            words = "brokers are down"
        check("kafka", settings, tmp_path, wanted, words, **variables)
        found = messages(f"localhost:{front.port}", **{
            "security.protocol": "ssl", "ssl.ca.location": str(home / "roots.pem")})
        assert [is_probe(message) for message in found] == [True] * ("removal" in wanted)


def test_brokers_that_a_cluster_names_have_to_be_there(tmp_path):
    with tansu(tmp_path, advertised=f"localhost:{free_port()}") as (broker, variables):
        check("kafka", {"brokers": broker.bootstrap, "topic": "hits"} | HASTY, tmp_path,
              WRITE, "Connection refused", **variables)


def test_a_user_whom_a_broker_does_not_know(home, tmp_path):
    with tansu(tmp_path, asks_for_credentials=True) as (broker, variables):
        check("kafka", {"brokers": broker.bootstrap, "topic": "hits",
                        "sasl.mechanism": "scram-sha-256", "sasl.user": "writer",
                        "sasl.password_file": home / "wrong"} | HASTY, tmp_path,
              WRITE, "SCRAM authentication failed", **variables)


# gRPC

class Strange(grpc_backend.example.Backend):
    """The example, with one thing that is wrong."""

    def __init__(self, path: str, fault: str):
        super().__init__(path)
        self.fault = fault

    def Deliver(self, requests, context):
        key = dict(context.invocation_metadata()).get("authorization")
        if self.fault == "key" and key != f"Bearer {PASSWORD}":
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "another key is needed")
        for answer in super().Deliver(requests, context):
            if self.fault == "version":
                answer.welcome.version = 2
            if self.fault == "read-only" and answer.HasField("ack"):
                context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the disk is read-only")
            yield answer

    def take(self, batches, pair):
        if self.fault == "slow":
            threading.Event().wait(SLOW_SECONDS)
        return super().take(batches, pair)

    def refusal(self, record):
        return "not that one" if self.fault == "refuses" else super().refusal(record)


@contextlib.contextmanager
def backend(folder: pathlib.Path, fault: str = "", identity: tuple[str, str] | None = None):
    """A backend in this process; its port, and what its file has."""
    server = grpc.server(futures.ThreadPoolExecutor(8))
    path = folder / "hits"
    if fault != "unregistered":
        grpc_backend.example.pb_grpc.add_SinkServiceServicer_to_server(
            Strange(str(path), fault), server)
    if identity:
        pair = tuple(pathlib.Path(part).read_bytes() for part in reversed(identity))
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port, path
    finally:
        server.stop(None).wait(10)


def hits(path: pathlib.Path) -> collections.Counter:
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return collections.Counter(line["delivery"] for line in lines if "hit" in line)


@pytest.mark.parametrize("fault, changes, wanted, words", [
    ("", {"target": "nobody.invalid:1"}, "name", "nobody.invalid is not found"),
    ("", {"target": "localhost:{free}"}, REACHED, "Connection refused"),
    ("", {"target": "localhost:{silent}"}, WRITE, "no Welcome within"),
    ("", {"tls.mode": "tls"}, f"{REACHED} TLS", "unavailable"),
    ("unregistered", {}, WRITE, "unimplemented"),
    ("key", {"key_file": "{home}/wrong"}, WRITE, "another key is needed"),
    ("key", {}, WRITE, "another key is needed"),
    ("version", {}, WRITE, "has the version 2"),
    ("refuses", {}, WRITE, "INVALID: not that one"),
    ("read-only", {}, WRITE, "the disk is read-only"),
    ("key", {"key_file": "{home}/password"},
     f"{WRITE} rhythm removal", ""),
])
def test_grpc_says_what_fails(home, tmp_path, fault, changes, wanted, words):
    with backend(tmp_path, fault) as (port, path), silence() as silent:
        places = {"home": home, "free": free_port(), "silent": silent}
        changes = {name: text.format(**places) for name, text in changes.items()}
        settings = {"target": f"localhost:{port}", "connect_seconds": 2} | changes
        check("grpc", settings, tmp_path, wanted, words)
        assert hits(path) == ({} if words and fault != "read-only" else {MARK: 1})


def test_grpc_tells_what_a_commit_by_time_costs(tmp_path):
    """It works, and a window of hits is all that comes in the time of an ack."""
    rows = [("", "", 0), ("slow", "The backend seems to commit by time", SLOW_SECONDS)]
    for fault, words, seconds in rows:
        folder = tmp_path / f"of {fault}"
        folder.mkdir()
        with backend(folder, fault) as (port, _):
            told = check("grpc", {"target": f"localhost:{port}", "window_hits": 1000}, tmp_path,
                         f"{WRITE} rhythm removal")["rhythm"]["text"]
        assert words in told, told
        milliseconds, window, rate = map(int, re.findall("[0-9]+", told)[:3])
        assert milliseconds >= seconds * 1000 and window == 1000, told
        # The time is told in whole milliseconds.
        assert 1e6 / (milliseconds + 1) <= rate + 1 and rate <= 1e6 / milliseconds, told


@pytest.mark.parametrize("changes, wanted, words", [
    ({}, f"{REACHED} TLS write rhythm removal", ""),
    ({"tls.roots": "{home}/other.pem"}, f"{REACHED} TLS", "CERTIFICATE_VERIFY_FAILED"),
    ({"target": "127.0.0.1:{port}"}, f"{REACHED} TLS", "for another name"),
    ({"tls.mode": "plaintext", "tls.roots": ""}, WRITE, "unavailable"),
])
def test_grpc_over_tls(home, tmp_path, changes, wanted, words):
    """A second probe is a journal of its own, so both hits are there."""
    identity = (str(home / "server.pem"), str(home / "server.key"))
    with backend(tmp_path, identity=identity) as (port, path):
        settings = {"target": "localhost:{port}", "tls.mode": "tls", "connect_seconds": 2,
                    "tls.roots": "{home}/roots.pem"} | changes
        settings = {name: str(text).format(home=home, port=port)
                    for name, text in settings.items() if text}
        for count in (1, 2):
            check("grpc", settings, tmp_path, wanted, words)
            assert hits(path) == ({} if words else {MARK: count})
