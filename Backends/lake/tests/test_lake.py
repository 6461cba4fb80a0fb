"""What goes on between the stage and the table, without a process and without waiting."""

import asyncio
from dataclasses import replace

import pytest
from made import record, request

from sightline_lake.configuration import Configuration
from sightline_lake.lake import Lake, Superseded
from sightline_lake.lock import Refused
from sightline_lake.position import Position
from sightline_lake.stage import Stage

APP = "journal/sink"


class FakeTable:
    """A table in memory, whose next commits fail if `failures` says so."""

    def __init__(self):
        self.commits, self.failures, self.compacted, self.file_list = [], [], [], []

    def append(self, files, has_bytes):
        if self.failures:
            raise self.failures.pop(0)
        parts = [part for file in files for part in file.records()]
        self.commits.append([hit["broadlog_id"] for part in parts for hit in part.to_pylist()])
        return len(parts)

    def erase(self, tenant, subjects):
        self.commits.append((tenant, subjects))
        return 1, 1_000

    def files(self):
        return self.file_list

    def compact(self, *arguments):
        self.compacted.append(arguments)

    def vacuum(self, hours):
        self.commits.append(("vacuum", hours))


@pytest.fixture
def make(tmp_path):
    def made(**options):
        table = FakeTable()
        stage = Stage(tmp_path / "s", 1 << 20, lambda app: None)
        return Lake(Configuration(table="t", state="s", **options), stage, table)

    return made


async def add(lake, sequence, app=APP, stream="stream"):
    await lake.begin(app, stream)
    await lake.add(app, stream, request(sequence, [record(sequence)]), Position(sequence, 0, 7))


def test_one_commit_has_all_that_fits_and_a_larger_file_goes_alone(make):
    async def run():
        lake = make()
        for number, app in enumerate(["j/a", "j/b", "j/c"], 1):
            await add(lake, number, app)
        size = lake.stage.opened["j/a"].size
        lake.configuration = replace(lake.configuration, publish_bytes=2 * size)
        await lake.publish()
        assert lake.table.commits == [["h1", "h2"], ["h3"]]
        await add(lake, 4, "j/a")
        lake.configuration = replace(lake.configuration, publish_bytes=1)
        await lake.publish()
        assert lake.table.commits[2:] == [["h4"]]
        assert lake.figures()["staged_bytes"] == 0

    asyncio.run(run())


def test_enough_bytes_are_committed_without_waiting(make):
    async def run():
        lake = make(publish_bytes=1)
        task = asyncio.ensure_future(lake.publish_regularly())
        await add(lake, 1)
        while not lake.table.commits:
            await asyncio.sleep(0)
        task.cancel()

    asyncio.run(run())


def test_a_failed_commit_is_tried_again_and_loses_nothing(make, monkeypatch):
    pauses, sleep = [], asyncio.sleep

    async def note(seconds):
        pauses.append(seconds)
        await sleep(0)

    async def run():
        lake = make(publish_bytes=1)
        lake.table.failures = [OSError("no network")] * 7
        await add(lake, 1)
        monkeypatch.setattr(asyncio, "sleep", note)
        task = asyncio.ensure_future(lake.publish_regularly())
        while not lake.table.commits:
            await sleep(0)
        task.cancel()
        assert lake.table.commits == [["h1"]]
        assert lake.figures()["commit_failures_total"] == 7

    asyncio.run(run())
    assert pauses == [1, 2, 4, 8, 16, 30, 30]


def test_a_refusal_ends_the_work(make):
    async def run():
        lake = make(publish_bytes=1)
        lake.table.failures = [Refused("another")]
        await add(lake, 1)
        with pytest.raises(Refused):
            await lake.publish_regularly()

    asyncio.run(run())


def test_hits_wait_while_too_many_are_staged(make):
    async def run():
        lake = make(stage_bytes=1)
        await add(lake, 1)
        waiting = asyncio.ensure_future(add(lake, 2))
        done, _ = await asyncio.wait({waiting}, timeout=0.05)
        assert not done and lake.stage.position(APP) == Position(1, 0, 7)
        await lake.publish()
        await waiting
        assert lake.stage.position(APP) == Position(2, 0, 7)

    asyncio.run(run())


