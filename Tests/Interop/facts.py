"""Facts: events, and what must come of them, worked out here without any code of the server.

A fact is the oracle's: the hits that the rules give an event, under ids hashed as documented.
"""

import dataclasses
import hashlib
import itertools
import random
import struct

from protos import event as e
from protos import verdict as v

TENANT = "default"
# In every subject id and custom field: no log may hold it.
CANARY = "canary-7d1c"
# HitKind -> the name that hits.db holds.
KIND_NAMES = {number: name.removeprefix("HIT_KIND_").lower()
              for name, number in v.HitKind.items()}
CAMPAIGN_ACTIONS = {
    v.HIT_KIND_IMPRESSION: 7, v.HIT_KIND_CLICK: 2, v.HIT_KIND_OPEN: 1, v.HIT_KIND_BUTTON_1: 3,
    v.HIT_KIND_BUTTON_2: 4, v.HIT_KIND_CLOSE: 5,
}
# What a sender reports has a hit of its outcome, and no action (D59).
SEND_KINDS = {
    e.PUSH_SEND_OUTCOME_SENT: v.HIT_KIND_SENT, e.PUSH_SEND_OUTCOME_FAILED: v.HIT_KIND_SEND_FAILED,
    e.PUSH_SEND_OUTCOME_SKIPPED: v.HIT_KIND_SEND_SKIPPED,
}
PLATFORM_NAMES = {e.PLATFORM_ANDROID: "android", e.PLATFORM_IOS: "ios"}
# An arbitrary moment from which tests count; its age must stay within the server's clock window.
BASE_AGE_SECONDS = 3600


@dataclasses.dataclass
class Fact:
    """An event, the verdict it must get when it is new, and the rows that it must give."""

    event: e.TrackingEvent
    verdict: int = v.VERDICT_ACCEPTED
    hits: dict[bytes, tuple] = dataclasses.field(default_factory=dict)
    bytes: bytes = b""

    def __post_init__(self):
        self.bytes = self.bytes or self.event.SerializeToString()


def hit_id(kind: int, *fields: str | bytes) -> bytes:
    """15 bytes of SHA-256 over the fields, each behind its length in 4 bytes; then the kind."""
    digest = hashlib.sha256()
    for field in fields:
        data = field.encode() if isinstance(field, str) else field
        digest.update(struct.pack(">I", len(data)) + data)
    return digest.digest()[:15] + bytes([kind])


def push_hit_id(kind, product, app_id, delivery_id, broadlog_id, button="") -> bytes:
    """The id of a push hit. `product` is "standard" or "classic"."""
    return hit_id(kind, "push", TENANT, product, app_id, delivery_id, broadlog_id, button)


def in_app_hit_id(kind, event: e.TrackingEvent, what: str) -> bytes:
    """The id of an in-app hit. `what` is what happened, in the key's words."""
    fields = ["in_app", TENANT, event.app_id, event.in_app.message_id, event.subject_id, what,
              event.event_id]
    if not event.event_id:
        fields.append(struct.pack(">qi", event.occur_time.seconds, event.occur_time.nanos))
    return hit_id(kind, *fields)


def row(event, kind: int, action: int, delivery_id: str, broadlog_id: str) -> tuple:
    """What hits.db must hold of a hit, beside its id and the event's bytes."""
    occurred = None
    if event.HasField("occur_time"):
        occurred = event.occur_time.seconds * 1_000_000 + event.occur_time.nanos // 1000
    return (KIND_NAMES[kind], action, delivery_id, broadlog_id, event.app_id or None,
            PLATFORM_NAMES.get(event.platform), event.subject_id or None, occurred, TENANT)


