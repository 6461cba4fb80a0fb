"""`sightline report` beside a running server: what was sent is what it counts, in each form."""

import csv
import html.parser
import io
import json

import pytest

from facts import TENANT
from protos import event as e
from protos import service as s
from test_terminal_commands import run

DELIVERY, SHOWN, OPENED, DISMISSED = "5ec7", 20, 5, 3


def push(number: int, kind: int, platform: int = e.PLATFORM_ANDROID,
         product: int = e.CAMPAIGN_PRODUCT_STANDARD) -> e.TrackingEvent:
    event = e.TrackingEvent(platform=platform)
    event.push.kind = kind
    event.push.product = product
    if platform == e.PLATFORM_IOS:
        event.push.apns.delivery_id, event.push.apns.message_id = DELIVERY, f"h{number:x}"
    else:
        data = event.push.fcm.data
        data.delivery_id, data.message_id = DELIVERY, f"h{number:x}"
        if kind == e.PUSH_INTERACTION_KIND_RECEIVED:
            data.title = "Autumn sale"
    return event


def in_app(number: int, **what) -> e.TrackingEvent:
    event = e.TrackingEvent(event_id=f"in-app-{number}", subject_id=f"subject-{number % 2}")
    event.in_app.message_id, event.in_app.campaign_name = "welcome", "<b>Welcome</b>"
    event.in_app.MergeFrom(e.InAppInteraction(**what))
    return event


def events() -> list[e.TrackingEvent]:
    received, opened, dismissed = (e.PUSH_INTERACTION_KIND_RECEIVED,
                                   e.PUSH_INTERACTION_KIND_OPENED,
                                   e.PUSH_INTERACTION_KIND_DISMISSED)
    classic = e.CAMPAIGN_PRODUCT_CLASSIC
    return ([push(number, received) for number in range(SHOWN)]
            + [push(number, opened) for number in range(OPENED)]
            + [push(OPENED + number, dismissed) for number in range(DISMISSED)]
            + [push(100 + number, opened, e.PLATFORM_IOS) for number in range(7)]
            + [push(number, received, product=classic) for number in range(4)]
            + [push(0, opened, product=classic)]
            + [in_app(number, impression=e.InAppImpression()) for number in range(4)]
            + [in_app(4, click=e.InAppClick(action_url="app://sale")),
               in_app(5, dismissal=e.InAppDismissal()),
               in_app(6, display_error=e.InAppDisplayError()),
               in_app(7, triggered=e.InAppTriggered()),
               in_app(8, suppressed=e.InAppSuppression())]
            + [shows_nothing(200), shows_nothing(201)])


def shows_nothing(number: int) -> e.TrackingEvent:
    """An impression of a payload that shows nothing (D63)."""
    event = push(number, e.PUSH_INTERACTION_KIND_RECEIVED)
    event.push.fcm.data.title = ""
    return event


# 20 impressions, 5 clicks and opens, 3 clicks; 7 clicks and opens; 4 impressions, a click; 9
# in-app; 2 impressions of nothing.
HITS = SHOWN + 2 * OPENED + DISMISSED + 2 * 7 + 4 + 1 + 9 + 2


@pytest.fixture(scope="module")
def counted(running, stub):
    """A running server that has counted each of the events once, though each was sent twice."""
    for _ in range(2):
        stub.RecordEvents(s.RecordEventsRequest(events=events()))
    running.wait_for_hits(HITS)
    assert running.hit_count() == HITS
    return running


def report(server, *options) -> str:
    return run("report", "--data-dir", server.directory, *options).stdout


