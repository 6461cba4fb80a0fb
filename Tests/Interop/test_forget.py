"""A recipient is forgotten: no byte of its id stays on the node, and the receipt says what does."""

import json
import re
import secrets
import subprocess
import time

import grpc
import pytest

from drained import wait_until_drained
from facts import Facts
from protos import erasure_service as es
from protos import erasure_service_grpc
from protos import event as e
from server import binary, wait_until
from test_credentials import KeysFile, bearer
from test_postgresql import database  # pylint: disable=unused-import
from test_quarantine import STRICT, holding, kept, restart, send, stream, wait_for_kept
from test_terminal_commands import run

# Small, so that a test writes each of them again.
SEGMENT = "--set=journal.segment_bytes=1048576"
SINKS = ("--set=sinks=[{type: sqlite}, {type: jsonl, file_bytes: 1000000}, {type: postgresql}]")
STORES = ("sqlite", "jsonl", "postgresql")
KEYS = {"old": "c2l4dGVlbiBieXRlcywgb3IgbW9yZQ==",
        "new": "YW5vdGhlciBvbmUgb2Ygc2l4dGVlbiBieXRlcw=="}
HITS = 10_000
ROWS = "SELECT hit_id, traceparent, event FROM hits WHERE subject_id = ? ORDER BY hit_id"
COUNTS = ("SELECT hour, tenant, delivery, platform, kind, hits, first_hits, notifications "
          "FROM counts ORDER BY 1, 2, 3, 4, 5")


@pytest.fixture
def facts(seed) -> Facts:
    return Facts(seed, int(time.time()), space=7)


def subject() -> str:
    """An id that no other byte of a file is."""
    return f"subject-{secrets.token_hex(12)}"


def reports(facts, count: int, subject_id: str) -> list[e.TrackingEvent]:
    """Events of one hit each: what a device has seen, and of each third what its sender did."""
    events = [(facts.push(kind=e.PUSH_INTERACTION_KIND_RECEIVED) if number % 3 else facts.send())
              .event for number in range(count)]
    for event in events:
        event.subject_id = subject_id
    return events


def mixed(*lists: list[e.TrackingEvent]) -> list[e.TrackingEvent]:
    """Events in turn, so that recipients share requests."""
    return [event for events in zip(*lists) for event in events]


def forget(server, subject_id: str, *options, code: int | None = 0) -> dict[str, dict]:
    done = run("forget", "--data-dir", server.directory, "--tenant", "default",
               "--subject", subject_id, "--json", *options, code=code)
    return {place["name"]: place["erasure"] for place in json.loads(done.stdout)["places"]}


def lines(server, subject_id: str) -> int:
    return sum(subject_id in line for path in (server.directory / "hits").glob("*.jsonl")
               for line in path.read_text().splitlines())


def write_over_the_journal(server, facts, words: list[bytes]) -> None:
    """Sends others' events until none of the journal's files has one of these words."""
    def is_gone() -> bool:
        send_all(server, reports(facts, 2000, "of-others"))
        # Nothing is overwritten that a sink is yet to get.
        wait_until_drained(server, *STORES)
        return not holding(server.directory / "journal", words)
    wait_until(is_gone, "the journal's files to be written again", seconds=240, every=0)


def send_all(server, events) -> None:
    assert stream(server, events)["accepted"] == len(events)


