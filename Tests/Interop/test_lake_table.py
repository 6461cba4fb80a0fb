"""What a lake makes of a table that is not as it left it: lost, older, somebody else's, of another
schema; and of a recipient who is forgotten."""

import json
import pathlib
import random
import re
import secrets
import shutil
import threading
import time

import deltalake
import pyarrow
import pyarrow.parquet
import pytest

import lake
from drained import wait_until_drained
from facts import CANARY
from id_forms import found, text_forms
from lake import SINK, Peer, built
from protos import ROOT
from server import wait_until
from sightline.v1 import sink_service_pb2 as pb
from test_forget import forget
from test_kill_loses_no_ack import Client
from test_lake_once import make_lake, record, send  # noqa: F401  a fixture
from test_lake_queries import opening

EX_CONFIG = 78
FORGOTTEN, OTHERS = 200, 3_000
WHOLE_FORGOTTEN, WHOLE_OTHERS = 10_000, 2_000_000
GROUP = 2_000
# More than there are between two checkpoints of a log.
COMMITS = 130


def numbers(table) -> list[int]:
    """The hits that are there, by their numbers."""
    return sorted(int.from_bytes(hit, "big") for hit in lake.hits(table).elements())


# Whose table it is.

@pytest.mark.parametrize("shared", ["table", "state"])
def test_a_second_lake_is_refused_in_words(make_lake, shared):  # noqa: F811
    first = make_lake("--publish-seconds=1").start()
    with Peer(first) as peer:
        peer.deliver(1, [record(1)])
        second = make_lake(**{shared: getattr(first, shared)})
        code, log = second.fails()
        assert code == EX_CONFIG and "one writer" in log and "Stop" in log
        peer.deliver(2, [record(2)])
    assert first.terminate() == 0, first.log()
    assert numbers(first.table) == [1, 2]


def test_a_lake_whose_table_is_gone_does_not_begin_anew(make_lake):  # noqa: F811
    """What servers have been told is durable would be lost without a word."""
    own = make_lake().start()
    with Peer(own) as peer:
        peer.deliver(1, [record(1)])
    assert own.terminate() == 0, own.log()
    shutil.rmtree(own.table)
    code, log = own.fails()
    assert code == EX_CONFIG and "Restore" in log
    # As it says, whoever wants a new table deletes the state.
    shutil.rmtree(own.state)
    own.start()
    with Peer(own) as peer:
        assert peer.welcome.HasField("nothing")


def test_somebody_elses_table_is_left_alone(make_lake, tmp_path):  # noqa: F811
    table = tmp_path / "other"
    deltalake.write_deltalake(table, pyarrow.table({"a": [1]}))
    code, log = make_lake(table=table).fails()
    assert code == EX_CONFIG and "something else" in log
    assert lake.opened(table).version() == 0


def test_another_lakes_table_is_left_alone(make_lake):  # noqa: F811
    own, other = make_lake().start(), make_lake().start()
    assert own.terminate() == other.terminate() == 0
    version = lake.opened(other.table).version()
    own.table = other.table
    code, log = own.fails()
    assert code == EX_CONFIG and "another state" in log
    assert lake.opened(other.table).version() == version


@pytest.mark.parametrize("is_running", [False, True])
def test_an_older_copy_of_the_table_gets_what_it_lacks(make_server, make_lake,  # noqa: F811
                                                       seed, is_running):
    """Restored while the lake does not run, or under a lake that runs: the server is told of a
    position that is behind, says so, and sends what its journal keeps."""
    own = make_lake("--publish-seconds=1").start()
    server = make_server(own.sinks(), "--set=journal.retain_seconds=3600").start()
    client = Client(0, seed)
    send(server, client, 3)
    wait_until_drained(server, SINK)
    wait_until(lambda: own.figures()["sightline_lake_staged_bytes"] == 0, "all is in the table")
    copy = own.table.with_name("copy")
    shutil.copytree(own.table, copy)
    send(server, client, 3)
    wait_until_drained(server, SINK)
    wait_until(lambda: own.figures()["sightline_lake_staged_bytes"] == 0, "all is in the table")
    if not is_running:
        assert own.terminate() == 0
    shutil.rmtree(own.table)
    copy.rename(own.table)
    if is_running:
        send(server, client, 1)
        # It ends: what it has staged does not follow the older table.
        assert own.process.wait(60) == EX_CONFIG, own.log()
        assert "restored from a copy" in own.log()
    own.start()
    send(server, client, 1)
    wait_until(lambda: "the sink has lost hits" in server.log_path.read_text(),
               "the server tells of the loss")
    wait_until_drained(server, SINK)
    assert server.terminate() == 0, server.log()
    assert own.terminate() == 0, own.log()
    stored = lake.hits(own.table)
    assert stored.keys() == client.owed and set(stored.values()) == {1}


