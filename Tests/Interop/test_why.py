"""`sightline why` and ExplainDelivery: the vendor's known mistakes, sent as events, are named, each
in a sentence with its figures; and nothing is said of what is sound."""

import json
import os
import socketserver
import threading
import urllib.request

import grpc
import pytest

from faults import library
from protos import event as e
from protos import service as s
from test_credentials import KeysFile, bearer
from test_terminal_commands import run

SECONDS = 10
# What was sent should have been reported after six hours.
EARLIER_SECONDS = 7 * 3600
RECEIVED, DISMISSED, OPENED = 1, 2, 3


class App:
    """Events of one app for one delivery, which no other mistake has."""

    def __init__(self, number: int):
        self.app = f"com.example.app{number}"
        self.delivery = f"{0xa000 + number:x}"

    def base(self) -> e.TrackingEvent:
        return e.TrackingEvent(app_id=self.app)

    def fcm(self, number: int, kind: int, **data) -> e.TrackingEvent:
        event = self.base()
        event.push.kind = kind
        event.push.fcm.data.MergeFrom(FCM(delivery_id=self.delivery, message_id=f"h{number:x}"))
        if kind == RECEIVED:
            event.push.fcm.data.title = "Autumn sale"
        event.push.fcm.data.MergeFrom(FCM(**data))
        return event

    def apns(self, number: int, kind: int, state: int = 0, **fields) -> e.TrackingEvent:
        event = self.base()
        event.push.kind, event.push.app_state = kind, state
        event.push.apns.MergeFrom(APNS(delivery_id=self.delivery, message_id=f"h{number:x}"))
        if kind == RECEIVED:
            event.push.apns.aps.alert.title = "Autumn sale"
        event.push.apns.MergeFrom(APNS(**fields))
        return event

    def action(self, number: int, action: int, platform: int = e.PLATFORM_ANDROID
               ) -> e.TrackingEvent:
        event = self.base()
        event.platform = platform
        event.track_action.delivery_id, event.track_action.action = self.delivery, action
        event.track_action.broadlog_id = f"h{number:x}"
        return event

    def raw(self, payload: dict, platform: int) -> e.TrackingEvent:
        event = self.base()
        event.platform, event.push.kind = platform, OPENED
        event.push.raw.json = json.dumps(payload).encode()
        return event

    # What apps do.

    def healthy(self, ios: bool = False) -> list[e.TrackingEvent]:
        make = self.apns if ios else self.fcm
        on = {"acs_delivery_tracking": "On" if ios else "on"}
        # A message goes to one device.
        first = 1000 if ios else 0
        return ([make(first + number, RECEIVED, **on) for number in range(200)]
                + [make(first + number, OPENED, **on) for number in range(40)]
                + [make(first + number, DISMISSED, **on) for number in range(40, 60)])

    def sound(self):
        return self.healthy() + self.healthy(ios=True)

    def capital_flag(self):
        return self.healthy() + [self.fcm(900 + number, OPENED, acs_delivery_tracking="ON")
                                 for number in range(9)]

    def flag_off(self):
        return [self.fcm(number, RECEIVED, acs_delivery_tracking="off") for number in range(5)]

    def never_opened(self):
        return [self.action(number, 7) for number in range(100)] + [
            self.action(number, 2) for number in range(30)]

    def dismissals_as_opens(self):
        return self.healthy() + [self.action(number, 1) for number in range(100, 130)]

    def opens_without_clicks(self):
        return [self.action(number, 7) for number in range(100)] + [
            self.action(number, 1) for number in range(30)]

    def every_resume(self):
        return self.healthy() + [self.fcm(number, OPENED) for number in range(40)] * 3

    def closed_impressions(self):
        return self.healthy(ios=True) + [self.apns(500 + number, RECEIVED, 3)
                                         for number in range(4)]

    def other_link(self):
        return [self.fcm(number, RECEIVED,
                         uri=f"http://t.example.com/r/?id=d{number:x},{self.delivery}f,77")
                for number in range(7)]

    def placeholders(self):
        """D57: one message id for all recipients, whose events are duplicates then."""
        events = self.healthy()
        for number in range(40):
            event = self.fcm(0, OPENED, message_id="undefined")
            event.event_id = f"{self.app} {number}"
            events.append(event)
        return events

    def no_impressions(self):
        return [self.fcm(number, OPENED) for number in range(25)]

    def nested_ids(self):
        """D13: the ids in aps.alert."""
        ids = {"_dId": self.delivery, "_mId": "h138a"}
        return self.healthy(ios=True) + [
            self.raw({"aps": {"alert": {"title": "t"} | ids}}, e.PLATFORM_IOS)] * 3

    def small_mid(self):
        """D13: `_mid` for `_mId`."""
        return [self.raw({"aps": {}, "_dId": self.delivery, "_mid": "h138a"}, e.PLATFORM_IOS)]

    def message_id(self):
        """D13: `messageId` for broadlogId, which is missing then."""
        event = self.action(1, 2)
        event.track_action.ClearField("broadlog_id")
        return [event] * 4

    def not_hex(self):
        return [self.action(number, 7) for number in range(9)] + [
            self.fcm(1, OPENED, message_id="x-1")]

    def no_mutable_content(self):
        return [self.apns(number, OPENED, media_attachment_url="https://example.com/a.png")
                for number in range(3)]

    def milliseconds(self):
        events = [self.action(number, 7) for number in range(9)]
        for event in events:
            event.occur_time.seconds = 1_800_000_000_000 // 10
        return events

    def opted_out(self):
        events = self.healthy()
        for event in events:
            event.consent = e.CONSENT_OPTED_OUT
        return events

    def test_messages(self):
        events = []
        for number in range(6):
            event = self.base()
            event.event_id, event.in_app.message_id = f"{self.app} {number}", self.delivery
            event.in_app.impression.SetInParent()
            event.in_app.test_message = True
            events.append(event)
        return events

    def display_suppressed(self):
        events = self.test_messages()
        for event in events:
            event.in_app.test_message, event.in_app.display_suppressed = False, True
        return events


    # What its sender and its devices tell together.

    def send(self, number: int, reason: int = 0, **fields) -> e.TrackingEvent:
        event = e.TrackingEvent(app_id=self.app, platform=e.PLATFORM_ANDROID)
        event.push_send.MergeFrom(e.PushSend(
            delivery_id=self.delivery, broadlog_id=f"h{number:x}", reason=reason,
            outcome=e.PUSH_SEND_OUTCOME_FAILED if reason else e.PUSH_SEND_OUTCOME_SENT, **fields))
        return event

    def sent(self, count: int, first: int = 0, version: str = "", **fields
             ) -> list[e.TrackingEvent]:
        events = [self.send(first + number, **fields) for number in range(count)]
        for event in events:
            event.app_version = version
        return events

    def seen(self, count: int, first: int = 0, version: str = "") -> list[e.TrackingEvent]:
        events = [self.fcm(first + number, RECEIVED, acs_delivery_tracking="on")
                  for number in range(count)]
        for event in events:
            event.app_version = version
        return events

    def delivered(self):
        return self.sent(200) + self.seen(150)

    def unregistered(self):
        return self.delivered() + self.sent(
            40, 200, reason=e.PUSH_SEND_REASON_UNREGISTERED)

    def throttled(self):
        before = App(0)
        before.app, before.delivery = self.app, self.delivery + "0"
        return before.sent(100) + self.delivered() + self.sent(
            30, 200, reason=e.PUSH_SEND_REASON_THROTTLED)

    def without_flag(self):
        return self.sent(200) + [self.fcm(number, RECEIVED) for number in range(150)]

    def unreported(self):
        return self.sent(30)

    def shown_by_system(self):
        return self.sent(120, display=e.PUSH_DISPLAY_SYSTEM) + self.seen(10)

    def reported_twice(self):
        return self.sent(100) + self.seen(130)

    def silent_version(self):
        return (self.sent(100, version="3.1") + self.seen(80, version="3.1")
                + self.sent(50, 100, "3.2"))