def test_the_figures(counted):
    """D14, D16, D20, D21, D24: what was sent, counted while the server runs."""
    answer = json.loads(report(counted, "--json"))
    standard, classic = answer["deliveries"]["rows"]
    assert [row["product"] for row in (standard, classic)] == ["standard", "classic"]
    assert {row["delivery_id"] for row in (standard, classic)} == {DELIVERY}
    assert {row["tenant"] for row in (standard, classic)} == {TENANT}
    others, ios = standard["others"], standard["ios"]
    assert [others[name] for name in ("impressions", "clicks", "opens")] == [
        SHOWN, OPENED + DISMISSED, OPENED]
    assert [ios[name] for name in ("impressions", "clicks", "opens")] == [0, 7, 7]
    assert standard["click_ratio"] == 0.4 and standard["open_ratio"] == 0.25
    assert (others["dismissals"], ios["dismissals"], standard["dismissal_ratio"]) == (
        DISMISSED, 0, 0.15)
    assert "dismissals" not in classic["others"] and classic["dismissal_ratio"] is None
    assert classic["others"]["impressions"] == 4 and classic["click_ratio"] == 0.25
    assert classic["open_ratio"] is None
    [message] = answer["in_app_messages"]["rows"]
    assert [message[name] for name in ("impressions", "clicks", "dismissals", "display_errors",
                                       "recipients", "triggered", "suppressed")] == [
        4, 1, 1, 1, 2, 1, 1]
    assert others["nothing_shown"] == 2 and others["impressions"] == SHOWN
    assert answer["notes"][-1] == "2 impressions of payloads that show nothing are left out (D63)"
    assert answer["deliveries"]["hits"] + answer["in_app_messages"]["hits"] == HITS


def test_the_table_and_the_sheet(counted):
    table = report(counted)
    assert DELIVERY in table and "40.0 %" in table and "25.0 %" in table, table
    rows = list(csv.DictReader(io.StringIO(report(counted, "--csv"), newline="")))
    assert [row["section"] for row in rows] == ["push", "push", "in_app"]
    assert [row["impressions"] for row in rows] == [str(SHOWN), "4", "4"]
    assert rows[1]["opens"] == "" and rows[2]["campaign"] == "<b>Welcome</b>"


class Outline(html.parser.HTMLParser):
    """The tags of a page, and whether each that opens is closed."""

    VOID = {"meta", "rect"}

    def __init__(self, text: str):
        super().__init__()
        self.open, self.tags = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes something else"


def test_the_page(counted, tmp_path):
    """It is well-formed, loads nothing, and a campaign's name is text in it."""
    path = tmp_path / "report.html"
    assert report(counted, "--html", path) == ""
    text = path.read_text(encoding="utf-8")
    tags = Outline(text).tags
    assert "svg" in tags and "table" in tags
    assert not {"script", "link", "img", "iframe", "b"} & set(tags)
    assert "&lt;b&gt;Welcome&lt;/b&gt;" in text and "://" not in text


def test_what_is_asked_for(counted):
    """Filters narrow it, and the limit says what it leaves out."""
    assert json.loads(report(counted, "--json", "--since", "1h"))["deliveries"]["count"] == 2
    for options in (("--until", "1h"), ("--tenant", "nobody"), ("--delivery", "none")):
        answer = json.loads(report(counted, "--json", *options))
        assert answer["deliveries"]["rows"] == answer["in_app_messages"]["rows"] == [], options
    limited = json.loads(report(counted, "--json", "--limit", "1"))["deliveries"]
    assert [limited["count"], limited["left_out"], len(limited["rows"])] == [2, 1, 1]


def test_names_and_delivered_counts(counted, tmp_path):
    """They come from a file, for the deliveries that are in it."""
    path = tmp_path / "names.csv"
    path.write_text(f'id,name,delivered\n{DELIVERY},"Spring, sale",100\n', encoding="utf-8")
    rows = json.loads(report(counted, "--deliveries", path, "--json"))["deliveries"]["rows"]
    assert [(row["name"], row["delivered"]) for row in rows] == [("Spring, sale", 100)] * 2
    # 20 notifications on Android and 7 on iOS.
    assert rows[0]["reach_ratio"] == 0.27
    assert "Spring, sale" in report(counted, "--deliveries", path)
    sheet = list(csv.DictReader(io.StringIO(report(counted, "--deliveries", path, "--csv"),
                                            newline="")))
    assert [row["name"] for row in sheet] == ["Spring, sale"] * 2 + [""]
    page = tmp_path / "report.html"
    report(counted, "--deliveries", path, "--html", page)
    assert page.read_text(encoding="utf-8").count("Spring, sale") == 4  # two charts, two rows