# What it says of itself.

def test_its_figures_are_those_of_the_page(make_lake):  # noqa: F811
    page = (ROOT / "Backends/lake/README.md").read_text()
    named = set(re.findall(r"^\| `(sightline_lake_\w+)` \|", page, re.MULTILINE))
    own = make_lake("--publish-seconds=1", "--tidy-seconds=1").start()
    assert own.figures().keys() == named
    begun = time.time()
    with Peer(own) as peer:
        for sequence in (1, 2):
            peer.deliver(sequence, [record(sequence)])
            lake.wait_for_rows(own.table, sequence)
        peer.erase("elsewhere", "nobody")
        wait_until(lambda: own.figures()["sightline_lake_files"] == 1, "a compaction")
        told = own.figures()
    assert [told[f"sightline_lake_{name}"] for name in (
        "hits_total", "committed_hits_total", "commits_total", "commit_failures_total",
        "staged_bytes", "lag_seconds")] == [2, 2, 2, 0, 0, 0]
    assert told["sightline_lake_last_commit_timestamp_seconds"] >= begun
    assert told["sightline_lake_files"] and told["sightline_lake_table_bytes"]


def test_its_log_is_lines_of_json_without_anybody(make_lake):  # noqa: F811
    own = make_lake("--publish-seconds=1").start()
    with Peer(own) as peer:
        peer.deliver(1, [record(1, subject=CANARY)])
        peer.erase("elsewhere", CANARY)
        peer.requests.put(pb.DeliverRequest(hello=pb.Hello(journal_id="again")))
        with pytest.raises((AssertionError, lake.grpc.RpcError)):
            peer.next("ack")
    assert own.terminate() == 0, own.log()
    lines = own.log_path.read_text().splitlines()
    assert all(list(line)[:4] == ["time", "level", "logger", "msg"]
               for line in map(json.loads, lines))
    assert CANARY not in own.log_path.read_text()


# Positions.

def test_a_group_in_parts_is_there_whole_or_goes_on_where_it_was(make_lake):  # noqa: F811
    """Its parts come in messages; a kill between them continues at the index that was acked."""
    own = make_lake("--publish-seconds=1").start()
    with Peer(own) as peer:
        assert peer.welcome.HasField("nothing")
        assert pb.SINK_CAPABILITY_ERASURE in peer.welcome.capabilities
        peer.deliver(5, [record(1), record(2)], awaits_ack=False)
        peer.deliver(5, [record(3)], first_index=2)
    lake.wait_for_rows(own.table, 3)
    own.kill()
    own.start()
    with Peer(own) as peer:
        assert (peer.welcome.durable.sequence, peer.welcome.durable.index) == (5, 2)
        peer.deliver(5, [record(4)], first_index=3)
        with Peer(own, sink="other") as other:
            assert other.welcome.HasField("nothing")
        with Peer(own, journal="another") as other:
            assert other.welcome.HasField("nothing")
    assert own.terminate() == 0, own.log()
    assert numbers(own.table) == [1, 2, 3, 4]


def test_positions_outlive_checkpoints_of_the_tables_log(make_lake):  # noqa: F811
    """The log is written anew every hundred commits; a journal that sends nothing more keeps its
    position, too."""
    own = make_lake("--publish-seconds=3600", "--tidy-seconds=1", "--retention-hours=0").start()
    with Peer(own, journal="silent") as silent:
        silent.deliver(9, [record(1_000)])
    with Peer(own) as peer:
        for sequence in range(1, COMMITS + 1):
            peer.deliver(sequence, [record(sequence)])
            # It commits what is staged.
            assert not peer.erase("elsewhere", "nobody").failure
    own.kill()
    assert list(own.table.glob("_delta_log/*.checkpoint*.parquet"))
    own.start()
    with Peer(own, journal="silent") as silent, Peer(own) as peer:
        assert silent.welcome.durable.sequence == 9
        assert peer.welcome.durable.sequence == COMMITS
    assert own.terminate() == 0, own.log()
    assert numbers(own.table) == [*range(1, COMMITS + 1), 1_000]


