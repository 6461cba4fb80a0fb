"""Raw payloads, and what docs/payloads.md says of each. The expectations are written by hand."""

import base64
import json

from protos import event as e
from protos import verdict as v

IOS, ANDROID = e.PLATFORM_IOS, e.PLATFORM_ANDROID
IDS = {"_dId": "56c4", "_mId": "h138a"}
TRACKED = {**IDS, "_acsDeliveryTracking": "on"}
OTHER = {"_dId": "b", "_mId": "h138a"}
OPENED = [v.HIT_KIND_CLICK, v.HIT_KIND_OPEN]

# Where a platform's ids are read.
FORMS = [
    ("userInfo", IOS, lambda ids: {"aps": {"alert": "a"}, **ids}),
    ("userInfo without aps", IOS, lambda ids: ids),
    ("an FCM v1 message", IOS, lambda ids: {"message": {"apns": {"payload": {"aps": {}, **ids}}}}),
    ("its data for all platforms", IOS, lambda ids: {"message": {
        "apns": {"payload": {"aps": {}}}, "data": ids}}),
    ("message.data alone", IOS, lambda ids: {"message": {"data": ids}}),
    ("ids in both parts of it", IOS, lambda ids: {"message": {
        "apns": {"payload": {"_dId": ids["_dId"]}},
        "data": {name: value for name, value in ids.items() if name != "_dId"}}}),
    ("firebase-admin's message", IOS, lambda ids: {
        "token": "t", "apns": {"payload": {"aps": {}}}, "data": ids}),
    ("a custom key `message`", IOS, lambda ids: {"message": "hello", **ids}),
    ("a custom key `data`", IOS, lambda ids: {"data": {"a": "b"}, **ids}),
    ("the map", ANDROID, lambda ids: ids),
    ("an FCM message", ANDROID, lambda ids: {"priority": "high", "data": ids}),
    ("with a notification", ANDROID, lambda ids: {"notification": {"title": "t"}, "data": ids}),
    ("an FCM v1 message", ANDROID, lambda ids: {"message": {"data": ids, "token": "t"}}),
    ("message.android.data", ANDROID,
     lambda ids: {"message": {"android": {"data": ids}, "data": {"a": "b"}}}),
    ("firebase-admin's message", ANDROID,
     lambda ids: {"token": "t", "android": {"data": ids}, "data": {"a": "b"}}),
    ("a custom key `data` that is text", ANDROID, lambda ids: {"data": "text", **ids}),
    *((f"a custom key `{name}` that is an object", ANDROID,
       lambda ids, name=name: {name: {"a": "b"}, **ids})
      for name in ("data", "message", "notification")),
]
MALFORMED = [("push.raw.json", "MALFORMED")]
CONFLICT = [("push.raw.json", "CONFLICT")]
TOO_LARGE = [("push.raw.json", "TOO_LARGE")]
# Name, platform, payload, violations.
REFUSED = [
    ("no platform", 0, TRACKED, [("platform", "REQUIRED")]),
    ("nothing", IOS, "", MALFORMED), ("a list", IOS, "[1]", MALFORMED),
    ("a text", ANDROID, '"a"', MALFORMED), ("cut off", IOS, '{"_dId":"a","_mId":"h1"', MALFORMED),
    ("a comma too many", IOS, '{"_dId":"a",}', MALFORMED),
    ("two objects", ANDROID, "{}{}", MALFORMED),
    ("half of a surrogate pair in an id", IOS, '{"_dId":"a\\ud83d","_mId":"h1"}',
     [("push.raw.json._dId", "FORMAT")]),
    ("not UTF-8", IOS, b'{"a":"\xff"}', MALFORMED),
    ("an id twice", IOS, '{"_dId":"56c4","_mId":"h1","_dId":"b"}', CONFLICT),
    ("an id twice, once escaped", IOS, '{"_dId":"56c4","_mId":"h1","_\\u0064Id":"b"}', CONFLICT),
    ("ids in two places", ANDROID, {"data": IDS, **OTHER}, CONFLICT),
    ("ids in both data", ANDROID, {"message": {"data": IDS, "android": {"data": OTHER}}}, CONFLICT),
    ("the flag twice", IOS,
     '{"_dId":"a","_mId":"h1","_acsDeliveryTracking":"on","_acsDeliveryTracking":"off"}', CONFLICT),
    ("aps on Android", ANDROID, {"aps": {}, **IDS}, [("platform", "CONFLICT")]),
    ("ids in data alone on iOS", IOS, {"data": IDS}, [("platform", "CONFLICT")]),
    ("ids in both parts of a v1 message", IOS,
     {"message": {"data": IDS, "apns": {"payload": OTHER}}}, CONFLICT),
    ("ids in the data for Android, on iOS", IOS, {"message": {"android": {"data": IDS}}},
     [("platform", "CONFLICT")]),
    ("data for Android without ids, in place of data with them", ANDROID,
     {"message": {"data": IDS, "android": {"data": {}}}},
     [("push.raw.json.message.android.data._dId", "REQUIRED"),
      ("push.raw.json.message.android.data._mId", "REQUIRED")]),
    ("no data", ANDROID, {"notification": {}}, [("push.raw.json.data", "REQUIRED")]),
    ("a v1 message without data", ANDROID, {"message": {}},
     [("push.raw.json.message.data", "REQUIRED")]),
    ("no ids", IOS, {}, [("push.raw.json._dId", "REQUIRED"), ("push.raw.json._mId", "REQUIRED")]),
    ("ids inside aps", IOS, {"aps": IDS},
     [("push.raw.json._dId", "REQUIRED"), ("push.raw.json._mId", "REQUIRED")]),
    ("an id that is a number", IOS, {"_dId": 5, "_mId": "h1"}, [("push.raw.json._dId", "REQUIRED")]),
    ("an id with a space", ANDROID, {"data": {"_dId": "a b", "_mId": "h1"}},
     [("push.raw.json.data._dId", "FORMAT")]),
    ("an id of 65 bytes", IOS, {"_dId": "a" * 65, "_mId": "h1"},
     [("push.raw.json._dId", "TOO_LARGE")]),
    ("33 levels", IOS, '{"a":' + "[" * 32 + "]" * 32 + "}", TOO_LARGE),
    ("8,193 bytes", IOS, '{"a":"' + "x" * (8193 - 8) + '"}', TOO_LARGE),
]
# Name, platform, payload, warnings.
TAKEN = [
    ("the same id twice", IOS, '{"_dId":"56c4","_dId":"56c4","_mId":"h138a",'
     '"_acsDeliveryTracking":"on"}', []),
    ("32 levels", IOS, '{"a":' + "[" * 31 + "]" * 31 + "," + json.dumps(TRACKED)[1:], []),
    ("without the flag", IOS, IDS, ["FLAG_ASSUMED_ON"]),
    ("a flag that is no string, on iOS", IOS, {**IDS, "_acsDeliveryTracking": True},
     ["FLAG_ASSUMED_ON"]),
    ("media without mutable-content", IOS,
     {**TRACKED, "aps": {}, "media-attachment-url": "https://example.com/a.png"},
     ["MEDIA_WITHOUT_MUTABLE_CONTENT"]),
    ("media with it", IOS, {**TRACKED, "aps": {"mutable-content": 1},
                            "media-attachment-url": "https://example.com/a.png"}, []),
    ("half of an emoji in the title", IOS,
     '{"aps":{"alert":{"title":"Sale \\ud83d"}},' + json.dumps(TRACKED)[1:],
     ["UNPAIRED_SURROGATE"]),
    ("half of an emoji in the title", ANDROID,
     '{"title":"Sale \\ud83d",' + json.dumps(TRACKED)[1:], ["UNPAIRED_SURROGATE"]),
    ("a whole emoji in the title", ANDROID,
     '{"title":"Sale \\ud83d\\ude00",' + json.dumps(TRACKED)[1:], []),
    ("media on Android", ANDROID, {**TRACKED, "media-attachment-url": "u"}, []),
]
# Name, platform, payload, whether it shows anything.
RECEIVED = [
    ("a silent push", IOS, {"aps": {"content-available": 1, "sound": "default"}, **TRACKED},
     False),
    ("an alert", IOS, {"aps": {"alert": "Sale"}, **TRACKED}, True),
    ("an alert with a body", IOS, {"aps": {"alert": {"body": "Sale"}}, **TRACKED}, True),
    ("a title outside aps", IOS, {"aps": {}, "title": "Sale", **TRACKED}, False),
    ("ids alone", ANDROID, TRACKED, False),
    ("a title", ANDROID, {"title": "Sale", **TRACKED}, True),
    ("Classic's text", ANDROID, {"data": {"_msg": "Sale", **TRACKED}}, True),
    ("a notification", ANDROID, {"message": {"notification": {"title": "Sale"}, "data": TRACKED}},
     True),
]
SUPPRESSED = [
    ("off", IOS, "off", "FLAG_OFF"), ("OFF", IOS, "OFF", "FLAG_OFF"),
    ("off", ANDROID, "off", "FLAG_OFF"), ("OFF", ANDROID, "OFF", "FLAG_UNKNOWN"),
    ("true", ANDROID, True, "FLAG_UNKNOWN"), ("yes", IOS, "yes", "FLAG_UNKNOWN"),
]
# Name, platform, payload: `off` for all platforms counts, whatever the data of one platform has.
OFF = {**IDS, "_acsDeliveryTracking": "off"}
SWITCHED_OFF = [
    ("off in message.data", IOS, {"message": {"data": OFF, "apns": {"payload": TRACKED}}}),
    ("off in message.apns.payload", IOS,
     {"message": {"data": TRACKED, "apns": {"payload": OFF}}}),
    ("off in message.data", ANDROID, {"message": {"data": OFF, "android": {"data": TRACKED}}}),
]


