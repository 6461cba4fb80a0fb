"""`sightline replay`: dead letters go back to the sink, once the server has been stopped."""

import json
import sqlite3

from protos import event as e
from protos import record as r
from protos import verdict as v
from server import Server
from test_tail import lines, run

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


def test_letters_go_back_to_the_sink(make_server):
    server = make_server().start()
    put(server, *(letter(number) for number in (1, 2, 3)), letter(4, sink="nats"),
        ("sqlite", 2, 0, None, "damaged", None, 1, b"no record"))
    where = ("--data-dir", server.directory)

    running = run("replay", *where, code=69)
    assert f"process {server.process.pid}" in running.stderr, running.stderr
    counted = run("replay", *where, "--dry-run", "--json")
    assert json.loads(counted.stdout)["letters"] == 4
    server.terminate()

    # One is left that holds no hit.
    done = lines(run("replay", *where, "--json", code=1).stdout)[0]
    assert {name: done[name] for name in ("delivered", "refused", "unreadable")} == {
        "delivered": 3, "refused": 0, "unreadable": 1}
    again = run("replay", *where, code=1)
    assert "0 delivered" in again.stdout, again.stdout

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


def test_errors_of_replay_say_what_to_do(tmp_path):
    nothing = run("replay", "--data-dir", tmp_path, code=69)
    assert "dead_letters.db" in nothing.stderr and "--data-dir" in nothing.stderr
    assert "1 to 100000000" in run("replay", "--limit", "0", code=64).stderr
    wrong = run("replay", "--data-dir", tmp_path, "--sink", "sqlit", code=78)
    assert "sqlite" in wrong.stderr
