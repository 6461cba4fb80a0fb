"""Data directories that another build has left, or that another program holds."""

import base64
import json
import pathlib
import sqlite3
import stat
import tarfile

import pytest

from facts import Facts
from protos import ROOT
from protos import event as e
from protos import service as s
from server import query, wait_until
from test_full_or_broken_disk import check_stored, make_batch, send
from test_quarantine import recover
from test_quarantine import send as tally_of
from test_terminal_commands import run

# A data directory of each format, and what it holds: Scripts/data-directory-fixture makes them.
ARCHIVES = sorted((ROOT / "Tests" / "Fixtures").glob("data-*.tar.xz"))
# The directories grow old.
FOR_EVER = ("--set=sqlite.retain_days=0", "--set=quarantine.retain_days=3650",
            "--set=ledger.retain_days=3650")
SINKS = "--set=sinks=[{type: sqlite}, {type: jsonl}]"
# SQLite's `application_id` in the server's files, and "SLDB" in ASCII.
APPLICATION = 0x534C4442
DATABASES = ("hits.db", "dead_letters.db", "quarantine.db", "forgotten.db", "journal/checkpoint.db")


@pytest.fixture
def facts() -> Facts:
    return Facts(15, 1_800_000_000)


def tally(server, event: e.TrackingEvent) -> s.Tally:
    return tally_of(server, [event])


def ledger_rows(server, delivery: str) -> list[dict]:
    """What the ledger has of a delivery."""
    told = run("why", delivery, "--data-dir", server.directory, "--json").stdout
    return [row for line in told.splitlines() for row in json.loads(line)["rows"]
            if row["delivery"] == delivery]


def query_all(path: pathlib.Path, table: str) -> list[sqlite3.Row]:
    return query(path, f"SELECT * FROM {table} ORDER BY rowid")


def hit_ids(path: pathlib.Path) -> list[str]:
    return sorted(row[0].hex() for row in query(path, "SELECT hit_id FROM hits"))


def open_mode(path: pathlib.Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name)
def test_the_directory_of_an_earlier_build_opens(make_server, tmp_path, figure, archive):
    """Every hit that it has acked is delivered once, everything else is there, and none of it can be
    read by others."""
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    data, expected = tmp_path / "data", json.loads((tmp_path / "expected.json").read_text())
    delivered, pending = set(expected["delivered"]), set(expected["pending"])
    assert hit_ids(data / "hits.db") == sorted(delivered)
    rows = "SELECT * FROM hits ORDER BY rowid LIMIT ?"
    before = [tuple(row) for row in query(data / "hits.db", rows, len(delivered))]
    letters = query_all(data / "dead_letters.db", "dead_letters")
    assert {letter["hit_id"].hex() for letter in letters} == delivered | pending
    for name in DATABASES:
        (data / name).chmod(0o644)
    server = make_server(SINKS, *FOR_EVER, directory=data).start()
    server.wait_for_hits(len(delivered | pending))
    for delivery, rows_of in expected["ledger"].items():
        assert ledger_rows(server, delivery) == rows_of
    check_forgotten_and_known(server, expected)
    assert recover(server, "--dry-run")["refused"] == expected["quarantined"]
    for path in data.glob("*.db*"):
        assert open_mode(path) == 0o600, path
    assert server.terminate() == 0, server.log()
    assert set(hit_ids(data / "hits.db")) > delivered | pending
    assert [tuple(row) for row in query(data / "hits.db", rows, len(delivered))] == before
    lines = [json.loads(line) for path in sorted((data / "hits").glob("*.jsonl"))
             for line in path.read_text().splitlines()]
    assert {base64.b64decode(line["hitId"]).hex() for line in lines} >= delivered | pending
    after = query_all(data / "dead_letters.db", "dead_letters")
    assert [tuple(row) for row in after] == [tuple(row) for row in letters]
    figure(f"upgrade: {len(delivered)} hits delivered by the earlier build, {len(pending)} by this")


