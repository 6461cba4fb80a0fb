"""The vectors of docs/vectors: events and what has to come of them, from the rules' pages and the
tests' own oracles. No code of the server makes them.

    .venv/bin/python Tests/Interop/vectors.py            writes the files
    .venv/bin/python Tests/Interop/vectors.py --check    compares them
"""

import csv
import json
import sys

from google.protobuf import json_format

from facts import CAMPAIGN_ACTIONS, hit_id, push_hits
from protos import ROOT
from protos import event as e
from protos import verdict as v
from vectors_of_payloads import raw_rows
from vectors_of_postbacks import postback_rows
from vectors_of_received import received_rows

FOLDER = ROOT / "docs" / "vectors"
IOS, ANDROID = e.PLATFORM_IOS, e.PLATFORM_ANDROID
RECEIVED, DISMISSED, OPENED = 1, 2, 3
TENANT = "default"
KINDS = {"received": RECEIVED, "dismissed": DISMISSED, "opened": OPENED}
ON = "on"
SENT, FAILED, SKIPPED = 1, 2, 3
# The forms of the push services' tokens (D62).
APNS_TOKEN, FCM_TOKEN = "0af9" * 16, "dQw4w9WgXcQ:APA91b" + "xY-_" * 35
SENDS = {SENT: v.HIT_KIND_SENT, FAILED: v.HIT_KIND_SEND_FAILED, SKIPPED: v.HIT_KIND_SEND_SKIPPED}


def key_fields(event: e.TrackingEvent, ids: tuple[str, str] | None = None) -> list[str | bytes]:
    """What a fact's hit ids are hashed from, as docs/vectors/README.md says."""
    if event.HasField("in_app"):
        fields = ["in_app", TENANT, event.app_id, event.in_app.message_id, event.subject_id,
                  in_app_word(event.in_app), event.event_id]
        if not event.event_id:
            time = event.occur_time
            fields.append(time.seconds.to_bytes(8, "big", signed=True)
                          + time.nanos.to_bytes(4, "big"))
        return fields
    interaction = getattr(event, event.WhichOneof("interaction"))
    product = "classic" if interaction.product == e.CAMPAIGN_PRODUCT_CLASSIC else "standard"
    button = event.push.action_identifier
    if ids is None:
        ids = ids_of(event)
    return ["push", TENANT, product, event.app_id, *ids, button]


def ids_of(event: e.TrackingEvent) -> tuple[str, str]:
    for interaction in ("track_action", "push_send"):
        if event.HasField(interaction):
            fields = getattr(event, interaction)
            return fields.delivery_id, fields.broadlog_id
    push = event.push
    carrier = push.apns if push.HasField("apns") else push.fcm.data
    return carrier.delivery_id, carrier.message_id


def in_app_word(message: e.InAppInteraction) -> str:
    what = message.WhichOneof("event")
    # D25: a click that leads nowhere is a dismissal.
    return "dismissal" if what == "click" and not message.click.action_url else what


def encoded_key(fields: list[str | bytes]) -> bytes:
    parts = [field.encode() if isinstance(field, str) else field for field in fields]
    return b"".join(len(part).to_bytes(4, "big") + part for part in parts)


def row(name: str, event: e.TrackingEvent, verdict: str = "ACCEPTED", hits=(), warnings=(),
        violations=(), ids: tuple[str, str] | None = None) -> dict:
    fields = key_fields(event, ids) if hits else []
    return {
        "name": name, "event": json_format.MessageToDict(event),
        "verdict": f"VERDICT_{verdict}",
        "hits": [{"kind": v.HitKind.Name(kind), "hit_id": hit_id(kind, *fields).hex()}
                 for kind in hits],
        "warnings": [f"WARNING_{warning}" for warning in warnings],
        "violations": [{"field": field, "code": f"VIOLATION_CODE_{code}"}
                       for field, code in violations],
    }


