"""The table: each hit once, one writer, and nothing left of who was erased."""

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable
from made import event, record, request

from sightline_lake import hits, schema
from sightline_lake import table as module
from sightline_lake.configuration import parse
from sightline_lake.lock import Refused
from sightline_lake.position import Position
from sightline_lake.staged_file import StagedFile
from sightline_lake.table import Table

APP = "journal/sink"


class Place:
    """A table's folder and a state's; `open` is a new process."""

    def __init__(self, folder):
        self.table, self.state = folder / "table", folder / "state"
        self.state.mkdir()

    def open(self, monkeypatch, **options):
        # Of one process, whose locks would all be its own.
        monkeypatch.setattr(module, "hold", lambda folder: None)
        arguments = {"table": self.table, "state": self.state, **options}
        return Table(parse([part for name, value in arguments.items()
                            for part in (f"--{name}", str(value))]))

    def rows(self):
        return DeltaTable(self.table).to_pyarrow_table().to_pylist()


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def staged(sequence, records=None, after=None, app=APP):
    """A file that holds one request."""
    file = StagedFile(pathlib.Path("none"), app, after)
    file.end = Position(sequence, 0, 7)
    file.parts = [hits.records(request(sequence, records or [record(sequence)]))]
    return file


def append(table, *of_file, **options):
    file = staged(*of_file, **options)
    assert table.append([file], True) == sum(map(len, file.parts))
    return file.end


def test_positions_are_part_of_the_commit(place, monkeypatch):
    table = place.open(monkeypatch)
    assert table.position(APP) is None
    first = append(table, 1)
    append(table, 5, app="journal/other")
    second = append(table, 2**40, after=first)
    assert place.open(monkeypatch).position(APP) == second == Position(2**40, 0, 7)
    assert place.open(monkeypatch).position("journal/other") == Position(5, 0, 7)


def test_what_does_not_follow_the_table_is_refused(place, monkeypatch):
    table = place.open(monkeypatch)
    append(table, 1)
    with pytest.raises(Refused, match="is at .*sequence=1.* for journal/sink, and not at None"):
        append(table, 2)
    assert len(place.rows()) == 1


def test_a_commit_that_was_made_after_all_is_not_made_again(place, monkeypatch):
    table = place.open(monkeypatch)
    first = staged(1)
    second, other = staged(2, after=first.end), staged(7, app="journal/other")
    assert table.append([first, other], True) == 2
    # Its answer was lost, and a file more has come.
    assert table.append([first, other, second], True) == 1
    assert table.append([first, other, second], True) == 0
    assert sorted(row["broadlog_id"] for row in place.rows()) == ["h1", "h2", "h7"]
    assert (table.position(APP), table.position("journal/other")) == (second.end, other.end)


def test_a_later_writer_ends_an_earlier_one(place, monkeypatch):
    earlier = place.open(monkeypatch)
    later = place.open(monkeypatch)
    with pytest.raises(Refused, match="Another sightline-lake writes to"):
        append(earlier, 1)
    append(later, 1)
    assert len(place.rows()) == 1


def test_a_writer_is_found_out_while_another_commits(place, monkeypatch):
    earlier = place.open(monkeypatch)
    delta = earlier._load()
    monkeypatch.setattr(earlier, "_load", lambda: delta)  # It has looked just before.
    append(place.open(monkeypatch), 1)
    with pytest.raises(Exception, match="(?i)transaction"):
        append(earlier, 1)
    assert len(place.rows()) == 1


def test_a_table_elsewhere_whose_writer_lives_is_refused(place, monkeypatch):
    append(place.open(monkeypatch), 1)
    other = Place(place.state)
    other.table = f"file://{place.table}"
    with pytest.raises(Refused, match="Another sightline-lake committed to .* ago"):
        other.open(monkeypatch)
    monkeypatch.setattr(module.time, "time", lambda now=module.time.time: now() + 71)
    other.open(monkeypatch)


def test_a_lost_table_is_refused(place, monkeypatch):
    table = place.open(monkeypatch)
    place.table.rename(place.state / "away")
    with pytest.raises(Refused, match="has no table any more"):
        append(table, 1)
    with pytest.raises(Refused, match="has no table, but .*table.json is of one"):
        place.open(monkeypatch)


