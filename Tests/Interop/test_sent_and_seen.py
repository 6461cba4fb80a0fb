"""A delivery of thousands, and others with each finding that only both sides show: the report, the
live page and `why` equal a count of the same events, also if the server is killed in between."""

import collections
import csv
import io
import itertools
import json
import os
import random
import threading
import time
import urllib.request

import grpc
import pytest

from facts import Fact
from faults import library
from figures import (ANDROID, IOS, FAILED, OPENED, REASONS, RECEIVED, SENT, SKIPPED, facts, ids,
                     never_sent, rates, rounded, side, sides, total, versions)
from protos import event as e
from protos import verdict as v
from sent_and_seen import (EARLIER_SECONDS, NETWORK, THROTTLED, UNREGISTERED, Delivery, Plant,
                           Story)
from server import wait_until
from stream import Batch, Stream
from test_terminal_commands import run

SENDS, WHOLE = 2_000, 10_000
KILLS = 12
REQUEST = 40
# Deliveries on the live page, and reasons of each.
BUSIEST, MOST_REASONS = 10, 4
SECONDS = 60
SENT_FIGURES = ("attempted", "sent", "failed", "skipped", "undelivered")
DISPLAYS = {number: name.removeprefix("PUSH_DISPLAY_").lower()
            for name, number in e.PushDisplay.items()}


# The oracle.

class Expected:
    """What is to be told of a delivery whose events were told in this order."""

    def __init__(self, events: list[e.TrackingEvent], put: int | None):
        self.sides = sides(events)
        self.has_sends = any(name.startswith("sen") for event in events for name in facts(event))
        self.delivered = total(self.sides)["sent"] if self.has_sends else put
        self.never_sent, self.versions = never_sent(events), versions(events)
        self.hits, self.ledger = 0, collections.Counter()
        known = set()
        for event in events:
            new = [(kind, ids(event)[1], event.push.action_identifier) for kind in facts(event)]
            new = [fact for fact in new if fact not in known]
            known.update(new)
            self.count(event, [fact[0] for fact in new])
            tried = {(kind, ids(event)[1], "") for kind in ("sent", "send_failed")}
            if tried <= known and tried & set(new):
                self.ledger["sent_and_failed", "", side(event), ""] += 1

    def count(self, event: e.TrackingEvent, kinds: list[str]) -> None:
        """The ledger's rows of new hits: each by its version, and a send by reason or display."""
        self.hits += len(kinds)
        for kind in kinds:
            place = (side(event), kind)
            self.ledger["accepted", "", *place] += 1
            if event.app_version:
                self.ledger["version", event.app_version, *place] += 1
            why = (REASONS[event.push_send.reason] if event.push_send.reason
                   else DISPLAYS[event.push_send.display])
            if event.HasField("push_send") and why != "unspecified":
                self.ledger["send", why, *place] += 1

    def report(self) -> dict:
        """A row of `report --json`; of what was sent null, if its sender reports nothing."""
        both = total(self.sides)
        row = {name: both[name] if self.has_sends else None for name in SENT_FIGURES}
        for of, counts in self.sides.items():
            # Of one side nothing is 0.
            row[of] = {name: count for name, count in counts.items() if name != "undelivered"}
        row |= {name: rounded(part, whole or 0)
                for name, (part, whole) in rates(self.sides, self.delivered).items()}
        return row | {"delivered": self.delivered}

    def details(self) -> dict:
        """What `report --details` says of why the rest was not sent, and of versions."""
        return {"never_sent": {"rows": self.never_sent}, "versions": {"rows": self.versions}}

    def sheet(self) -> dict[str, str]:
        """A line of `report --csv`, whose columns are of one side each."""
        line = {name: number for name, number in self.report().items()
                if name not in (ANDROID, IOS, *SENT_FIGURES)}
        for of, prefix in ((ANDROID, ""), (IOS, "ios_")):
            line |= {prefix + name: None if name in SENT_FIGURES and not self.has_sends else count
                     for name, count in self.sides[of].items()}
        return {name: "" if number is None else str(number) for name, number in line.items()}

    def rate(self, name: str) -> float | None:
        part, whole = rates(self.sides, total(self.sides)["sent"])[name]
        return part / whole if whole else None

    def page(self) -> dict:
        """A row of the live page: ratios per impression."""
        row, android, both = {}, self.sides[ANDROID], total(self.sides)
        names = ["impressions", "clicks", "opens", "dismissals"]
        for name in names + (["sent"] if self.has_sends else []):
            row |= {name: android[name], f"{name}_ios": self.sides[IOS][name]}
        for ratio, name in (("click_ratio", "clicks"), ("open_ratio", "opens")):
            shown = android["impressions"]
            row[ratio] = android[name] / shown if shown else None
        if self.has_sends:
            row |= {name: both[name] for name in ("attempted", "undelivered", "failed", "skipped")}
            row |= {name: self.rate(name)
                    for name in ("delivered_rate", "open_rate", "click_through_rate")}
        row["failed_for"] = self.failed_for()
        return row

    def failed_for(self) -> list[dict] | None:
        """Why attempts failed: the few most frequent reasons."""
        counts = collections.Counter()
        for (verdict, why, _, kind), count in self.ledger.items():
            if (verdict, kind) == ("send", "send_failed"):
                counts[why] += count
        most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_REASONS]
        return [{"reason": why, "count": count} for why, count in most] or None

    def why(self) -> dict:
        """The figures of `why --json`, and its rows added up."""
        names, both = ["impressions", "clicks", "opens", *SENT_FIGURES], total(self.sides)
        told = {of: {name: counts[name] for name in names} for of, counts in self.sides.items()}
        told |= {name: both[name] if self.has_sends else None for name in SENT_FIGURES}
        for name in ("delivered_rate", "impressions_of_delivered", "open_rate",
                     "click_through_rate"):
            told[name] = self.rate(name)
        return told | {"rows": dict(self.ledger)}