def test_an_earlier_stream_adds_nothing(make_lake):  # noqa: F811
    own = make_lake("--publish-seconds=1").start()
    with Peer(own) as first:
        first.deliver(1, [record(1)])
        with Peer(own) as second:
            assert second.welcome.durable.sequence == 1
            first.send(2, [record(2)])
            with pytest.raises((AssertionError, lake.grpc.RpcError)):
                first.next("ack")
            second.deliver(2, [record(2)])
    assert own.terminate() == 0, own.log()
    assert numbers(own.table) == [1, 2]


# The columns of two builds.

def newer_protos(folder: pathlib.Path) -> pathlib.Path:
    """The project's protos, with a field more of an event."""
    shutil.copytree(ROOT / "Protos", folder)
    path = folder / "sightline/v1/event.proto"
    text = path.read_text()
    assert text.count("message TrackingEvent {\n") == 1
    path.write_text(text.replace("message TrackingEvent {\n",
                                 "message TrackingEvent {\n  string loyalty_tier = 2047;\n"))
    return folder


def newer_package(folder: pathlib.Path) -> pathlib.Path:
    """A build that has the field as a column, by the one line that this takes."""
    package = folder / "site"
    shutil.copytree(built(newer_protos(folder / "protos")), package)
    path = package / "sightline_lake/schema.py"
    lines = path.read_text()
    last = '    column("event", pa.binary(), plain),\n'
    assert lines.count(last) == 1
    path.write_text(lines.replace(
        last, f'{last}    column("loyalty_tier", TEXT, stated, "event.loyalty_tier"),\n'))
    return package


def of_a_tier(number: int) -> bytes:
    """A record with the field, which our protos do not know."""
    made = record(number)
    tier = f"tier-{number}".encode()
    made.event.MergeFromString(lake.varint(2047 << 3 | 2) + lake.varint(len(tier)) + tier)
    return made.SerializeToString()


def test_a_new_field_becomes_a_column_and_old_rows_are_read_with_it(make_lake,  # noqa: F811
                                                                    tmp_path):
    """Before, it stays in the event's bytes. A later build adds its column at the end, an earlier
    one leaves it empty again: all rows are read together."""
    own = make_lake("--publish-seconds=1").start()
    with Peer(own) as peer:
        peer.deliver(1, [], raw=[of_a_tier(1)])
    assert own.terminate() == 0, own.log()
    before = [field.name for field in lake.opened(own.table).schema().fields]
    for sequence, package in ((2, newer_package(tmp_path)), (3, None)):
        own.package = package
        own.start()
        with Peer(own) as peer:
            assert peer.welcome.durable.sequence == sequence - 1
            peer.deliver(sequence, [], raw=[of_a_tier(sequence)])
        assert own.terminate() == 0, own.log()
    after = lake.opened(own.table).schema().fields
    assert [field.name for field in after] == [*before, "loyalty_tier"] and after[-1].nullable
    question = "SELECT hit_id, loyalty_tier FROM hits ORDER BY hit_id"
    block = """import deltalake
import duckdb
hits = deltalake.DeltaTable("lake").to_pyarrow_dataset()"""
    [rows] = lake.asked(own.table.parent, "duckdb", [block], [question])
    assert rows == [[record(number).hit_id.hex(), "tier-2" if number == 2 else None]
                    for number in (1, 2, 3)]
    # None is lost: the bytes have it.
    for event in lake.columns(own.table, "event")["event"].to_pylist():
        assert b"tier-" in event


def test_a_table_with_another_type_of_a_column_is_refused(make_lake, tmp_path):  # noqa: F811
    own = make_lake().start()
    assert own.terminate() == 0
    own.package = tmp_path / "site"
    shutil.copytree(built(), own.package)
    path = own.package / "sightline_lake/schema.py"
    text = path.read_text()
    line = 'column("attempt", pa.int32(), '
    assert text.count(line) == 1
    path.write_text(text.replace(line, 'column("attempt", pa.int64(), '))
    code, log = own.fails()
    assert code == EX_CONFIG and "attempt" in log


# Erasure.

def contents(path: pathlib.Path):
    """What stands in a file: of Parquet also what its pages hold, which are compressed."""
    yield path.read_bytes()
    if path.suffix == ".parquet":
        for batch in pyarrow.parquet.ParquetFile(path).iter_batches():
            yield batch.serialize().to_pybytes()


