"""docs/figures.md: its worked example, sent through the real program. An oracle counts the same
events here; the report, hits.db, the live page, `top` and `why` equal it to the last digit, and so
does the page."""

import csv
import io
import json
import math
import re
import urllib.request

import pytest

from browser import open_page
from figures import (ANDROID, DISMISSED, FAILED, IOS, OPENED, RECEIVED, SENT, SKIPPED, Counted,
                     facts, never_sent, rates, rounded, sides, total)
from protos import ROOT
from protos import event as e
from protos import service as s
from server import wait_until
from test_terminal_commands import run

PAGE = ROOT / "docs/figures.md"
DELIVERY, MESSAGE = "f1904e", "figures"
# In one request.
EVENTS = 100
# The payloads of these show nothing (D63).
SILENT = range(96, 98)


# The events of the example, which the page tells in words: 120 notifications to Android (from 0
# on), 80 to iOS, and 5 to people who have said no.

def platform(number: int) -> int:
    return e.PLATFORM_IOS if 120 <= number < 200 else e.PLATFORM_ANDROID


def base(number: int) -> e.TrackingEvent:
    consent = e.CONSENT_OPTED_OUT if number >= 200 else e.CONSENT_OPTED_IN
    return e.TrackingEvent(app_id="com.example.shop", platform=platform(number), consent=consent,
                           subject_id=f"subject-{number}")


def send(number: int, outcome: int, reason: int = e.PUSH_SEND_REASON_UNSPECIFIED
         ) -> e.TrackingEvent:
    event = base(number)
    push = event.push_send
    push.delivery_id, push.broadlog_id = DELIVERY, f"h{number:x}"
    push.outcome, push.reason = outcome, reason
    return event


def push(number: int, kind: int, button: str = "") -> e.TrackingEvent:
    event = base(number)
    event.push.kind, event.push.action_identifier = kind, button
    carrier = event.push.apns if event.platform == e.PLATFORM_IOS else event.push.fcm.data
    carrier.delivery_id, carrier.message_id = DELIVERY, f"h{number:x}"
    if kind == RECEIVED and number not in SILENT:
        (carrier.aps.alert if event.platform == e.PLATFORM_IOS else carrier).title = "Sale"
    return event


def sends() -> list[e.TrackingEvent]:
    throttled, gone = e.PUSH_SEND_REASON_THROTTLED, e.PUSH_SEND_REASON_UNREGISTERED
    refused, unasked = e.PUSH_SEND_REASON_NETWORK, e.PUSH_SEND_REASON_NO_CONSENT
    return ([send(number, SENT) for number in range(100)]
            + [send(number, FAILED, throttled) for number in range(100, 106)]
            + [send(number, SENT) for number in range(100, 106)]
            + [send(number, FAILED, gone) for number in range(106, 112)] * 2
            + [send(number, SKIPPED, unasked) for number in range(112, 120)]
            + [send(number, SENT) for number in range(120, 190)]
            + [send(number, FAILED, refused) for number in range(190, 193)]
            + [send(number, SENT) for number in range(190, 193)]
            + [send(number, FAILED, gone) for number in range(193, 197)]
            # The answer to the first attempt came when the second one had succeeded.
            + [send(197, SENT), send(197, FAILED, refused)]
            + [send(number, SKIPPED, unasked) for number in range(198, 200)]
            + [send(number, SENT) for number in range(200, 205)])


def uses() -> list[e.TrackingEvent]:
    return ([push(number, RECEIVED) for number in range(96)]
            + [push(number, RECEIVED) for number in range(2)]
            + [push(number, RECEIVED) for number in SILENT]
            + [push(number, OPENED) for number in range(18)]
            # A second button of a notification that was opened before.
            + [push(0, OPENED, "more")]
            + [push(number, DISMISSED) for number in range(18, 30)]
            + [push(number, RECEIVED) for number in range(120, 140)]
            + [push(number, OPENED) for number in range(120, 135)]
            + [push(number, DISMISSED) for number in range(135, 140)]
            # iOS has not reported its impression.
            + [push(150, OPENED)]
            + [push(number, OPENED) for number in range(200, 205)])


def in_app() -> list[e.TrackingEvent]:
    def message(number: int, **what) -> e.TrackingEvent:
        event = base(number)
        event.event_id = f"figures-{number}-{next(iter(what))}"
        event.in_app.MergeFrom(e.InAppInteraction(message_id=MESSAGE, **what))
        return event
    link = e.InAppClick(action_url="https://example.com/sale")
    return ([message(number, impression=e.InAppImpression()) for number in range(10)]
            + [message(number, click=link) for number in range(4)]
            # A click that leads nowhere is a dismissal (D25).
            + [message(4, click=e.InAppClick(action_text="Close"))]
            + [message(number, dismissal=e.InAppDismissal()) for number in range(5, 7)])


