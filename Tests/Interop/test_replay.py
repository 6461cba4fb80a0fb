"""`sightline replay`: dead letters, and what is kept, go to a sink once more."""

import json
import sqlite3
import time

import pytest

from facts import Facts
from protos import event as e
from protos import record as r
from protos import service as s
from protos import verdict as v
from server import Server, wait_until
from test_terminal_commands import lines, run

COLUMNS = ("sink", "sequence", "position", "hit_id", "reason", "tenant", "refused_time", "record")
JOURNAL = "5a1"


def letter(number: int, sink: str = "sqlite") -> tuple:
    """A hit as a sink refused it."""
    record = r.TrackingRecord(hit_id=bytes([number] * 15 + [v.HIT_KIND_CLICK]),
                              kind=v.HIT_KIND_CLICK, campaign_action=2, delivery_id="5ec7",
                              broadlog_id=f"h{number:x}", tenant="default")
    record.receive_time.seconds = 1_800_000_000
    record.trace_context.traceparent = f"00-{number:032x}-{number:016x}-01"
    record.event.push.kind = e.PUSH_INTERACTION_KIND_DISMISSED
    data = record.event.push.fcm.data
    data.delivery_id, data.message_id = record.delivery_id, record.broadlog_id
    return (sink, 1, number, record.hit_id, "too large", "default", 1, record.SerializeToString())


def put(server: Server, *letters: tuple) -> None:
    with sqlite3.connect(server.directory / "dead_letters.db") as database:
        database.executemany(
            f"INSERT INTO dead_letters (journal, {', '.join(COLUMNS)})"
            f" VALUES ('{JOURNAL}', ?, ?, ?, ?, ?, ?, ?, ?)", letters)


def check_letters(server: Server) -> None:
    where = ("--data-dir", server.directory)
    # One is left that holds no hit.
    done = lines(run("replay", *where, "--json", code=1).stdout)[0]
    assert {name: done[name] for name in ("delivered", "refused", "unreadable")} == {
        "delivered": 3, "refused": 0, "unreadable": 1}
    again = run("replay", *where, code=1)
    assert "0 delivered" in again.stdout, again.stdout

    assert "1 dead letters of the sink nats" in again.stderr and "--from nats" in again.stderr

    # Another sink's letters, into the one of today.
    run("replay", *where, "--from", "nats")
    left = lines(run("tail", *where, "--rejected", "--json").stdout)
    assert [row["sequence"] for row in left] == [2]

    with sqlite3.connect(server.directory / "hits.db") as database:
        rows = database.execute(
            "SELECT broadlog_id, kind, campaign_action, traceparent FROM hits ORDER BY 1"
        ).fetchall()
    assert rows == [(f"h{number:x}", "click", 2, f"00-{number:032x}-{number:016x}-01")
                    for number in (1, 2, 3, 4)]


def check_counts(server: Server, expected: dict[str, int], *options: str) -> None:
    """A dry run counts the letters of every sink; --from and --sink name one."""
    where = ("replay", "--data-dir", server.directory, *options, "--dry-run")
    counted = lines(run(*where, "--json").stdout)
    assert counted == [{"refused_by": sink, "letters": expected[sink]} for sink in sorted(expected)]
    told = [f"{expected[sink]} dead letters of the sink {sink}" for sink in sorted(expected)]
    assert run(*where).stdout.splitlines() == (told or ["no dead letters"])
    for option in ("--from", "--sink"):
        for sink in ("nats", "kafka"):
            one = run(*where, option, sink).stdout
            assert f"{expected.get(sink, 'no')} dead letters of the sink {sink}" in one
            assert len(one.splitlines()) == 1


@pytest.mark.parametrize("sinks", ["[{type: sqlite}]", "[{type: sqlite}, {type: jsonl}]"])
def test_letters_of_no_sink_are_none(make_server, sinks):
    server = make_server(f"--set=sinks={sinks}").start()
    check_counts(server, {}, *server.arguments)
    put(server, letter(1, sink="nats"))
    check_counts(server, {"nats": 1}, *server.arguments)


@pytest.mark.parametrize("is_running", [True, False], ids=["running", "stopped"])
def test_letters_go_back_to_the_sink(make_server, is_running):
    server = make_server().start()
    put(server, *(letter(number) for number in (1, 2, 3)), letter(4, sink="nats"),
        ("sqlite", 2, 0, None, "damaged", None, 1, b"no record"))
    check_counts(server, {"nats": 1, "sqlite": 4})
    if not is_running:
        server.terminate()
    check_letters(server)


def test_the_socket_of_a_killed_server_is_passed_over(make_server):
    server = make_server().start()
    put(server, letter(1))
    # It comes after the line by which the server says that it listens.
    wait_until((server.directory / "admin.sock").exists, "the socket")
    server.kill()
    assert (server.directory / "admin.sock").exists()
    assert "1 delivered" in run("replay", "--data-dir", server.directory).stdout