def push(platform: int, kind: int, flag: str | None = ON, product: int = 0, button: str = "",
         ids: tuple[str, str] = ("56c4", "h138a"), app: str = "com.example.shop",
         ) -> e.TrackingEvent:
    event = e.TrackingEvent(event_id="e1", app_id=app, platform=platform, subject_id="s1",
                            consent=e.CONSENT_OPTED_IN)
    event.push.kind, event.push.product, event.push.action_identifier = kind, product, button
    carrier = event.push.apns if platform == IOS else event.push.fcm.data
    carrier.delivery_id, carrier.message_id = ids
    if flag is not None:
        carrier.acs_delivery_tracking = flag
    if kind == RECEIVED:
        # Otherwise it would show nothing (D63).
        (carrier.aps.alert if platform == IOS else carrier).title = "Sale"
    return event


def action(number: int, product: int = 0, platform: int = ANDROID) -> e.TrackingEvent:
    event = e.TrackingEvent(event_id="e1", app_id="com.example.shop", platform=platform)
    event.track_action.delivery_id, event.track_action.broadlog_id = "56c4", "h138a"
    event.track_action.action, event.track_action.product = number, product
    return event


def send(outcome: int, reason: int = 0, product: int = 0, **fields) -> e.TrackingEvent:
    event = e.TrackingEvent(event_id="e1", app_id="com.example.shop", platform=ANDROID,
                            subject_id="s1", consent=e.CONSENT_OPTED_IN)
    event.push_send.MergeFrom(e.PushSend(
        delivery_id="56c4", broadlog_id="h138a", outcome=outcome, reason=reason, product=product,
        **fields))
    return event


def in_app(what: str, **fields) -> e.TrackingEvent:
    event = e.TrackingEvent(event_id="e1", app_id="com.example.shop", platform=IOS,
                            subject_id="s1")
    event.in_app.message_id = "message-7"
    json_format.ParseDict({what: fields}, event.in_app)
    return event


# The tracking flag


def flag_verdict(flag: str | None, platform: int) -> str:
    """D2 to D6 and D46."""
    if flag is None:
        return "ACCEPTED"
    text = flag
    if platform == IOS:
        # ASCII alone: the others stay what they are.
        text = "".join(chr(ord(letter) | 32) if "A" <= letter <= "Z" else letter for letter in flag)
    return {"on": "ACCEPTED", "off": "SUPPRESSED_FLAG_OFF"}.get(text, "SUPPRESSED_FLAG_UNKNOWN")