FCM = type(e.TrackingEvent().push.fcm.data)
APNS = type(e.TrackingEvent().push.apns)
MISTAKES = [
    (App.sound, {}),
    (App.capital_flag, {
        "FLAG_UNKNOWN": "9 of 269 on Android: the flag was `ON`, which Android compares exactly"}),
    (App.flag_off, {"FLAG_OFF": "5 of 5 on Android: the flag was `off`"}),
    (App.never_opened, {"NEVER_OPENED": "30 clicks (2) and 100 impressions (7) on Android"}),
    (App.dismissals_as_opens, {"DISMISSALS_AS_OPENS": "30 of 70 opens (1) on Android"}),
    (App.opens_without_clicks, {"OPENS_WITHOUT_CLICKS": "30 opens (1) on Android"}),
    (App.every_resume, {"REPEATED_REPORTS": "240 clicks and opens on Android were repeats of 100"}),
    (App.closed_impressions, {"CLOSED_IMPRESSIONS": "4 of 204 impressions (7) on iOS"}),
    (App.other_link, {"LINK_CONTRADICTS_IDS": "7 of 7 on Android: the tracked link in `uri`"}),
    (App.placeholders, {"PLACEHOLDER_IDS": "_mId is a placeholder such as `null`",
                        "IDS_NOT_HEX": "1 of "}),
    (App.no_impressions, {"CLICKS_WITHOUT_IMPRESSIONS": "25 clicks (2) on Android"}),
    (App.nested_ids, {"REJECTED_WITHOUT_DELIVERY": "3 events of its apps that name no delivery"}),
    (App.small_mid, {"REJECTED": "1 of 1 on iOS: rejected, push.raw.json"}),
    (App.message_id, {"REJECTED": "look for `messageId` in place of broadlogId"}),
    (App.not_hex, {"IDS_NOT_HEX": "1 of 10 on Android: an id is not as Campaign Standard"}),
    (App.no_mutable_content, {"MEDIA_NOT_SHOWN": "3 of 3 on iOS"}),
    (App.milliseconds, {"CLOCK_SKEW": "9 of 9 on Android: occur_time is over 5 minutes"}),
    (App.test_messages, {"TEST_MESSAGES": "6 of 6 without a platform: test messages"}),
    (App.display_suppressed, {"DISPLAY_SUPPRESSED": "6 of 6 without a platform"}),
    (App.delivered, {}),
    (App.unreported, {}),
    (App.unregistered, {"TOKENS_UNREGISTERED": "40 of 240 attempts on Android had a token"}),
    (App.throttled, {"SEND_REASON_GREW": "30 of 230 sends on Android were not made for `throttled`,"
                     " 13.0 %, and 0.0 % of those of the delivery before, "}),
    (App.without_flag, {"SENT_WITHOUT_FLAG": "150 of 150 reports on Android came without"}),
]
# Of these the server has to be told hours before somebody asks.
EARLIER_MISTAKES = [
    (App.delivered, {}),
    (App.unreported, {"NOTHING_REPORTED": "30 were sent 6 hours ago or earlier, and no app"}),
    (App.shown_by_system, {"IMPRESSIONS_MISSING": "10 impressions (7) of 120 that were sent on"
                           " Android 6 hours ago or earlier: 120 were shown by the system"}),
    (App.reported_twice, {
        "MORE_IMPRESSIONS_THAN_SENT": "130 impressions (7) on Android, and 100 were sent"}),
    (App.silent_version, {
        "VERSION_WITHOUT_REPORTS": "50 were sent to version 3.2 on Android 6 hours ago or earlier,"
        " and it reports nothing, while others gave 80 reports of 100"}),
]


