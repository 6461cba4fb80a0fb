"""The view `details` of hits.db: what events say besides, read by the program sqlite3 alone."""

import json
import random
import sqlite3
import subprocess

import pytest

from protos import event as e
from protos import service as s
from test_terminal_commands import run

KINDS = {"received": e.PUSH_INTERACTION_KIND_RECEIVED, "opened": e.PUSH_INTERACTION_KIND_OPENED,
         "dismissed": e.PUSH_INTERACTION_KIND_DISMISSED}
# Fields that this build does not know: numbers of 2 and 10 bytes, 4 and 8 bytes as they are, and a
# text behind a tag of three bytes whose length has two. An encoder may also pad a number.
UNKNOWN = (b"\xe8\x01\x96\x01" + b"\xe8\x01" + b"\xff" * 9 + b"\x01" + b"\xed\x011234"
           + b"\xe9\x0112345678" + b"\x82\x80\x01\xc8\x01" + b"x" * 200)
IOS, ANDROID = e.PLATFORM_IOS, e.PLATFORM_ANDROID
PARTS = ("interaction", "button", "link", "trigger_event", "campaign_name", "dismissal", "error",
         "app_state", "custom_fields", "send_reason", "provider_code", "provider_message_id",
         "attempt", "display")


def push(number: int, kind: str, platform: int, **fields) -> e.TrackingEvent:
    event = e.TrackingEvent(platform=platform, subject_id=f"subject-{number}")
    event.push.kind = KINDS[kind]
    event.push.MergeFrom(e.PushInteraction(**fields))
    return event


def apns(number: int, kind: str, uri: str = "", custom: dict | None = None, **fields):
    event = push(number, kind, IOS, **fields)
    payload = event.push.apns
    payload.delivery_id, payload.message_id, payload.uri = "56c4", f"h{number:x}", uri
    payload.custom_fields.update(custom or {})
    return event


def fcm(number: int, kind: str, uri: str = "", custom: dict | None = None):
    event = push(number, kind, ANDROID)
    data = event.push.fcm.data
    data.delivery_id, data.message_id, data.uri = "56c4", f"h{number:x}", uri
    data.custom_fields.update(custom or {})
    return event


def raw(number: int, platform: int, form: str) -> e.TrackingEvent:
    event = push(number, "received", platform)
    ids = f'"_dId": "56c4", "_mId": "h{number:x}"'
    event.push.raw.json = form.replace("IDS", ids).encode()
    return event


def in_app(number: int, **what) -> e.TrackingEvent:
    event = e.TrackingEvent(event_id=f"in-app-{number}", subject_id=f"subject-{number}")
    event.in_app.message_id = "welcome"
    event.in_app.MergeFrom(e.InAppInteraction(**what))
    return event


def send(number: int, outcome: int, platform: int = IOS, **fields) -> e.TrackingEvent:
    event = e.TrackingEvent(platform=platform, subject_id=f"subject-{number}")
    event.push_send.MergeFrom(e.PushSend(outcome=outcome, delivery_id="56c4",
                                         broadlog_id=f"h{number:x}", **fields))
    return event


def unknown(event: e.TrackingEvent) -> e.TrackingEvent:
    """The event with fields of a newer client, before its own and within its interaction."""
    made = e.TrackingEvent()
    made.MergeFromString(UNKNOWN + event.SerializeToString())
    getattr(made, made.WhichOneof("interaction")).MergeFromString(UNKNOWN)
    return made


