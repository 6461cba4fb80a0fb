"""What Campaign's SDKs ask `/r/` for, and the event of each, by the tests' own reading of D67, D68
and D70: no code of the server."""

import re
import urllib.parse

from google.protobuf import json_format

from campaign import UUID
from protos import event as e

# As the SDKs have them: Standard's own, and the systems' of Classic, which sets none.
AGENTS = {
    "Mozilla/5.0 (Linux; U; Android 14; en-US; Pixel 8 Build/UQ1A.240205.004)": e.PLATFORM_ANDROID,
    "Mozilla/5.0 (iPhone; CPU OS 18_1 like Mac OS X; en_US)": e.PLATFORM_IOS,
    "Mozilla/5.0 (iPad; CPU OS 17_6_1 like Mac OS X; de_DE)": e.PLATFORM_IOS,
    "Dalvik/2.1.0 (Linux; U; Android 9; SM-G960F Build/PPR1.180610.011)": e.PLATFORM_ANDROID,
    "Shop/412 CFNetwork/1568.200.51 Darwin/24.1.0": e.PLATFORM_IOS,
    "curl/8.5.0": e.PLATFORM_UNSPECIFIED,
    "": e.PLATFORM_UNSPECIFIED,
}
ANDROID, IOS = list(AGENTS)[:2]
ACTIONS = {"standard": {"1", "2", "3", "4", "5", "7"}, "classic": {"1", "2"}}
PRODUCTS = {"standard": e.CAMPAIGN_PRODUCT_STANDARD, "classic": e.CAMPAIGN_PRODUCT_CLASSIC}
STANDARD = [
    "id=h138a,56c4,2&mcId=4711", "id=h138a,56c4,1&mcid=4711", "mcId=4711&id=h138a,56c4,7",
    "id=h138a%2C56c4%2C2&mcId=4711", "id=h138a%2c56c4,2&mcId=4711",
    *(f"id=h138a,56c4,{action}&mcId=4711" for action in range(10)),
    "id=138A,x.y_z-1,2&mcId=a%20b%26c%3Dd%2Ce%2F%2B%25", "id=h138a,56c4,2&mcId=%C3%A9",
    "id=h138a,56c4,2&mcId=a+b", "id=h138a,56c4,2&mcId=100%", "id=h138a,56c4,2&mcId=%4",
    "id=h138a,56c4,2&mcId=4711&tag=x", "id=h138a,56c4,2&mcId=a=b",
    # What is no postback.
    "", "id=", "id=h138a,56c4,2", "id=h138a,56c4,2&mcId=", "id=h138a,56c4&mcId=4711",
    "id=h138a,56c4,2,3&mcId=4711", "id=,56c4,2&mcId=4711", "id=h138a,,2&mcId=4711",
    "id=h138a,56c4,&mcId=4711", "id=h138a,56c4,02&mcId=4711", "id=h138a,56c4,a1&mcId=4711",
    "id=h138a,56c4,2&id=h138a,56c4,2&mcId=4711", "id=h138a,56c4,2&mcId=4711&mcid=4711",
    "ID=h138a,56c4,2&mcId=4711", "id=h138a,56c4,2&mcID=4711", "id=h138a,56c4,2&mcId=%FF",
    "id=h%FF,56c4,2&mcId=4711", "id=h138a,56c4,2;mcId=4711", "tagid=x&jobid=1",
    "id=d138a,56c4,d57ff6&p1=https%3A%2F%2Fshop.example", "id=h138a,56c4,2&p1=x",
    "id=" + "h" * 2048 + ",56c4,2&mcId=4711",
]
CLASSIC = [
    "id=hd828,56c4,1", "id=hd828,56c4,2", "id=hD828%2C56c4%2C2", "id=h0,56c4,1", "id=h7,56c4,2",
    "id=h34aa061c0c56,56c4,1", "id=h7fffffffffffffff,56c4,1", "id=h8000000000000000,56c4,1",
    "id=hffffffff7fffffff,56c4,1", "id=hffffffffffffffff,56c4,2",
    # 8 digits: -673096100, or the end of a longer number.
    "id=hd7e15e5c,56c4,1", "id=h80000000,56c4,1", "id=hffffffff,56c4,2", "id=h00000007,56c4,2",
    "id=h6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,56c4,1",
    "id=h6B6499A8-9D43-4BC5-ACF0-B6AEB96846F6,56c4,2",
    # What is no postback.
    "id=hd828,56c4,3", "id=hd828,56c4,7", "id=hd828,56c4,0", "id=d828,56c4,1", "id=h,56c4,1",
    "id=hx828,56c4,1", "id=h-5,56c4,1", "id=h1ffffffffffffffff,56c4,1",
    "id=h6b6499a8-9d43-4bc5-acf0-b6aeb96846f,56c4,1", "id=Hd828,56c4,1",
    "id=t6b6499a8-9d43-4bc5-acf0-b6aeb96846f6,56c4,1", "id=hd828,56c4,1&p1=x",
    "id=hd828,56c4,d57ff6&p1=https%3A%2F%2Fshop.example", "id=hd828,56c4", "id=hd828,,1",
    # Standard's, on Classic's host.
    "id=hd828,56c4,1&mcId=4711", "id=h138a,56c4,2&mcid=4711",
]


def received_rows() -> list[dict]:
    rows = [received_row("standard", query, IOS) for query in STANDARD]
    rows += [received_row("classic", query, ANDROID) for query in CLASSIC]
    for agent in AGENTS:
        rows.append(received_row("standard", "id=h138a,56c4,2&mcId=4711", agent))
    return rows


def received_row(product: str, query: str, agent: str) -> dict:
    event = received(product, query, AGENTS[agent])
    return {"product": product, "request": f"/r/?{query}", "user_agent": agent,
            "event": event and json_format.MessageToDict(event)}


def received(product: str, query: str, platform: int) -> e.TrackingEvent | None:
    """The event of a query; None if it is no postback of the product."""
    if len(query) > 2048:
        return None
    pairs = [part.partition("=")[::2] for part in query.split("&") if part]
    ids = [value for name, value in pairs if name == "id"]
    subjects = [value for name, value in pairs if name in ("mcId", "mcid")]
    if len(ids) != 1 or len(subjects) > 1:
        return None
    try:
        parts = urllib.parse.unquote(ids[0], errors="strict").split(",")
        subject = urllib.parse.unquote(subjects[0], errors="strict") if subjects else ""
    except UnicodeDecodeError:
        return None
    if len(parts) != 3 or not all(parts) or parts[2] not in ACTIONS[product]:
        return None
    broadlog: str | None = parts[0]
    if product == "classic":
        broadlog = classic_number(parts[0]) if len(pairs) == 1 else None
    elif not subject:
        broadlog = None
    if broadlog is None:
        return None
    event = e.TrackingEvent(platform=platform, subject_id=subject, consent=e.CONSENT_OPTED_IN)
    action = event.track_action
    action.broadlog_id, action.delivery_id, action.action = broadlog, parts[1], int(parts[2])
    action.product = PRODUCTS[product]
    return event


def classic_number(text: str) -> str | None:
    """D68: `h`, and a UUID as it is or up to 64 bits in hex; with 16 digits they have a sign."""
    if text[:1] != "h":
        return None
    if UUID.fullmatch(text[1:]):
        return text[1:]
    if not re.fullmatch(r"[0-9a-fA-F]{1,16}", text[1:]):
        return None
    number = int(text[1:], 16)
    return str(number - (1 << 64) if len(text) == 17 and number >> 63 else number)
