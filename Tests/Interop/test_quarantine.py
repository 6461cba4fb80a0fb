"""Refused events are kept, judged again by `sightline recover`, and counted once."""

import json
import pathlib
import sqlite3
import threading
import time

import pytest

from facts import CANARY, Facts
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import query, wait_until
from test_credentials import KeysFile, bearer
from test_metrics import scrape, values
from test_terminal_commands import run

SECONDS = 60
# Every event of these tests is larger than that.
STRICT = "--set=limits.event_bytes=40"


@pytest.fixture
def facts(seed) -> Facts:
    return Facts(seed, int(time.time()), space=1)


def send(server, events: list[e.TrackingEvent], metadata=()) -> s.Tally:
    with server.channel() as channel:
        return server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=events), metadata=metadata, timeout=SECONDS).tally


def kept(server) -> int:
    """The events in quarantine.db."""
    try:
        return query(server.directory / "quarantine.db", "SELECT count(*) FROM events")[0][0]
    except sqlite3.OperationalError:
        return 0


def wait_for_kept(server, count: int) -> None:
    wait_until(lambda: kept(server) >= count, f"{count} events to be kept")
    assert kept(server) == count


def recover(server, *options, code: int | None = 0) -> dict:
    done = run("recover", "--data-dir", server.directory, "--json", *options, code=code)
    return json.loads(done.stdout)


def metric(server, name: str) -> float:
    return values(scrape(server)[0])[name]


def counts(accepted=0, duplicate=0, suppressed=0, refused=0) -> dict:
    return {"accepted": accepted, "duplicate": duplicate, "suppressed": suppressed,
            "refused": refused}


def restart(server, *arguments: str):
    assert server.terminate() == 0
    server.arguments = arguments
    return server.start()


def holding(directory: pathlib.Path, words: list[bytes]) -> list[str]:
    """The files below a folder that hold one of the words."""
    return [f"{path.relative_to(directory)}: {word!r}"
            for path in directory.rglob("*") if path.is_file()
            for data in [path.read_bytes()] for word in words if word in data]


