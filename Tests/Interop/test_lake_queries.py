"""The questions of docs/lake.md, asked of the same events in every reader that it names: equal to
`sightline report`, and to a count of the events without any code of ours."""

import collections
import datetime
import importlib.util
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

import polars
import pytest

from drained import wait_until_drained
from figures import IOS, facts, ids, rounded, side
from lake import SINK, Lake, asked
from not_run import reason_not_to_run
from protos import ROOT
from protos import event as e
from sent_and_seen import Story
from server import Server, binary
from test_sent_and_seen import Sender, expected
from test_terminal_commands import run

PAGE = ROOT / "docs/lake.md"
PLOTS = ROOT / "Examples/lake/plots.py"
BLOCK = re.compile(r"^```(sql|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SENDS, WHOLE = 400, 10_000
DAYS = 20
DAY_SECONDS = 86_400
# The page's questions, and the frame of Polars that answers each.
QUESTIONS = {"Funnel by delivery": "funnel", "Open rate of delivered": "open_rate",
             "By app version": "app_version", "Hour of day": "hour_of_day",
             "Cohorts of first opens": "cohorts"}
# What clocks say of opens that were received at RECEIVED: only the first is right.
RECEIVED = datetime.datetime(2026, 11, 28, 17, tzinfo=datetime.UTC)
CLOCKS = [RECEIVED - datetime.timedelta(days=1, hours=8), None,
          datetime.datetime(1, 1, 1, tzinfo=datetime.UTC),
          datetime.datetime(1969, 12, 31, 23, 59, 59, tzinfo=datetime.UTC),
          RECEIVED + datetime.timedelta(hours=1),
          datetime.datetime(9999, 12, 31, 23, 59, 59, tzinfo=datetime.UTC)]
BY_HOUR = [[9, 1], [17, len(CLOCKS) - 1]]
BY_FIRST = [["2026-11-27", 0, 1], ["2026-11-27", 1, 1]]
PLATFORMS = {e.PLATFORM_ANDROID: "android", e.PLATFORM_IOS: "ios", e.PLATFORM_UNSPECIFIED: None}


# The page.

def section(title: str) -> str:
    """A section's text, without that of the next one of any level."""
    found = re.search(rf"^##+ {re.escape(title)}\n(.*?)(?=^##|\Z)", PAGE.read_text(),
                      re.MULTILINE | re.DOTALL)
    assert found, f"{PAGE} has no section {title}"
    return found[1]


def blocks(title: str, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(section(title)) if found == language]


def opening(mark: str, title: str = "Open it") -> str:
    """The block that opens a table, by a word that it has and no other."""
    block, = (text for language in ("python", "sql") for text in blocks(title, language)
              if mark in text and reason_not_to_run(text) is None)
    return block


def sql(title: str) -> str:
    block, = blocks(title, "sql")
    return block


def test_each_block_of_the_page_is_run_or_stands_in_the_list():
    known = [opening("to_pyarrow_dataset"), opening("scan_delta"), opening("chdb"),
             opening("read_json", "Without a lake"), opening("sqlite3", "Without a lake")]
    known += [block for title in QUESTIONS for language in ("sql", "python")
              for block in blocks(title, language)]
    assert len(known) == 5 + 2 * len(QUESTIONS)
    assert not [text for _, text in BLOCK.findall(PAGE.read_text())
                if text not in known and reason_not_to_run(text) is None]


# The oracle.

class Answers:
    """What each question has to be answered with, as rows in the page's order."""

    def __init__(self, events: list[e.TrackingEvent]):
        told = {}
        for event in events:
            for kind in facts(event):
                if event.HasField("push_send") or kind != "nothing_shown":
                    fact = (*ids(event), kind, event.push.action_identifier)
                    told.setdefault(fact, event)
        self.told = told
        by_delivery = collections.defaultdict(list)
        for (delivery, *fact), event in told.items():
            by_delivery[delivery].append((*fact, event))
        self.funnel = [self.step(name, rows) for name, rows in sorted(by_delivery.items())]
        self.open_rate = [["default", row[1], row[3], row[9], row[9] / row[3]]
                          for row in self.funnel if row[3]]
        self.app_version = self.versions()
        self.hour_of_day = self.hours()
        self.cohorts = self.first_opens()

    @staticmethod
    def step(delivery: str, rows: list) -> list:
        def tried(*kinds) -> int:
            return len({notification for notification, kind, *_ in rows if kind in kinds})

        def shown(on_ios: bool) -> int:
            return sum(kind == "impression" and (side(event) == IOS) == on_ios
                       for _, kind, _, event in rows)
        counts = collections.Counter(kind for _, kind, *_ in rows)
        return ["default", delivery, tried("sent", "send_failed"), tried("sent"),
                tried("send_failed"), tried("send_skipped"), shown(False), shown(True),
                counts["click"], counts["open"]]

    def versions(self) -> list:
        counts = collections.defaultdict(collections.Counter)
        for (_, _, kind, _), event in self.told.items():
            if event.app_version:
                counts[event.app_id, PLATFORMS[event.platform], event.app_version][kind] += 1
        return [[*place, *(own[kind] for kind in ("sent", "impression", "click", "open"))]
                for place, own in sorted(counts.items())]

    def opens(self) -> list[tuple[str, datetime.datetime]]:
        return [(event.subject_id, event.occur_time.ToDatetime())
                for (_, _, kind, _), event in self.told.items() if kind == "open"]

    def hours(self) -> list:
        return sorted(map(list, collections.Counter(time.hour for _, time in self.opens()).items()))

    def first_opens(self) -> list:
        days = collections.defaultdict(set)
        for subject, time in self.opens():
            days[subject].add(time.date())
        counts = collections.Counter((min(own), (day - min(own)).days)
                                     for own in days.values() for day in own)
        return [[first.isoformat(), later, count]
                for (first, later), count in sorted(counts.items())]


def at_some_time(phases: list[list[e.TrackingEvent]], chooser: random.Random) -> None:
    """Each event happened within the last days, by its device's clock."""
    now = int(time.time())
    for event in (event for phase in phases for event in phase):
        event.occur_time.seconds = now - chooser.randrange(DAYS * DAY_SECONDS)


# The readers.

class Told:
    """A server that was told a story, its lake, and what has to come of it."""

    def __init__(self, folder: pathlib.Path, seed: int, sends: int):
        self.folder, self.seed = folder, seed
        self.story = Story(seed, sends)
        self.phases = self.story.phases()
        at_some_time(self.phases, random.Random(seed))
        self.wanted = expected(self.story, self.phases)
        self.answers = Answers([event for phase in self.phases for event in phase])
        self.lake = Lake(folder / "lake", folder / "state", "--publish-seconds=1")
        # Where the page has it.
        self.server = Server(folder / "sightline-data")

    def tell(self) -> "Told":
        self.server.arguments = (self.lake.start().sinks(
            {"type": "sqlite"}, {"type": "jsonl", "compression": "zstd"}),)
        self.server.start()
        sender = Sender(self.server, random.Random(self.seed))
        for phase in self.phases:
            sender.send(phase, 0)
        self.server.wait_for_hits(sum(delivery.hits for delivery in self.wanted.values()))
        wait_until_drained(self.server, "sqlite", "jsonl", SINK)
        assert self.server.terminate() == 0, self.server.log()
        assert self.lake.terminate() == 0, self.lake.log()
        (self.folder / "lines").mkdir()
        (self.server.directory / "hits").rename(self.folder / "lines" / "hits")
        return self

    def close(self) -> None:
        self.server.close()
        self.lake.close()

    def report(self, *options: str) -> dict:
        return json.loads(run("report", "--data-dir", self.server.directory, "--json", "--limit",
                              "100000", *options).stdout)


@pytest.fixture(scope="module")
def told(request):
    """Once for all readers."""
    option = request.config.getoption
    seed = option("--seed")
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-lake-"))
    made = Told(home, seed, option("--amount") or (WHOLE if option("--whole") else SENDS))
    try:
        yield made.tell()
    finally:
        made.close()
        shutil.rmtree(home, ignore_errors=True)


def check(told: Told, answers: list, left_out=()) -> None:
    """All questions at once: which answers are not those of the oracle."""
    names = [name for name in QUESTIONS.values() if name not in left_out]
    assert len(answers) == len(names)
    for name, rows in zip(names, answers):
        wanted = getattr(told.answers, name)
        assert wanted, f"the story has no answer to {name}"
        assert rows == wanted, f"{name}, seed {told.seed}"


def test_the_story_has_what_the_questions_ask_for(told):
    answers = told.answers
    assert len(answers.hour_of_day) > 12 and len(answers.cohorts) > DAYS
    assert any(later for _, later, _ in answers.cohorts)
    assert len(answers.app_version) > 3
    assert any(row[6] for row in answers.funnel) and any(row[7] for row in answers.funnel)


@pytest.mark.parametrize("engine, mark", [("duckdb", "to_pyarrow_dataset"),
                                          ("clickhouse", "chdb")])
def test_sql_of_the_page_answers_as_the_oracle(told, engine, mark):
    questions = [sql(title) for title in QUESTIONS]
    check(told, asked(told.folder, engine, [opening(mark)], questions))


def test_polars_of_the_page_answers_as_the_oracle(told):
    opened = [opening("scan_delta"), *(block for title in QUESTIONS
                                       for block in blocks(title, "python"))]
    check(told, asked(told.folder, "polars", opened, list(QUESTIONS.values())))


def test_lines_answer_as_the_oracle(told):
    """Archives of the sink jsonl, without a lake."""
    opened = f"""import duckdb
duckdb.sql("SET TimeZone = 'UTC'")
duckdb.sql({opening("read_json", "Without a lake")!r})"""
    check(told, asked(told.folder, "duckdb", [opened], [sql(title) for title in QUESTIONS]))


def test_hits_db_answers_as_the_oracle(told):
    questions = [sql(title) for title in QUESTIONS if title != "By app version"]
    opened = opening("sqlite3", "Without a lake")
    check(told, asked(told.folder, "duckdb", [opened], questions), left_out=["app_version"])


def opens_by(clocks: list) -> polars.DataFrame:
    """An open of one recipient by each clock."""
    return polars.DataFrame({
        "tenant": "default", "kind": "open", "delivery_id": "56c4", "subject_id": "somebody",
        "hit_id": [bytes([number]) for number in range(len(clocks))], "warnings": "",
        "occur_time": clocks, "receive_time": RECEIVED,
    }, schema_overrides={"occur_time": polars.Datetime("us", "UTC"),
                         "receive_time": polars.Datetime("us", "UTC")})


@pytest.mark.parametrize("engine, opened, questions", [
    ("duckdb", "import duckdb\nduckdb.sql(\"SET TimeZone = 'UTC'\")\n"
     "duckdb.sql(\"CREATE VIEW hits AS FROM 'hits.parquet'\")", "sql"),
    ("clickhouse", "import chdb.session\nclickhouse = chdb.session.Session()\n"
     "clickhouse.query(\"SET session_timezone = 'UTC'\")\n"
     "clickhouse.query(\"CREATE VIEW hits AS SELECT * FROM file('FOLDER/hits.parquet')\")", "sql"),
    ("polars", "import polars\nfrom polars import col\n"
     "hits = polars.scan_parquet('hits.parquet')", "python")])
def test_a_wrong_clock_counts_by_the_receipt(tmp_path, engine, opened, questions):
    """D41: in each reader, as in `report --occurred`."""
    opens_by(CLOCKS).write_parquet(tmp_path / "hits.parquet")
    titles = ["Hour of day", "Cohorts of first opens"]
    opened = [opened.replace("FOLDER", str(tmp_path))]
    asking = [block for title in titles for block in blocks(title, questions)]
    if questions == "python":
        opened, asking = opened + asking, [QUESTIONS[title] for title in titles]
    hours, cohorts = asked(tmp_path, engine, opened, asking)
    assert hours == BY_HOUR
    assert cohorts == BY_FIRST


def test_the_picture_of_a_wrong_clock_is_small():
    plots = plots_program()
    hits = opens_by(CLOCKS).lazy()
    assert [[hour, count] for hour, count in enumerate(plots.by_hour(hits)) if count] == BY_HOUR
    rows = plots.cohorts(hits).select("first", "later", "recipients").rows()
    assert [[first.isoformat(), *rest] for first, *rest in rows] == BY_FIRST


def test_a_payload_that_no_reader_of_json_takes_is_null_alone(tmp_path):
    """D58: as the page has it, in DuckDB."""
    expression, = re.findall(r"`(TRY\(.*?)` is NULL", PAGE.read_text())
    opened = r"""import duckdb
hits = duckdb.sql(r'''SELECT unnest(['{"k": "\ud83d"}', '{"k": "v"}', NULL]) AS payload''')"""
    rows, = asked(tmp_path, "duckdb", [opened], [f"SELECT {expression} FROM hits"])
    assert rows == [[None], ["v"], [None]]


def test_the_report_says_the_same(told):
    """Of the same events: each delivery's figures, and opens by when they happened."""
    funnel = {row[1]: row[2:] for row in told.answers.funnel}
    rates = {row[1]: rounded(row[3], row[2]) for row in told.answers.open_rate}
    rows = {row["delivery_id"]: row for row in told.report()["deliveries"]["rows"]}
    assert rows.keys() == funnel.keys()
    for name, row in rows.items():
        others, ios = row["others"], row["ios"]
        assert [row["attempted"] or 0, row["sent"] or 0, row["failed"] or 0, row["skipped"] or 0,
                others["impressions"], ios["impressions"], others["clicks"] + ios["clicks"],
                others["opens"] + ios["opens"]] == funnel[name], name
        assert row["open_rate"] == rates.get(name), name
    hours = collections.Counter()
    for row in told.report("--occurred", "--series", "hour")["series"]["rows"]:
        hours[int(row["start"][11:13])] += row["opens"] + row["ios_opens"]
    assert [[hour, count] for hour, count in sorted(hours.items()) if count
            ] == told.answers.hour_of_day


def plots_program():
    """The module of the page's plots."""
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("plots", PLOTS)
    plots = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(plots)
    return plots


def test_the_picture_is_drawn_of_the_same_numbers(told):
    """By the page's own command."""
    plots = plots_program()
    done = subprocess.run([sys.executable, PLOTS, "lake", "plots.png"], cwd=told.folder,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    picture = (told.folder / "plots.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 20_000
    hits = polars.scan_delta(str(told.folder / "lake"))
    drawn = plots.funnels(hits).select("delivery_id", *plots.STEPS).rows()
    funnel = {row[1]: (row[3], row[6] + row[7], *row[8:]) for row in told.answers.funnel}
    assert len(drawn) == plots.DELIVERIES and all(funnel[row[0]] == row[1:] for row in drawn)
    hours = enumerate(plots.by_hour(hits))
    assert [[hour, count] for hour, count in hours if count] == told.answers.hour_of_day
    cohorts = plots.cohorts(hits).select("first", "later", "recipients").rows()
    assert [[first.isoformat(), *rest] for first, *rest in cohorts] == told.answers.cohorts


def test_make_lake_ends_with_two_equal_funnels():
    done = subprocess.run([ROOT / "Scripts/lake"], capture_output=True, text=True, check=False,
                          env=os.environ | {"PROGRAM": str(binary()), "EVENTS": "2000"})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Equal: 4 deliveries" in done.stdout
