"""The postgresql sink before a real server that is killed, hangs, refuses, is full or slow; judged
by SQL over psycopg, which shares no code with the sink."""

import collections
import itertools
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading

import psycopg
import pytest
from psycopg.rows import dict_row

import test_kill_loses_no_ack
from certificates import Authority
from database import Database
from drained import wait_until_drained
from nats_server import free_port
from protos import service as s
from server import wait_until
from test_configuration import CONFIGURATION, run
from test_details_view import apns
from test_kill_loses_no_ack import kill_under_load, resend_all
from test_full_or_broken_disk import small_disk  # pylint: disable=unused-import

KILLS = 5
# Hits that are owed at the end.
SAMPLE, WHOLE = 6_000, 100_000
STREAMS = 2
# Requests of some 60 hits that one fault meets.
REQUESTS, WHOLE_REQUESTS = 40, 1_700
SECRET = "a-password-that-no-log-may-hold"
# Seconds at either end of a Timestamp, and a day from it: whether the view has them as a time.
ENDS = {-62_135_596_800: False, -62_135_510_400: True,
        253_402_214_399: True, 253_402_300_799: False}


class Client(test_kill_loses_no_ack.Client):
    """A client that knows what each row has to say."""

    def __init__(self, number: int, seed: int):
        super().__init__(number, seed)
        self.rows: dict[bytes, tuple] = {}

    def batches(self):
        for batch in super().batches():
            for fact in batch.facts:
                self.rows.update(fact.hits)
            yield batch

    def send(self, server, requests: int) -> None:
        """Sends some requests, and waits until all of them are acked."""
        self.run(server, itertools.islice(self.batches(), requests), threading.Event(), 300)
        assert self.failure is None and not self.pending, f"{self.failure!r}\n{server.log()}"