def expected(story: Story, phases: list[list[e.TrackingEvent]]) -> dict[str, Expected]:
    """Of each delivery, by its id."""
    events = collections.defaultdict(list)
    for event in itertools.chain(*phases):
        events[ids(event)[0]].append(event)
    return {plant.delivery.name: Expected(events[plant.delivery.name], plant.total)
            for plant in story.plants}


def differences(wanted, told, path: str = "") -> list[str]:
    """Where what is told is not what is wanted; of a mapping, each name that is wanted."""
    if not isinstance(wanted, dict):
        return [] if wanted == told else [f"{path}: {told!r}, not {wanted!r}"]
    if not isinstance(told, dict):
        return [f"{path}: {told!r}"]
    names = wanted.keys() | (told.keys() if path.endswith("/rows") else set())
    return [found for name in sorted(names, key=str) for found in differences(
        wanted.get(name), told.get(name), f"{path}/{name}")]


# Events that are not those that were told, as a miscount would be.

def lost(_event):
    return None


def failed_instead(event):
    event.push_send.outcome, event.push_send.reason = FAILED, REASONS_OTHER
    return event


def opened_instead(event):
    event.push.kind = OPENED
    return event


def on_the_other_platform(event):
    event.platform = e.PLATFORM_ANDROID if event.platform == e.PLATFORM_IOS else e.PLATFORM_IOS
    return event


def of_another_version(event):
    event.app_version = "4.0"
    return event


def without_consent(event):
    event.consent = e.CONSENT_OPTED_OUT
    return event


def for_another_reason(event):
    event.push_send.reason = (REASONS_OTHER if event.push_send.reason != REASONS_OTHER
                              else e.PUSH_SEND_REASON_NETWORK)
    return event


def of_another_recipient(event):
    """As if it were not the same notification's second attempt."""
    event.push_send.broadlog_id = "hffffff"
    return event


REASONS_OTHER = e.PUSH_SEND_REASON_OTHER


def is_first_send(event) -> bool:
    return event.push_send.attempt == 1 and event.push_send.outcome == e.PUSH_SEND_OUTCOME_SENT


FLIPS = [
    (lost, is_first_send), (failed_instead, is_first_send),
    (on_the_other_platform, is_first_send), (of_another_version, is_first_send),
    (without_consent, is_first_send),
    (opened_instead, lambda event: event.push.kind == RECEIVED),
    (for_another_reason, lambda event: event.push_send.outcome == FAILED),
    (of_another_recipient, lambda event: event.push_send.attempt == 2),
]


@pytest.mark.parametrize("flip, is_meant", FLIPS, ids=[flip.__name__ for flip, _ in FLIPS])
def test_the_oracle_tells_one_event_from_another(seed, flip, is_meant):
    """Of thousands, one is changed before they are counted: its delivery's figures differ, and no
    other's."""
    story = Story(seed, 300)
    phases = story.phases()
    before = expected(story, phases)
    changed, main = phases[1], story.plants[0].delivery.name
    index = next(index for index, event in enumerate(changed)
                 if ids(event)[0] == main and facts(event) and is_meant(event)
                 and is_known_once(changed, event))
    event = flip(e.TrackingEvent.FromString(changed[index].SerializeToString()))
    changed[index:index + 1] = [event] if event else []
    after = expected(story, phases)
    for name, was in before.items():
        found = [differences(told(was), told(after[name]))
                 for told in (Expected.why, Expected.report, Expected.sheet, Expected.details)]
        assert any(found) == (name == main), (name, found)
        # The figures of a report have neither reasons nor versions; of these its details tell.
        assert bool(found[1]) == bool(found[2])
        assert found[1] or name != main or flip in (of_another_version, for_another_reason)