def test_no_byte_of_a_forgotten_subject_stays(make_server, database, facts, figure):
    """10,000 hits in three sinks, and kept events; then later ones, a restart, and every byte."""
    gone, other = subject(), subject()
    server = make_server(SINKS, SEGMENT, "--set=postgresql.retain_seconds=0",
                         *database.options[1:]).start()
    send_all(server, mixed(reports(facts, HITS, gone), reports(facts, HITS, other)))
    wait_until_drained(server, *STORES)
    restart(server, *server.arguments, STRICT)
    send(server, reports(facts, 30, gone) + reports(facts, 20, other))
    wait_for_kept(server, 50)
    restart(server, *server.arguments[:-1])
    before, rows = server.query(COUNTS), server.query(ROWS, other)
    funnel = run("report", "--data-dir", server.directory, "--json").stdout

    receipt = forget(server, gone)
    for place, count in {"sqlite": HITS, "jsonl": HITS, "postgresql": HITS, "dead_letters.db": 0,
                         "quarantine.db": 30}.items():
        assert receipt[place] == {"outcome": "erased", "count": count, "reason": ""}, receipt
    assert receipt["journal"]["outcome"] == "impossible"
    assert server.query(COUNTS) == before
    assert run("report", "--data-dir", server.directory, "--json").stdout == funnel
    assert server.query(ROWS, other) == rows
    assert lines(server, other) == HITS and kept(server) == 20
    stored = "SELECT count(*) FROM hits WHERE subject_id = "
    assert database.run(stored + f"'{gone}'") == [(0,)]
    assert database.run(stored + f"'{other}'") == [(HITS,)]

    # What it sends again counts no second time, and what it sends anew names nobody.
    send_all(server, reports(facts, 500, gone))
    wait_until_drained(server, "sqlite")
    assert server.hit_count() == HITS + 500
    assert server.query("SELECT count(*) FROM hits WHERE subject_id IS NULL")[0][0] == 500
    restart(server, *server.arguments)
    send_all(server, reports(facts, 500, gone))
    assert forget(server, gone)["sqlite"]["count"] == 0

    write_over_the_journal(server, facts, [gone.encode()])
    assert server.terminate() == 0
    assert holding(server.directory, [gone.encode()]) == []
    figure(f"{HITS} hits and 30 kept events are erased in sqlite, jsonl and postgresql, 1,000 "
           "later ones are masked, and no file has a byte of the id")


def test_a_repeated_event_of_a_forgotten_subject_is_known_still(make_server, facts):
    events = reports(facts, 100, subject())
    server = make_server().start()
    send_all(server, events)
    server.wait_for_hits(100)
    assert forget(server, events[0].subject_id)["sqlite"]["count"] == 100
    assert send(server, events).duplicate == 100


def test_of_hashed_subjects_no_plain_id_is_written(make_server, facts, tmp_path, figure):
    """Also not where an event is refused and kept; and they are told apart and forgotten."""
    first, second = subject(), subject()
    keys = tmp_path / "keys"
    keys.write_text("c2l4dGVlbiBieXRlcywgb3IgbW9yZQ==\n")
    hashed = ("--set=privacy.subject=hashed", f"--set=privacy.key_file={keys}")
    server = make_server(*hashed).start()
    send_all(server, mixed(reports(facts, 200, first), reports(facts, 200, second)))
    server.wait_for_hits(400)
    names = {row[0]: row[1] for row in server.query(
        "SELECT subject_id, count(*) FROM hits GROUP BY 1")}
    assert sorted(names.values()) == [200, 200]
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)
    restart(server, *hashed, STRICT)
    send(server, reports(facts, 10, first))
    wait_for_kept(server, 10)
    # A new key: the former one is in the file still, so what it has hashed is found.
    keys.write_text("YW5vdGhlciBvbmUgb2Ygc2l4dGVlbiBieXRlcw==\n" + keys.read_text())
    restart(server, *hashed)
    send_all(server, reports(facts, 100, first))
    server.wait_for_hits(500)
    assert holding(server.directory, [first.encode(), second.encode()]) == []
    receipt = forget(server, first)
    assert (receipt["sqlite"]["count"], receipt["quarantine.db"]["count"]) == (300, 10)
    assert server.query("SELECT count(*) FROM hits")[0][0] == 200
    figure("400 hits by two keys and 10 kept events: no file has a byte of either id")


def test_every_file_of_the_data_directory_is_visited_or_named_as_not_done(make_server, facts):
    """What former sinks have left and what was kept is erased; the rest stands in the receipt."""
    gone = subject()
    flags = "--set=sinks=[{type: sqlite}, {type: sqlite, name: old}, {type: jsonl}, "\
            "{type: jsonl, name: lines}]"
    server = make_server(flags).start()
    send_all(server, reports(facts, 100, gone))
    wait_until_drained(server, "sqlite", "old", "jsonl", "lines")
    restart(server, flags, STRICT)
    send(server, reports(facts, 10, gone))
    wait_for_kept(server, 10)
    restart(server, "--set=quarantine.max_bytes=0")
    # What nobody erases: a damaged segment, and files of somebody else.
    foreign = ["journal/3.damaged", "backup.tar", "hits/copy.txt"]
    for name in foreign:
        (server.directory / name).write_text(f"of {gone} and others\n")

    receipt = forget(server, gone)
    counts = {name: place["count"] for name, place in receipt.items() if place["count"]}
    assert counts == {"sqlite": 100, "hits-old.db": 100, "hits": 100, "hits-lines": 100,
                      "quarantine.db": 10}, receipt
    assert receipt["hits-lines"]["reason"] == "" and "copy.txt" in receipt["hits"]["reason"]
    not_done = {name for name, place in receipt.items() if place["outcome"] == "impossible"}
    assert not_done == {"journal", "journal/3.damaged", "backup.tar", "old", "jsonl", "lines"}
    left = {line.split(":")[0] for line in holding(server.directory, [gone.encode()])}
    assert left >= set(foreign)
    assert all(name.startswith("journal/segment-") for name in left - set(foreign)), left