# What the oracle counts.

SIDES = sides(sends() + uses())
ALL = total(SIDES)
RATES = rates(SIDES, ALL["sent"])
NEVER_SENT = never_sent(sends())
IN_APP = {kind: sum(kind in facts(event) for event in in_app())
          for kind in ("in_app_impression", "in_app_click", "in_app_dismissal")}


def statistics(server) -> dict:
    with urllib.request.urlopen(f"{server.admin}stats.json", timeout=10) as answer:
        return json.load(answer)


def figures(server, delivery: str) -> dict:
    rows = {row["delivery_id"]: row for row in statistics(server)["deliveries"]["busiest"]}
    return rows.get(delivery, {})


@pytest.fixture(scope="module")
def counted(running, stub):
    """A running server that has all events of the example, in its sink and in its ledger."""
    events = sends() + uses() + in_app()
    for first in range(0, len(events), EVENTS):
        stub.RecordEvents(s.RecordEventsRequest(events=events[first:first + EVENTS]))
    hits = sum(len(Counted(sends() + uses(), of).facts) for of in SIDES)
    running.wait_for_hits(hits + len(in_app()))
    assert running.hit_count() == hits + len(in_app())
    wait_until(lambda: figures(running, MESSAGE).get("dismissals") == IN_APP["in_app_dismissal"],
               "the ledger to be read")
    return running


def report(server, *options) -> str:
    return run("report", "--data-dir", server.directory, *options).stdout


@pytest.mark.parametrize("options", [("--delivery", DELIVERY), ("--details", "--occurred")])
def test_why_the_rest_was_never_sent(counted, tmp_path, options):
    told = json.loads(report(counted, "--json", *options))["never_sent"]
    assert {(row["outcome"], row["reason"]): row["notifications"]
            for row in told["rows"]} == NEVER_SENT
    failed = sum(count for (outcome, _), count in NEVER_SENT.items() if outcome == "failed")
    assert (failed, told["left_out"]) == (ALL["undelivered"], 0)
    path = tmp_path / "report.html"
    report(counted, *options, "--html", path)
    text = report(counted, *options)
    for (outcome, reason), count in NEVER_SENT.items():
        assert re.search(rf"^default +{DELIVERY} +standard +{outcome} +{reason} +{count}$", text,
                         re.MULTILINE), text
        cells = "".join(f"<td>{cell}</td>\n" for cell in (outcome, reason))
        assert f'{cells}<td class="number">{count}</td>' in path.read_text()
    assert "never_sent" not in json.loads(report(counted, "--json"))


@pytest.mark.parametrize("options", [(), ("--occurred",)])
def test_the_report_in_json(counted, options):
    answer = json.loads(report(counted, "--json", *options))
    [row] = answer["deliveries"]["rows"]
    for of, counts in SIDES.items():
        counts = {name: count for name, count in counts.items() if name != "undelivered"}
        assert row[of] == counts, of
    sent = ("attempted", "sent", "failed", "skipped", "undelivered")
    assert {name: row[name] for name in sent} == {name: ALL[name] for name in sent}
    assert row["delivered"] == ALL["sent"]
    assert {name: row[name] for name in RATES} == {
        name: rounded(*parts) for name, parts in RATES.items()}
    [message] = answer["in_app_messages"]["rows"]
    assert [message[name] for name in ("impressions", "clicks", "dismissals")] == list(
        IN_APP.values())
    assert [message[name] for name in ("click_ratio", "dismissal_ratio")] == [0.4, 0.3]


def test_the_report_as_a_sheet(counted):
    push_row, _ = csv.DictReader(io.StringIO(report(counted, "--csv"), newline=""))
    for of, prefix in ((ANDROID, ""), (IOS, "ios_")):
        assert {name: push_row[prefix + name] for name in SIDES[of]} == {
            name: str(count) for name, count in SIDES[of].items()}, of
    assert push_row["delivered"] == str(ALL["sent"])
    assert {name: float(push_row[name]) for name in RATES} == {
        name: rounded(*parts) for name, parts in RATES.items()}


def test_the_table_and_the_page_of_a_report(counted, tmp_path):
    path = tmp_path / "report.html"
    report(counted, "--html", path)
    for text in (report(counted), path.read_text()):
        for rate in ("delivered_rate", "open_rate", "click_through_rate", "open_ratio"):
            assert percent(rate) in text, rate


def percent(rate: str) -> str:
    part, whole = RATES[rate]
    return f"{math.floor(part / whole * 1000 + 0.5) / 10} %"