LONG = "https://shop.example/" + "a" * 900
# An event, and what each of its hits has in the view; absent columns are NULL, or {} where JSON.
ROWS = {
    "an opening by a button": (
        apns(1, "opened", LONG, {"segment": "gold", 'a "b" ü': ""}, action_identifier="reply",
             app_state=e.APP_STATE_CLOSED),
        {"interaction": "opened", "button": "reply", "link": LONG, "app_state": "closed",
         "custom_fields": {"segment": "gold", 'a "b" ü': ""}}),
    "a dismissal on Android": (
        fcm(2, "dismissed", "app://sale", {"segment": "tin"}),
        {"interaction": "dismissed", "link": "app://sale", "custom_fields": {"segment": "tin"}}),
    "nothing besides": (fcm(3, "received"), {"interaction": "received"}),
    "fields of a newer client": (
        unknown(apns(4, "received", "app://new", {"k": "v"})),
        {"interaction": "received", "link": "app://new", "custom_fields": {"k": "v"}}),
    "a state of a newer client": (
        apns(5, "received", app_state=9), {"interaction": "received", "app_state": 9}),
    "userInfo as it was pushed": (
        raw(6, IOS, '{"aps": {"alert": "x"}, IDS, "uri": "app://raw", "n": 1.50, "o": {"a": [1]}}'),
        {"interaction": "received", "link": "app://raw", "custom_fields": {"n": 1.5,
                                                                           "o": {"a": [1]}}}),
    "an FCM message as it was sent": (
        raw(7, ANDROID, '{"priority": "high", "data": {IDS, "title": "t", "uri": "u", "k": "v"}}'),
        {"interaction": "received", "link": "u", "custom_fields": {"k": "v"}}),
    "an FCM v1 message, read for Android": (
        raw(8, ANDROID, '{"message": {"data": {IDS, "k": "all"}, "android": {"data": {IDS, '
            '"k": "android"}}}}'),
        {"interaction": "received", "custom_fields": {"k": "android"}}),
    "a link with half of a surrogate pair, which readers could not read": (
        raw(19, IOS, '{IDS, "uri": "app://\\ud83d", "k": "v"}'),
        {"interaction": "received", "custom_fields": {"k": "v"}}),
    "a link with a whole pair, and what is next to halves": (
        raw(20, IOS, '{IDS, "uri": "app://\\ud83d\\ude00\\ud7ff\\ue000"}'),
        {"interaction": "received", "link": "app://\U0001f600\ud7ff\ue000"}),
    "a custom text with half of a pair, however deep": (
        raw(21, IOS, '{IDS, "uri": "u", "k": "v", "o": {"a": [1, "\\ude00"]}}'),
        {"interaction": "received", "link": "u"}),
    "a custom key with half of a pair": (
        raw(22, ANDROID, '{"data": {IDS, "k": "v", "o\\ud83d": "1"}}'),
        {"interaction": "received"}),
    "custom fields with a whole pair, beside half of one in what is none": (
        raw(30, IOS, '{IDS, "aps": {"alert": "\\ud83d"}, '
            '"\\ud83d\\ude00": "\\ud83d\\ude00\\ud7ff"}'),
        {"interaction": "received", "custom_fields": {"\U0001f600": "\U0001f600\ud7ff"}}),
    "a TrackAction": (
        e.TrackingEvent(subject_id="subject-9", track_action=e.TrackAction(
            broadlog_id="h9", delivery_id="56c4", action=e.ACTION_BUTTON_2)),
        {"interaction": "track_action"}),
    "a click in an app": (
        in_app(10, click=e.InAppClick(action_text="Buy", action_url="app://buy"),
               campaign_name="Spring", trigger_event="purchase", app_data={"ab": "1"}),
        {"interaction": "click", "button": "Buy", "link": "app://buy", "trigger_event": "purchase",
         "campaign_name": "Spring", "custom_fields": {"ab": "1"}}),
    "a click without a link": (
        in_app(11, click=e.InAppClick(action_text="Later")),
        {"interaction": "dismissal", "button": "Later"}),
    "a swipe": (
        in_app(12, dismissal=e.InAppDismissal(type=e.IN_APP_DISMISS_TYPE_SWIPE)),
        {"interaction": "dismissal", "dismissal": "swipe"}),
    "a message that was not shown": (
        in_app(13, display_error=e.InAppDisplayError(
            reason=e.IN_APP_RENDER_ERROR_REASON_IMAGE_DISPLAY)),
        {"interaction": "display_error", "error": "image_display"}),
    "a push that APNs took": (
        send(14, e.PUSH_SEND_OUTCOME_SENT, provider_message_id="EC1BF194-B3B2", attempt=2,
             display=e.PUSH_DISPLAY_APP),
        {"interaction": "sent", "provider_message_id": "EC1BF194-B3B2", "attempt": 2,
         "display": "app"}),
    "a push that FCM refused": (
        unknown(send(15, e.PUSH_SEND_OUTCOME_FAILED, ANDROID, provider_code="UNREGISTERED",
                     reason=e.PUSH_SEND_REASON_UNREGISTERED, attempt=2_000_000_000,
                     display=e.PUSH_DISPLAY_SYSTEM)),
        {"interaction": "failed", "send_reason": "unregistered", "provider_code": "UNREGISTERED",
         "attempt": 2_000_000_000, "display": "system"}),
    "a push that was not tried": (
        send(16, e.PUSH_SEND_OUTCOME_SKIPPED, reason=e.PUSH_SEND_REASON_NO_CONSENT),
        {"interaction": "skipped", "send_reason": "no_consent"}),
    "a message that was not fetched": (
        in_app(17, display_error=e.InAppDisplayError(
            fetch_reason=e.IN_APP_FETCH_ERROR_REASON_NETWORK, detail="timed out")),
        {"interaction": "display_error", "error": "fetch_network"}),
    "a message that was dropped": (
        in_app(18, suppressed=e.InAppSuppression(), trigger_event="purchase"),
        {"interaction": "suppressed", "trigger_event": "purchase"}),
}