def holding(subject: str, *folders: pathlib.Path) -> list[str]:
    """The files that have the id in any form."""
    forms = {form: name for name, texts in text_forms(subject).items() for form in texts}
    return [f"{path.name}: {', '.join(names)}" for folder in folders
            for path in sorted(folder.rglob("*")) if path.is_file()
            for names in [{name for content in contents(path) for name in found(content, forms)}]
            if names]


class People:
    """Somebody with some of many hits, spread over groups."""

    def __init__(self, forgotten: int, others: int):
        self.subject = f"person-{secrets.token_hex(12)}'\"é"
        self.near = f"person-{secrets.token_hex(12)}'\"é"
        self.total, self.every = forgotten + others, (forgotten + others) // forgotten
        self.own = [number for number in range(1, self.total + 1) if number % self.every == 0]

    def groups(self):
        for first in range(1, self.total + 1, GROUP):
            yield [record(number, subject=self.subject if number % self.every == 0
                          else self.near if number % self.every == 1 else "s")
                   for number in range(first, min(first + GROUP, self.total + 1))]


def tell(peer: Peer, people: People) -> int:
    """Delivers all groups; the sequence of the last one."""
    sequence = 0
    for sequence, records in enumerate(people.groups(), 1):
        peer.deliver(sequence, records)
    return sequence


@pytest.mark.timeout(3600)
def test_a_recipients_hits_are_gone_and_the_answer_says_until_when(make_lake,  # noqa: F811
                                                                   amount, figure):
    """Those in the table and those that are staged; a repeated question gets the same time."""
    forgotten = amount(FORGOTTEN, WHOLE_FORGOTTEN)
    people = People(forgotten, WHOLE_OTHERS if forgotten == WHOLE_FORGOTTEN else OTHERS)
    own = make_lake("--publish-seconds=2", "--tidy-seconds=3").start()
    with Peer(own) as peer:
        last = tell(peer, people)
        begun = time.time()
        erased = peer.erase("elsewhere", people.subject, "a hash of it")
        seconds = time.time() - begun
        assert (erased.failure, erased.erased_count) == ("", len(people.own))
        until = erased.retained_until.seconds
        # A week, and what it takes until the next tidying.
        assert 168 * 3600 <= until - begun <= 169 * 3600 + 60
        again = peer.erase("elsewhere", "a hash of it", people.subject)
        assert again.erased_count == 0 and abs(again.retained_until.seconds - until) < 60
        of_nobody = peer.erase("elsewhere", "nobody")
        assert of_nobody.erased_count == 0 and not of_nobody.HasField("retained_until")
        of_another_tenant = peer.erase("default", people.near)
        assert of_another_tenant.erased_count == 0
        peer.deliver(last + 1, [record(people.total + 1)])
    figure(f"{len(people.own):,} of {people.total:,} hits erased in {seconds:.1f} s")
    assert own.terminate() == 0, own.log()
    assert numbers(own.table) == sorted({*range(1, people.total + 2)} - {*people.own})
    question = f"SELECT count(*) FROM hits WHERE subject_id = {quoted(people.subject)}"
    for engine, mark in (("duckdb", "to_pyarrow_dataset"), ("clickhouse", "chdb")):
        assert lake.asked(own.table.parent, engine, [opening(mark)], [question]) == [[[0]]]
    # Earlier versions have it, as was said; neither the log nor the stage does.
    assert holding(people.subject, own.table) and not holding(people.subject, own.state)
    assert people.subject not in own.log_path.read_text()
    # Whoever is not forgotten is found by the same search.
    assert holding(people.near, own.table)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@pytest.mark.timeout(3600)
def test_no_byte_is_left_after_the_vacuum(make_lake, amount):  # noqa: F811
    """Without a retention that is at once: of table, log of the table and stage."""
    forgotten = amount(FORGOTTEN, WHOLE_FORGOTTEN)
    people = People(forgotten, WHOLE_OTHERS if forgotten == WHOLE_FORGOTTEN else OTHERS)
    own = make_lake("--publish-seconds=1", "--tidy-seconds=3600", "--retention-hours=0").start()
    with Peer(own) as peer:
        tell(peer, people)
        lake.wait_for_rows(own.table, people.total)
        assert holding(people.subject, own.table)
        erased = peer.erase("elsewhere", people.subject)
        assert (erased.failure, erased.erased_count) == ("", len(people.own))
        assert not erased.HasField("retained_until")
        assert holding(people.subject, own.table, own.state) == []
        assert holding(people.near, own.table)
    assert own.terminate() == 0, own.log()
    assert holding(people.subject, own.table.parent) == []