@pytest.mark.parametrize("sinks, folder", [
    # From hits.db, and from the journal, with and without a filter.
    ("[{type: sqlite}, {type: jsonl}]", "hits"),
    # What hits.db does not have yet is in the journal.
    ("[{type: sqlite, paused: true}, {type: jsonl}]", "hits"),
    ("[{type: jsonl}]", "hits"),
    ("[{type: jsonl}, {type: jsonl, name: opens, filter: {kind: open}}]", "hits-opens"),
])
def test_kept_hits_go_to_a_sink_once_more(make_server, seed, sinks, folder):
    name = folder.removeprefix("hits-").replace("hits", "jsonl")
    server = make_server(f"--set=sinks={sinks}", "--set=journal.retain_seconds=3600").start()
    facts = Facts(seed, int(time.time()))
    events = [facts.push(kind=e.PUSH_INTERACTION_KIND_OPENED).event for _ in range(50)]
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    owed = 50 if name == "opens" else 100
    wait_until(lambda: len(server.jsonl_lines(folder)) == owed, "the lines to be written")
    config = ("--data-dir", server.directory, f"--set=sinks={sinks}", "--sink", name)
    done = json.loads(run("replay", *config, "--since", "1h", "--json").stdout)
    assert done == {"delivered": owed, "refused": 0, "filtered": 100 - owed}
    found = [line["hitId"] for line in server.jsonl_lines(folder, is_over=True)]
    assert len(found) == 2 * owed and len(set(found)) == owed
    # Of nothing it is said that it is nothing.
    later = run("replay", *config, "--since", "2099-01-01", "--json", code=66)
    assert json.loads(later.stdout) == {"delivered": 0, "refused": 0, "filtered": 0}
    assert "nothing is kept since 2099-01-01T00:00:00" in later.stderr
    assert "journal.retain_seconds" in later.stderr
    # sqlite keeps each once.
    if "{type: sqlite}" in sinks:
        server.wait_for_hits(owed)
        run("replay", *config[:3], "--sink", "sqlite", "--since", "1h")
        assert server.query("SELECT count(*) AS n FROM hits")[0]["n"] == owed


def test_errors_of_replay_say_what_to_do(tmp_path):
    nothing = run("replay", "--data-dir", tmp_path, code=69)
    assert "dead_letters.db" in nothing.stderr and "--data-dir" in nothing.stderr
    assert "1 to 100000000" in run("replay", "--limit", "0", code=64).stderr
    wrong = run("replay", "--data-dir", tmp_path, "--sink", "sqlit", code=78)
    assert "sqlite" in wrong.stderr
    gone = run("replay", "--data-dir", tmp_path, "--since", "1h", code=69)
    assert "admin.sock" in gone.stderr and "running server" in gone.stderr, gone.stderr
    assert "is no time" in run("replay", "--since", "soon", code=64).stderr
    assert "--since takes neither" in run("replay", "--since", "1h", "--dry-run", code=64).stderr
    none = tmp_path / "none.jsonl"
    assert str(none) in run("replay", "--from", none, "--sink", "sqlite", code=66).stderr
    assert "one sink" in run("replay", "--from", "nats", "kafka", code=64).stderr
    assert "neither --limit" in run("replay", "--from", none, "--dry-run", code=64).stderr


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_an_archive_of_lines_is_read_back_into_a_sink(make_server, seed, compression):
    """Once each, however often; and a line that is no hit is counted and harms no other."""
    source = make_server("--sink=jsonl", f"--set=jsonl.compression={compression}").start()
    facts = Facts(seed, int(time.time()))
    events = [facts.push(kind=e.PUSH_INTERACTION_KIND_OPENED).event for _ in range(700)]
    with source.channel() as channel:
        source.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    assert source.terminate() == 0
    files = sorted((source.directory / "hits").glob("*.jsonl*"))
    target = make_server("--sink=sqlite").start()
    command = ("replay", "--data-dir", target.directory, "--from", *files, "--sink", "sqlite")
    for _ in range(2):
        done = json.loads(run(*command, "--json").stdout)
        assert done == {"delivered": 1400, "refused": 0, "filtered": 0}
        assert target.hit_count() == 1400
    if compression == "none":
        written = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        found = target.query("SELECT broadlog_id, kind, traceparent FROM hits")
        assert sorted(map(tuple, found)) == sorted(
            (line["broadlogId"], line["kind"].removeprefix("HIT_KIND_").lower(),
             line["traceContext"]["traceparent"]) for line in written)
        with files[0].open("ab") as file:
            file.write(b'no hit\n{"hitId": "torn')
        assert "1 refused" in run(*command, code=1).stdout
        target.directory.joinpath("empty.jsonl").touch()
        empty = run(*command[:4], target.directory / "empty.jsonl", "--sink", "sqlite", code=66)
        assert "the files have no hit" in empty.stderr
    else:
        check_cut(target, files)


def check_cut(target: Server, files: list) -> None:
    """A file that ends within a frame is told of, and what of the files before it was delivered."""
    cut = target.directory / "cut.jsonl.zst"
    cut.write_bytes(files[0].read_bytes()[:-5])
    where = ("replay", "--data-dir", target.directory, "--sink", "sqlite")
    alone = run(*where, "--from", cut, code=69)
    assert f"{cut} cannot be read: it is cut" in alone.stderr and alone.stdout == "", alone
    last = run(*where, "--from", *files, cut, code=69)
    assert last.stdout == "1400 hits delivered to the sink sqlite once more\n"
    assert f"{len(files)} of {len(files) + 1} files were delivered; {cut} was not" in last.stderr
    assert f"{cut} cannot be read: it is cut" in last.stderr
    told = json.loads(run(*where, "--from", *files, cut, "--json", code=69).stdout)
    assert told == {"delivered": 1400, "refused": 0, "filtered": 0}