def test_the_view_of_hits_db(counted):
    [row] = counted.query("SELECT * FROM funnel WHERE delivery_id = ?", DELIVERY)
    for name in ("attempted", "sent", "failed", "skipped"):
        assert row[name] == ALL[name], name
    for name in ("delivered_rate", "impressions_of_delivered", "open_rate", "click_through_rate",
                 "click_ratio", "open_ratio"):
        assert row[name] == rounded(*RATES[name]), name


def test_the_live_page(counted):
    row = figures(counted, DELIVERY)
    for name in ("sent", "impressions", "clicks", "opens", "dismissals"):
        assert (row[name], row[f"{name}_ios"]) == (SIDES[ANDROID][name], SIDES[IOS][name]), name
    for name in ("attempted", "undelivered", "failed", "skipped"):
        assert row[name] == ALL[name], name
    for name in ("delivered_rate", "open_rate", "click_through_rate"):
        part, whole = RATES[name]
        assert row[name] == part / whole, name
    message = figures(counted, MESSAGE)
    assert message["click_ratio"] == 0.4 and "sent" not in message
    text = run("top", "--admin", counted.admin.split("/")[2], "--once").stdout
    cells = [str(ALL[name]) for name in ("attempted", "sent", "undelivered")] + [
        re.escape(percent(rate)) for rate in ("delivered_rate", "open_rate")]
    assert re.search(" +".join([DELIVERY, "default", *cells, ""]), text), text


def test_the_live_page_in_a_browser(counted):
    with open_page(counted.admin, width=390) as (page, complaints):
        page.wait_for_selector("#deliveries .mono")
        row = page.inner_text("#deliveries")
        for text in (str(ALL["sent"]), f"{ALL['failed']}\N{NO-BREAK SPACE}failed",
                     f"{ALL['undelivered']}\N{NO-BREAK SPACE}undelivered",
                     percent("delivered_rate"), percent("open_rate"),
                     percent("click_through_rate")):
            assert text in row, row
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert complaints == []


def test_why(counted):
    answer = json.loads(run("why", DELIVERY, "--data-dir", counted.directory, "--json").stdout)
    told = answer["figures"]
    sends = ("attempted", "sent", "failed", "skipped", "undelivered")
    names = (*sends, "impressions", "clicks", "opens")
    for of, counts in SIDES.items():
        assert told[of] == {name: counts[name] for name in names}, of
    for name in sends:
        assert told[name] == ALL[name], name
    for name in ("delivered_rate", "impressions_of_delivered", "open_rate", "click_through_rate"):
        part, whole = RATES[name]
        assert told[name] == part / whole, name
    text = run("why", DELIVERY, "--data-dir", counted.directory).stdout
    assert (f"delivered {ALL['sent']}, attempted {ALL['attempted']}, undelivered"
            f" {ALL['undelivered']}, delivered rate {percent('delivered_rate')}, ") in text, text
    assert percent("open_rate") in text, text
    failed = re.search(r"^  failed (\d+): .* \((\d+) of these were sent later\)$", text, re.M)
    assert failed.groups() == (str(ALL["failed"]), str(ALL["failed"] - ALL["undelivered"])), text


def test_totals_stand_in_for_a_sender_that_reports_nothing(make_server, tmp_path):
    server = make_server().start()
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(
            events=[push(number, OPENED) for number in range(3)]))
    server.wait_for_hits(6)
    path = tmp_path / "names.csv"
    path.write_text(f"id,delivered\n{DELIVERY},12\n")
    for options, delivered, rate in (((), None, None), (("--deliveries", path), 12, 0.25)):
        [row] = json.loads(report(server, "--json", *options))["deliveries"]["rows"]
        assert (row["delivered"], row["open_rate"], row["sent"]) == (delivered, rate, None)


def test_the_example_of_the_page():
    """Each number of its tables is what the oracle counts."""
    example = PAGE.read_text().split("## A worked example")[1].split("\n## ")[0]
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")]
             for line in example.splitlines() if line.startswith("| `")]
    reasons = {(row[1], row[0]): int(row[2]) for row in cells if row[1] in ("failed", "skipped")}
    assert reasons == NEVER_SENT
    cells = [row for row in cells if (row[1], row[0]) not in reasons]
    counts = {row[0]: [int(cell) for cell in row[1:]] for row in cells if len(row) == 4}
    rates = {row[0]: row[1:] for row in cells if len(row) == 3}
    assert counts == {name: [SIDES[ANDROID][name], SIDES[IOS][name], ALL[name]]
                      for name in ALL}
    assert rates == {name: [f"{part} / {whole}", f"{rounded(part, whole):.4f}"]
                     for name, (part, whole) in RATES.items()}
