"""The ledger against a count of our own: random events, the server killed in the middle, and equal
sums for every key."""

import collections
import json
import random
import subprocess
import threading
import time

import grpc
import pytest

from protos import event as e
from protos import service as s
from protos import verdict as v
from server import binary

SAMPLE, WHOLE = 50_000, 1_000_000
REQUEST = 200
KILLS = 12
# The ids that many events share are below it; those of new impressions are above.
MESSAGES = 4_000
DELIVERIES = [f"{number:x}" for number in range(0x5600, 0x5610)]
APPS = ["com.example.shop", "com.example.news", ""]
FLAGS = ["ON", " on", "true", "", "yes\n", "a value of more than sixteen bytes"]
ACTIONS = {1: "open", 2: "click", 7: "impression"}
VERSIONS = ["", "3.1", "3.2", "3.10-beta", "4"]
SENDS = {1: "sent", 2: "send_failed", 3: "send_skipped"}
CALL_SECONDS = 20


class Oracle:
    """Counts as the ledger should, from the rules alone: it sees no verdict but that of each
    request's first event, which tells whether a request without an answer was committed."""

    def __init__(self):
        self.counts: collections.Counter = collections.Counter()
        # What each notification has: kinds of hits, and `dismissed`.
        self.known: dict[tuple, set[str]] = collections.defaultdict(set)

    def add(self, plans) -> None:
        for plan in plans:
            self.count(plan)

    def count(self, plan) -> None:
        place = (plan["app"], plan["delivery"], plan["platform"], plan["product"])
        if plan["verdict"] != "accepted":
            self.add_event(plan, place, plan["verdict"], plan["detail"], "")
            return
        known = self.known[plan["app"], plan["delivery"], plan["message"]]
        new = [kind for kind in plan["kinds"] if kind not in known]
        if not new:
            hits = ",".join(plan["kinds"])
            self.add_event(plan, place, "duplicate", hits, hits)
            known.update(["dismissed"] if plan["dismissed"] else [])
            return
        self.add_event(plan, place, "accepted", ",".join(new), ",".join(new))
        if plan["mark"]:
            self.counts[*place, "send", f"{plan['mark']} accepted {new[0]}"] += 1
        warnings = list(plan["warnings"])
        if "open" in new and "click" not in plan["kinds"] and "click" not in known:
            warnings.append("open_without_click")
        if "open" in new and "dismissed" in known:
            warnings.append("open_after_dismiss")
        if "impression" in new and "click" in known:
            warnings.append("impression_after_click")
        for warning in warnings:
            self.counts[*place, "warning", warning] += 1
        if plan["closed"]:
            self.counts[*place, "closed_impression", ""] += 1
        if {"sent", "send_failed"} <= known | set(new) and {"sent", "send_failed"} & set(new):
            self.counts[*place, "sent_and_failed", ""] += 1
        known.update(plan["kinds"], ["dismissed"] if plan["dismissed"] else [])

    def add_event(self, plan, place, verdict, detail, hits) -> None:
        """An event counts by its verdict, and once more by its version, if it has one."""
        self.counts[*place, verdict, detail] += 1
        if plan["version"]:
            self.counts[*place, "version", f"{plan['version']} {verdict} {hits}".rstrip()] += 1