@pytest.fixture
def database():
    """A PostgreSQL server, running."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-postgresql-"))
    made = Database(home / "server")
    try:
        yield made.start()
    finally:
        made.close()
        shutil.rmtree(home, ignore_errors=True)


def log_has(server, words: str) -> None:
    wait_until(lambda: words in server.log_path.read_text(), f"\"{words}\" in the log")


def judge(server, database, clients, figure, what: str, is_lost: bool = False) -> None:
    """The database has each owed hit once, as the oracle has it, and none that nobody sent. Unless
    a test lets it lose what was committed, no loss was told."""
    stored = database.run(
        "SELECT hit_id, kind, campaign_action, delivery_id, broadlog_id, app_id, platform,"
        " subject_id, occur_time, tenant FROM hits")
    times = collections.Counter(row[0].bytes for row in stored)
    owed = set().union(*(client.owed for client in clients))
    rows = {key: row for client in clients for key, row in client.rows.items()}
    lost = owed - times.keys()
    twice = [identity for identity, count in times.items() if count > 1]
    strange = times.keys() - rows.keys()
    wrong = [row for row in stored if row[0].bytes in rows and row[1:] != rows[row[0].bytes]]
    figure(f"postgresql, {what}: {len(owed):,} hits owed, {len(lost)} lost, {len(twice)} twice,"
           f" {len(strange)} never sent, {len(wrong)} with other values")
    assert not lost, f"{len(lost)} hits are lost, e.g. {next(iter(lost)).hex()}"
    assert not twice, f"{len(twice)} hits are stored twice, e.g. {twice[0].hex()}"
    assert not strange, f"{len(strange)} hits that nobody sent"
    assert not wrong, f"{len(wrong)} rows differ, e.g. {wrong[0]}"
    assert ("has lost hits" in server.log_path.read_text()) == is_lost, server.log()


@pytest.mark.timeout(3600)
def test_nothing_is_lost_while_both_are_killed(make_server, database, figure, amount, seed):
    """kill -9 of ours and of theirs, and theirs at once again: exactly once."""
    target = amount(SAMPLE, WHOLE)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server(*database.options)
    rounds = 0
    while rounds < KILLS or sum(len(client.owed) for client in clients) < target:
        ending = threading.Timer(moments.uniform(0, 1.5), database.kill)
        ending.start()
        kill_under_load(server, clients, moments, f"round {rounds}, seed {seed}")
        ending.join()
        database.restart_after_kill()
        rounds += 1
    resend_all(server, clients)
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    judge(server, database, clients, figure, f"{rounds} kills of both")


@pytest.mark.timeout(3600)
def test_nothing_is_lost_while_ours_is_killed(make_server, database, figure, amount, seed):
    """kill -9 of ours alone, so that it dies within transactions."""
    target = amount(SAMPLE, WHOLE)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server(*database.options)
    rounds = 0
    while rounds < KILLS or sum(len(client.owed) for client in clients) < target:
        kill_under_load(server, clients, moments, f"round {rounds}, seed {seed}")
        rounds += 1
    resend_all(server, clients)
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    judge(server, database, clients, figure, f"{rounds} kills of ours")


def kill(database) -> None:
    database.kill()


def hang(database) -> None:
    database.stop()


def refuse(database) -> None:
    """A password is asked for that nobody has."""
    (database.folder / "data" / "pg_hba.conf").write_text(
        "local all reader trust\nlocal all all scram-sha-256\n")
    database.reload()
    wait_until(lambda: not answers(database), "the password to be asked for")
    end_sessions(database)


def answers(database) -> bool:
    try:
        database.run("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True


def trust(database) -> None:
    (database.folder / "data" / "pg_hba.conf").write_text("local all all trust\n")
    database.reload()


def read_only(database) -> None:
    database.run("ALTER SYSTEM SET default_transaction_read_only = on")
    database.reload()
    wait_until(lambda: database.run("SHOW default_transaction_read_only") == [("on",)],
               "new sessions to be read-only")
    end_sessions(database)


def writable(database) -> None:
    database.run("ALTER SYSTEM RESET default_transaction_read_only")
    database.reload()


def slow(database) -> None:
    """Half a second for each statement that stores rows."""
    database.run("""
        CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END';
        CREATE TRIGGER slow BEFORE INSERT ON stored_hits EXECUTE FUNCTION slow()""")


def fast(database) -> None:
    database.run("DROP TRIGGER slow ON stored_hits")


def end_sessions(database) -> None:
    for process in database.processes()[1:]:
        try:
            name = pathlib.Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")
        except FileNotFoundError:
            # It has ended since it was listed, as PostgreSQL's own workers do.
            continue
        if "[local]" in name:
            subprocess.run(["kill", "-TERM", str(process)], check=False)


FAULTS = {
    "killed": (kill, Database.restart_after_kill, "refused"),
    "hanging": (hang, Database.go_on, "no answer"),
    "refusing": (refuse, trust, "compare postgresql.url, postgresql.password_file"),
    "read-only": (read_only, writable, "read-only"),
    "slow": (slow, fast, None),
}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_waited_for(make_server, database, figure, amount, seed, fault):
    """Hits come before, during and after the fault. Clients notice nothing; the log tells why the
    sink waits; in the end each hit is there once."""
    begin, end, words = FAULTS[fault]
    requests = amount(REQUESTS, WHOLE_REQUESTS)
    client = Client(0, seed)
    server = make_server(*database.options).start()
    client.send(server, requests // 4)
    wait_until_drained(server, "postgresql")
    begin(database)
    client.send(server, requests // 2)
    if words:
        log_has(server, words)
    end(database)
    client.send(server, requests // 4)
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    judge(server, database, [client], figure, fault)


@pytest.mark.timeout(1800)
def test_a_full_disk_is_waited_for(make_server, small_disk, figure, amount, seed):
    """The table is in a tablespace on a small tmpfs, which grows later on."""
    requests = amount(REQUESTS, WHOLE_REQUESTS)
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-postgresql-"))
    database = Database(home / "server", "default_tablespace = 'small'").start()
    try:
        shutil.chown(small_disk, "postgres")
        database.run(f"CREATE TABLESPACE small LOCATION '{small_disk}'")
        resize(small_disk, "2m")
        client = Client(0, seed)
        server = make_server(*database.options).start()
        sent = 0
        while "SQLSTATE 53100" not in server.log_path.read_text():
            client.send(server, requests // 4)
            sent += 1
            assert sent < 100, "the disk is never full"
        resize(small_disk, "500m")
        client.send(server, max(0, requests - sent * (requests // 4)))
        wait_until_drained(server, "postgresql")
        assert server.terminate() == 0, server.log()
        judge(server, database, [client], figure, "a full disk")
    finally:
        database.close()
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("is_lost", [False, True])
def test_a_standby_takes_over(make_server, database, figure, amount, seed, is_lost):
    """The sink finds the new primary among the hosts. If it has not got the last commits, what the
    journal has is delivered again."""
    requests = amount(REQUESTS, WHOLE_REQUESTS)
    standby = database.standby()

    def follow() -> None:
        # Not by the hits that it has: at first it has not even their table.
        [(end,)] = database.run("SELECT pg_current_wal_flush_lsn()")
        wait_until(lambda: standby.run("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", end)
                   == [(True,)], "the standby to follow")

    try:
        client = Client(0, seed)
        hosts = f"{host(database)},{host(standby)}"
        url = database.url.replace(host(database), hosts)
        server = make_server(*(option.replace(database.url, url) for option in database.options))
        server.start()
        client.send(server, requests // 4)
        wait_until_drained(server, "postgresql")
        follow()
        if is_lost:
            standby.stop()
        client.send(server, requests // 4)
        wait_until_drained(server, "postgresql")
        if not is_lost:
            follow()
        database.kill()
        standby.go_on()
        client.send(server, requests // 4)
        log_has(server, "read-only")
        standby.promote()
        client.send(server, requests // 4)
        wait_until_drained(server, "postgresql")
        assert server.terminate() == 0, server.log()
        what = "a standby that lacks commits" if is_lost else "a standby"
        judge(server, standby, [client], figure, what, is_lost)
    finally:
        standby.close()


def host(database) -> str:
    """What stands in a URL between user and database."""
    return database.url.split("@")[1].split("/")[0]


def resize(folder: pathlib.Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)


@pytest.mark.parametrize("is_known", [True, False])
def test_the_servers_certificate_has_to_be_its_hosts(make_server, folder, seed, figure, is_known):
    authority = Authority()
    (folder / "roots.pem").write_bytes(authority.pem)
    identity = authority.issue(hosts=("localhost",) if is_known else ("other.example",))
    certificate, key = identity.write(folder, "server")
    if os.geteuid() == 0:
        shutil.chown(key, "postgres")
    folder.chmod(0o755)
    port = free_port()
    database = Database(
        folder / "server", "listen_addresses = '127.0.0.1'", f"port = {port}", "ssl = on",
        f"ssl_cert_file = '{certificate}'", f"ssl_key_file = '{key}'").start()
    try:
        (database.folder / "data" / "pg_hba.conf").write_text(
            "local all all trust\nhostssl all all 127.0.0.1/32 trust\n")
        database.reload()
        database.url = database.url.replace(":5432/", f":{port}/")
        client = Client(0, seed)
        server = make_server("--set=sink=postgresql", "--set=postgresql.connect_seconds=5",
                             "--set=postgresql.url="
                             f"postgresql://postgres@localhost:{port}/postgres",
                             f"--set=postgresql.tls.roots={folder}/roots.pem").start()
        client.send(server, 2)
        if is_known:
            wait_until_drained(server, "postgresql")
            assert database.run("SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)"
                                " WHERE ssl AND application_name = 'sightline'") == [(1,)]
        else:
            log_has(server, "does not match host name")
            assert database.run("SELECT to_regclass('sightline.hits')") == [(None,)]
        assert server.terminate() == 0, server.log()
        if is_known:
            judge(server, database, [client], figure, "TLS")
    finally:
        database.close()


def test_ours_stops_in_time_beside_a_server_that_hangs(make_server, database, figure, seed):
    """With limits far longer than the drain; what was not stored comes with the next start."""
    client = Client(0, seed)
    long = [option for option in database.options if "_seconds" not in option]
    server = make_server(*long, "--set=postgresql.statement_seconds=300").start()
    client.send(server, 4)
    wait_until_drained(server, "postgresql")
    database.stop()
    client.send(server, 4)
    assert server.terminate() == 0, server.log()
    database.go_on()
    server.start()
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    judge(server, database, [client], figure, "a stop beside a server that hangs")


def test_a_password_comes_from_a_file_and_is_in_no_log(make_server, database, folder, seed,
                                                       figure):
    database.run(f"CREATE ROLE writer LOGIN SUPERUSER PASSWORD '{SECRET}'")
    (database.folder / "data" / "pg_hba.conf").write_text(
        "local all writer scram-sha-256\nlocal all all trust\n")
    database.reload()
    password = folder / "password"
    password.write_text("wrong\n")
    server = make_server(*database.options, f"--set=postgresql.password_file={password}",
                         f"--set=postgresql.url={database.url.replace('postgres@', 'writer@')}",
                         "--set=log.level=trace")
    server.arguments = tuple(option for option in server.arguments
                             if option != f"--set=postgresql.url={database.url}")
    server.start()
    client = Client(0, seed)
    client.send(server, 2)
    log_has(server, "SQLSTATE 28P01")
    password.write_text(f"{SECRET}\n")
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    assert SECRET not in server.log_path.read_text()
    judge(server, database, [client], figure, "a password that was wrong at first")


def test_a_time_at_either_end_stops_no_query(make_server, database):
    """In a zone east or west of UTC it is outside the years that Python knows."""
    server = make_server(*database.options).start()
    events = [apns(number, "received") for number in range(1, len(ENDS) + 1)]
    for event, seconds in zip(events, ENDS):
        event.occur_time.seconds = seconds
    with server.channel() as channel:
        answer = server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    assert {result.verdict for result in answer.results} == {1}, answer
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    for zone in ("Asia/Tokyo", "UTC", "America/New_York"):
        with psycopg.connect(database.url, row_factory=dict_row) as connection:
            connection.execute(f"SET TIME ZONE '{zone}'")
            rows = connection.execute("SELECT * FROM sightline.hits").fetchall()
        assert {row["occur_time"] // 1_000_000: bool(row["occurred_at"]) for row in rows} == ENDS
        assert all(row["occurred_at"].timestamp() * 1_000_000 == row["occur_time"]
                   for row in rows if row["occurred_at"])


def test_an_operator_makes_the_tables(make_server, database, seed, figure):
    """A user without DDL stores hits once the printed SQL was run, as it says."""
    printed = run("sinks", "sql", "postgresql", "--days", "2")
    assert printed.returncode == 0, printed.stderr
    database.run("CREATE ROLE plain LOGIN; REVOKE CREATE ON SCHEMA public FROM plain")
    options = [option for option in database.options if "postgresql.url" not in option]
    server = make_server(*options, "--set=postgresql.migrate=false",
                         f"--set=postgresql.url={database.url.replace('postgres@', 'plain@')}")
    server.start()
    client = Client(0, seed)
    client.send(server, 4)
    log_has(server, "sightline sinks sql postgresql")
    for _ in range(2):
        database.run(printed.stdout)
    database.run(GRANTS)
    wait_until_drained(server, "postgresql")
    assert server.terminate() == 0, server.log()
    judge(server, database, [client], figure, "an operator's tables")


# As docs/sinks/postgresql.md has it.
GRANTS = """
    GRANT USAGE ON SCHEMA sightline TO plain;
    GRANT SELECT ON sightline.format TO plain;
    GRANT INSERT ON sightline.stored_hits TO plain;
    GRANT USAGE ON SEQUENCE sightline.hits_rowid TO plain;
    GRANT SELECT, INSERT, UPDATE ON sightline.cursor TO plain"""


@pytest.mark.parametrize("assignment, problem", [
    ("postgresql.url=", 'postgresql.url is "", but the postgresql sink needs it'),
    ("postgresql.url=mysql://a@db/c", "has to begin with postgresql://"),
    (f"postgresql.url=postgresql://a:{SECRET}@db/c", "has to have no password"),
    ("postgresql.url=postgresql://db/c", "has to name a user"),
    ("postgresql.url=postgresql://a@db", "has to name a database"),
    ("postgresql.url=postgresql://a@db:0/c", "has to have ports from 1 to 65535"),
    ("postgresql.url=postgresql://a@db/c?sslmode=disable", "has to have no parameters"),
    ("postgresql.url=postgresql://a@/c", "has to have parts"),
    ("postgresql.password_file=/nowhere/at/all", "has to be a file that this user can read"),
    ("postgresql.schema=My-Schema", "has to be 1 to 63 of the letters"),
    ("postgresql.retention_days=7", "more than postgresql.late_days"),
    ("postgresql.max_hits=0", "a whole number from 1 to 1000000"),
    ("postgresql.statement_seconds=301", "a whole number from 1 to 300"),
    ("postgresql.tls.mode=allow", "one of: disable, prefer, require, verify-ca, verify-full"),
    ("postgresql.tls.key=/dev/null", "needs postgresql.tls.certificate too"),
])
def test_a_wrong_key_stops_the_start(tmp_path, assignment, problem):
    """78 before anything listens, with place, value, rule and fix, and no password."""
    key = assignment.split("=")[0]
    settings = {"sink": "postgresql", "postgresql.url": "postgresql://a@db/c", "listen":
                "127.0.0.1:0"}
    settings[key] = assignment.split("=", 1)[1]
    data = tmp_path / "data"
    answer = run("serve", "--data-dir", str(data),
                 *(f"--set={name}={value}" for name, value in settings.items()))
    assert answer.returncode == CONFIGURATION, answer
    assert f"--set: {key} is " in answer.stderr and problem in answer.stderr, answer.stderr
    assert SECRET not in answer.stderr and answer.stdout == "" and not data.exists()