def test_the_oracle_counts_what_was_never_sent_once():
    delivery = Delivery(0)

    def told(number: int, outcome: int, reason: int = 0) -> e.TrackingEvent:
        return delivery.send(number, outcome, reason=reason)
    assert never_sent([
        told(1, FAILED, THROTTLED), told(1, FAILED, NETWORK), told(2, FAILED, NETWORK),
        told(2, SENT), told(3, SENT), told(3, FAILED, NETWORK), told(4, SKIPPED, REASONS_OTHER),
        told(4, FAILED, UNREGISTERED), told(5, SKIPPED, REASONS_OTHER), told(6, SENT),
        told(6, SKIPPED, REASONS_OTHER), told(7, FAILED, THROTTLED), told(7, FAILED, THROTTLED),
    ]) == {("failed", "throttled"): 2, ("failed", "unregistered"): 1, ("skipped", "other"): 1}


@pytest.mark.parametrize("sent, seen, is_different", [
    (50, 20, True), (50, 21, False), (25, 0, True), (24, 0, False), (50, 79, False),
    (50, 80, True)])
def test_the_oracle_tells_a_version_that_differs(sent, seen, is_different):
    """The third version makes the rate of the others, 0.8, whatever the second does."""
    delivery = Delivery(0)
    told = versions(delivery.sent(1000, 0, "3.1") + delivery.seen(800, 0, "3.1")
                    + delivery.sent(sent, 2000, "3.2") + delivery.seen(seen, 2000, "3.2")
                    + delivery.seen(seen, 2000, "3.2")
                    + delivery.sent(1000, 3000, "3.3") + delivery.seen(800, 3000, "3.3"))
    assert bool(told) == is_different
    if told:
        assert [place[1] for place, row in told.items() if row["differs"]] == ["3.2"]
        assert told["android", "3.2"] == {
            "sent": sent, "reports": 2 * seen, "impressions": seen, "clicks": 0, "opens": 0,
            "refused": 0, "differs": True}


def is_known_once(events, event) -> bool:
    """Whether no other event says the same of the same notification."""
    said = (ids(event), facts(event), event.push.action_identifier)
    return sum((ids(other), facts(other), other.push.action_identifier) == said
               for other in events) == 1


# The server.