def sql(server, query: str) -> list[dict]:
    """What the program sqlite3 answers."""
    done = subprocess.run(["sqlite3", "-readonly", "-json", server.directory / "hits.db", query],
                          text=True, capture_output=True, check=True, timeout=60)
    return json.loads(done.stdout or "[]")


@pytest.fixture(scope="module")
def stored(running, stub):
    answer = stub.RecordEvents(s.RecordEventsRequest(events=[event for event, _ in ROWS.values()]))
    assert {result.verdict for result in answer.results} == {1}, answer
    running.wait_for_hits(len(ROWS) + 1)
    return running


@pytest.mark.parametrize("name", ROWS)
def test_what_an_event_says_besides_is_a_column(stored, name):
    """D8, D24, D29, D31, D32: whatever form the event has, and for each of its hits."""
    event, parts = ROWS[name]
    rows = sql(stored, f"SELECT {', '.join(PARTS)} FROM details "
                       f"WHERE subject_id = '{event.subject_id}'")
    assert len(rows) == (2 if parts["interaction"] == "opened" else 1)
    for row in rows:
        row["custom_fields"] = json.loads(row["custom_fields"])
        assert row == {part: None for part in PARTS} | {"custom_fields": {}} | parts


def test_the_view_has_the_rows_of_hits(stored):
    both = ["(SELECT group_concat(rowid) FROM (SELECT rowid FROM %s ORDER BY rowid))" % view
            for view in ("hits", "details")]
    assert sql(stored, f"SELECT {both[0]} = {both[1]} AS same") == [{"same": 1}]


def test_sqlite_reads_custom_fields_with_its_own_functions(stored):
    rows = sql(stored, "SELECT json_extract(custom_fields, '$.segment') AS segment, count(*) AS n "
                       "FROM details WHERE segment IS NOT NULL GROUP BY 1 ORDER BY 1")
    assert rows == [{"segment": "gold", "n": 2}, {"segment": "tin", "n": 1}]


def test_every_text_is_utf_8(stored):
    """D58: Python fails at any other, and with it at the whole query."""
    with sqlite3.connect(f"file:{stored.directory}/hits.db?mode=ro", uri=True) as file:
        rows = file.execute("SELECT details.*, part.key, part.atom "
                            "FROM details, json_tree(custom_fields) AS part").fetchall()
    assert len(rows) > len(ROWS)


@pytest.fixture(scope="module")
def view(stored) -> str:
    """The text of the view."""
    with sqlite3.connect(f"file:{stored.directory}/hits.db?mode=ro", uri=True) as file:
        [text] = file.execute("SELECT sql FROM sqlite_master WHERE name = 'details'").fetchone()
    return text


@pytest.mark.parametrize("reason", range(1, 12))
def test_each_reason_has_the_name_of_its_number(view, reason):
    event = send(1, e.PUSH_SEND_OUTCOME_FAILED, reason=reason).SerializeToString()
    [row] = written(view, [event], "send_failed").execute("SELECT send_reason FROM details")
    assert row["send_reason"] == e.PushSendReason.Name(reason).removeprefix(
        "PUSH_SEND_REASON_").lower()


OF_PUSH = ["button", "link", "app_state"]
OF_SEND = ["send_reason", "provider_code", "provider_message_id", "attempt", "display"]