def flag_rows() -> list[dict]:
    """Each row of the truth table, with what the table does not have, for each interaction."""
    table = ROOT / "Tests" / "Fixtures" / "flag-truth-table.csv"
    flags: list[str | None] = []
    with table.open(newline="", encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            flag = {"<absent>": None, "<empty>": ""}.get(line["flag"], line["flag"])
            platform = IOS if line["platform"] == "ios" else ANDROID
            assert flag_verdict(flag, platform).lower() == line["verdict"].partition("+")[0], line
            flags += [flag] if flag not in flags else []
    rows = []
    for flag in [*flags, "oFf", "on\n", "onn", "0", "ｏｎ", "ON\u0130", "null"]:
        words = "absent" if flag is None else json.dumps(flag)
        for platform, system in ((IOS, "iOS"), (ANDROID, "Android")):
            verdict = flag_verdict(flag, platform)
            assumed = ["FLAG_ASSUMED_ON"] if flag is None else []
            for word, kind in KINDS.items():
                hits = [hit for hit, _ in push_hits(kind, False)] if verdict == "ACCEPTED" else []
                warnings = assumed + (["IMPRESSION_UNRELIABLE"]
                                      if hits and (platform, kind) == (IOS, RECEIVED) else [])
                rows.append(row(f"{words}, {system}, {word}", push(platform, kind, flag), verdict,
                                hits, warnings))
            tracked = action(2, platform=platform)
            if flag is not None:
                tracked.track_action.acs_delivery_tracking = flag
            rows.append(row(f"{words}, {system}, a TrackAction", tracked, verdict,
                            [v.HIT_KIND_CLICK] if verdict == "ACCEPTED" else []))
    nowhere = action(2, platform=0)
    nowhere.track_action.acs_delivery_tracking = "ON"
    return [*rows, row("a TrackAction of no platform is compared as on Android", nowhere,
                       "SUPPRESSED_FLAG_UNKNOWN")]


# Hit ids


def hit_id_rows() -> list[dict]:
    """The formula, field by field: the hashed bytes stand beside the id."""
    events = {
        "a push": push(IOS, OPENED), "the same on Android": push(ANDROID, OPENED),
        "a TrackAction of the same ids": action(2),
        "its send": send(SENT), "its send that failed": send(FAILED, 7, attempt=1),
        "its send that was skipped": send(SKIPPED, 10),
        "another attempt, code and message id": send(
            FAILED, 6, attempt=2, provider_code="TooManyRequests", provider_message_id="m2"),
        "a send of Classic": send(SENT, product=e.CAMPAIGN_PRODUCT_CLASSIC),
        "another event id, subject and time": push(IOS, OPENED),
        "of Classic": push(IOS, OPENED, None, e.CAMPAIGN_PRODUCT_CLASSIC),
        "no app": push(IOS, OPENED, app=""), "another app": push(IOS, OPENED, app="b"),
        "a button": push(IOS, OPENED, button="reply"),
        "a letter that moves from one id to the other": push(IOS, OPENED, ids=("56c4h", "138a")),
        "capitals": push(IOS, OPENED, ids=("56C4", "h138A")),
        "letters beyond ASCII": push(IOS, OPENED, app="café.ü", button="säve"),
        "fields at their limits": push(IOS, OPENED, ids=("d" * 64, "f" * 64), app="a" * 256,
                                       button="b" * 256),
    }
    events["another event id, subject and time"].event_id = "e2"
    events["another event id, subject and time"].subject_id = "s2"
    for what, fields in (("impression", {}), ("click", {"actionUrl": "u"}),
                         ("click", {"actionText": "t"}), ("dismissal", {}), ("displayError", {}),
                         ("triggered", {}), ("suppressed", {})):
        events[f"in-app {what} {sorted(fields)}"] = in_app(what, **fields)
    events["in-app, no subject"] = in_app("impression")
    events["in-app, no subject"].subject_id = ""
    for name, seconds, nanos in (("by its time", 1_800_000_000, 5),
                                 ("a nanosecond later", 1_800_000_000, 6),
                                 ("before 1970", -2, 999_999_999)):
        event = events[f"in-app, {name}"] = in_app("impression")
        event.event_id = ""
        event.occur_time.seconds, event.occur_time.nanos = seconds, nanos
    return [{"name": name, "tenant": TENANT, "event": json_format.MessageToDict(event),
             "key": encoded_key(key_fields(event)).hex(),
             "hits": [{"kind": v.HitKind.Name(kind),
                       "hit_id": hit_id(kind, *key_fields(event)).hex()}
                      for kind in kinds_of(event)]} for name, event in events.items()]


def kinds_of(event: e.TrackingEvent) -> list[int]:
    if event.HasField("in_app"):
        return [v.HitKind.Value(f"HIT_KIND_IN_APP_{in_app_word(event.in_app).upper()}")]
    if event.HasField("track_action"):
        return [v.HIT_KIND_CLICK]
    if event.HasField("push_send"):
        return [SENDS[event.push_send.outcome]]
    return [kind for kind, _ in push_hits(
        event.push.kind, event.push.product == e.CAMPAIGN_PRODUCT_CLASSIC)]


# Verdicts


def changed(event: e.TrackingEvent, change) -> e.TrackingEvent:
    change(event)
    return event


def verdict_rows() -> list[dict]:
    return [*interaction_rows(), *shown_rows(), *send_rows(), *consent_rows(), *in_app_rows(),
            *form_rows(), *id_rows()]


def interaction_rows() -> list[dict]:
    """D14, D16, D21 and D45, and each action of each product."""
    rows = []
    for word, kind in KINDS.items():
        for platform, system in ((IOS, "iOS"), (ANDROID, "Android")):
            warnings = ["IMPRESSION_UNRELIABLE"] if (platform, kind) == (IOS, RECEIVED) else []
            hits = [hit for hit, _ in push_hits(kind, False)]
            rows.append(row(f"{word} on {system}", push(platform, kind), hits=hits,
                            warnings=warnings))
            classic = push(platform, kind, None, e.CAMPAIGN_PRODUCT_CLASSIC)
            if kind == DISMISSED:
                rows.append(row(f"Classic, {word} on {system}", classic, "REJECTED",
                                violations=[("push.kind", "CONFLICT")]))
            else:
                rows.append(row(f"Classic, {word} on {system}", classic,
                                hits=[hit for hit, _ in push_hits(kind, True)],
                                warnings=warnings))
    rows.append(row("opened by a button", push(IOS, OPENED, button="REPLY"),
                    hits=[v.HIT_KIND_CLICK, v.HIT_KIND_OPEN]))
    rows.append(row("received with a button", push(ANDROID, RECEIVED, button="REPLY"),
                    hits=[v.HIT_KIND_IMPRESSION]))
    for kind, number in CAMPAIGN_ACTIONS.items():
        rows.append(row(f"action {number}", action(number), hits=[kind]))
    for number in (1, 2, 3, 7):
        classic = action(number, e.CAMPAIGN_PRODUCT_CLASSIC)
        kinds = {1: v.HIT_KIND_IMPRESSION, 2: v.HIT_KIND_CLICK}
        rows.append(row(f"Classic, action {number}", classic, hits=[kinds[number]])
                    if number in kinds else
                    row(f"Classic, action {number}", classic, "REJECTED",
                        violations=[("track_action.action", "CONFLICT")]))
    return rows


def shown_rows() -> list[dict]:
    """D56 and D63: what a payload shows, and its links."""
    rows = []
    for platform, system, warnings in ((IOS, "iOS", ["IMPRESSION_UNRELIABLE"]),
                                       (ANDROID, "Android", [])):
        for name, change, is_shown in (
                ("nothing", lambda it: None, False),
                ("a sound and a badge", lambda it: it.MergeFrom(
                    type(it)(sound="default", badge=1)), False),
                ("a body", lambda it: setattr(getattr(it, "alert", it), "body", "b"), True)):
            event = push(platform, RECEIVED)
            shown = event.push.apns.aps if platform == IOS else event.push.fcm.data
            (shown.alert if platform == IOS else shown).title = ""
            change(shown)
            rows.append(row(f"received, {name}, {system}", event, hits=[v.HIT_KIND_IMPRESSION],
                            warnings=warnings + ([] if is_shown else ["NOTHING_SHOWN"])))
    for word, link in (("its own", "https://t.example.com/r/?id=s138a,56c4,56c5"),
                       ("another", "https://t.example.com/r/?id=s138b,56c4,56c5")):
        for platform, system in ((IOS, "iOS"), (ANDROID, "Android")):
            event = push(platform, DISMISSED)
            (event.push.apns.aps if platform == IOS else event.push.fcm.data).sound = link
            rows.append(row(f"a tracked sound with {word} ids, {system}", event,
                            hits=[v.HIT_KIND_CLICK],
                            warnings=["LINK_CONTRADICTS_IDS"] if word == "another" else []))
    return rows


def send_rows() -> list[dict]:
    """D59 to D62, and the form of a send."""
    rows = []
    for outcome, word in ((SENT, "sent"), (FAILED, "failed"), (SKIPPED, "skipped")):
        for product in (e.CAMPAIGN_PRODUCT_UNSPECIFIED, e.CAMPAIGN_PRODUCT_CLASSIC):
            event = send(outcome, 0 if outcome == SENT else 1, product)
            of = "Classic, " if product == e.CAMPAIGN_PRODUCT_CLASSIC else ""
            rows.append(row(f"{of}a send, {word}", event, hits=kinds_of(event)))
    for number in range(1, 12):
        name = e.PushSendReason.Name(number).removeprefix("PUSH_SEND_REASON_").lower()
        event = send(FAILED, number)
        rows.append(row(f"a send that failed: {name}", event, hits=kinds_of(event)))
    nowhere = send(SENT)
    nowhere.ClearField("platform")
    nowhere.ClearField("subject_id")
    rows.append(row("a send without a platform and a subject", nowhere, hits=[v.HIT_KIND_SENT]))
    limits = send(FAILED, 11, provider_code="x" * 64, provider_message_id="y" * 256,
                  attempt=2**31 - 1, display=e.PUSH_DISPLAY_SILENT)
    rows.append(row("a send, each field at its limit", limits, hits=[v.HIT_KIND_SEND_FAILED]))
    hashed = send(SENT)
    hashed.subject_id = APNS_TOKEN
    rows.append(row("a send, a hash as its subject", hashed, hits=[v.HIT_KIND_SENT]))
    for name, event, field, code in (
            ("no outcome", send(0), "outcome", "REQUIRED"),
            ("an outcome of 4", send(4), "outcome", "RANGE"),
            ("failed without a reason", send(FAILED), "reason", "REQUIRED"),
            ("skipped without a reason", send(SKIPPED), "reason", "REQUIRED"),
            ("sent with a reason", send(SENT, 1), "reason", "CONFLICT"),
            ("a reason of 12", send(FAILED, 12), "reason", "RANGE"),
            ("a display of 4", send(SENT, display=4), "display", "RANGE"),
            ("an attempt below 0", send(SENT, attempt=-1), "attempt", "RANGE"),
            ("a product of 9", send(SENT, product=9), "product", "RANGE"),
            ("no delivery id", changed(send(SENT), lambda it: it.push_send.ClearField(
                "delivery_id")), "delivery_id", "REQUIRED"),
            ("a broadlog id with a slash", changed(send(SENT), lambda it: setattr(
                it.push_send, "broadlog_id", "a/b")), "broadlog_id", "FORMAT"),
            ("a long code", send(FAILED, 11, provider_code="x" * 65), "provider_code",
             "TOO_LARGE"),
            ("a long message id", send(SENT, provider_message_id="y" * 257),
             "provider_message_id", "TOO_LARGE"),
            ("APNs's token as its code", send(FAILED, 2, provider_code=APNS_TOKEN),
             "provider_code", "FORMAT"),
            ("APNs's token as its message id", send(SENT, provider_message_id=APNS_TOKEN.upper()),
             "provider_message_id", "FORMAT"),
            ("FCM's token as its broadlog id", changed(send(SENT), lambda it: setattr(
                it.push_send, "broadlog_id", FCM_TOKEN)), "broadlog_id", "FORMAT"),
            ("FCM's token as its message id", send(SENT, provider_message_id=FCM_TOKEN),
             "provider_message_id", "FORMAT")):
        rows.append(row(f"a send, {name}", event, "REJECTED",
                        violations=[(f"push_send.{field}", code)]))
    for field in ("app_id", "subject_id"):
        event = changed(send(SENT), lambda it: setattr(it, field, FCM_TOKEN))
        rows.append(row(f"a send, FCM's token as its {field}", event, "REJECTED",
                        violations=[(field, "FORMAT")]))
    return rows


def consent_rows() -> list[dict]:
    """D22, D23 and D40: before the flag and the ids, and after the form."""
    rows = []
    for number, word in enumerate(("unspecified", "opted in", "opted out", "unknown", "a 4")):
        taken = number < 2
        for name, event in (("a push", push(IOS, DISMISSED)), ("an action", action(2)),
                            ("in-app", in_app("dismissal")), ("a send", send(SENT))):
            event.consent = number
            rows.append(row(f"consent {word}, {name}", event,
                            "ACCEPTED" if taken else "SUPPRESSED_CONSENT",
                            kinds_of(event) if taken else []))
    for name, event in (("the flag", push(IOS, OPENED, "off")),
                        ("the ids", push(IOS, OPENED, ids=("a b", "")))):
        event.consent = e.CONSENT_OPTED_OUT
        rows.append(row(f"consent is looked at before {name}", event, "SUPPRESSED_CONSENT"))
    formless = push(IOS, 0)
    formless.consent = e.CONSENT_OPTED_OUT
    return [*rows, row("the form before consent", formless, "REJECTED",
                       violations=[("push.kind", "REQUIRED")])]


def in_app_rows() -> list[dict]:
    """D24 to D28, D39, D42 to D44, D50 and D64."""
    rows = []
    for what, fields in (("impression", {}), ("click", {"actionUrl": "https://example.com"}),
                         ("click", {"actionText": "Close"}), ("dismissal", {"type": 3}),
                         ("displayError", {"reason": 1}),
                         ("displayError", {"fetchReason": 3, "detail": "x" * 256}),
                         ("triggered", {}), ("suppressed", {})):
        event = in_app(what, **fields)
        rows.append(row(f"in-app {what} {sorted(fields)}", event, hits=kinds_of(event)))
    for name, verdict, fields in (
            ("a test message", "SUPPRESSED_TEST_MESSAGE", {"test_message": True}),
            ("display suppressed", "SUPPRESSED_DISPLAY", {"display_suppressed": True}),
            ("both", "SUPPRESSED_TEST_MESSAGE",
             {"test_message": True, "display_suppressed": True}),
            ("triggered while display is suppressed", "SUPPRESSED_DISPLAY",
             {"triggered": e.InAppTriggered(), "display_suppressed": True}),
            ("data collection off", "SUPPRESSED_CONSENT", {"data_collection_enabled": False})):
        event = in_app("impression")
        event.in_app.MergeFrom(e.InAppInteraction(**fields))
        rows.append(row(f"in-app, {name}", event, verdict))
    event = in_app("suppressed")
    event.in_app.display_suppressed = True
    rows.append(row("in-app, suppressed, and said so twice", event, hits=kinds_of(event)))
    event = in_app("impression")
    event.in_app.trigger_kind, event.in_app.layout = 3, 4
    rows.append(row("in-app, the last trigger and layout", event, hits=kinds_of(event)))
    for name, change, violations in (
            ("no message", lambda it: it.in_app.ClearField("message_id"),
             [("in_app.message_id", "REQUIRED")]),
            ("no event", lambda it: it.in_app.ClearField("impression"),
             [("in_app.event", "REQUIRED")]),
            ("neither id nor time", lambda it: it.ClearField("event_id"),
             [("occur_time", "REQUIRED")]),
            ("a trigger of 4", lambda it: setattr(it.in_app, "trigger_kind", 4),
             [("in_app.trigger_kind", "RANGE")]),
            ("a layout of 5", lambda it: setattr(it.in_app, "layout", 5),
             [("in_app.layout", "RANGE")]),
            ("a fetch error of 4", lambda it: setattr(it.in_app.display_error, "fetch_reason", 4),
             [("in_app.display_error.fetch_reason", "RANGE")]),
            ("neither fetched nor rendered", lambda it: it.in_app.display_error.MergeFrom(
                e.InAppDisplayError(reason=1, fetch_reason=1)),
             [("in_app.display_error.fetch_reason", "CONFLICT")]),
            ("a long text of an error",
             lambda it: setattr(it.in_app.display_error, "detail", "x" * 257),
             [("in_app.display_error.detail", "TOO_LARGE")])):
        rows.append(row(f"in-app, {name}", changed(in_app("impression"), change), "REJECTED",
                        violations=violations))
    return rows


def form_rows() -> list[dict]:
    """D39, D41 and D42."""
    cases = [
        ("nothing at all", lambda it: it.ClearField("push"), "interaction", "REQUIRED"),
        ("no payload", lambda it: it.push.ClearField("apns"), "push.payload", "REQUIRED"),
        ("no kind", lambda it: it.push.ClearField("kind"), "push.kind", "REQUIRED"),
        ("a kind of 9", lambda it: setattr(it.push, "kind", 9), "push.kind", "RANGE"),
        ("a product of 9", lambda it: setattr(it.push, "product", 9), "push.product", "RANGE"),
        ("another platform", lambda it: setattr(it, "platform", ANDROID), "platform", "CONFLICT"),
        ("a long event id", lambda it: setattr(it, "event_id", "x" * 65), "event_id", "TOO_LARGE"),
        ("a long app id", lambda it: setattr(it, "app_id", "x" * 257), "app_id", "TOO_LARGE"),
        ("a long subject", lambda it: setattr(it, "subject_id", "x" * 257), "subject_id",
         "TOO_LARGE"),
        ("a long button", lambda it: setattr(it.push, "action_identifier", "x" * 257),
         "push.action_identifier", "TOO_LARGE"),
    ]
    rows = [row(name, changed(push(IOS, OPENED), change), "REJECTED", violations=[(field, code)])
            for name, change, field, code in cases]
    limits = push(IOS, DISMISSED, app="a" * 256, button="b" * 256)
    limits.event_id, limits.subject_id = "x" * 64, "s" * 256
    rows.append(row("each at its limit", limits, hits=[v.HIT_KIND_CLICK]))
    rows.append(row("no action", action(0), "REJECTED",
                    violations=[("track_action.action", "REQUIRED")]))
    rows.append(row("an action of 6", action(6), "REJECTED",
                    violations=[("track_action.action", "RANGE")]))
    two = changed(push(IOS, 9), lambda it: setattr(it, "event_id", "x" * 65))
    return [*rows, row("each violation of form is told", two, "REJECTED",
                       violations=[("event_id", "TOO_LARGE"), ("push.kind", "RANGE")])]


def id_rows() -> list[dict]:
    """D10, D11, D49 and D57: what an id may be, and what it should be."""
    rows = []
    for name, delivery, code in (("absent", "", "REQUIRED"), ("with a space", "a b", "FORMAT"),
                                 ("with a slash", "a/b", "FORMAT"),
                                 ("beyond ASCII", "é", "FORMAT"),
                                 ("of 65 bytes", "a" * 65, "TOO_LARGE")):
        for event, field in ((push(IOS, DISMISSED, ids=(delivery, "h1")), "push.apns.delivery_id"),
                             (push(ANDROID, DISMISSED, ids=(delivery, "h1")),
                              "push.fcm.data.delivery_id")):
            rows.append(row(f"a delivery id {name}, {field}", event, "REJECTED",
                            violations=[(field, code)]))
    for name, ids, warnings in (("hex", ("56C4", "h138A"), []),
                                ("not hex", ("deliv.1", "h1"), ["ID_NOT_HEX"]),
                                ("without its h", ("1", "138a"), ["ID_NOT_HEX"]),
                                ("of 64 bytes", ("d" * 64, "h" + "a" * 63), [])):
        rows.append(row(f"ids {name}", push(ANDROID, DISMISSED, ids=ids),
                        hits=[v.HIT_KIND_CLICK], warnings=warnings))
    for placeholder in ("null", "undefined", "None", "0", "00000000-0000-0000-0000-000000000000"):
        message = push(ANDROID, DISMISSED, ids=("56c4", placeholder))
        rows.append(row(f"a broadlog id that is the placeholder {placeholder}", message,
                        hits=[v.HIT_KIND_CLICK], warnings=["ID_NOT_HEX", "ID_PLACEHOLDER"]))
        message = push(ANDROID, OPENED, None, e.CAMPAIGN_PRODUCT_CLASSIC, ids=(placeholder, "7"))
        rows.append(row(f"Classic, a delivery id that is the placeholder {placeholder}", message,
                        hits=[v.HIT_KIND_CLICK], warnings=["ID_PLACEHOLDER"]))
    rows.append(row("a delivery id of 0", push(IOS, DISMISSED, ids=("0", "h1")),
                    hits=[v.HIT_KIND_CLICK], warnings=["ID_PLACEHOLDER"]))
    rows.append(row("a placeholder that no URL may have",
                    push(IOS, DISMISSED, ids=("[object Object]", "h1")), "REJECTED",
                    violations=[("push.apns.delivery_id", "FORMAT")]))
    message = in_app("impression")
    message.in_app.message_id = "[object Object]"
    rows.append(row("in-app, a message id that is a placeholder", message, hits=kinds_of(message),
                    warnings=["ID_PLACEHOLDER"]))
    classic = push(ANDROID, OPENED, None, e.CAMPAIGN_PRODUCT_CLASSIC, ids=("x", "-673096100"))
    return [*rows, row("Classic's ids are no hex", classic, hits=[v.HIT_KIND_CLICK])]


def dismissal_rows() -> list[dict]:
    """D24: FIRInAppMessagingDismissType, Firebase's enum for iOS, beside the wire's numbers."""
    return [{"name": name, "ios": number, "type": e.InAppDismissType.Name(3 - number)}
            for number, name in enumerate(("user swipe", "user tap close", "auto", "unspecified"))]


FILES = {
    "flag-table": flag_rows, "hit-ids": hit_id_rows, "verdicts": verdict_rows,
    "raw-payloads": lambda: raw_rows(row), "postback-urls": postback_rows,
    "postback-requests": received_rows, "ios-dismissals": dismissal_rows,
}


def text(rows: list[dict]) -> str:
    """A row a line, so that a change shows as one."""
    lines = [json.dumps(line, ensure_ascii=False) for line in rows]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def main() -> int:
    stale = []
    for name, rows in FILES.items():
        path = FOLDER / f"{name}.json"
        if "--check" not in sys.argv:
            path.write_text(text(rows()), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text(rows()):
            stale.append(path.name)
    if stale:
        print(f"docs/vectors: not what Tests/Interop/vectors.py makes: {', '.join(stale)}; "
              "run it without --check", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
