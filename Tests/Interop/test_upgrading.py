"""Data directories that another build has left, or that another program holds."""

import pathlib
import shutil
import sqlite3
import stat

import pytest

from facts import Facts
from protos import ROOT
from server import query, wait_until
from test_disk import check_stored, make_batch, send
from test_tail import run

FIXTURES = ROOT / "Tests" / "Fixtures"
FIXTURE = FIXTURES / "data-6cb32c8"
# Each earlier build that has left a directory, and how many dead letters that has.
BUILDS = {"6cb32c8": 1, "4bc37fa": 0, "5cd7265": 0}
# The directories grow old.
FOR_EVER = "--set=sqlite.retain_days=0"
DATABASES = ("hits.db", "dead_letters.db")


@pytest.fixture
def facts() -> Facts:
    return Facts(15, 1_800_000_000)


def open_mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("build", BUILDS)
def test_a_directory_of_an_earlier_build_opens(make_server, tmp_path, figure, build):
    """Every hit that it has acked is delivered once, its dead letter stays, and none can be read
    by others."""
    data, fixture = tmp_path / "data", FIXTURES / f"data-{build}"
    shutil.copytree(fixture / "data", data)
    before = query(data / "dead_letters.db", "SELECT * FROM dead_letters")
    letter_columns = [row["name"] for row in
                      query(data / "dead_letters.db", "PRAGMA table_info(dead_letters)")]
    for name in DATABASES:
        (data / name).chmod(0o644)
    expected = set((fixture / "hit_ids.txt").read_text().split())
    columns = ("hit_id, kind, campaign_action, delivery_id, broadlog_id, app_id, platform,"
               " subject_id, occur_time, receive_time, tenant, traceparent, tracestate, warnings,"
               " event")
    rows = [tuple(row) for row in query(data / "hits.db", f"SELECT {columns} FROM hits")]
    delivered = len(rows)
    assert len(before) == BUILDS[build] and 0 < delivered < len(expected)
    server = make_server(FOR_EVER, directory=data).start()
    server.wait_for_hits(len(expected))
    for path in data.glob("*.db*"):
        assert open_mode(path) == 0o600, path
    assert server.terminate() == 0, server.log()
    stored = [bytes(row[0]).hex() for row in server.query("SELECT hit_id FROM hits")]
    assert len(stored) == len(expected) and set(stored) == expected
    kept = server.query(f"SELECT {columns} FROM hits ORDER BY rowid LIMIT {delivered}")
    assert [tuple(row) for row in kept] == rows
    after = query(data / "dead_letters.db", f"SELECT {', '.join(letter_columns)} FROM dead_letters")
    assert [tuple(row) for row in after] == [tuple(row) for row in before]
    figure(f"upgrade: {len(expected)} hits of {build}, {delivered} of them delivered by it")


@pytest.mark.parametrize("name", DATABASES)
def test_a_file_of_a_newer_build_stops_the_start(make_server, name):
    """Exit 78, the file named and unchanged; the commands that read it say the same."""
    server = make_server()
    server.start()
    assert server.terminate() == 0
    path = server.directory / name
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 7")
    database.close()
    before = path.read_bytes()
    where = ("--data-dir", server.directory)
    commands = [("serve", "--listen", "127.0.0.1:0", "--admin", "off", *where)]
    if name == "hits.db":
        commands += [("report", *where), ("tail", *where)]
    else:
        commands += [("replay", *where), ("replay", "--dry-run", *where),
                     ("tail", "--rejected", *where)]
    for command in commands:
        done = run(*command, code=78)
        known = "up to 3" if name == "hits.db" else "up to 1"
        for word in (str(path), "format 7", known, "docs/upgrading.md"):
            assert word in done.stderr, f"{command[0]}: {done.stderr}"
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", DATABASES)
def test_a_held_database_does_not_stop_the_start(make_server, facts, name):
    """The server starts and acks; what it acked is delivered once the file is free."""
    server = make_server()
    server.directory.mkdir(parents=True)
    holder = sqlite3.connect(server.directory / name, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    server.start()
    assert "cannot be opened now" in server.log() and name in server.log()
    promised, refusal = send(server, make_batch(facts, 1))
    assert promised and not refusal
    if name == "hits.db":
        wait_until(lambda: "the sink is unavailable" in server.log(), "an unavailable sink")
    holder.execute("ROLLBACK")
    holder.close()
    check_stored(server, promised)
    assert server.terminate() == 0, server.log()


def test_an_old_hits_db_is_shown_and_not_counted(tmp_path):
    """Before a server has opened it: `tail` shows its rows, and `report` says what to do."""
    data = tmp_path / "data"
    shutil.copytree(FIXTURE / "data", data)
    where = ("--data-dir", data)
    assert "impression" in run("tail", *where).stdout
    done = run("report", *where, code=69)
    for word in (str(data / "hits.db"), "format 1", "sightline serve"):
        assert word in done.stderr, done.stderr


def test_a_hits_db_of_version_2_is_counted(tmp_path):
    """It has the counts of today."""
    data = tmp_path / "data"
    shutil.copytree(FIXTURES / "data-4bc37fa" / "data", data)
    counted = run("report", "--json", "--data-dir", data).stdout
    assert counted and len(query(data / "hits.db", "SELECT 1 FROM hits")) == 24


def test_a_letter_without_a_journal_is_replayed(make_server, tmp_path):
    """A dry run leaves the file as it is: the server of an earlier build may be running."""
    data = tmp_path / "data"
    shutil.copytree(FIXTURE / "data", data)
    where = ("--data-dir", data)
    run("replay", "--dry-run", *where)
    assert "journal" not in query(data / "dead_letters.db", "SELECT * FROM dead_letters")[0].keys()
    # Its one letter is a damaged batch, which no sink can be given.
    assert "0 delivered" in run("replay", *where, code=1).stdout
    assert query(data / "dead_letters.db", "SELECT journal FROM dead_letters")[0][0] == ""


def test_hits_count_after_a_restart_without_a_disk(make_server, facts):
    """The journal's sequences begin anew, and hits.db takes what comes with them."""
    server = make_server("--set=journal.mode=off")
    promised = set()
    for _ in range(2):
        server.start()
        for _ in range(2):
            more, refusal = send(server, make_batch(facts, 1))
            assert not refusal
            promised |= more
        check_stored(server, promised)
        assert server.terminate() == 0