@pytest.mark.parametrize("kind, interaction, shown", [("send_failed", "failed", OF_SEND),
                                                      ("open", "opened", OF_PUSH)])
def test_a_row_shows_its_own_interaction_alone(view, kind, interaction, shown):
    """Of two interactions the last counts; the bytes of the event still have the other."""
    pushed = apns(1, "opened", "app://sale", {"k": "v"}, action_identifier="reply",
                  app_state=e.APP_STATE_CLOSED)
    sent = send(1, e.PUSH_SEND_OUTCOME_FAILED, reason=1, provider_code="x", attempt=1, display=1,
                provider_message_id="y")
    both = pushed.SerializeToString() + sent.SerializeToString()
    [row] = written(view, [both], kind).execute(f"SELECT {', '.join(PARTS)} FROM details")
    assert row["interaction"] == interaction
    assert [part for part in OF_PUSH + OF_SEND if row[part] is not None] == shown
    assert json.loads(row["custom_fields"]) == ({} if kind == "send_failed" else {"k": "v"})


def written(view: str, events: list, kind: str = "open") -> sqlite3.Connection:
    """A file whose rows somebody has written by hand, with the view."""
    copy = sqlite3.connect(":memory:")
    copy.row_factory = sqlite3.Row
    copy.execute("CREATE TABLE hits (kind, platform, event)")
    copy.executemany("INSERT INTO hits VALUES (?, 'ios', ?)", [(kind, event) for event in events])
    copy.execute(view)
    return copy


def test_what_is_no_event_ends_the_reading(view):
    """Rows that somebody has written by hand: every prefix of an event, and bytes by chance."""
    event = ROWS["an opening by a button"][0].SerializeToString()
    events = [event[:length] for length in range(0, len(event), 7)] + [b"\xff" * 30, None]
    assert len(written(view, events).execute("SELECT * FROM details").fetchall()) == len(events)


@pytest.mark.parametrize("tail, source", [
    (b"", "api"), (b"\x90\x01\x01", "postback"), (b"\x90\x01\x00", "api"),
    (b"\x90\x01\x01\x90\x01\x00", "api"), (b"\x90\x01\x00\x90\x01\x01", "postback"),
    (b"\x90\x01\x07", "api"), (b"\x90\x01", "api"), (b"\x2a\x04\xd0\x90\x01\x01", "api"),
    (b"\x2a\x04\xd0\x90\x01\x01\x90\x01\x01", "postback")])
def test_the_source_is_what_the_server_wrote_last(view, tail, source):
    """D66: also where a client has sent the field, or a text that looks like it."""
    event = ROWS["a TrackAction"][0].SerializeToString() + tail
    [row] = written(view, [event], "button_2").execute("SELECT source FROM details")
    assert row["source"] == source


# Instructions of SQLite's machine that one row may take with all columns.
MAX_INSTRUCTIONS = 1_000_000
PUSH, IN_APP, SEND = b"\x52", b"\x62", b"\x72"
APNS, DATA, FIELDS = b"\x0a", b"\x3a", b"\x3a"
# Four bytes that declare a length of 256 MiB, ten of 2^64 - 1, and eleven that are no number.
LENGTHS = {"long": b"\xff\xff\xff\x7f", "negative": b"\xff" * 9 + b"\x01",
           "no number": b"\xff" * 11}


def number(value: int) -> bytes:
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    return bytes([*made, value])


def field(tag: bytes, content: bytes) -> bytes:
    return tag + number(len(content)) + content