def check_forgotten_and_known(server, expected: dict) -> None:
    """A forgotten subject is masked in what comes of it, and a fact that was seen is a duplicate."""
    event = e.TrackingEvent.FromString(base64.b64decode(expected["known_event"]))
    assert tally(server, event).duplicate == 1
    event.push.ClearField("apns")
    event.push.fcm.data.delivery_id, event.push.fcm.data.message_id = "f0", "h1"
    event.push.fcm.data.acs_delivery_tracking = "on"
    event.subject_id, event.platform = expected["forgotten"], e.PLATFORM_ANDROID
    assert tally(server, event).accepted == 1
    masked = "SELECT subject_id FROM hits WHERE delivery_id = 'f0'"
    wait_until(lambda: server.query(masked), "the hit of a forgotten subject")
    assert {row[0] for row in server.query(masked)} == {None}


@pytest.mark.parametrize("application, version, words", [
    (APPLICATION, 7, "has format 7, and this build knows formats up to 1"),
    (0, 1, "has format 1 of a build before formats were numbered from 1"),
    (0, 0, "has format 0 of a build before formats were numbered from 1"),
    (9, 1, "has the application id 9, which is another program's"),
], ids=["newer", "former", "unnumbered", "foreign"])
@pytest.mark.parametrize("name", (*DATABASES, "deliveries.db"))
def test_a_database_of_another_build_stops_the_start(
        make_server, name, application, version, words):
    """Exit 78, the file named and unchanged; the commands that read it say the same."""
    server = make_server()
    server.start()
    assert server.terminate() == 0
    path = server.directory / name
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA application_id = {application}")
        database.execute(f"PRAGMA user_version = {version}")
    database.close()
    before = path.read_bytes()
    where = ("--data-dir", server.directory)
    commands = [("serve", "--listen", "127.0.0.1:0", "--admin", "off", *where)] + {
        "hits.db": [("report", *where), ("tail", *where), ("export", "--format", "csv", *where)],
        "dead_letters.db": [("replay", *where), ("replay", "--dry-run", *where),
                            ("tail", "--rejected", *where)],
        "quarantine.db": [("recover", "--dry-run", *where)],
        "deliveries.db": [("deliveries", "list", *where), ("report", *where),
                          ("why", "56c4", *where)],
        "journal/checkpoint.db": [("why", "56c4", *where)],
    }.get(name, [])
    for command in commands:
        done = run(*command, code=78)
        for word in (f"{path} {words}", "Nothing of it was changed", "docs/upgrading.md"):
            assert word in done.stderr, f"{command[0]}: {done.stderr}"
    assert path.read_bytes() == before


@pytest.mark.parametrize("head, words", [
    (b"sightlog\x02", "has format 2 of a build before formats were numbered from 1"),
    (b"#!/bin/sh", "does not begin as a segment does"),
], ids=["former", "foreign"])
def test_a_segment_of_another_build_stops_the_start(make_server, head, words):
    """Exit 78, the file named and unchanged."""
    server = make_server()
    server.start()
    assert server.terminate() == 0
    path = server.directory / "journal" / "segment-9"
    path.write_bytes(head + bytes(8192))
    done = run("serve", "--listen", "127.0.0.1:0", "--admin", "off", "--data-dir",
               server.directory, code=78)
    assert f"{path} {words}" in done.stderr, done.stderr
    assert path.read_bytes() == head + bytes(8192)


def test_the_journal_before_segments_stops_the_start(make_server):
    """It may have hits that no sink has."""
    server = make_server()
    server.directory.mkdir(parents=True)
    (server.directory / "journal.db").write_bytes(b"SQLite")
    done = run("serve", "--listen", "127.0.0.1:0", "--admin", "off", "--data-dir",
               server.directory, code=78)
    assert "journal.db has no format number of a build before" in done.stderr, done.stderr


@pytest.mark.parametrize("name", DATABASES[:2])
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

