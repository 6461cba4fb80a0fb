"""The figures of docs/figures.md, counted from events: without any code of the server."""

import collections
import fractions

from protos import event as e

SENT, FAILED, SKIPPED = (e.PUSH_SEND_OUTCOME_SENT, e.PUSH_SEND_OUTCOME_FAILED,
                         e.PUSH_SEND_OUTCOME_SKIPPED)
RECEIVED, DISMISSED, OPENED = (e.PUSH_INTERACTION_KIND_RECEIVED,
                               e.PUSH_INTERACTION_KIND_DISMISSED,
                               e.PUSH_INTERACTION_KIND_OPENED)
# The two sides of a report: of a platform other than iOS, or of none; and iOS.
ANDROID, IOS = "others", "ios"
REASONS = {number: name.removeprefix("PUSH_SEND_REASON_").lower()
           for name, number in e.PushSendReason.items()}
NO_CONSENT = {e.CONSENT_OPTED_OUT, e.CONSENT_UNKNOWN}


def facts(event: e.TrackingEvent) -> list[str]:
    """What an event says, in the words of hits.db; nothing of a person who has said no (D22)."""
    if event.consent in NO_CONSENT:
        return []
    match event.WhichOneof("interaction"):
        case "push_send":
            return [{SENT: "sent", FAILED: "send_failed", SKIPPED: "send_skipped"}[
                event.push_send.outcome]]
        case "push" if is_silent(event):
            return ["nothing_shown"]
        case "push":
            return {RECEIVED: ["impression"], DISMISSED: ["click"], OPENED: ["click", "open"]}[
                event.push.kind]
        case "track_action":
            return [{e.ACTION_IMPRESSION: "impression", e.ACTION_CLICK: "click",
                     e.ACTION_OPEN: "open"}[event.track_action.action]]
    message = event.in_app
    if message.HasField("click") and not message.click.action_url:
        return ["in_app_dismissal"]
    return ["in_app_" + message.WhichOneof("event")]


def is_silent(event: e.TrackingEvent) -> bool:
    """Whether it is an impression of a payload that shows nothing (D63)."""
    shown = event.push.apns.aps.alert if event.push.HasField("apns") else event.push.fcm.data
    return event.push.kind == RECEIVED and not shown.title


def ids(event: e.TrackingEvent) -> tuple[str, str]:
    """A push's deliveryId and broadlogId."""
    match event.WhichOneof("interaction"):
        case "push_send":
            return event.push_send.delivery_id, event.push_send.broadlog_id
        case "track_action":
            return event.track_action.delivery_id, event.track_action.broadlog_id
    carrier = event.push.apns if event.push.HasField("apns") else event.push.fcm.data
    return carrier.delivery_id, carrier.message_id


def side(event: e.TrackingEvent) -> str:
    return IOS if event.platform == e.PLATFORM_IOS else ANDROID


class Counted:
    """A delivery's facts on one side, each once (D17, D60)."""

    def __init__(self, events: list[e.TrackingEvent], of: str):
        self.facts = {(kind, ids(event)[1], event.push.action_identifier)
                      for event in events if side(event) == of for kind in facts(event)}

    def hits(self, kind: str) -> int:
        return sum(fact[0] == kind for fact in self.facts)

    def of(self, *kinds: str) -> set[str]:
        """The notifications with a fact of one of these kinds."""
        return {fact[1] for fact in self.facts if fact[0] in kinds}

    def figures(self) -> dict[str, int]:
        opened, clicked = self.of("open"), self.of("click")
        tried = self.of("sent", "send_failed")
        return {
            "attempted": len(tried), "sent": len(self.of("sent")),
            "failed": len(self.of("send_failed")), "skipped": len(self.of("send_skipped")),
            "undelivered": len(tried - self.of("sent")),
            "notifications": len(self.of("impression", "click", "open")),
            "impressions": self.hits("impression"),
            "unique_impressions": len(self.of("impression")),
            "nothing_shown": self.hits("nothing_shown"),
            "clicks": self.hits("click"), "unique_clicks": len(clicked),
            "opens": self.hits("open"), "unique_opens": len(opened),
            "dismissals": sum(
                ("open", *fact[1:]) not in self.facts for fact in self.facts if fact[0] == "click"),
            "unique_dismissals": len(clicked - opened),
        }