def explain(stub, delivery: str) -> s.ExplainDeliveryResponse:
    return stub.ExplainDelivery(s.ExplainDeliveryRequest(delivery_id=delivery), timeout=SECONDS)


def send(stub, events) -> None:
    stub.RecordEvents(s.RecordEventsRequest(events=events), timeout=SECONDS)


@pytest.mark.parametrize("number", range(len(MISTAKES)),
                         ids=[mistake.__name__ for mistake, _ in MISTAKES])
def test_a_known_mistake_is_named_and_nothing_else(stub, number):
    """D2 to D58, in the ledger: each code with its sentence."""
    mistake, expected = MISTAKES[number]
    app = App(number)
    send(stub, mistake(app))
    sentences = {finding.code: finding.sentence for finding in explain(stub, app.delivery).findings}
    assert sentences.keys() == expected.keys(), sentences
    for code, words in expected.items():
        assert words in sentences[code], sentences


def test_what_was_sent_hours_ago_is_held_to_what_was_reported(make_server):
    """At the time nothing is said of it: devices may be off."""
    if not library("clock"):
        pytest.skip("no C compiler here, and clock.c has to be compiled")
    server = make_server(environment=os.environ | {
        "LD_PRELOAD": str(library("clock")), "CLOCK_SHIFT_SECONDS": str(-EARLIER_SECONDS)}).start()
    apps = [App(200 + number) for number in range(len(EARLIER_MISTAKES))]
    with server.channel() as channel:
        stub = server.stub(channel)
        for app, (mistake, _) in zip(apps, EARLIER_MISTAKES):
            send(stub, mistake(app))
            assert not explain(stub, app.delivery).findings
    assert server.terminate() == 0
    for app, (_, expected) in zip(apps, EARLIER_MISTAKES):
        told = run("why", app.delivery, "--data-dir", server.directory, "--json").stdout
        sentences = {finding["code"]: finding["sentence"]
                     for finding in json.loads(told)["findings"]}
        assert sentences.keys() == expected.keys(), sentences
        for code, words in expected.items():
            assert words in sentences[code], sentences