def of_bytes(part: bytes) -> bytes:
    """The part, repeated up to the size of an event."""
    return part * (16_000 // len(part))


def hostile() -> dict[str, bytes]:
    made = {}
    for name, length in LENGTHS.items():
        made[f"a {name} push"] = PUSH + length
        made[f"a {name} message of an app"] = IN_APP + length
        made[f"a {name} send"] = SEND + length
        made[f"a {name} code of a send"] = field(SEND, b"\x32" + length)
        made[f"a {name} payload"] = field(PUSH, APNS + length)
        made[f"a {name} map entry"] = field(PUSH, field(APNS, FIELDS + length))
        made[f"a {name} map entry of an app"] = field(IN_APP, DATA + length)
        made[f"a {name} unknown field"] = b"\x7a" + length
        # Tags of five bytes, whose lowest 28 bits are those of known fields.
        made[f"a {name} message in a field that looks known"] = b"".join(
            field(number(1 << 28 | 10 << 3 | 2), APNS + length) for _ in range(100))
    tiny = {"numbers": b"\x78\x00", "zeros": b"\x00", "empty texts": b"\x7a\x00",
            "groups": b"\x7b\x7c", "entries": FIELDS + b"\x01\x0a",
            "empty entries": FIELDS + b"\x00",
            "pushes": PUSH + b"\x02\x0a\x00", "messages": IN_APP + b"\x02\x3a\x00",
            "payloads": field(APNS, field(FIELDS, b"\x0a\x00\x12\x00"))}
    for name, part in tiny.items():
        made[f"many {name}"] = of_bytes(part)
        made[f"many {name} of a push"] = field(PUSH, of_bytes(part))
        made[f"many {name} of a payload"] = field(PUSH, field(APNS, of_bytes(part)))
        made[f"many {name} of an app"] = field(IN_APP, of_bytes(part))
        made[f"many {name} of a send"] = field(SEND, of_bytes(part))
    chance = random.Random(1)
    for index in range(30):
        # Bytes that often are tags on the paths and lengths.
        made[f"chance {index}"] = bytes(chance.choices(
            [*(PUSH + IN_APP + SEND + APNS + DATA), 0x12, 0x22, 0xff, 0x80, *range(8)], k=4000))
    return made


@pytest.mark.parametrize("kind", ["open", "in_app_click", "in_app_dismissal",
                                  "in_app_display_error", "sent", "send_failed"])
def test_one_hostile_event_does_not_hold_a_query(view, kind):
    """Whatever an event's bytes are, a row takes a bounded number of SQLite's instructions."""
    costs = {name: instructions(written(view, [event], kind)) for name, event in hostile().items()}
    assert {name: cost for name, cost in costs.items() if cost > MAX_INSTRUCTIONS} == {}


def instructions(file: sqlite3.Connection) -> int:
    """Those of a query for all columns, which is stopped beyond the bound."""
    step = 1000
    count = 0

    def counted() -> bool:
        nonlocal count
        count += step
        return count > MAX_INSTRUCTIONS

    # Hostile texts are not UTF-8.
    file.text_factory = bytes
    file.set_progress_handler(counted, step)
    try:
        assert len(file.execute("SELECT * FROM details").fetchall()) == 1
    except sqlite3.OperationalError as error:
        assert str(error) == "interrupted"
    return count


def test_a_field_that_looks_known_in_its_lowest_bits_is_not(view):
    event = apns(1, "opened", "app://right", action_identifier="right").SerializeToString()
    other = apns(1, "opened", "app://wrong", action_identifier="wrong").push.SerializeToString()
    row = written(view, [field(number(1 << 28 | 10 << 3 | 2), other) + event]).execute(
        "SELECT button, link FROM details").fetchone()
    assert tuple(row) == ("right", "app://right")


def test_the_bound_leaves_room_for_the_most_that_an_event_may_have(view):
    fields = {f"key {index}": "v" * 200 for index in range(64)}
    event = apns(1, "opened", "app://sale", fields, action_identifier="reply")
    for made in (event, unknown(event)):
        row = written(view, [made.SerializeToString()]).execute(
            "SELECT button, link, custom_fields FROM details").fetchone()
        assert tuple(row[:2]) == ("reply", "app://sale")
        assert json.loads(row["custom_fields"]) == fields


def test_a_file_of_an_earlier_build_gets_the_view_and_a_forgotten_one_leaves_it(make_server,
                                                                                 payloads):
    server = make_server().start()
    run("send", payloads / "apns-alert.json", "--target", server.target, "--platform", "ios",
        "--interaction", "received", "--subject", "somebody")
    server.wait_for_hits(1)
    assert server.terminate() == 0
    with sqlite3.connect(server.directory / "hits.db") as file:
        file.execute("DROP VIEW details")
    server.start()
    query = "SELECT interaction FROM details WHERE subject_id = 'somebody'"
    assert sql(server, query) == [{"interaction": "received"}]
    run("forget", "--data-dir", server.directory, "--tenant", "default", "--subject", "somebody")
    assert sql(server, query) == []