def stream(server, events: list[e.TrackingEvent]) -> dict[str, int]:
    """Sends events on a stream, 1,000 in a request; counts their verdicts."""
    tally = s.Tally()
    with server.channel() as channel:
        stub = server.stub(channel)
        for answer in stub.StreamEvents((
                s.StreamEventsRequest(sequence=start // 1000 + 1, events=events[start:start + 1000])
                for start in range(0, len(events), 1000)), timeout=300):
            for field in ("accepted", "suppressed", "duplicate", "rejected", "retry_later"):
                setattr(tally, field, getattr(tally, field) + getattr(answer.tally, field))
    return {"accepted": tally.accepted, "suppressed": tally.suppressed, "rejected": tally.rejected}


def test_a_hundred_thousand_rejected_events_are_recovered_once(make_server, facts, figure):
    """Rejected by a limit that was too low, which is mended: each is in hits.db once, also after
    the second recovery. Of those who opted out, some in a wrong form, no file holds a byte."""
    count = 100_000
    # Nothing may be dropped here, however slow this machine's disk is.
    server = make_server(STRICT, "--set=quarantine.queue_bytes=268435456").start()
    facts_made = [facts.track_action() for _ in range(count)]
    opted_out = []
    for number in range(2000):
        event = facts.opted_out().event
        event.subject_id = f"opted-out-{number}"
        event.event_id = f"opted-out-event-{number}"
        if number % 2:
            event.push.kind = 0
        opted_out.append(event)
    assert stream(server, [fact.event for fact in facts_made] + opted_out) == {
        "accepted": 0, "suppressed": 0, "rejected": count + len(opted_out)}
    wait_for_kept(server, count)
    assert server.hit_count() == 0
    restart(server)
    dry = recover(server, "--dry-run")
    assert dry == counts(accepted=count)
    assert kept(server) == count
    began = time.monotonic()
    assert recover(server) == counts(accepted=count)
    figure(f"recovery: {count} events in {time.monotonic() - began:.1f} s")
    server.wait_for_hits(count)
    assert recover(server) == counts()
    assert kept(server) == 0
    # And beyond the window, on a server that remembers nothing of them.
    restart(server, "--set=journal.recent_hits=1000")
    assert recover(server) == counts()
    assert server.terminate() == 0
    ids = [bytes(row[0]) for row in server.query("SELECT hit_id FROM hits")]
    assert len(ids) == len(set(ids)) == count
    assert set(ids) == {identity for fact in facts_made for identity in fact.hits}
    assert holding(server.directory, [b"opted-out"]) == []


def test_what_is_kept_and_what_is_not(make_server, facts):
    server = make_server().start()
    expected = {"invalid": facts.invalid(), "unknown": facts.push(flag="maybe")}
    events = [fact.event for fact in expected.values()]
    others = [facts.push().event, facts.flag_off().event, facts.opted_out().event]
    send(server, events + others)
    wait_for_kept(server, 2)
    rows = query(server.directory / "quarantine.db",
                 "SELECT tenant, verdict, violations, app_id, version, event FROM events")
    assert [row["event"] for row in rows] == [event.SerializeToString() for event in events]
    assert [row["verdict"] for row in rows] == ["rejected", "suppressed_flag_unknown"]
    assert {row["tenant"] for row in rows} == {"default"}
    assert rows[0]["violations"] and not rows[1]["violations"]
    assert all(row["version"] for row in rows)
    assert (server.directory / "quarantine.db").stat().st_mode & 0o777 == 0o600
    # They stay what they are.
    assert recover(server, code=1) == counts(refused=2)
    assert kept(server) == 2


def test_events_get_another_app_and_conditions_choose_them(make_server, facts):
    """An app id that was too long: it is replaced, and what a condition leaves out stays."""
    server = make_server().start()
    wrong = [facts.push().event for _ in range(30)]
    for event in wrong:
        event.app_id = "a" * 257
    send(server, wrong + [facts.invalid().event for _ in range(10)])
    wait_for_kept(server, 40)
    condition = ["--where", "code=TOO_LARGE", "--field", "app_id"]
    assert recover(server, *condition, "--dry-run") == counts(refused=30)
    assert recover(server, *condition, "--dry-run", "--set-app", "com.shop+1") == counts(30)
    assert recover(server, "--where", "tenant=other", "--set-app", "com.shop") == counts()
    assert recover(server, *condition, "--set-app", "com.shop+1") == counts(accepted=30)
    wait_until(lambda: {row[0] for row in server.query("SELECT DISTINCT app_id FROM hits")}
               == {"com.shop+1"}, "the hits")
    assert kept(server) == 10
    assert recover(server, *condition, "--set-app", "com.shop+1") == counts()


def test_the_tenant_of_an_event_stays(make_server, facts, tmp_path):
    keys = KeysFile(tmp_path / "keys.jsonl")
    tenants = {tenant: keys.new(tenant) for tenant in ("a", "b")}
    flags = ["--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}"]
    server = make_server(STRICT, *flags).start()
    for key in tenants.values():
        send(server, [facts.track_action().event for _ in range(5)], bearer(key))
    wait_for_kept(server, 10)
    restart(server, *flags)
    assert recover(server, "--where", "tenant=b") == counts(accepted=5)
    assert recover(server) == counts(accepted=5)
    server.wait_for_hits(10)
    rows = server.query("SELECT tenant, count(*) FROM hits GROUP BY 1 ORDER BY 1")
    assert [tuple(row) for row in rows] == [("a", 5), ("b", 5)]


def test_a_kill_loses_nothing_that_was_written_and_gives_no_second_hit(make_server, facts):
    """Killed while it recovers: what was recorded and not deleted yet is a duplicate then."""
    count = 20_000
    server = make_server(STRICT, "--set=quarantine.queue_bytes=268435456").start()
    stream(server, [facts.track_action().event for _ in range(count)])
    wait_for_kept(server, count)
    server.kill()
    server.arguments = ()
    server.start()
    assert kept(server) == count
    killed = threading.Thread(
        target=lambda: run("recover", "--data-dir", server.directory, code=None), daemon=True)
    killed.start()
    wait_until(lambda: kept(server) < count, "the recovery to begin", every=0.001)
    server.kill()
    killed.join(SECONDS)
    server.start()
    rest = recover(server)
    assert rest["refused"] == rest["suppressed"] == 0
    server.wait_for_hits(count)
    assert kept(server) == 0
    ids = [bytes(row[0]) for row in server.query("SELECT hit_id FROM hits")]
    assert len(ids) == len(set(ids)) == count


def test_a_tenant_that_sends_nonsense_pushes_out_no_others(make_server, facts, tmp_path):
    keys = KeysFile(tmp_path / "keys.jsonl")
    quiet, loud = keys.new("quiet"), keys.new("loud")
    limit = 1 << 20
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}",
                         f"--set=quarantine.max_bytes={limit}").start()
    send(server, [facts.invalid().event for _ in range(100)], bearer(quiet))
    for _ in range(20):
        events = [facts.invalid().event for _ in range(500)]
        for event in events:
            event.subject_id += "x" * 100
        assert send(server, events, bearer(loud)).rejected == 500
    wait_until(lambda: metric(server, 'sightline_quarantine_events_total{outcome="evicted"}') > 0,
               "events to be evicted")
    rows = query(server.directory / "quarantine.db",
                 "SELECT tenant, count(*) FROM events GROUP BY 1")
    held = {row[0]: row[1] for row in rows}
    assert held["quiet"] == 100 and 0 < held["loud"] < 10_000
    assert metric(server, "sightline_quarantine_bytes") <= limit


def test_nothing_is_kept_where_it_is_off(make_server, facts):
    server = make_server("--set=quarantine.max_bytes=0").start()
    send(server, [facts.invalid().event])
    assert not (server.directory / "quarantine.db").exists()
    done = run("recover", "--data-dir", server.directory, code=69)
    assert "quarantine.max_bytes" in done.stderr


@pytest.mark.parametrize("options, code, words", [
    (["--where", "code"], 64, "name=value"), (["--where", "code=none"], 64, "too_large"),
    (["--where", "colour=red"], 64, "delivery"), (["--where", "since=soon"], 64, "no time"),
    (["--set-app", "a" * 257], 64, "256"), ([], 69, "admin.sock"),
    # Its sign of equality and its first character are one to who reads characters.
    (["--where", "delivery=\u0301"], 69, "admin.sock"),
    (["--dry-run"], 69, "quarantine.db")])
def test_what_recover_is_told_of_mistakes(tmp_path, options, code, words):
    done = run("recover", "--data-dir", tmp_path, *options, code=code)
    assert words in done.stderr, done.stderr