class Maker:
    """Makes events, each with what the rules say of it."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.number = 0

    def request(self):
        """Events and plans; the first event is a new impression, and is of no other request."""
        made = [self.new_impression()] + [self.event() for _ in range(REQUEST - 1)]
        return [event for event, _ in made], [plan for _, plan in made]

    def plan(self, event, platform="android", product="standard", **values):
        return dict(app=event.app_id, delivery="", platform=platform, product=product,
                    verdict="accepted", detail="", kinds=[], warnings=[], closed=False,
                    dismissed=False, message="", version=event.app_version, mark="") | values

    def new_impression(self):
        self.number += 1
        event = e.TrackingEvent(app_id=APPS[0], platform=e.PLATFORM_ANDROID)
        action = event.track_action
        action.delivery_id, action.broadlog_id = DELIVERIES[0], f"h{MESSAGES + self.number:x}"
        action.action = e.ACTION_IMPRESSION
        return event, self.plan(event, delivery=action.delivery_id, message=action.broadlog_id,
                                kinds=["impression"])

    def event(self):
        return self.random.choices(
            [self.push, self.track_action, self.in_app, self.push_send, self.broken],
            weights=[10, 6, 3, 4, 1])[0]()

    def base(self):
        return e.TrackingEvent(app_id=self.random.choice(APPS), subject_id="person-4711",
                               app_version=self.random.choice(VERSIONS))

    def push(self):
        event, chance = self.base(), self.random
        is_ios = chance.random() < 0.5
        delivery = chance.choice(DELIVERIES)
        # Few messages, so that many of their facts are known.
        message = f"h{chance.randrange(1, MESSAGES):x}"
        payload = event.push.apns if is_ios else event.push.fcm.data
        payload.delivery_id, payload.message_id = delivery, message
        event.push.kind = chance.choice([1, 2, 3])
        plan = self.plan(event, "ios" if is_ios else "android", delivery=delivery, message=message,
                         kinds=[["impression"], ["click"], ["click", "open"]][event.push.kind - 1],
                         dismissed=event.push.kind == 2)
        if event.push.kind == 1:
            if chance.random() < 0.8:
                (payload.aps.alert if is_ios else payload).title = "Autumn sale"
            else:
                plan["warnings"].append("nothing_shown")
        if event.push.kind == 1 and is_ios:
            plan["warnings"].append("impression_unreliable")
            event.push.app_state = chance.choice([0, 1, 2, 3])
            plan["closed"] = event.push.app_state == 3
        if chance.random() < 0.2:
            same = chance.random() < 0.5
            payload.uri = (f"http://t.example.com/r/?id=d{message[1:]},{delivery},77" if same
                           else f"http://t.example.com/r/?id=d{message[1:]}0,{delivery},77")
            plan["warnings"] += [] if same else ["link_contradicts_ids"]
        self.set_flag(payload, is_ios, plan)
        self.set_consent(event, plan)
        return event, plan

    def set_flag(self, payload, is_ios, plan) -> None:
        chance = self.random.random()
        if chance < 0.5:
            payload.acs_delivery_tracking = "on"
        elif chance < 0.7:
            plan["warnings"].append("flag_assumed_on")
        elif chance < 0.8:
            payload.acs_delivery_tracking = "off"
            plan |= {"verdict": "suppressed_flag_off"}
        else:
            flag = self.random.choice(FLAGS)
            payload.acs_delivery_tracking = flag
            if not (is_ios and flag == "ON"):
                plan |= {"verdict": "suppressed_flag_unknown",
                         "detail": flag[:16].replace("\n", "\\u{a}")}

    def set_consent(self, event, plan) -> None:
        if self.random.random() < 0.1:
            event.consent = self.random.choice([2, 3, 9])
            plan |= {"verdict": "suppressed_consent", "detail": "", "delivery": "", "version": ""}

    def track_action(self):
        event, chance = self.base(), self.random
        event.platform = chance.choice([0, 1, 2])
        action = event.track_action
        action.delivery_id = chance.choice(DELIVERIES)
        action.broadlog_id = f"h{chance.randrange(1, MESSAGES):x}"
        action.action = chance.choice([1, 2, 7])
        plan = self.plan(event, ["", "android", "ios"][event.platform],
                         delivery=action.delivery_id, message=action.broadlog_id,
                         kinds=[ACTIONS[action.action]])
        if event.platform == 2 and action.action == 7:
            plan["warnings"].append("impression_unreliable")
        if chance.random() < 0.05:
            action.broadlog_id = ""
            plan |= {"verdict": "rejected", "detail": "track_action.broadlog_id required"}
        self.set_consent(event, plan)
        return event, plan

    def in_app(self):
        event, chance = self.base(), self.random
        self.number += 1
        event.event_id = f"e{self.number}"
        message = event.in_app
        message.message_id = f"message {chance.randrange(4)}"
        message.impression.SetInParent()
        plan = self.plan(event, "", "firebase", delivery=message.message_id,
                         message=event.event_id, kinds=["in_app_impression"])
        share = chance.random()
        if share < 0.1:
            message.test_message = True
            plan |= {"verdict": "suppressed_test_message"}
        elif share < 0.2:
            message.display_suppressed = True
            plan |= {"verdict": "suppressed_display"}
        elif share < 0.3:
            message.data_collection_enabled = False
            plan |= {"verdict": "suppressed_consent", "delivery": "", "version": ""}
        return event, plan

    def push_send(self):
        """What a sender did: of few messages too, so that many of its facts are known."""
        event, chance = self.base(), self.random
        event.platform = chance.choice([0, 1, 2])
        send = event.push_send
        send.delivery_id = chance.choice(DELIVERIES)
        send.broadlog_id = f"h{chance.randrange(1, MESSAGES):x}"
        send.outcome, send.display = chance.choice([1, 1, 2, 3]), chance.choice([0, 1, 2, 3])
        mark = display_name(send.display)
        if send.outcome != e.PUSH_SEND_OUTCOME_SENT:
            send.reason = chance.randrange(1, 12)
            mark = reason_name(send.reason)
        plan = self.plan(event, ["", "android", "ios"][event.platform], delivery=send.delivery_id,
                         message=send.broadlog_id, kinds=[SENDS[send.outcome]], mark=mark)
        if send.reason and chance.random() < 0.1:
            send.reason = 0
            plan |= {"verdict": "rejected", "detail": "push_send.reason required", "version": ""}
            return event, plan
        self.set_consent(event, plan)
        return event, plan

    def broken(self):
        """Breaks a rule of form; without consent its delivery is not kept (D23)."""
        event = self.base()
        event.push.apns.delivery_id = self.random.choice(DELIVERIES)
        plan = self.plan(event, "ios", delivery=event.push.apns.delivery_id, verdict="rejected",
                         detail="push.kind required")
        if self.random.random() < 0.5:
            event.consent = 2
            plan |= {"delivery": "", "version": ""}
        return event, plan


class Sender:
    """Sends each request until it is answered, whatever ends the server meanwhile."""

    def __init__(self, server, oracle: Oracle):
        self.server = server
        self.oracle = oracle
        self.channel = server.channel()
        self.stub = server.stub(self.channel)
        self.committed = 0

    def send(self, events, plans, is_lost: bool = False) -> None:
        """Sends a request; with `is_lost`, the server is killed before its answer comes."""
        request = s.RecordEventsRequest(events=events)
        while True:
            try:
                answer = self.stub.RecordEvents(request, timeout=CALL_SECONDS)
                if not is_lost:
                    break
                is_lost = False
                self.server.process.kill()
            except grpc.RpcError:
                pass
            self.server.process.wait(timeout=CALL_SECONDS)
            self.channel.close()
            self.server.start()
            self.channel = self.server.channel()
            self.stub = self.server.stub(self.channel)
        if answer.results[0].verdict == v.VERDICT_DUPLICATE:
            # It was committed before the kill, and came again.
            self.committed += 1
            self.oracle.add(plans)
        self.oracle.add(plans)

    def rows(self) -> collections.Counter:
        """The server's ledger, by the calls that a client has, without the hours."""
        counts: collections.Counter = collections.Counter()
        names = DELIVERIES + [f"message {number}" for number in range(4)] + ["never seen"]
        for delivery in names:
            answer = self.stub.ExplainDelivery(
                s.ExplainDeliveryRequest(delivery_id=delivery), timeout=CALL_SECONDS)
            assert not answer.truncated
            for row in answer.rows:
                # Each answer has the rows without a delivery; those of one are enough.
                if row.delivery_id or delivery == "never seen":
                    counts[key(row)] += row.events
        return counts