def test_the_command_lists_what_was_sent_and_the_version_that_differs(make_server):
    server = make_server().start()
    app = App(300)
    unsent = App(301)
    throttled, alone = (of.sent(3, 500, reason=e.PUSH_SEND_REASON_THROTTLED)
                        for of in (app, unsent))
    expired = app.sent(2, 510, reason=e.PUSH_SEND_REASON_EXPIRED)
    for event in expired:
        event.push_send.outcome = e.PUSH_SEND_OUTCOME_SKIPPED
    shown = app.sent(60, 600, "3.3", display=e.PUSH_DISPLAY_APP)
    with server.channel() as channel:
        stub = server.stub(channel)
        # Two of the three that failed are sent at the second attempt.
        send(stub, app.silent_version() + throttled + app.sent(2, 500) + expired + shown
             + app.seen(48, 600, "3.3"))
        send(stub, alone)
        rows = explain(stub, app.delivery).rows
    assert {(row.send_reason, row.display, row.events) for row in rows
            if row.counted_verdict and not row.app_version} == {
        (e.PUSH_SEND_REASON_THROTTLED, 0, 3), (e.PUSH_SEND_REASON_EXPIRED, 0, 2),
        (0, e.PUSH_DISPLAY_APP, 60)}
    assert [row.events for row in rows if row.sent_and_failed] == [2]
    texts = [run("why", app.delivery, "--data-dir", server.directory).stdout,
             run("why", app.delivery, "--target", server.target).stdout]
    for text in texts:
        lines = [line.split() for line in text.splitlines()]
        for line in ("sent 212: shown by app 60",
                     "failed 3: throttled 3 (2 of these were sent later)",
                     "skipped 2: expired 2"):
            assert line.split() in lines, text
        assert "delivered 212, attempted 213, undelivered 1, delivered rate 99.5 %, " in text, text
        # Of the table: attempted, sent, undelivered, failed and skipped.
        assert any(line[-5:] == ["213", "212", "1", "3", "2"] for line in lines), text
        assert ["3.1", "android", "100", "80", "0", "80", "0", "0"] in lines, text
        assert ["3.2", "android", "50", "0", "0", "0", "0", "0", "differs"] in lines, text
        assert ["3.3", "android", "60", "48", "0", "48", "0", "0"] in lines, text
    with urllib.request.urlopen(f"{server.admin}stats.json", timeout=SECONDS) as answer:
        busiest = {row["delivery_id"]: row for row in json.load(answer)["deliveries"]["busiest"]}
    row = busiest[app.delivery]
    assert row["failed_for"] == [{"reason": "throttled", "count": 3}]
    assert row["failed"] - row["undelivered"] == 2
    # Those that differ, and then the busiest.
    versions = [(version["version"], version["platform"], version["differs"], version["sent"],
                 version["impressions"]) for version in row["versions"]]
    assert versions == [("3.2", "android", True, 50, 0), ("3.1", "android", False, 100, 80),
                        ("3.3", "android", False, 60, 48)]
    assert "versions" not in busiest[unsent.delivery]
    told = run("why", unsent.delivery, "--data-dir", server.directory).stdout
    assert "  failed 3: throttled 3" in told.splitlines(), told