@pytest.mark.parametrize("file", ["-", "id.txt"])
def test_the_id_is_read_from_a_file_or_from_standard_input(make_server, facts, tmp_path, file):
    """So that neither the list of processes nor a shell's history has it."""
    gone = subject()
    server = make_server().start()
    send_all(server, reports(facts, 10, gone))
    server.wait_for_hits(10)
    (tmp_path / "id.txt").write_text(f"{gone}\n")
    arguments = ["forget", "--data-dir", str(server.directory), "--tenant", "default", "--json",
                 "--subject-file", file if file == "-" else str(tmp_path / file)]
    done = subprocess.run([str(binary()), *arguments], text=True, capture_output=True, timeout=60,
                          input=f"{gone}\n" if file == "-" else "", check=False)
    assert done.returncode == 0, done.stderr
    places = {place["name"]: place["erasure"] for place in json.loads(done.stdout)["places"]}
    assert places["sqlite"]["count"] == 10
    missing = run(*arguments[:-1], tmp_path / "nowhere", code=66)
    assert "nowhere" in missing.stderr


@pytest.mark.parametrize("before, after", [
    ((), ("new",)), (("old",), ()), (("old",), ("new", "old")), (("old",), ("new",))])
def test_who_was_forgotten_stays_so_whichever_keys_come_and_go(
        make_server, facts, tmp_path, before, after):
    """Neither the id nor any hash of it is recorded of what comes later; of others it is."""
    gone, other = subject(), subject()

    def flags(keys) -> list[str]:
        if not keys:
            return []
        (tmp_path / "keys").write_text("".join(f"{KEYS[key]}\n" for key in keys))
        return ["--set=privacy.subject=hashed", f"--set=privacy.key_file={tmp_path / 'keys'}"]

    def of_both() -> list[e.TrackingEvent]:
        return mixed(reports(facts, 50, gone), reports(facts, 50, other))

    server = make_server(*flags(before)).start()
    send_all(server, of_both())
    server.wait_for_hits(100)
    named = {row[0] for row in server.query("SELECT DISTINCT subject_id FROM hits")}
    assert len(named) == 2
    assert forget(server, gone)["sqlite"]["count"] == 50
    restart(server, *flags(after))
    send_all(server, of_both())
    server.wait_for_hits(150)
    rows = server.query("SELECT subject_id, count(*) FROM hits GROUP BY 1 ORDER BY 2")
    assert [tuple(row) for row in rows if row[0] is None] == [(None, 50)]
    # The other's id, before and after: it may be the same.
    assert sum(row[1] for row in rows if row[0] is not None) == 100 and len(rows) <= 3, rows
    assert forget(server, gone)["sqlite"]["count"] == 0


def test_a_credential_needs_the_scope_and_reaches_its_own_tenant_alone(
        make_server, facts, tmp_path):
    keys = KeysFile(tmp_path / "keys.yaml")
    with_scope = keys.new("acme", "--scopes", "erase")
    without = keys.new("acme")
    other = keys.new("globex", "--scopes", "erase")
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}").start()
    events = reports(facts, 50, subject())
    send(server, events, metadata=bearer(without))
    server.wait_for_hits(50)
    with server.channel() as channel:
        stub = erasure_service_grpc.ErasureServiceStub(channel)
        request = es.ForgetSubjectRequest(subject_id=events[0].subject_id)
        with pytest.raises(grpc.RpcError, match="scope"):
            stub.ForgetSubject(request, metadata=bearer(without), timeout=60)
        with pytest.raises(grpc.RpcError, match="1 to 256"):
            stub.ForgetSubject(es.ForgetSubjectRequest(), metadata=bearer(with_scope), timeout=60)
        def erased(key) -> int:
            answer = stub.ForgetSubject(request, metadata=bearer(key), timeout=60)
            place = next(place for place in answer.places if place.name == "sqlite")
            assert place.outcome == es.ERASURE_OUTCOME_ERASED
            return place.erased_count
        assert erased(other) == 0
        assert erased(with_scope) == 50
        assert erased(with_scope) == 0