def test_who_is_forgotten_while_it_is_killed_is_forgotten_at_last(make_lake, seed):  # noqa: F811
    """The server asks again after a break, until it has an answer."""
    moments = random.Random(seed)
    people = People(FORGOTTEN, OTHERS)
    own = make_lake("--publish-seconds=1", "--tidy-seconds=1").start()
    with Peer(own) as peer:
        tell(peer, people)
    for _ in range(4):
        with Peer(own) as peer:
            peer.requests.put(pb.DeliverRequest(erase=pb.Erase(
                tenant="elsewhere", subject_ids=[people.subject])))
            # The random moment is the test: this waits for nothing else.
            threading.Event().wait(moments.uniform(0, 0.3))
            own.kill()
        own.start()
    with Peer(own) as peer:
        erased = peer.erase("elsewhere", people.subject)
        assert not erased.failure
        # Whichever of them deleted it: earlier versions have it.
        assert erased.retained_until.seconds > time.time() + 167 * 3600
    assert own.terminate() == 0, own.log()
    assert numbers(own.table) == sorted({*range(1, people.total + 1)} - {*people.own})


def test_the_receipt_of_a_server_says_until_when(make_server, make_lake, seed):  # noqa: F811
    """`sightline forget` reaches the lake through the sink."""
    own = make_lake("--publish-seconds=1").start()
    server = make_server(own.sinks()).start()
    client = Client(0, seed)
    send(server, client, 4)
    wait_until_drained(server, SINK)
    lake.wait_for_rows(own.table, len(client.owed))
    rows = lake.columns(own.table, "subject_id")["subject_id"].to_pylist()
    subject = next(row for row in rows if row)
    receipt = forget(server, subject)[SINK]
    assert (receipt["outcome"], receipt["count"]) == ("erased", rows.count(subject)), receipt
    assert receipt["reason"].startswith("earlier versions hold the id until 20")
    assert server.terminate() == 0 and own.terminate() == 0, own.log()
    rows = lake.columns(own.table, "subject_id")["subject_id"].to_pylist()
    assert rows and subject not in rows


# What may stand in a hit.

TENANTS = ["default", "a b", "é", "x=y", "%41", "it's", "a+b&c", "t" * 64, "..", "_"]
TIMES = [-62_135_596_800, -1, 1, 253_402_300_799]


def test_any_tenant_and_time_is_read_as_it_was_sent(make_lake):  # noqa: F811
    """Names that no folder and no part of a URL can have as they are, and the ends of time; also
    once they are compacted and somebody of each tenant is erased."""
    own = make_lake("--publish-seconds=1", "--tidy-seconds=1").start()
    sent = {}
    with Peer(own) as peer:
        for sequence in (1, 2, 3):
            records = []
            for number, tenant in enumerate(TENANTS):
                made = record(sequence * 100 + number, tenant=tenant, subject=f"s{sequence}'é")
                made.event.occur_time.seconds = TIMES[number % len(TIMES)]
                sent[made.hit_id] = (tenant, made.event.occur_time.seconds)
                records.append(made)
            peer.deliver(sequence, records)
            lake.wait_for_rows(own.table, sequence * len(TENANTS))
        wait_until(lambda: lake.opened(own.table).get_add_actions().num_rows == len(TENANTS),
                   "each partition is one file")
        for number, tenant in enumerate(TENANTS):
            assert peer.erase(tenant, "s2'é").erased_count == 1, tenant
            del sent[record(200 + number).hit_id]
    assert own.terminate() == 0, own.log()
    question = ("SELECT hit_id, tenant, CAST(date_diff('second', "
                "CAST('1970-01-01' AS timestamp), CAST(occur_time AS timestamp)) AS bigint)"
                " FROM hits ORDER BY hit_id")
    [rows] = lake.asked(own.table.parent, "duckdb", [opening("to_pyarrow_dataset")], [question])
    assert {bytes.fromhex(row[0]): (row[1], row[2]) for row in rows} == sent
    question = "SELECT hex(hit_id), tenant FROM hits ORDER BY hit_id"
    [rows] = lake.asked(own.table.parent, "clickhouse", [opening("chdb")], [question])
    assert {bytes.fromhex(row[0]): row[1] for row in rows} == {
        hit: tenant for hit, (tenant, _) in sent.items()}
    assert lake.asked(own.table.parent, "polars", [
        opening("scan_delta"), "answer = hits.select('tenant').unique().sort('tenant')"],
        ["answer"]) == [[[tenant] for tenant in sorted(TENANTS, key=str.encode)]]