def test_the_command_tells_the_same_beside_a_server_of_it_and_behind_it(make_server):
    """D23: and of recipients without consent only how many they are."""
    server = make_server().start()
    app, silent = App(100), App(101)
    with server.channel() as channel:
        stub = server.stub(channel)
        send(stub, app.capital_flag() + silent.opted_out())
        findings = {name: explain(stub, name).findings for name in (app.delivery, silent.delivery)}
    assert [finding.code for finding in findings[app.delivery]] == ["FLAG_UNKNOWN"]
    assert [finding.code for finding in findings[silent.delivery]] == [
        "NOTHING_SEEN", "CONSENT_MISSING"]
    where = ("--data-dir", server.directory)
    told = {name: (run("why", name, *where).stdout, run("why", name, *where, "--json").stdout)
            for name in findings}
    for name, found in findings.items():
        asked = json.loads(run("why", name, "--target", server.target, "--json").stdout)
        beside = json.loads(told[name][1])
        assert asked | {"tenant": "default"} == beside
        for finding in found:
            assert f"{finding.code}  {finding.sentence}" in told[name][0]
    assert "nothing is wrong" not in told[app.delivery][0]
    assert server.terminate() == 0
    for name, texts in told.items():
        assert (run("why", name, *where).stdout, run("why", name, *where, "--json").stdout) == texts
    # A killed server leaves its socket behind.
    (server.directory / "admin.sock").touch()
    assert run("why", app.delivery, *where).stdout == told[app.delivery][0]


def test_a_delivery_is_found_in_another_spelling_and_by_its_name(make_server, tmp_path):
    server = make_server().start()
    message = e.TrackingEvent(event_id="1", subject_id="s")
    message.in_app.message_id, message.in_app.campaign_name = "m1", "Welcome back"
    message.in_app.impression.SetInParent()
    app = App(0xbcd)
    with server.channel() as channel:
        send(server.stub(channel), app.flag_off() + [message])
    server.wait_for_hits(1)
    names = tmp_path / "names.csv"
    names.write_text(f"id,name\n{app.delivery},Spring sale\n77,Spring cleaning\n")
    where = ("--data-dir", server.directory, "--deliveries", names)
    upper = app.delivery.upper()
    for asked, delivery in ((upper, app.delivery), ("spring SALE", app.delivery),
                            ("welcome BACK", "m1")):
        done = run("why", asked, *where)
        assert done.stdout.startswith(f"delivery {delivery}  tenant "), done.stdout
        assert f'nothing is known of "{asked}"; this is the delivery {delivery}' in done.stderr
    done = run("why", upper, "--target", server.target)
    assert "FLAG_OFF" in done.stdout and f"this is the delivery {app.delivery}" in done.stderr
    done = run("why", "spring", *where)
    assert "NOTHING_SEEN" in done.stdout
    assert done.stderr == ('you may mean:\n  the delivery 77, "Spring cleaning"\n'
                           f'  the delivery {app.delivery}, "Spring sale"\n')
    assert server.terminate() == 0
    assert "FLAG_OFF" in run("why", upper, "--data-dir", server.directory).stdout