def sides(events: list[e.TrackingEvent]) -> dict[str, dict[str, int]]:
    return {of: Counted(events, of).figures() for of in (ANDROID, IOS)}


def never_sent(events: list[e.TrackingEvent]) -> dict[tuple[str, str], int]:
    """The notifications that were never sent, each once: by the reason of the failure that was
    told first, or of those without one by the reason for which they were skipped."""
    told: dict[str, dict[str, int]] = collections.defaultdict(dict)
    for event in events:
        for kind in facts(event):
            if event.HasField("push_send"):
                told[ids(event)[1]].setdefault(kind, event.push_send.reason)
    counts: collections.Counter = collections.Counter()
    for reasons in told.values():
        if "sent" not in reasons:
            kind = "send_failed" if "send_failed" in reasons else "send_skipped"
            counts[kind.removeprefix("send_"), REASONS[reasons[kind]]] += 1
    return dict(counts)


VERSION_FIGURES = ("impressions", "clicks", "opens")
# Where a version differs by docs/why.md: so many more or less.
FEW_REPORTS = 20


def versions(events: list[e.TrackingEvent]) -> dict[tuple[str, str], dict]:
    """What was sent to each version on each platform, and what it reported; nothing if none of
    them differs from the others on its platform. None of these events is refused."""
    counts: dict[tuple[str, str], collections.Counter] = collections.defaultdict(
        collections.Counter)
    known = set()
    for event in events:
        told = [(kind, ids(event)[1], event.push.action_identifier) for kind in facts(event)]
        new = [fact[0] for fact in told if fact not in known]
        known.update(told)
        if not told or not event.app_version:
            continue
        platform = "ios" if side(event) == IOS else "android"
        own = counts[platform, event.app_version]
        own["reports"] += not event.HasField("push_send")
        for kind in new:
            own[kind if kind == "sent" else kind + "s"] += 1
    rows = {place: {name: own[name] for name in ("sent", "reports", *VERSION_FIGURES)}
            | {"refused": 0, "differs": differs(place, counts)} for place, own in counts.items()}
    return rows if any(row["differs"] for row in rows.values()) else {}


def differs(place: tuple[str, str], counts: dict[tuple[str, str], collections.Counter]) -> bool:
    """Whether a figure is twice or half of what it were at the rate of the others."""
    own, others = counts[place], collections.Counter()
    for other, count in counts.items():
        if other != place and other[0] == place[0]:
            others += count
    of = "sent" if own["sent"] and others["sent"] else "reports"
    if not own[of] or not others[of]:
        return False
    expected = [fractions.Fraction(others[name] * own[of], others[of])
                for name in VERSION_FIGURES]
    return any(abs(own[name] - rate) >= FEW_REPORTS
               and (own[name] >= 2 * rate or 2 * own[name] <= rate)
               for name, rate in zip(VERSION_FIGURES, expected))


def total(counts: dict[str, dict[str, int]]) -> dict[str, int]:
    """Both sides together."""
    return {name: count + counts[IOS][name] for name, count in counts[ANDROID].items()}


def rates(counts: dict[str, dict[str, int]], delivered: int) -> dict[str, tuple[int, int]]:
    """Part and whole of each rate: those of Adobe are of what was delivered on all platforms."""
    both, android, ios = total(counts), counts[ANDROID], counts[IOS]
    return {
        "delivered_rate": (both["sent"], both["attempted"]),
        "open_rate": (both["opens"], delivered),
        "click_through_rate": (both["clicks"], delivered),
        "impressions_of_delivered": (android["impressions"], android["sent"]),
        "ios_impressions_of_delivered": (ios["impressions"], ios["sent"]),
        "reach_ratio": (both["notifications"], delivered),
        "impression_ratio": (android["unique_impressions"], android["notifications"]),
        "click_ratio": (android["unique_clicks"], android["unique_impressions"]),
        "open_ratio": (android["unique_opens"], android["unique_impressions"]),
        "dismissal_ratio": (android["unique_dismissals"], android["unique_impressions"]),
    }


def rounded(part: int, whole: int) -> float | None:
    """To four decimals, as reports have it; a share of nothing is null."""
    return (part * 20_000 + whole) // (2 * whole) / 10_000 if whole else None
