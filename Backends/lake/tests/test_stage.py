"""What is acknowledged stays, whatever is left of a file."""

import errno
import os

import pytest
from made import record, request

from sightline_lake import hits, staged_file
from sightline_lake.position import Position
from sightline_lake.stage import Stage
from sightline_lake.staged_file import StagedFile

APP = "journal/sink"
LIMIT = 1 << 20


def end(sequence, index=0):
    return Position(sequence, index, 0xFFFFFFFF)


def open_stage(folder, committed=None, limit=LIMIT):
    return Stage(folder, limit, lambda app: committed)


def add(stage, sequence, app=APP):
    return stage.add(app, request(sequence, [record(sequence)]), end(sequence))


def subjects(files):
    return [hit["broadlog_id"] for file in files for part in file.records()
            for hit in part.to_pylist()]


def test_a_folder_that_cannot_be_synced_leaves_no_other_file_of_the_same_hits(
        tmp_path, monkeypatch):
    stage, sync, failures = open_stage(tmp_path / "s"), os.fsync, [True] * 5

    def fail(descriptor):
        if os.path.isdir(f"/proc/self/fd/{descriptor}") and failures:
            failures.pop()
            raise OSError(errno.EIO, "")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", fail)
    for _ in range(5):
        with pytest.raises(OSError):
            add(stage, 1)
    assert add(stage, 1) == 1
    assert len(list((tmp_path / "s").iterdir())) == 1
    again = open_stage(tmp_path / "s")
    assert again.position(APP) == end(1) and subjects(again.seal()) == ["h1"]


@pytest.mark.parametrize("limit, files", [(LIMIT, 1), (1, 3)])
def test_what_is_added_is_read_again(tmp_path, limit, files):
    stage = open_stage(tmp_path / "s", limit=limit)
    assert [add(stage, number) for number in (1, 2, 3)] == [1, 1, 1]
    assert len(stage.seal()) == files and subjects(stage.seal()) == ["h1", "h2", "h3"]
    again = open_stage(tmp_path / "s")
    assert again.position(APP) == end(3)
    sizes = [path.stat().st_size for path in (tmp_path / "s").iterdir()]
    assert again.size == stage.size == sum(sizes)
    assert subjects(again.seal()) == ["h1", "h2", "h3"]


def test_a_file_is_sealed_at_its_limit_and_not_below(tmp_path):
    size = StagedFile(tmp_path / "f", APP, None)
    size.add(request(1, [record(1)]), end(1), hits.records(request(1, [record(1)])), True)
    for limit, count in ((size.size + 1, 0), (size.size, 1)):
        stage = open_stage(tmp_path / f"{limit}", limit=limit)
        add(stage, 1)
        assert len(stage.sealed) == count
        # Held in memory up to two of them.
        for number in (2, 3, 4):
            add(stage, number)
        assert [file.parts is None for file in stage.seal()][-1]


def test_each_cut_of_a_file_leaves_its_whole_entries(tmp_path):
    stage = open_stage(tmp_path / "s")
    sizes = []
    for number in (1, 2, 3):
        add(stage, number)
        sizes.append(stage.size)
    [path] = (tmp_path / "s").iterdir()
    whole = path.read_bytes()
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        count = sum(size <= cut for size in sizes)
        assert open_stage(tmp_path / "s").position(APP) == (end(count) if count else None)
        assert path.exists() == (count > 0)


def test_a_changed_byte_ends_the_file(tmp_path):
    stage = open_stage(tmp_path / "s")
    add(stage, 1)
    first = stage.size
    add(stage, 2)
    [path] = (tmp_path / "s").iterdir()
    whole = path.read_bytes()
    for place in range(first, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        assert open_stage(tmp_path / "s").position(APP) == end(1)


@pytest.mark.parametrize("committed, kept, is_told", [
    (None, ["h1", "h2", "h3"], False),  # The table has nothing yet.
    (end(1), ["h2", "h3"], False),  # It has the first file.
    (end(2), ["h3"], False),
    (end(3), [], False),  # It has all.
    (end(9), [], True),  # It was restored from a copy, or is another one.
])
def test_files_that_do_not_follow_the_table_are_dropped(tmp_path, capsys, committed, kept, is_told):
    stage = open_stage(tmp_path / "s")
    for number in (1, 2, 3):
        add(stage, number)
        stage.seal()
    again = open_stage(tmp_path / "s", committed)
    assert subjects(again.seal()) == kept
    assert again.position(APP) == (end(3) if kept else committed)
    assert ("staged hits do not follow the table" in capsys.readouterr().err) == is_told
    assert again.size == sum(path.stat().st_size for path in (tmp_path / "s").iterdir())


def test_files_with_a_gap_between_them_are_dropped(tmp_path, capsys):
    stage = open_stage(tmp_path / "s")
    for number in (1, 2, 3):
        add(stage, number)
        stage.seal()
    sorted((tmp_path / "s").iterdir())[1].unlink()
    again = open_stage(tmp_path / "s")
    assert (again.seal(), again.position(APP), again.size) == ([], None, 0)
    assert "staged hits do not follow the table" in capsys.readouterr().err


def test_a_restored_journal_may_go_on_from_a_lower_position(tmp_path):
    stage = open_stage(tmp_path / "s", end(100))
    add(stage, 90)
    assert open_stage(tmp_path / "s", end(100)).position(APP) == end(90)


def test_files_of_two_sinks_are_apart(tmp_path):
    stage = open_stage(tmp_path / "s")
    add(stage, 1)
    add(stage, 5, "journal/other")
    assert {file.app: file.end for file in stage.seal()} == {APP: end(1), "journal/other": end(5)}
    stage.drop(stage.seal())
    assert (stage.size, list((tmp_path / "s").iterdir())) == (0, [])


@pytest.mark.parametrize("call", ["fsync", "truncate"])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, call):
    stage = open_stage(tmp_path / "s")
    add(stage, 1)
    size = stage.size

    def fail(*_):
        raise OSError(errno.ENOSPC, "full")

    # Both, so that what was written cannot be taken back either.
    monkeypatch.setattr(staged_file.os, "fsync", fail)
    with pytest.raises(OSError):
        add(stage, 2)
    monkeypatch.undo()
    assert (stage.size, stage.position(APP)) == (size, end(1))
    if call == "truncate":
        [path] = (tmp_path / "s").iterdir()
        with open(path, "ab") as file:
            file.write(os.urandom(999))
    add(stage, 3)
    assert subjects(open_stage(tmp_path / "s").seal()) == ["h1", "h3"]


def test_a_malformed_request_is_not_stored(tmp_path):
    stage = open_stage(tmp_path / "s")
    with pytest.raises(ValueError):
        stage.add(APP, request(1, [record(1)])[:-3], end(1))
    assert (stage.size, stage.position(APP), list((tmp_path / "s").iterdir())) == (0, None, [])