def test_another_table_is_refused(place, monkeypatch):
    place.open(monkeypatch)
    place.table = place.table.parent / "second"
    (place.state / "table.json").rename(place.state / "kept")
    place.open(monkeypatch)
    (place.state / "kept").rename(place.state / "table.json")
    with pytest.raises(Refused, match="is the table .*, but .* is of"):
        place.open(monkeypatch)


def test_a_table_of_something_else_is_refused(place, monkeypatch):
    DeltaTable.create(place.table, pa.schema([("a", pa.string())]), name="mine")
    with pytest.raises(Refused, match="is a table of something else: its name is 'mine'"):
        place.open(monkeypatch)


def test_new_columns_stand_at_the_end_and_are_null_before(place, monkeypatch):
    first = append(place.open(monkeypatch), 1)
    more = (*schema.COLUMNS, schema.column("mood", pa.string(), schema.stated, "event.event_id"))
    for owner in (hits, schema):
        monkeypatch.setattr(owner, "COLUMNS", more)
    wider = pa.schema([(each.name, each.type) for each in more])
    for owner in (hits, schema, module):
        monkeypatch.setattr(owner, "SCHEMA", wider)
    second = append(place.open(monkeypatch), 2, after=first)
    assert {row["broadlog_id"]: row["mood"] for row in place.rows()} == {"h1": None, "h2": "e2"}
    assert list(place.rows()[0])[-1] == "mood"
    # A lake of before goes on with it.
    monkeypatch.undo()
    append(place.open(monkeypatch), 3, after=second)
    assert sorted(str(row["mood"]) for row in place.rows()) == ["None", "None", "e2"]


def test_a_column_of_another_type_is_refused(place, monkeypatch):
    place.open(monkeypatch)
    index = schema.SCHEMA.get_field_index("attempt")
    other = schema.SCHEMA.set(index, pa.field("attempt", pa.string()))
    monkeypatch.setattr(module, "SCHEMA", other)
    with pytest.raises(Refused, match="The column attempt of .* is of .*integer.* have .*string"):
        place.open(monkeypatch)


def holding(folder, text):
    """The files that hold a text, in their bytes or in their compressed columns."""
    def contents(path):
        yield path.read_bytes()
        if path.suffix == ".parquet":
            yield str(pq.ParquetFile(path).read().to_pylist()).encode()

    return [path for path in folder.rglob("*") if path.is_file()
            and any(text.encode() in content for content in contents(path))]


def test_who_is_erased_is_in_no_file_of_the_folder(place, monkeypatch):
    table = place.open(monkeypatch)
    mine = event(0, app_version="1")
    mine.subject_id = "someone"
    after = append(table, 1, [record(number, mine) for number in (1, 2)] + [record(3)])
    append(table, 2, [record(4, mine), record(5, mine, tenant="o'ther")], after)
    assert len(holding(place.table, "someone")) == 3
    count, first = table.erase("acme", ["hash-of-it", "someone"])
    assert count == 3 and first is not None
    # Asked again, it deletes nothing, and knows when it did: also once there is one more hash.
    assert table.erase("acme", ["someone", "hash-of-it"]) == (0, first)
    assert table.erase("acme", ["another-hash", "someone", "hash-of-it"]) == (0, first)
    assert table.erase("acme", ["nobody"]) == (0, None)
    assert [row["tenant"] for row in place.rows() if row["subject_id"] == "someone"] == ["o'ther"]
    assert table.erase("o'ther", ["someone"])[0] == 1
    assert len(holding(place.table, "someone")) == 3
    table.vacuum(0)
    assert holding(place.table, "someone") == []
    assert [row["subject_id"] for row in place.rows()] == ["subject-3"]


@pytest.mark.parametrize("is_sorted", [True, False])
def test_compaction_makes_one_file_of_many(place, monkeypatch, is_sorted):
    table = place.open(monkeypatch)
    after = None
    for sequence in range(1, 5):
        after = append(table, sequence, [record(sequence, delivery=f"{9 - sequence}")], after)
    table.compact("acme", "2026-11-27", 1 << 20, is_sorted)
    [file] = table.files()
    assert (file["partition.tenant"], str(file["partition.receive_date"])) == ("acme", "2026-11-27")
    deliveries = [row["delivery_id"] for row in place.rows()]
    assert sorted(deliveries) == ["5", "6", "7", "8"]
    assert deliveries == sorted(deliveries) or not is_sorted
    assert table.position(APP) == after
    assert json.loads((place.state / "table.json").read_text())["id"]