def raw_rows(row) -> list[dict]:
    """The rows; `row` makes one of an event and what is expected."""
    rows = [row(f"{system(platform)}: {name}", event(platform, form(TRACKED)), hits=OPENED,
                ids=("56c4", "h138a")) for name, platform, form in FORMS]
    rows += [row(f"{system(platform)}: {name}", event(platform, payload), "REJECTED",
                 violations=violations) for name, platform, payload, violations in REFUSED]
    rows += [row(f"{system(platform)}: {name}", event(platform, payload), hits=OPENED,
                 warnings=warnings, ids=("56c4", "h138a"))
             for name, platform, payload, warnings in TAKEN]
    rows += [row(f"{system(platform)}: the flag {name}",
                 event(platform, {**IDS, "_acsDeliveryTracking": flag}), f"SUPPRESSED_{verdict}")
             for name, platform, flag, verdict in SUPPRESSED]
    rows += [row(f"{system(platform)}: {name}", event(platform, payload), "SUPPRESSED_FLAG_OFF")
             for name, platform, payload in SWITCHED_OFF]
    for name, platform, payload, is_shown in RECEIVED:
        received = event(platform, payload)
        received.push.kind = e.PUSH_INTERACTION_KIND_RECEIVED
        warnings = ["IMPRESSION_UNRELIABLE"] if platform == IOS else []
        rows.append(row(f"{system(platform)}: received, {name}", received,
                        hits=[v.HIT_KIND_IMPRESSION], ids=("56c4", "h138a"),
                        warnings=warnings + ([] if is_shown else ["NOTHING_SHOWN"])))
    for line in rows:
        # As text too, where it is text: people read it.
        data = base64.b64decode(line["event"]["push"].get("raw", {}).get("json", ""))
        line["json"] = data.decode(errors="replace")
    return rows


def system(platform: int) -> str:
    return {IOS: "iOS", ANDROID: "Android"}.get(platform, "unspecified")


def event(platform: int, payload: dict | str | bytes) -> e.TrackingEvent:
    made = e.TrackingEvent(event_id="e1", app_id="com.example.shop", platform=platform,
                           subject_id="s1", consent=e.CONSENT_OPTED_IN)
    made.push.kind = e.PUSH_INTERACTION_KIND_OPENED
    text = json.dumps(payload) if isinstance(payload, dict) else payload
    made.push.raw.json = text.encode() if isinstance(text, str) else text
    return made
