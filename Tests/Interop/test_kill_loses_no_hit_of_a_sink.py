"""kill -9 under load with three sinks, each with a filter of its own: in the end each one has the
hits that pass its filter, and no other.

Which those are is worked out here from the facts, without any code of the server.
"""

import base64
import collections
import json
import random
import time

import pytest

import judge
import test_kill_loses_no_ack
from drained import wait_until_drained
from facts import Fact, Facts
from protos import event as e
from test_kill_loses_no_ack import kill_under_load, resend_all
from test_several_sinks import line_ids

ROUNDS, WHOLE = 4, 50
STREAMS = 4
APPS = ["com.example.shop", "com.example.bank"]
# Of pushes and their sends, track actions and in-app messages, some of each.
DELIVERIES = [*(f"{number:x}c" for number in range(0, 97, 2)),
              *(f"{number:x}d" for number in range(0, 89, 3)),
              *(f"message-{number}" for number in range(0, 50, 3))]
FILTERS = {
    "sqlite": {"tenant": "default", "not": {"platform": "ios"}},
    "jsonl": {"kind": ["click", "open", "send_failed"], "app": APPS[0],
              "not": {"tenant": ["test", "staging"]}},
    "nats": {"delivery": DELIVERIES, "platform": ["ios", "android"],
             "not": {"product": "classic", "action": [7],
                     "kind": ["in_app_dismissal", "send_skipped"]}},
}


class AppFacts(Facts):
    """Facts of two apps."""

    def _event(self, number: int, platform: int) -> e.TrackingEvent:
        event = super()._event(number, platform)
        event.app_id = APPS[number % 2]
        return event


class Client(test_kill_loses_no_ack.Client):
    """A client that knows which of its hits are for which sink."""

    def __init__(self, number: int, seed: int):
        super().__init__(number, seed)
        self.facts = AppFacts(seed + number, int(time.time()), space=number + 1)
        self.wanted: dict[str, set[bytes]] = {sink: set() for sink in FILTERS}

    def batches(self):
        for batch in super().batches():
            hits = [hit for fact in batch.facts for hit in fields(fact).items()]
            for sink, wanted in FILTERS.items():
                self.wanted[sink].update(
                    identity for identity, hit in hits if passes(hit, wanted))
            yield batch


def fields(fact: Fact) -> dict[bytes, dict]:
    """What a filter may name of each hit of a fact."""
    return {identity: {"tenant": tenant, "app": app, "product": product(fact.event),
                       "platform": platform, "kind": kind, "action": action, "delivery": delivery}
            for identity, (kind, action, delivery, _, app, platform, _, _, tenant)
            in fact.hits.items()}


def product(event: e.TrackingEvent) -> str:
    """Whose delivery it was."""
    if event.HasField("in_app"):
        return "firebase"
    part = getattr(event, event.WhichOneof("interaction"))
    return "classic" if part.product == e.CAMPAIGN_PRODUCT_CLASSIC else "standard"


def passes(hit: dict, wanted: dict) -> bool:
    """Whether a hit has a value of each field that is named, and none of those under `not`."""
    def has(field: str, choice) -> bool:
        return hit[field] in (choice if isinstance(choice, list) else [choice])
    only = {field: choice for field, choice in wanted.items() if field != "not"}
    return (all(has(*pair) for pair in only.items())
            and not any(has(*pair) for pair in wanted.get("not", {}).items()))


def check(sink: str, stored: collections.Counter, clients, figure, may_repeat: bool) -> None:
    """A sink has what it is owed of its filter's hits, and nothing that nobody sent or that its
    filter leaves out."""
    every = set().union(*(client.owed for client in clients))
    wanted = set().union(*(client.wanted[sink] for client in clients))
    owed = every & wanted
    # A filter that passes nearly all or nearly nothing would prove little.
    assert len(every) / 20 < len(owed) < len(every) * 19 / 20
    sent = set().union(*(client.sent for client in clients))
    lost = owed - stored.keys()
    left_out, strange = stored.keys() & sent - wanted, stored.keys() - sent
    twice = [identity for identity, number in stored.items() if number > 1]
    repeats = sum(stored.values()) - len(stored)
    figure(f"{sink}: {len(owed):,} hits owed of {len(every):,}, {len(lost)} lost, {len(twice)}"
           f" twice ({repeats} repeats), {len(left_out)} that its filter leaves out,"
           f" {len(strange)} never sent")
    for hits, what in ((lost, "are lost"), (left_out, "are there against the filter"),
                       (strange, "are there that nobody sent"),
                       ([] if may_repeat else twice, "are there twice")):
        assert not hits, f"{sink}: {len(hits)} hits {what}, e.g. {next(iter(hits)).hex()}"


@pytest.mark.timeout(3600)
def test_each_sink_has_its_filters_hits_after_kills(make_server, jetstream, figure, amount, seed):
    """sqlite and nats have each hit once, jsonl each at least once: its lines may repeat after a
    kill, with the same id."""
    rounds = amount(ROUNDS, WHOLE)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    sinks = json.dumps([{"type": sink, "filter": wanted} for sink, wanted in FILTERS.items()])
    server = make_server(f"--set=sinks={sinks}", f"--set=nats.servers={jetstream.url}")
    for number in range(rounds):
        kill_under_load(server, clients, moments, f"round {number}, seed {seed}")
    resend_all(server, clients)
    wait_until_drained(server, *FILTERS)
    assert server.terminate() == 0, server.log()
    figure(f"three sinks with filters after {rounds} kills:")
    rows = collections.Counter(bytes(row[0]) for row in server.query("SELECT hit_id FROM hits"))
    lines = collections.Counter(base64.b64decode(identity) for identity in line_ids(server))
    check("sqlite", rows, clients, figure, may_repeat=False)
    check("jsonl", lines, clients, figure, may_repeat=True)
    check("nats", judge.times(judge.read(jetstream.url)), clients, figure, may_repeat=False)