class Facts:
    """Makes facts that have not been before: every id holds a number that only rises."""

    def __init__(self, seed: int, now_seconds: int, space: int = 0):
        self.random = random.Random(seed)
        self.numbers = itertools.count(space << 32 | 1)
        self.now = now_seconds - BASE_AGE_SECONDS

    def _event(self, number: int, platform: int) -> e.TrackingEvent:
        event = e.TrackingEvent(event_id=f"e{number:x}", app_id="com.example.shop",
                                platform=platform, subject_id=f"{CANARY}-subject-{number % 5000}",
                                consent=e.CONSENT_OPTED_IN)
        event.occur_time.seconds = self.now + number % 1800
        event.occur_time.nanos = number % 1_000_000 * 1000
        return event

    def push(self, kind: int | None = None, platform: int | None = None, classic: bool = False,
             button: str = "", flag: str | None = "on") -> Fact:
        """A push interaction: dismissed gives a click, opened a click and an open."""
        number = next(self.numbers)
        kind = kind or self.random.randint(1, 3)
        platform = platform or self.random.choice([e.PLATFORM_ANDROID, e.PLATFORM_IOS])
        event = self._event(number, platform)
        push = event.push
        push.kind, push.action_identifier = kind, button
        if classic:
            push.product = e.CAMPAIGN_PRODUCT_CLASSIC
        carrier = push.apns if platform == e.PLATFORM_IOS else push.fcm.data
        carrier.delivery_id, carrier.message_id = f"{number % 97:x}c", f"h{number:x}"
        if flag is not None:
            carrier.acs_delivery_tracking = flag
        if platform == e.PLATFORM_IOS:
            carrier.aps.alert.title = "Autumn sale"
            carrier.aps.badge = 1
        else:
            carrier.title = "Autumn sale"
            carrier.custom_fields[f"{CANARY} key"] = f"{CANARY} value"
        hits = {}
        for hit, action in push_hits(kind, classic):
            identity = push_hit_id(hit, "classic" if classic else "standard", event.app_id,
                                   carrier.delivery_id, carrier.message_id, button)
            hits[identity] = row(event, hit, action, carrier.delivery_id, carrier.message_id)
        return Fact(event, hits=hits)

    def track_action(self) -> Fact:
        """A hit whose action the client has decided."""
        number = next(self.numbers)
        event = self._event(number, self.random.choice([0, e.PLATFORM_ANDROID, e.PLATFORM_IOS]))
        kind, action = self.random.choice(list(CAMPAIGN_ACTIONS.items()))
        track = event.track_action
        track.delivery_id, track.broadlog_id = f"{number % 89:x}d", f"h{number:x}"
        track.action = action
        identity = push_hit_id(kind, "standard", event.app_id, track.delivery_id,
                               track.broadlog_id)
        return Fact(event, hits={
            identity: row(event, kind, action, track.delivery_id, track.broadlog_id)})

    def send(self, outcome: int | None = None) -> Fact:
        """What a sender reports of a push: any outcome, and a reason unless it was sent."""
        number = next(self.numbers)
        event = self._event(number, self.random.choice([0, e.PLATFORM_ANDROID, e.PLATFORM_IOS]))
        send = event.push_send
        send.delivery_id, send.broadlog_id = f"{number % 97:x}c", f"h{number:x}"
        send.product = self.random.choice(
            [e.CAMPAIGN_PRODUCT_UNSPECIFIED, e.CAMPAIGN_PRODUCT_STANDARD,
             e.CAMPAIGN_PRODUCT_CLASSIC])
        send.outcome = outcome or self.random.choice(list(SEND_KINDS))
        send.attempt = self.random.randrange(3)
        send.display = self.random.randrange(4)
        if send.outcome == e.PUSH_SEND_OUTCOME_SENT:
            send.provider_message_id = f"projects/shop/messages/{number:x}"
        else:
            send.reason = self.random.randrange(1, 12)
            send.provider_code = self.random.choice(["", "UNREGISTERED", "TooManyRequests"])
        return self._fact_of_send(event)

    def retried(self, fact: Fact, outcome: int = e.PUSH_SEND_OUTCOME_SENT) -> Fact:
        """The next attempt of a send that failed: a fact of its own, unless it fails again."""
        event = e.TrackingEvent.FromString(fact.bytes)
        event.event_id = f"retried-{next(self.numbers):x}"
        send = event.push_send
        send.attempt, send.outcome = send.attempt + 1, outcome
        if outcome == e.PUSH_SEND_OUTCOME_SENT:
            send.ClearField("reason")
            send.ClearField("provider_code")
        made = self._fact_of_send(event)
        if made.hits.keys() == fact.hits.keys():
            made.verdict, made.hits = v.VERDICT_DUPLICATE, {}
        return made

    def _fact_of_send(self, event: e.TrackingEvent) -> Fact:
        send = event.push_send
        kind = SEND_KINDS[send.outcome]
        product = "classic" if send.product == e.CAMPAIGN_PRODUCT_CLASSIC else "standard"
        identity = push_hit_id(kind, product, event.app_id, send.delivery_id, send.broadlog_id)
        return Fact(event, hits={
            identity: row(event, kind, 0, send.delivery_id, send.broadlog_id)})

    def in_app(self) -> Fact:
        """What happened to an in-app message, with an event id or without."""
        number = next(self.numbers)
        event = self._event(number, self.random.choice([e.PLATFORM_ANDROID, e.PLATFORM_IOS]))
        if number % 3 == 0:
            # Without an id the time is the key: make it this fact's own.
            event.event_id = ""
            event.occur_time.seconds = self.now + number % 1800
            event.occur_time.nanos = number % 999_999_937
            event.subject_id = f"{CANARY}-subject-{number:x}"
        message = event.in_app
        message.message_id = f"message-{number % 50}"
        message.app_data[f"{CANARY} key"] = f"{CANARY} value"
        kind, what = self._what_happened(message)
        identity = in_app_hit_id(kind, event, what)
        return Fact(event, hits={identity: row(event, kind, 0, message.message_id, "")})

    def _what_happened(self, message: e.InAppInteraction) -> tuple[int, str]:
        match self.random.randrange(7):
            case 0:
                message.impression.SetInParent()
                return v.HIT_KIND_IN_APP_IMPRESSION, "impression"
            case 1:
                message.click.action_url = "https://example.com/sale"
                return v.HIT_KIND_IN_APP_CLICK, "click"
            case 2:
                message.dismissal.type = e.IN_APP_DISMISS_TYPE_SWIPE
                return v.HIT_KIND_IN_APP_DISMISSAL, "dismissal"
            case 3:
                # A click that leads nowhere is a dismissal (D25).
                message.click.action_text = "Close"
                return v.HIT_KIND_IN_APP_DISMISSAL, "dismissal"
            case 4:
                message.triggered.SetInParent()
                return v.HIT_KIND_IN_APP_TRIGGERED, "triggered"
            case 5:
                message.suppressed.SetInParent()
                message.display_suppressed = self.random.random() < 0.5
                return v.HIT_KIND_IN_APP_SUPPRESSED, "suppressed"
            case _:
                message.display_error.reason = e.IN_APP_RENDER_ERROR_REASON_IMAGE_FETCH
                return v.HIT_KIND_IN_APP_DISPLAY_ERROR, "display_error"

    def invalid(self) -> Fact:
        """An event that breaks a rule of form or of ids."""
        fact = self.push()
        event = e.TrackingEvent.FromString(fact.bytes)
        match self.random.randrange(4):
            case 0:
                event.ClearField("push")
            case 1:
                event.occur_time.nanos = 1_000_000_000
            case 2:
                carrier = event.push.apns if event.push.HasField("apns") else event.push.fcm.data
                carrier.delivery_id = "a/b?c"
            case _:
                event.push.kind = e.PUSH_INTERACTION_KIND_UNSPECIFIED
        return Fact(event, v.VERDICT_REJECTED)

    def opted_out(self) -> Fact:
        """An event of a person who has said no, or nothing."""
        event = e.TrackingEvent.FromString(self.push().bytes)
        event.consent = self.random.choice([e.CONSENT_OPTED_OUT, e.CONSENT_UNKNOWN])
        return Fact(event, v.VERDICT_SUPPRESSED_CONSENT)

    def flag_off(self) -> Fact:
        """An event of a delivery with tracking switched off."""
        return Fact(self.push(flag="off").event, v.VERDICT_SUPPRESSED_FLAG_OFF)

    def accepted(self) -> Fact:
        """Any fact that is accepted when it is new."""
        match self.random.randrange(20):
            case 0 | 1 | 2 | 3:
                return self.in_app()
            case 4 | 5 | 6:
                return self.track_action()
            case 7:
                return self.push(kind=self.random.choice([1, 3]), classic=True)
            case 8:
                return self.push(kind=3, button=self.random.choice(["REPLY", "LATER"]))
            case 9:
                return self.push(flag=None)
            case 10 | 11:
                return self.send()
            case _:
                return self.push()

    def again(self, fact: Fact) -> Fact:
        """The same fact once more; for a push fact under another event id (D17)."""
        event = e.TrackingEvent.FromString(fact.bytes)
        if not event.HasField("in_app"):
            event.event_id = f"again-{next(self.numbers):x}"
        return Fact(event, v.VERDICT_DUPLICATE)


def push_hits(kind: int, classic: bool) -> list[tuple[int, int]]:
    """HitKind and Campaign's action of each hit that an interaction gives (D14, D21)."""
    if classic:
        return {1: [(v.HIT_KIND_IMPRESSION, 1)], 3: [(v.HIT_KIND_CLICK, 2)]}[kind]
    return {
        e.PUSH_INTERACTION_KIND_RECEIVED: [(v.HIT_KIND_IMPRESSION, 7)],
        e.PUSH_INTERACTION_KIND_DISMISSED: [(v.HIT_KIND_CLICK, 2)],
        e.PUSH_INTERACTION_KIND_OPENED: [(v.HIT_KIND_CLICK, 2), (v.HIT_KIND_OPEN, 1)],
    }[kind]


def verdict_name(number: int) -> str:
    return v.Verdict.Name(number).removeprefix("VERDICT_").lower()
