"""The lake's columns: each row says what hits.db says of the same hit."""

import collections
import datetime
import json
import random
import re
import time

import pyarrow
import pytest

import lake
from drained import wait_until_drained
from facts import Fact, Facts
from lake import SINK, Lake
from protos import ROOT
from protos import event as e
from stream import Batch, Stream

FACTS, RAW = 1_500, 20
SECONDS = 60
# What the view does not have.
FROM_EVENT = ("event_id", "app_version", "os_version", "sdk_version")
# What some hit has to say, so that nothing is compared with nothing alone.
SCHEMA_OF_VIEW = {
    "tenant", "receive_time", "receive_date", "occur_time", "hit_id", "kind", "campaign_action",
    "delivery_id", "broadlog_id", "app_id", "platform", "subject_id", "warnings", "source",
    "traceparent", "interaction", "button", "link", "app_state", "custom", "app_data", "payload",
    "campaign_name", "trigger_event", "dismissal", "error", "send_reason", "provider_code",
    "provider_message_id", "attempt", "display", "event"}


def microseconds(time: datetime.datetime | None) -> int | None:
    """Of a time in UTC, without a float."""
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    return None if time is None else (time - epoch) // datetime.timedelta(microseconds=1)


def send(server, facts: list) -> None:
    batches = [Batch(number + 1, facts[first:first + 50])
               for number, first in enumerate(range(0, len(facts), 50))]
    with server.channel() as channel:
        Stream(channel, collections.deque()).run(iter(batches), lambda *_: None, SECONDS)


def varied(fact: Fact, chooser: random.Random) -> Fact:
    """The fact, whose event says more of what an event may say."""
    event = e.TrackingEvent.FromString(fact.bytes)
    event.app_version = chooser.choice(["", "3.1", "3.2 β"])
    event.os_version, event.sdk_version = chooser.choice(["", "17"]), chooser.choice(["", "9"])
    if event.HasField("push"):
        event.push.app_state = chooser.randrange(5)
        if event.push.HasField("fcm"):
            event.push.fcm.data.uri = chooser.choice(["", "https://example.com/é"])
    if event.HasField("in_app"):
        event.in_app.campaign_name = chooser.choice(["", "Autumn"])
        event.in_app.trigger_event = chooser.choice(["", "cart"])
    fact.bytes = event.SerializeToString()
    return fact


def raw(number: int) -> Fact:
    """A payload as the app got it."""
    event = e.TrackingEvent(app_id="com.example.shop", platform=e.PLATFORM_ANDROID,
                            subject_id=f"raw-{number}")
    event.push.kind = e.PUSH_INTERACTION_KIND_OPENED
    event.push.raw.json = json.dumps({
        "_mId": f"hf{number:x}", "_dId": "fa", "title": "Sale", "uri": "https://example.com/raw",
        "custom": "é", "number": 1}).encode()
    return Fact(event)


@pytest.fixture
def both(make_server, tmp_path, seed):
    """The rows of the view, and those of the table, by their hit's id."""
    made = Lake(tmp_path / "lake", tmp_path / "state", "--publish-seconds=1").start()
    try:
        server = make_server(made.sinks({"type": "sqlite"})).start()
        facts, chooser = Facts(seed, int(time.time())), random.Random(seed)
        send(server, [varied(facts.accepted(), chooser) for _ in range(FACTS)]
             + [raw(number) for number in range(RAW)])
        wait_until_drained(server, "sqlite", SINK)
        assert server.terminate() == 0 and made.terminate() == 0, made.log()
    finally:
        made.close()
    rows = {row["hit_id"]: dict(row) for row in server.query("SELECT * FROM details")}
    table = lake.opened(made.table).to_pyarrow_table()
    found = {row["hit_id"]: row for row in table.to_pylist(maps_as_pydicts="strict")}
    assert len(found) == table.num_rows and len(rows) > FACTS / 2
    yield rows, found


def wanted_of(row: dict) -> dict:
    """What the table has to say of a row of the view."""
    event = e.TrackingEvent.FromString(row["event"])
    fields = json.loads(row.pop("custom_fields"))
    if row["payload"]:
        # Whoever needs them reads the payload: the lake parses none.
        fields, row["link"] = {}, None
    received = datetime.datetime.fromtimestamp(row["receive_time"] // 1_000_000, datetime.UTC)
    return row | {name: getattr(event, name) for name in FROM_EVENT} | {
        "receive_date": received.date(),
        "app_data" if event.HasField("in_app") else "custom": fields}


def test_each_row_says_what_hits_db_says(both):
    """Of all columns that both have, and of each an example that says something."""
    rows, found = both
    assert found.keys() == rows.keys()
    said = set()
    for identity, row in rows.items():
        own = found[identity] | {
            name: microseconds(found[identity][name]) for name in ("receive_time", "occur_time")}
        row.pop("rowid")
        for name, value in wanted_of(row).items():
            assert (own[name] or None) == (value or None), (name, row["kind"], row["payload"])
            said |= {name} if value else set()
    assert said >= SCHEMA_OF_VIEW | set(FROM_EVENT)


def test_the_page_lists_the_columns(tmp_path):
    """By name and type, in the table's order."""
    types = {"string": "string", "integer": "int", "date": "date", "timestamp": "timestamp",
             "binary": "binary", "map of strings": "map"}
    page = (ROOT / "docs/lake.md").read_text()
    named = [(name, types[kind]) for names, kind in re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| ([a-z ]+) \|", page, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", names)]
    own = Lake(tmp_path / "lake", tmp_path / "state").start()
    try:
        assert own.terminate() == 0, own.log()
    finally:
        own.close()
    schema = pyarrow.schema(lake.opened(own.table).schema().to_arrow())
    assert [name for name, _ in named] == schema.names
    for name, kind in named:
        assert f"{schema.field(name).type}".startswith(kind), name