def reason_name(number: int) -> str:
    return e.PushSendReason.Name(number).removeprefix("PUSH_SEND_REASON_").lower()


def display_name(number: int) -> str:
    """"" where it is not said."""
    return e.PushDisplay.Name(number).removeprefix("PUSH_DISPLAY_").lower() if number else ""


def key(row) -> tuple:
    """A row as the oracle counts it."""
    platform = {0: "", 1: "android", 2: "ios"}[row.platform]
    product = {0: "firebase", 1: "standard", 2: "classic"}[row.product]
    name = v.Verdict.Name(row.verdict).removeprefix("VERDICT_").lower()
    detail = ",".join(v.HitKind.Name(hit).removeprefix("HIT_KIND_").lower() for hit in row.hits)
    if row.counted_verdict:
        assert not row.verdict, row
        verdict = v.Verdict.Name(row.counted_verdict).removeprefix("VERDICT_").lower()
        name = "version" if row.app_version else "send"
        by = row.app_version or display_name(row.display) or reason_name(row.send_reason)
        detail = f"{by} {verdict} {detail}".rstrip()
    elif row.warning:
        name, detail = "warning", v.Warning.Name(row.warning).removeprefix("WARNING_").lower()
    elif row.closed_impression:
        name = "closed_impression"
    elif row.sent_and_failed:
        name = "sent_and_failed"
    elif row.field:
        code = v.ViolationCode.Name(row.code).removeprefix("VIOLATION_CODE_").lower()
        detail = f"{row.field} {code}"
    elif row.flag:
        detail = row.flag
    return (row.app_id, row.delivery_id, platform, product, name, detail)