def test_a_delivery_without_a_hit_is_a_row_of_zeros(counted, tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("id,name,delivered\nf00d,Nobody saw it,50\n", encoding="utf-8")
    rows = json.loads(report(counted, "--deliveries", path, "--json"))["deliveries"]["rows"]
    assert [row["delivery_id"] for row in rows] == [DELIVERY, DELIVERY, "f00d"]
    silent = rows[2]
    assert (silent["others"]["impressions"], silent["reach_ratio"], silent["tenant"],
            silent["first_received"]) == (0, 0, None, None)


def test_names_beyond_their_limit(counted, tmp_path):
    path = tmp_path / "names.csv"
    path.write_bytes(b"id\n" + b"\n" * (16 << 20))
    done = run("report", "--data-dir", counted.directory, "--deliveries", path, code=1)
    assert str(path) in done.stderr and "16777216 bytes" in done.stderr
    path.write_text("id,delivered\n1,2\n3,many\n")
    done = run("report", "--data-dir", counted.directory, "--deliveries", path, code=1)
    assert "line 3" in done.stderr and done.stdout == ""


def test_in_app_messages_by_use(counted):
    """Which link, how it was closed, why it was not shown."""
    rows = json.loads(report(counted, "--details", "--json"))["in_app_details"]
    uses = {row["use"]["what"]: (row["use"]["link"], row["hits"]) for row in rows}
    assert uses == {"impression": ("", 4), "click": ("app://sale", 1), "dismissal": ("", 1),
                    "display_error": ("", 1), "triggered": ("", 1), "suppressed": ("", 1)}
    assert "app://sale" in report(counted, "--details")
    pushes = json.loads(report(counted, "--details", "--json"))["push_details"]
    assert {row["delivery_id"] for row in pushes} == {DELIVERY}
    told = {row["use"]["what"]: row["hits"] for row in pushes}
    assert told == {"impression": SHOWN + 4 + 2, "click": OPENED + 7 + 1, "open": OPENED + 7,
                    "dismissal": DISMISSED}
    assert "in_app_details" not in json.loads(report(counted, "--json"))


def test_the_page_has_the_uses_where_they_are_asked_for(counted, tmp_path):
    path = tmp_path / "report.html"
    for options, is_there in (((), False), (("--details",), True)):
        report(counted, *options, "--html", path)
        text = path.read_text(encoding="utf-8")
        Outline(text)
        for part in ("Push notifications by use</h2>", "In-app messages by use</h2>",
                     "<td>app://sale</td>"):
            assert (part in text) == is_there, part


def test_one_delivery_tells_which_version_differs(make_server, tmp_path):
    """3.2 reports nothing; where none differs, there is no table. The same of a stopped server."""
    def told(delivery: str, version: str, numbers: range, is_seen: bool) -> list[e.TrackingEvent]:
        sends = []
        for number in numbers:
            event = e.TrackingEvent(platform=e.PLATFORM_ANDROID, app_version=version)
            event.push_send.MergeFrom(e.PushSend(
                delivery_id=delivery, broadlog_id=f"h{number:x}",
                outcome=e.PUSH_SEND_OUTCOME_SENT))
            sends.append(event)
        seen = [push(number, e.PUSH_INTERACTION_KIND_RECEIVED) for number in numbers if is_seen]
        for event in seen:
            event.app_version, event.push.fcm.data.delivery_id = version, delivery
        return sends + seen
    running = make_server().start()
    with running.channel() as channel:
        for delivery, is_seen in (("5e21e6", False), ("5e21e7", True)):
            running.stub(channel).RecordEvents(s.RecordEventsRequest(
                events=told(delivery, "3.1", range(40), True)
                + told(delivery, "3.2", range(40, 80), is_seen)))
    running.wait_for_hits(80 + 40 + 80 + 80)
    for _ in range(2):
        [split] = json.loads(report(running, "--delivery", "5e21e6", "--json"))["versions"]
        assert (split["tenant"], split["delivery"]) == (TENANT, "5e21e6")
        assert [(row["app_version"], row["platform"], row["sent"], row["reports"],
                 row["impressions"]) for row in split["versions"]] == [
            ("3.1", "android", 40, 40, 40), ("3.2", "android", 40, 0, 0)]
        assert [row["differs"] for row in split["versions"]] == [True, True]
        assert len(json.loads(report(running, "--details", "--json"))["versions"]) == 1
        assert json.loads(report(running, "--delivery", "5e21e7", "--json"))["versions"] == []
        assert "versions" not in json.loads(report(running, "--json"))
        lines = [line.split() for line in report(running, "--delivery", "5e21e6").splitlines()]
        assert [TENANT, "5e21e6", "3.2", "android", "40", "0", "0", "0", "0", "0",
                "differs"] in lines
        path = tmp_path / "report.html"
        report(running, "--delivery", "5e21e6", "--html", path)
        assert "<td>3.2</td>" in path.read_text(encoding="utf-8")
        if running.process.poll() is None:
            assert running.terminate() == 0


def test_by_when_it_happened_in_a_zone(make_server):
    """A hit of the 9th, received today: by day of Tokyo, in each form."""
    event = push(1, e.PUSH_INTERACTION_KIND_RECEIVED)
    event.push.fcm.data.delivery_id = "5e21e5"
    event.occur_time.FromJsonString("2026-01-09T15:30:00Z")
    running = make_server().start()
    with running.channel() as channel:
        running.stub(channel).RecordEvents(s.RecordEventsRequest(events=[event]))
    running.wait_for_hits(1)
    options = ("--delivery", "5e21e5", "--occurred", "--series", "day", "--time-zone", "Asia/Tokyo")
    [row] = json.loads(report(running, *options, "--json"))["series"]["rows"]
    assert (row["start"], row["impressions"]) == ("2026-01-10T00:00:00.000+09:00", 1)
    [row] = csv.DictReader(io.StringIO(report(running, *options, "--csv"), newline=""))
    assert (row["id"], row["start"]) == ("5e21e5", "2026-01-10T00:00:00.000+09:00")
    assert "2026-01-10 00:00" in report(running, *options)
    told = run("report", "--data-dir", running.directory, *options, "--since", "yesterday")
    assert "no hits: happened from" in told.stderr
    assert "5e21e5" in report(running, "--delivery", "5e21e5", "--since", "yesterday")


@pytest.mark.parametrize("options, code, words", [
    (["--details", "--csv"], 64, ["--details", "--json"]),
    (["--since", "tomorrow"], 64, ["--since", "tomorrow", "2026-11-20T10:00:00Z"]),
    (["--time-zone", "Mars"], 64, ["--time-zone", "Mars", "Europe/Berlin"]),
    (["--series", "week"], 64, ["week", "hour", "day"]),
    (["--series", "day", "--html", "x"], 64, ["--series", "--html", "--json"]),
    (["--since", "1h", "--until", "2h"], 64, ["--since", "--until", "not before"]),
    (["--limit", "0"], 64, ["--limit 0", "1 to 100000"]),
    (["--json", "--csv"], 64, ["name one"]),
    (["--html", "/no/such/directory/report.html"], 74, ["/no/such/directory/report.html"])])
def test_what_is_wrong(counted, options, code, words):
    """It ends with an exit code of its own, and says what, where and the cure."""
    done = run("report", "--data-dir", counted.directory, *options, code=code)
    assert [word for word in words if word not in done.stderr] == [], done.stderr


def test_no_database(tmp_path):
    done = run("report", "--data-dir", tmp_path, code=69)
    assert str(tmp_path / "hits.db") in done.stderr and "--data-dir" in done.stderr
