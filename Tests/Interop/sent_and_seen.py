"""What senders and devices tell of many deliveries: one that is as it should be, and for each
finding that only both sides together show, deliveries that have it and others that just have not.
"""

import collections
import dataclasses
import random

from figures import DISMISSED, FAILED, OPENED, RECEIVED, SENT, SKIPPED, ids
from protos import event as e

ANDROID, IOS = e.PLATFORM_ANDROID, e.PLATFORM_IOS
# What was sent is held to what was reported after six hours: the sends are made that long ago.
EARLIER_SECONDS = 7 * 3600
REASONS = list(range(e.PUSH_SEND_REASON_UNREGISTERED, e.PUSH_SEND_REASON_OTHER + 1))
VERSIONS = ["3.1", "3.2"]
THROTTLED, UNREGISTERED, NETWORK = (e.PUSH_SEND_REASON_THROTTLED,
                                    e.PUSH_SEND_REASON_UNREGISTERED, e.PUSH_SEND_REASON_NETWORK)


class Delivery:
    """Makes events of one delivery of one app."""

    def __init__(self, number: int, platform: int = ANDROID, app: int | None = None):
        self.name = f"{0xd0000 + number:x}"
        self.app = f"com.example.app{number if app is None else app}"
        self.platform = platform

    def base(self, number: int, version: str, platform: int = 0) -> e.TrackingEvent:
        return e.TrackingEvent(app_id=self.app, platform=platform or self.platform,
                               subject_id=f"subject-{number}", consent=e.CONSENT_OPTED_IN,
                               app_version=version)

    def send(self, number: int, outcome: int, version: str = "", platform: int = 0, **fields
             ) -> e.TrackingEvent:
        event = self.base(number, version, platform)
        event.push_send.MergeFrom(e.PushSend(
            delivery_id=self.name, broadlog_id=f"h{number:x}", outcome=outcome, **fields))
        return event

    def push(self, number: int, kind: int, version: str = "", platform: int = 0, flag: str = "on",
             button: str = "") -> e.TrackingEvent:
        event = self.base(number, version, platform)
        event.push.kind, event.push.action_identifier = kind, button
        carrier = event.push.apns if event.platform == IOS else event.push.fcm.data
        carrier.delivery_id, carrier.message_id = self.name, f"h{number:x}"
        (carrier.aps.alert if event.platform == IOS else carrier).title = "Sale"
        if flag:
            carrier.acs_delivery_tracking = flag
        return event

    def action(self, number: int, action: int, version: str, platform: int) -> e.TrackingEvent:
        event = self.base(number, version, platform)
        event.track_action.delivery_id, event.track_action.broadlog_id = self.name, f"h{number:x}"
        event.track_action.action = action
        return event

    def sent(self, count: int, first: int = 0, version: str = "", display: int = 0
             ) -> list[e.TrackingEvent]:
        return [self.send(first + number, SENT, version, display=display)
                for number in range(count)]

    def failed(self, count: int, first: int, reason: int) -> list[e.TrackingEvent]:
        return [self.send(first + number, FAILED, reason=reason) for number in range(count)]

    def seen(self, count: int, first: int = 0, version: str = "", platform: int = 0,
             flag: str = "on") -> list[e.TrackingEvent]:
        return [self.push(first + number, RECEIVED, version, platform, flag)
                for number in range(count)]


def without_consent(events: list[e.TrackingEvent]) -> list[e.TrackingEvent]:
    for number, event in enumerate(events):
        event.consent = (e.CONSENT_OPTED_OUT, e.CONSENT_UNKNOWN)[number % 2]
    return events


def put_clicks_first(events: list[e.TrackingEvent]) -> None:
    """An app tells of an open behind its click; many opens without a click before them would be a
    finding of their own (D18)."""
    places = collections.defaultdict(list)
    for index, event in enumerate(events):
        if event.HasField("track_action"):
            places[ids(event)].append(index)
    for indexes in places.values():
        told = sorted((events[index] for index in indexes),
                      key=lambda event: event.track_action.action == e.ACTION_OPEN)
        for index, event in zip(indexes, told):
            events[index] = event


@dataclasses.dataclass
class Plant:
    """One delivery: what was told of it, in order of time, and what `why` has to say."""

    delivery: Delivery
    codes: list[str]
    # Hours ago.
    told: list[e.TrackingEvent]
    # Now.
    late: list[e.TrackingEvent] = dataclasses.field(default_factory=list)
    # Before all others, by the delivery before.
    before: list[e.TrackingEvent] = dataclasses.field(default_factory=list)
    # The number delivered that was put.
    total: int | None = None


