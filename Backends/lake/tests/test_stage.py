"""What is acknowledged stays, whatever is left of a file."""

import errno
import os

import pytest
from made import record, request

from sightline_lake import staged_file
from sightline_lake.position import Position
from sightline_lake.stage import Stage

APP = "journal/sink"
MEMORY = 1 << 20


def end(sequence, index=0):
    return Position(sequence, index, 0xFFFFFFFF)


def open_stage(folder, committed=None, memory=MEMORY):
    return Stage(folder, memory, lambda app: committed)


def add(stage, sequence, app=APP):
    return stage.add(app, request(sequence, [record(sequence)]), end(sequence))


def subjects(files):
    return [hit["broadlog_id"] for file in files for part in file.records()
            for hit in part.to_pylist()]


@pytest.mark.parametrize("memory", [MEMORY, 0])
def test_what_is_added_is_read_again(tmp_path, memory):
    stage = open_stage(tmp_path / "s", memory=memory)
    assert [add(stage, number) for number in (1, 2, 3)] == [1, 1, 1]
    assert subjects(stage.seal()) == ["h1", "h2", "h3"]
    again = open_stage(tmp_path / "s")
    assert again.position(APP) == end(3)
    assert again.bytes == stage.bytes == sum(path.stat().st_size for path in (tmp_path / "s").iterdir())
    assert subjects(again.seal()) == ["h1", "h2", "h3"]


def test_each_cut_of_a_file_leaves_its_whole_entries(tmp_path):
    stage = open_stage(tmp_path / "s")
    sizes = []
    for number in (1, 2, 3):
        add(stage, number)
        sizes.append(stage.bytes)
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
    first = stage.bytes
    add(stage, 2)
    [path] = (tmp_path / "s").iterdir()
    whole = path.read_bytes()
    for place in range(first, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        assert open_stage(tmp_path / "s").position(APP) == end(1)


@pytest.mark.parametrize("committed, kept", [
    (None, ["h1", "h2"]),  # The table has nothing yet.
    (end(1), ["h2"]),  # It has the first file.
    (end(2), []),  # It has both.
    (end(9), []),  # It is another one.
])
def test_files_that_do_not_follow_the_table_are_dropped(tmp_path, committed, kept):
    stage = open_stage(tmp_path / "s")
    add(stage, 1)
    stage.seal()
    add(stage, 2)
    again = open_stage(tmp_path / "s", committed)
    assert subjects(again.seal()) == kept
    assert again.position(APP) == (end(2) if kept else committed)


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
    assert (stage.bytes, list((tmp_path / "s").iterdir())) == (0, [])


@pytest.mark.parametrize("call", ["fsync", "truncate"])
def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch, call):
    stage = open_stage(tmp_path / "s")
    add(stage, 1)
    size = stage.bytes

    def fail(*_):
        raise OSError(errno.ENOSPC, "full")

    # Both, so that what was written cannot be taken back either.
    monkeypatch.setattr(staged_file.os, "fsync", fail)
    with pytest.raises(OSError):
        add(stage, 2)
    monkeypatch.undo()
    assert (stage.bytes, stage.position(APP)) == (size, end(1))
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
    assert (stage.bytes, stage.position(APP), list((tmp_path / "s").iterdir())) == (0, None, [])