def test_an_earlier_stream_adds_nothing(make):
    async def run():
        lake = make()
        await lake.begin(APP, "earlier")
        await lake.begin(APP, "later")
        with pytest.raises(Superseded):
            await lake.add(APP, "earlier", request(1, [record(1)]), Position(1, 0, 7))

    asyncio.run(run())


@pytest.mark.parametrize("hours, until, after", [
    (720, 1_000 + 720 * 3600 + 120, []),
    (0, None, [("vacuum", 0)]),
])
def test_an_erasure_comes_after_what_is_staged(make, monkeypatch, hours, until, after):
    monkeypatch.setattr("time.time", lambda: 1_500.0)

    async def run():
        lake = make(retention_hours=hours, tidy_seconds=60)
        await add(lake, 1)
        assert await lake.erase("acme", ["x"]) == (1, until)
        assert lake.table.commits == [["h1"], ("acme", ["x"]), *after]

    asyncio.run(run())


def test_a_partition_that_cannot_be_compacted_holds_up_no_other_and_no_removal(make, monkeypatch):
    async def run():
        lake = make(tidy_seconds=0)
        lake.table.file_list = [
            {"size_bytes": 1, "partition.tenant": tenant, "partition.receive_date": "2020-01-01"}
            for tenant in ("a", "a", "b", "b")]
        compact = lake.table.compact
        monkeypatch.setattr(lake.table, "compact", lambda tenant, *rest: compact(
            tenant, *rest) if tenant == "b" else open("/nowhere"))
        task = asyncio.ensure_future(lake.tidy_regularly())
        # With the second round the first one is over.
        while len(lake.table.commits) < 2:
            await asyncio.sleep(0)
        task.cancel()
        assert set(lake.table.commits) == {("vacuum", 168)}
        assert {tenant for tenant, *_ in lake.table.compacted} == {"b"}
        assert lake.figures()["last_compaction_timestamp_seconds"] == 0

    asyncio.run(run())


def test_a_batch_that_waits_for_room_is_not_added_once_its_stream_is_over(make):
    async def run():
        lake = make(stage_bytes=1)
        await lake.begin(APP, "stream")
        await lake.add(APP, "stream", request(1, [record(1)]), Position(1, 0, 7))
        waiting = asyncio.ensure_future(
            lake.add(APP, "stream", request(2, [record(2)]), Position(2, 0, 7)))
        await asyncio.sleep(0)
        lake.end(APP, "stream")
        await lake.erase("acme", ["x"])
        with pytest.raises(Superseded):
            await waiting
        assert lake.table.commits == [["h1"], ("acme", ["x"])]

    asyncio.run(run())


def test_small_files_of_a_partition_are_compacted_and_of_past_days_sorted(make):
    def file(size, day, tenant="acme"):
        return {"size_bytes": size, "partition.tenant": tenant, "partition.receive_date": day}

    async def run():
        lake = make(file_bytes=2_000_000)
        small, large = 999_999, 1_000_000
        lake.table.file_list = [
            file(small, "2020-01-01"), file(small, "2020-01-01"), file(large, "2020-01-01"),
            file(small, "2999-01-01"), file(small, "2999-01-01"),
            file(small, "2020-01-02"), file(large, "2020-01-02"), file(large, "2020-01-02"),
            file(small, "2020-01-02", "other")]
        task = asyncio.ensure_future(lake.tidy_regularly())
        while not lake.figures()["last_compaction_timestamp_seconds"]:
            await asyncio.sleep(0)
        task.cancel()
        assert lake.table.compacted == [("acme", "2020-01-01", 2_000_000, True),
                                        ("acme", "2999-01-01", 2_000_000, False)]
        assert lake.table.commits == [("vacuum", 168)]
        assert lake.figures()["files"] == 9

    asyncio.run(run())