class Story:
    """Makes all events of a run. Ids of the deliveries are numbered from 0, which is the one
    without a finding."""

    def __init__(self, seed: int, sends: int):
        self.random = random.Random(seed)
        self.numbers = iter(range(1, 100))
        self.plants = [self.sound(sends), *self.nothing_reported(), *self.impressions_missing(),
                       *self.more_impressions(), *self.silent_version(), *self.unregistered(),
                       *self.reason_grew(), *self.without_flag(), *self.totals_differ(),
                       self.half()]

    def phases(self) -> list[list[e.TrackingEvent]]:
        """All events in the order in which they are told: before, hours ago, and now."""
        phases = [[event for plant in self.plants for event in events(plant)] for events in (
            lambda plant: plant.before, lambda plant: plant.told, lambda plant: plant.late)]
        for phase in phases:
            self.random.shuffle(phase)
            put_clicks_first(phase)
        return phases

    # The delivery that is as it should be.

    def sound(self, sends: int) -> Plant:
        """On two platforms and to two versions: failures of each reason, retries that succeed and
        that do not, what is skipped, reported twice and late, and people who say no."""
        plant = Plant(Delivery(0), [], [])
        delivered = 0
        for number in range(sends):
            platform = ANDROID if self.random.random() < 0.6 else IOS
            version = self.random.choice(VERSIONS)
            events, is_sent = self.attempts(plant.delivery, number, platform, version)
            uses, late = [], []
            # The answer may be lost, and the push arrive.
            is_lost = any(event.push_send.reason == NETWORK for event in events)
            if is_sent or is_lost and self.random.random() < 0.5:
                uses, late = self.uses(plant.delivery, number, platform, version)
            if self.random.random() < 0.03:
                without_consent(events + uses + late)
            else:
                delivered += is_sent
            plant.told += events + uses
            plant.late += late
        # Totals are of everybody; so few more are no finding.
        plant.total = delivered + 19
        return plant

    def attempts(self, delivery: Delivery, number: int, platform: int, version: str
                 ) -> tuple[list[e.TrackingEvent], bool]:
        """What the sender tells of one recipient, and whether it was sent."""
        def send(outcome: int, attempt: int) -> e.TrackingEvent:
            # Each reason in turn, so that none is left out.
            reason = 0 if outcome == SENT else REASONS[(number + attempt) % len(REASONS)]
            return delivery.send(number, outcome, version, platform, reason=reason,
                                 attempt=attempt, display=display)
        display = self.random.choice([0, e.PUSH_DISPLAY_SYSTEM, e.PUSH_DISPLAY_APP])
        chance = self.random.random()
        if chance < 0.03:
            return [send(SKIPPED, 0)], False
        if chance < 0.08:
            return [send(FAILED, 1), send(SENT, 2)], True
        if chance < 0.11:
            return [send(FAILED, 1), send(FAILED, 2)], False
        if chance < 0.13:
            return [send(FAILED, 1)], False
        return [send(SENT, 1)], True

    def uses(self, delivery: Delivery, number: int, platform: int, version: str
             ) -> tuple[list[e.TrackingEvent], list[e.TrackingEvent]]:
        """What a recipient did, hours ago and now."""
        told, late = [], []
        if self.random.random() < (0.3 if platform == IOS else 0.85):
            told.append(delivery.push(number, RECEIVED, version, platform))
            if self.random.random() < 0.1:
                told.append(delivery.push(number, RECEIVED, version, platform))
        chance = self.random.random()
        if chance < 0.05:
            told.append(delivery.push(number, DISMISSED, version, platform))
        elif chance < 0.08:
            told += [delivery.action(number, action, version, platform)
                     for action in (e.ACTION_CLICK, e.ACTION_OPEN)]
        elif chance < 0.25:
            opened = [delivery.push(number, OPENED, version, platform)]
            if self.random.random() < 0.1:
                opened.append(delivery.push(number, OPENED, version, platform, button="MORE"))
            if self.random.random() < 0.1:
                opened.append(delivery.push(number, OPENED, version, platform))
            (late if self.random.random() < 0.3 else told).extend(opened)
        return told, late

    def half(self) -> Plant:
        """A rate in the middle of two with four decimals, 0.07125, whose binary number is less."""
        delivery = self.new()
        return Plant(delivery, [], delivery.sent(800) + delivery.seen(400)
                     + [delivery.push(number, OPENED) for number in range(57)])

    # A finding each: what has it is at its threshold, what has not is one below it.

    def new(self, platform: int = ANDROID) -> Delivery:
        return Delivery(next(self.numbers), platform)

    def either(self) -> Delivery:
        return self.new(self.random.choice([ANDROID, IOS]))

    def nothing_reported(self) -> list[Plant]:
        bad, few, seen = self.either(), self.either(), self.new()
        silent = e.PUSH_DISPLAY_SILENT
        return [
            Plant(bad, ["NOTHING_REPORTED"], bad.sent(20) + bad.sent(30, 20, display=silent)),
            # What was not tracked without consent may have been reports.
            Plant(few, ["CONSENT_MISSING"], few.sent(19) + few.sent(30, 19, display=silent)
                  + without_consent(few.sent(5, 50)), late=few.sent(5, 60)),
            # On the other platform alone.
            Plant(seen, [], seen.sent(40) + seen.seen(1, 40, platform=IOS)),
        ]

    def impressions_missing(self) -> list[Plant]:
        bad, enough, few = self.new(), self.new(), self.new()
        system, app = e.PUSH_DISPLAY_SYSTEM, e.PUSH_DISPLAY_APP
        return [
            Plant(bad, ["IMPRESSIONS_MISSING"],
                  bad.sent(60, display=system) + bad.sent(40, 60, display=app) + bad.seen(49)
                  + without_consent(bad.seen(20, 60))),
            Plant(enough, [], enough.sent(100, display=system) + enough.seen(50)
                  + without_consent(enough.sent(20, 100))),
            Plant(few, [], few.sent(99) + few.seen(9), late=few.sent(20, 100)),
        ]

    def more_impressions(self) -> list[Plant]:
        bad, fewer, late = self.either(), self.either(), self.either()
        return [
            Plant(bad, ["MORE_IMPRESSIONS_THAN_SENT"], bad.sent(100) + bad.seen(120)),
            Plant(fewer, [], fewer.sent(100) + fewer.seen(119)
                  + without_consent(fewer.seen(10, 200))),
            Plant(late, [], late.sent(100) + late.seen(110), late=late.seen(30, 110)),
        ]

    def silent_version(self) -> list[Plant]:
        plants = []
        # At the rate of the others, 0.8, 25 sends give 20 reports.
        for count, codes in ((25, ["VERSION_WITHOUT_REPORTS"]), (24, [])):
            delivery = self.new()
            plants.append(Plant(
                delivery, codes,
                delivery.sent(125, version="3.1") + delivery.seen(100, version="3.1")
                # Again, which makes no rate.
                + delivery.seen(60, version="3.1")
                + delivery.sent(count, 200, "3.2")
                + without_consent(delivery.sent(9, 300, "3.2"))))
        # Most sends are new, and have their reports: at the rate of all, 5 give 3.
        fresh = self.new()
        plants.append(Plant(fresh, [], fresh.sent(20, 0, "3.1") + fresh.sent(5, 200, "3.2"),
                            late=fresh.sent(100, 20, "3.1") + fresh.seen(80, 0, "3.1")))
        return plants

    def unregistered(self) -> list[Plant]:
        plants = []
        for sent, codes in ((180, ["TOKENS_UNREGISTERED"]), (181, [])):
            delivery = self.either()
            plants.append(Plant(
                delivery, codes, delivery.sent(sent) + delivery.seen(150)
                + delivery.failed(20, 200, UNREGISTERED)
                + without_consent(delivery.failed(9, 300, UNREGISTERED))))
        return plants

    def reason_grew(self) -> list[Plant]:
        """From a twentieth of 100 to a tenth of 250, and to less."""
        plants = []
        for failed, codes in ((25, ["SEND_REASON_GREW"]), (24, [])):
            delivery = self.either()
            before = Delivery(next(self.numbers), delivery.platform, app=self.app_of(delivery))
            plants.append(Plant(
                before, [], [], before=before.sent(95) + before.failed(5, 95, THROTTLED)
                + before.seen(80)))
            plants.append(Plant(
                delivery, codes, delivery.sent(250 - failed) + delivery.seen(180)
                + delivery.failed(failed, 250, THROTTLED)))
        return plants

    @staticmethod
    def app_of(delivery: Delivery) -> int:
        return int(delivery.app.removeprefix("com.example.app"))

    def without_flag(self) -> list[Plant]:
        plants = []
        for flagged, codes in ((180, ["SENT_WITHOUT_FLAG"]), (181, [])):
            delivery = self.either()
            plants.append(Plant(
                delivery, codes, delivery.sent(210) + delivery.seen(flagged)
                + delivery.seen(20, 185, flag="")
                + without_consent(delivery.seen(9, 300, flag=""))))
        return plants

    def totals_differ(self) -> list[Plant]:
        plants = []
        for more, codes in ((20, ["TOTALS_DIFFER"]), (-20, ["TOTALS_DIFFER"]), (19, []),
                            (-19, [])):
            delivery = self.either()
            plants.append(Plant(delivery, codes, delivery.sent(100) + delivery.seen(80)
                                + without_consent(delivery.sent(20, 100)), total=100 + more))
        told = self.new()
        # Of which its sender reports nothing: totals stand in.
        plants.append(Plant(told, [], told.seen(30) + [told.push(number, OPENED)
                                                       for number in range(7)], total=50))
        return plants