def test_a_recipient_is_charged_to_the_quota_and_logged_without_its_id(make_server, tmp_path):
    keys = KeysFile(tmp_path / "keys.yaml")
    key = keys.new("acme", "--scopes", "erase")
    # 3,600 bytes at once, and then one a second: 14 ids of 256 bytes.
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}",
                         "--set=quotas.bytes_per_second=1",
                         "--set=quotas.burst_seconds=3600").start()
    gone = subject().ljust(256, "-")
    with server.channel() as channel:
        stub = erasure_service_grpc.ErasureServiceStub(channel)
        def forget_it():
            stub.ForgetSubject(es.ForgetSubjectRequest(subject_id=gone), metadata=bearer(key),
                               timeout=60)
        for _ in range(14):
            forget_it()
        with pytest.raises(grpc.RpcError, match="quota: 1 bytes per second") as refused:
            forget_it()
    assert refused.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    told = server.log(1_000_000)
    assert told.count("a subject is forgotten") == 14 and '"tenant":"acme"' in told, told
    assert gone.rstrip("-") not in told


@pytest.mark.parametrize("tenant", ["Default", "default ", ""])
def test_nobody_of_a_tenant_that_cannot_exist_is_forgotten(make_server, tenant):
    server = make_server().start()
    failed = run("forget", "--data-dir", server.directory, "--tenant", tenant, "--subject", "someone",
                 code=None)
    assert failed.returncode != 0 and "a tenant's name" in failed.stderr, failed
    assert "a subject is forgotten" not in server.log(1_000_000)


def test_so_many_ids_are_remembered_and_not_one_more(make_server, facts):
    """Beyond the limit nothing is erased: what comes later could not be masked."""
    first, second = reports(facts, 1, subject()), reports(facts, 1, subject())
    server = make_server("--set=privacy.max_forgotten=1").start()
    send_all(server, first + second)
    server.wait_for_hits(2)
    for _ in range(2):
        assert forget(server, first[0].subject_id)["journal"]["outcome"] == "impossible"
    failed = run("forget", "--data-dir", server.directory, "--tenant", "default", "--subject",
                 second[0].subject_id, code=69)
    assert "privacy.max_forgotten is 1" in failed.stderr, failed
    assert server.query("SELECT subject_id FROM hits") == server.query(
        "SELECT subject_id FROM hits WHERE subject_id = ?", second[0].subject_id)


@pytest.mark.parametrize("text, options, words", [
    (None, ["privacy.subject=hashed"], "privacy.key_file is empty"),
    (None, ["privacy.subject=hashed", "privacy.key_file=/nowhere/keys"], "this user can read"),
    ("c2hvcnQ=\n", ["privacy.subject=hashed"], "line 1 is no base64 of at least 16 bytes"),
    ("c2l4dGVlbiBieXRlcywgb3IgbW9yZQ==\nnone\n", ["privacy.subject=hashed"], "line 2 is no"),
    ("\n", ["privacy.subject=hashed"], "0 keys: it has to have 1 to 16"),
    ("c2l4dGVlbiBieXRlcywgb3IgbW9yZQ==\n" * 17, ["privacy.subject=hashed"], "17 keys"),
    ("c2l4dGVlbiBieXRlcywgb3IgbW9yZQ==\n", [
        "privacy.subject=hashed", "sink=campaign", "campaign.url=http://127.0.0.1:1"],
     "needs the recipients' own ids"),
])
def test_a_configuration_that_cannot_hash_stops_the_start(tmp_path, text, options, words):
    if text is not None:
        (tmp_path / "keys").write_text(text)
        options = [*options, f"privacy.key_file={tmp_path / 'keys'}"]
    done = run("serve", "--listen", "127.0.0.1:0", "--data-dir", tmp_path / "data",
               *(f"--set={option}" for option in options), code=78)
    assert words in done.stderr, done.stderr
