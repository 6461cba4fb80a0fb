"""What Scripts/soak finds, by rows and hits that were made up; and a minute of it in earnest."""

import dataclasses
import os
import subprocess
import sys
import xml.etree.ElementTree

import pytest

import soak_watch
from protos import ROOT
from server import binary
from soak_oracle import Oracle
from soak_picture import PANELS, picture, table
from soak_watch import Limit, Row, grown, has_grown, quantile
from test_client_libraries import LIBRARIES, built

STEADY = Row(0, 0, 0, 20_000, 200, 60, 30, 2_000, 0.5, 1, 5, 20)
MINUTES, LIFE, WARM = 120, 30, 15


def rows(**changes) -> list[Row]:
    """Two hours with a restart each half hour; a change gives a figure from its row."""
    made = [dataclasses.replace(STEADY, minute=minute, life=minute // LIFE, age=minute % LIFE,
                                note="restart" if minute % LIFE == 0 and minute else "")
            for minute in range(MINUTES)]
    return [dataclasses.replace(row, **{name: figure(row) for name, figure in changes.items()})
            for row in made]


def test_a_steady_run_has_grown_in_nothing():
    assert not grown(rows(), WARM)


@pytest.mark.parametrize("name, figure, of", [
    ("rss_mib", lambda row: 200 + row.minute, "run"),
    # What one process gathers, a restart hides.
    ("rss_mib", lambda row: 200 + 5 * row.age, "process"),
    ("fds", lambda row: 60 + row.minute // 4, "run"),
    ("lag_s", lambda row: row.minute / 10, "run"),
    ("p99_ms", lambda row: 5 + row.minute / 3, "run"),
    ("p999_ms", lambda row: 20 + 2 * row.minute, "run"),
    ("disk_mib", lambda row: 2_000 + 20 * row.minute, "last"),
    ("files", lambda row: 30 + row.minute, "last"),
])
def test_what_grows_is_named(name, figure, of):
    found = grown(rows(**{name: figure}), WARM)
    assert any(problem.startswith(f"{name} grew") and of in problem for problem in found), found
    assert all(problem.startswith(name) for problem in found), found


def test_what_grows_while_it_is_warm_or_in_the_minute_of_a_restart_does_not_count():
    assert not grown(rows(rss_mib=lambda row: 100 + 10 * min(row.age, WARM)), WARM)
    assert not grown(rows(lag_s=lambda row: 60 if row.note else 0.5), WARM)
    assert not grown(rows(disk_mib=lambda row: 2_000 + min(1_000, 40 * row.minute)), WARM)


def test_every_figure_that_is_watched_has_its_limit():
    limits = soak_watch.LIMITS.keys() | soak_watch.OF_LIVES.keys()
    assert limits == set(soak_watch.NAMES) - {
        "minute", "life", "age", "events_per_s", "p50_ms", "note"}


@pytest.mark.parametrize("after, is_growth", [(110, False), (110.5, False), (112, False),
                                              (112.1, True)])
def test_growth_begins_beyond_its_share_and_amount(after, is_growth):
    assert has_grown(100, after, Limit(0.1, 2)) == is_growth


@pytest.mark.parametrize("share, value", [(0.5, 1.0), (0.75, 1.5), (0.99, 2.0), (1, 2.0)])
def test_a_quantile_is_spread_over_its_bucket(share, value):
    """Two values up to 1, two up to 2, and above 0.99 of all beyond the last bound."""
    buckets = {1.0: 2.0, 2.0: 4.0, float("inf"): 4.0}
    if share == 0.99:
        buckets[float("inf")] = 400.0
    assert quantile(buckets, share) == value


def test_no_acks_have_no_quantile():
    assert quantile({}, 0.5) == 0 and quantile({1.0: 0.0, float("inf"): 0.0}, 0.99) == 0


@pytest.mark.parametrize("numbers, problem", [
    (range(10), None),
    ([*range(10), 3], "1 hits came again"),
    ([0, 1, *range(3, 10)], "a1: 1 of 10 events are missing, the first is 2"),
    (range(11), "a1: hits beyond the 10 events"),
    ([], "a1: 10 of 10 events are missing, the first is 0"),
])
def test_the_oracle_tells_what_is_missing_and_what_came_twice(tmp_path, numbers, problem):
    oracle = Oracle(str(tmp_path / "file"), 0)
    for number in numbers:
        oracle.mark(f"ha1{number:08x}")
    assert oracle.unlike({"a1": 10}) == ([problem] if problem else [])


def test_the_oracle_knows_of_whom_nobody_was_told(tmp_path):
    oracle = Oracle(str(tmp_path / "file"), 0)
    oracle.mark("hb200000000")
    assert oracle.unlike({}) == ["b2: hits that nobody sent"]


def test_the_picture_has_a_line_for_each_panel_and_the_table_a_row_for_each_quarter():
    root = xml.etree.ElementTree.fromstring(picture(rows(), "caption"))
    lines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.get("points").split()) for line in lines] == [MINUTES] * len(PANELS)
    told = table(rows()).splitlines()
    assert len(told) == 2 + MINUTES // 15
    assert told[4].startswith("| 30–45 | 20,000 | 200 |") and told[4].endswith("| restart |")


def test_a_minute_of_it_ends_well(tmp_path):
    """Too short to grow, and long enough for a drain, reloads, a midnight and all readers."""
    for name in LIBRARIES:
        built(name)
    done = subprocess.run(
        [sys.executable, ROOT / "Scripts" / "soak", "--minutes", "1.2", "--rate", "400",
         "--reload", "0.4", "--restart", "0.6", "--out", tmp_path],
        env=os.environ | {"INTEROP_BINARY": str(binary())}, capture_output=True, text=True,
        timeout=400)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    assert {path.name for path in tmp_path.iterdir()} == {"soak.md", "soak.svg", "soak.tsv"}