def test_a_name_finds_its_own_tenants_delivery_alone(make_server, tmp_path):
    """Two tenants have a message of one id, by different names."""
    keys = KeysFile(tmp_path / "keys.jsonl")
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}")
    owners = {"one": "Welcome", "two": "Farewell"}
    made = {tenant: keys.new(tenant) for tenant in owners}
    server.start()
    with server.channel() as channel:
        for tenant, name in owners.items():
            message = e.TrackingEvent(event_id="1", subject_id="s")
            message.in_app.message_id, message.in_app.campaign_name = "m1", name
            message.in_app.impression.SetInParent()
            server.stub(channel).RecordEvents(
                s.RecordEventsRequest(events=[message]), metadata=bearer(made[tenant]),
                timeout=SECONDS)
    server.wait_for_hits(2)
    where = ("--data-dir", server.directory)

    def told(asked: str, *options) -> tuple[list[str], str]:
        done = run("why", asked, *where, *options)
        heads = [line for line in done.stdout.splitlines() if line.startswith("delivery ")]
        return heads, done.stderr

    heads, errors = told("farewell")
    assert len(heads) == 1 and heads[0].startswith("delivery m1  tenant two"), heads
    assert errors.endswith('this is the delivery m1, "Farewell"\n')
    heads, errors = told("farewell", "--tenant", "one")
    assert [head.split("  ")[0] for head in heads] == ["delivery farewell"] and errors == ""
    heads, errors = told("M1")
    assert [head.split("  ")[:2] for head in heads] == [
        ["delivery m1", "tenant one"], ["delivery m1", "tenant two"]]
    assert ('this is the delivery m1, "Welcome", of the tenant one and the delivery m1, "Farewell",'
            ' of the tenant two') in errors


@pytest.mark.parametrize("delivery, code", [
    ("", grpc.StatusCode.INVALID_ARGUMENT), ("x" * 257, grpc.StatusCode.RESOURCE_EXHAUSTED)])
def test_a_call_without_a_delivery_says_what_is_missing(stub, delivery, code):
    with pytest.raises(grpc.RpcError) as failure:
        explain(stub, delivery)
    assert failure.value.code() == code
    assert "delivery_id" in failure.value.details()


def test_a_delivery_at_the_limit_is_explained(stub):
    """256 bytes; beyond it the call is refused, as the test above says."""
    assert explain(stub, "x" * 256).findings[0].code == "NOTHING_SEEN"


def test_without_a_ledger_the_command_says_what_to_name(tmp_path):
    done = run("why", "56c4", "--data-dir", tmp_path, code=69)
    assert "checkpoint.db" in done.stderr and "--data-dir" in done.stderr


@pytest.mark.parametrize("extra, code", [(0, 0), (1, 69)])
def test_an_answer_beyond_its_limit_is_not_taken_for_a_server_that_is_gone(tmp_path, extra, code):
    body = b"[]".ljust((8 << 20) + extra)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            self.rfile.readline()
            self.wfile.write(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
                             % len(body) + body)

    with socketserver.UnixStreamServer(str(tmp_path / "admin.sock"), Handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        told = run("why", "5ec7", "--data-dir", tmp_path, code=code).stderr
        thread.join()
    assert ("over 8388608 bytes" in told and "--tenant" in told) == (code == 69), told