class Sender:
    """Sends events in order, and after a kill again what it saw no verdict of."""

    def __init__(self, server, moments: random.Random):
        self.server, self.random = server, moments
        self.kills = self.sent_again = 0
        # Set at the ack after which this life is to end.
        self.due = threading.Event()

    def send(self, events: list[e.TrackingEvent], kills: int) -> None:
        """All events, with so many kills among them; at the end the server runs."""
        batches = [Batch(number + 1, [Fact(event) for event in events[first:first + REQUEST]])
                   for number, first in enumerate(range(0, len(events), REQUEST))]
        acked, offered = set(), 0
        # Each life has a share of what is left, and is killed at one of its acks.
        for life in range(kills, -1, -1):
            share = max(1, (len(batches) - offered) // (life + 1)) if life else len(batches)
            under_way = [batch for batch in batches[:offered] if batch.sequence not in acked]
            assert under_way or offered < len(batches), "nothing is left to be killed"
            self.sent_again += len(under_way)
            new = iter(range(offered, min(offered + share, len(batches))))
            counted = itertools.count(1)
            kill_at = self.random.randint(1, max(1, share)) if life else 0

            def take(batch, results, counted=counted, kill_at=kill_at):
                assert not any(result.verdict == v.VERDICT_RETRY_LATER for result in results)
                acked.add(batch.sequence)
                if next(counted) == kill_at:
                    self.due.set()

            def offer(new=new):
                nonlocal offered
                for index in new:
                    offered = index + 1
                    yield batches[index]

            self.due = threading.Event()
            self.live(under_way, offer(), take, is_killed=life > 0)
        assert len(acked) == len(batches)

    def live(self, under_way, new, take, is_killed: bool) -> None:
        """One life of the server: until it is killed, or until all is acked."""
        if self.server.process is None or self.server.process.poll() is not None:
            self.server.start()
        failures = []

        def stream():
            try:
                with self.server.channel() as channel:
                    Stream(channel, collections.deque(under_way)).run(new, take, SECONDS)
            except (grpc.RpcError, AssertionError) as error:
                failures.append(error)

        thread = threading.Thread(target=stream)
        thread.start()
        if is_killed:
            assert self.due.wait(SECONDS), (failures, self.server.log())
            # The random moment is the test, so this wait is for nothing else.
            threading.Event().wait(self.random.uniform(0, 0.01))
            self.server.kill()
            self.kills += 1
        thread.join(SECONDS)
        assert not thread.is_alive(), self.server.log()
        failures = [error for error in failures if not is_killed
                    or not isinstance(error, grpc.RpcError)]
        assert not failures, (failures, self.server.log())


def statistics(server, since: float) -> dict:
    """The live page's figures, read after a time."""
    def read():
        with urllib.request.urlopen(f"{server.admin}stats.json", timeout=SECONDS) as answer:
            told = json.load(answer)
        return told if told["ledger"].get("time", 0) > since else None
    return wait_until(read, "the ledger to be read")


def rows_added_up(account: dict) -> dict:
    """The rows of `why --json` whose hits were new, over all hours."""
    added = collections.Counter()
    for row in account["rows"]:
        of = "ios" if row["platform"] == "ios" else "others"
        kinds = row["detail"]
        if row["delivery"] != account["delivery"] or row["verdict"] not in (
                "accepted", "version", "send", "sent_and_failed"):
            continue
        if row["verdict"] in ("version", "send"):
            verdict, _, kinds = kinds.partition(" ")
            if verdict != "accepted":
                continue
        mark = row.get("app_version") or row.get("send_reason") or row.get("display") or ""
        for kind in kinds.split(","):
            added[row["verdict"], mark, of, kind] += row["events"]
    return dict(added)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("kills", [0, KILLS], ids=["undisturbed", "killed"])
def test_what_was_sent_and_seen_is_told_exactly(make_server, amount, seed, figure, tmp_path,
                                                kills):
    """Sends and early reports hours ago, late ones now."""
    if not library("clock"):
        pytest.skip("no C compiler here, and clock.c has to be compiled")
    story = Story(seed, amount(SENDS, WHOLE))
    phases = story.phases()
    server = make_server(environment=os.environ | {
        "LD_PRELOAD": str(library("clock")), "CLOCK_SHIFT_SECONDS": str(-EARLIER_SECONDS)})
    sender = Sender(server, random.Random(seed))
    before, hours_ago, now = phases
    sender.send(before, 0)
    sender.send(hours_ago, kills - kills // 6)
    assert server.terminate() == 0, server.log()
    server.environment = None
    sender.send(now, kills // 6)
    assert sender.kills == kills
    wanted = expected(story, phases)
    hits = sum(delivery.hits for delivery in wanted.values())
    server.wait_for_hits(hits)
    assert server.hit_count() == hits
    figure(f"{sum(map(len, phases)):,} events, {hits:,} hits, {kills} kills,"
           f" {sender.sent_again} requests sent again")
    assert bool(sender.sent_again) == bool(kills)
    put_totals(server, story, tmp_path)
    check_report(server, story, wanted)
    check_details(server, story, wanted, kills)
    check_view(server, wanted)
    check_page(server, story, wanted)
    check_why(server, story, wanted)


def put_totals(server, story: Story, folder) -> None:
    names = folder / "names.csv"
    names.write_text("id,name,delivered\n" + "".join(
        f"{plant.delivery.name},Delivery {plant.delivery.name},{plant.total}\n"
        for plant in story.plants if plant.total is not None))
    run("deliveries", "put", names, "--target", server.target)


def planted(plants: list[Plant]) -> list[tuple[str, str]]:
    """What the report and the page name: all that the rows of the delivery show, and what was
    put of it."""
    return sorted((plant.delivery.name, code) for plant in plants for code in plant.codes
                  if code != "CONSENT_MISSING")


def check_report(server, story: Story, wanted: dict[str, Expected]) -> None:
    answer = json.loads(run("report", "--data-dir", server.directory, "--json").stdout)
    rows = {row["delivery_id"]: row for row in answer["deliveries"]["rows"]}
    assert rows.keys() == wanted.keys()
    assert differences({name: counts.report() for name, counts in wanted.items()}, rows) == []
    found = sorted((finding["delivery"], finding["code"]) for finding in answer["quality"])
    assert found == planted(story.plants)
    text = run("report", "--data-dir", server.directory, "--csv").stdout
    lines = {line["id"]: line for line in csv.DictReader(io.StringIO(text, newline=""))}
    assert lines.keys() == wanted.keys()
    assert differences({name: counts.sheet() for name, counts in wanted.items()}, lines) == []


def details(answer: dict) -> dict[str, dict]:
    """What a report says of each delivery in the parts of `Expected.details`."""
    told = collections.defaultdict(lambda: {"never_sent": {"rows": {}}, "versions": {"rows": {}}})
    assert answer["never_sent"]["left_out"] == 0
    for row in answer["never_sent"]["rows"]:
        place = row["outcome"], row["reason"]
        rows = told[row["delivery_id"]]["never_sent"]["rows"]
        assert place not in rows
        rows[place] = row["notifications"]
    for split in answer["versions"]:
        told[split["delivery"]]["versions"]["rows"] = {
            (row.pop("platform"), row.pop("app_version")): row for row in split["versions"]}
    return told


def check_details(server, story: Story, wanted: dict[str, Expected], kills: int) -> None:
    """Each notification that was never sent is told once, so that they add up to what was not
    delivered."""
    def report(*options) -> dict:
        return json.loads(
            run("report", "--data-dir", server.directory, "--json", *options).stdout)
    answer = report("--details")
    told = details(answer)
    # Many reasons, and versions that differ.
    assert len({reason for name in told for reason in told[name]["never_sent"]["rows"]}) > 11
    assert sum(bool(told[name]["versions"]["rows"]) for name in told) >= 3
    for name, counts in wanted.items():
        expected = counts.details()
        for place, row in told[name]["versions"]["rows"].items():
            # What a client sends again after a kill comes as a duplicate.
            reports = expected["versions"]["rows"].get(place, {}).pop("reports", 0)
            assert (reports < row["reports"] and kills) or reports == row["reports"], (name, row)
            del row["reports"]
        assert differences(expected, told[name], name) == []
    for row in answer["deliveries"]["rows"]:
        rows = told[row["delivery_id"]]["never_sent"]["rows"]
        failed = sum(count for (outcome, _), count in rows.items() if outcome == "failed")
        assert failed == (row["undelivered"] or 0), row
    # The story skips nobody whom it tries, so all skipped ones were never sent.
    main = story.plants[0].delivery.name
    [row] = (row for row in answer["deliveries"]["rows"] if row["delivery_id"] == main)
    alone = report("--delivery", main)
    assert "push_details" not in alone
    rows = details(alone)[main]["never_sent"]["rows"]
    assert rows == told[main]["never_sent"]["rows"]
    assert sum(rows.values()) == row["undelivered"] + row["skipped"] > 0


def check_view(server, wanted: dict[str, Expected]) -> None:
    """The view of hits.db."""
    rows = {row["delivery_id"]: dict(row) for row in server.query("SELECT * FROM funnel")}
    assert rows.keys() == wanted.keys()
    names = ("attempted", "sent", "failed", "skipped", "delivered_rate",
             "impressions_of_delivered", "click_ratio", "open_ratio")
    rates_of_sent = ("open_rate", "click_through_rate")
    for name, counts in wanted.items():
        report = counts.report()
        # The view knows no totals.
        told = {column: report[column] for column in names} | {
            column: report[column] if counts.has_sends else None for column in rates_of_sent}
        assert differences(told, rows[name], name) == []


def check_page(server, story: Story, wanted: dict[str, Expected]) -> None:
    told = statistics(server, time.time())
    assert told["deliveries"]["count"] == len(wanted)
    busiest = {row["delivery_id"]: row for row in told["deliveries"]["busiest"]}
    counts = sorted((delivery.hits for delivery in wanted.values()), reverse=True)
    assert [wanted[name].hits for name in busiest] == counts[:BUSIEST]
    assert differences({name: wanted[name].page() for name in busiest}, busiest) == []
    names = {plant.delivery.name: f"Delivery {plant.delivery.name}" for plant in story.plants
             if plant.total is not None}
    assert {name: row["name"] for name, row in busiest.items() if "name" in row} == {
        name: names[name] for name in busiest if name in names}
    # The busiest leave no room.
    assert told["deliveries"]["put"] == []
    assert all(finding["summary"] for finding in told["quality"])
    found = sorted((finding["delivery_id"], finding["code"]) for finding in told["quality"])
    assert found == planted(story.plants)


def check_why(server, story: Story, wanted: dict[str, Expected]) -> None:
    for plant in story.plants:
        name = plant.delivery.name
        account = json.loads(run("why", name, "--data-dir", server.directory, "--json").stdout)
        told = account["figures"] | {"rows": rows_added_up(account)}
        assert differences(wanted[name].why(), told, name) == []
        assert [finding["code"] for finding in account["findings"]] == plant.codes, account