@pytest.mark.timeout(3600)
def test_the_ledger_has_what_was_sent_for_every_key(make_server, amount, seed, figure):
    """D1 to D65: the sums of all keys are ours, whenever the server was killed."""
    requests = amount(SAMPLE, WHOLE) // REQUEST
    maker, oracle = Maker(seed), Oracle()
    server = make_server().start()
    sender = Sender(server, oracle)
    moments = random.Random(seed)
    # None at the last one: a late kill would leave nobody to ask.
    kills = sorted(moments.sample(range(1, requests - 1), min(KILLS, requests - 2)))
    started, last = time.monotonic(), 0.02
    for number in range(requests):
        events, plans = maker.request()
        if number in kills[::2]:
            sender.send(events, plans, is_lost=True)
            continue
        if number in kills:
            # While the request is under way, at best between its commit and its answer.
            killer = threading.Timer(last * moments.uniform(0.5, 1.1), server.process.kill)
            killer.start()
            sender.send(events, plans)
            # A late kill is not to meet the next request: of one that two kills meet, nobody can
            # tell how often it was committed.
            killer.join()
            continue
        begun = time.monotonic()
        sender.send(events, plans)
        last = time.monotonic() - begun
    seconds, committed = time.monotonic() - started, sender.committed
    assert sender.rows() == oracle.counts
    server.kill()
    server.start()
    sender = Sender(server, oracle)
    assert sender.rows() == oracle.counts, "after a kill without requests"
    # The same from its files, once it has stopped.
    assert server.terminate() == 0
    told = why(server, DELIVERIES[1])
    assert sum(row["events"] for row in told["rows"] if row["delivery"]) == sum(
        count for key, count in oracle.counts.items() if key[1] == DELIVERIES[1])
    assert committed >= len(kills[::2])
    figure(f"{requests * REQUEST} events in {seconds:.0f} s, {len(oracle.counts)} keys,"
           f" {len(kills)} kills, {committed} requests committed without their answer")


def why(server, *arguments: str) -> dict:
    """What `sightline why` says of a server's data directory, as JSON."""
    done = subprocess.run([str(binary()), "why", *arguments, "--data-dir", str(server.directory),
                           "--json"], check=True, capture_output=True, text=True, timeout=60)
    return json.loads(done.stdout.splitlines()[0])
