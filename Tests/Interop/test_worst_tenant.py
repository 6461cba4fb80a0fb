"""One tenant does its worst to a bound that all tenants share, and another one loses nothing: each
of its events is acked and none is refused, its hits are in the sinks, and its dead letters, its
rejected events and its counts in the ledger are what they have to be.

Each way in has a server on which the loud tenant (tenant_attacks.py, in a process of its own) can
use up the bound. How long the quiet one's acks take, and how far its sinks are behind, is told;
with SIGHTLINE_WORST_TENANT_STRICT, on a machine that does nothing else, it is held as well. That a
bound without its share is found, `Scripts/planted-bugs` proves.
"""

import concurrent.futures
import contextlib
import itertools
import os
import secrets
import subprocess
import sys
import threading
import time

import pytest

import tenant_attacks
from drained import wait_until_drained
from effects import percentile
from facts import Facts, hit_id
from protos import delivery_service as ds
from protos import delivery_service_grpc
from protos import erasure_service as es
from protos import erasure_service_grpc
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import MANY_CONNECTIONS, Server, query, wait_until
from stream import field
from tenant_attacks import BEGUN, KEY, LOUD, QUIET, WAYS, Way
from test_credentials import KeysFile, bearer
from test_metrics import scrape, values
from test_tap import Reader
from test_webhook import receiver, write  # pylint: disable=unused-import
from webhook_receiver import is_refused

# A server would not start with a variable that is no key of its own.
IS_STRICT = bool(os.environ.pop("SIGHTLINE_WORST_TENANT_STRICT", ""))
# What is held then: acks against those of a quiet server, and the sinks' lag.
MOST_TIMES, MOST_LAG_SECONDS = 5, 5
SAMPLE_SECONDS, WHOLE_SECONDS = 3, 8
CALL_SECONDS, END_SECONDS = 60, 120
# The quiet one's pace, its fewest rounds, and what it also does in one round of so many.
PAUSE_SECONDS, LEAST_ROUNDS = 0.01, 50
LARGE_EVERY, WRONG_EVERY, WHY_EVERY = 10, 2, 3
# Six of these exceed the 16 KiB that limits.bytes_waiting does not count.
LARGE_COUNT, LARGE_BYTES = 6, 4000
KNOWN_EVENTS, KNOWN_WRONG = 200, 30
# Deliveries in a put: in all less than its share.
PUT, MOST_PUT = 10, 500
DELIVERY = "5ec7"
LAG = "sightline_sink_lag_seconds"
SINKS = ("sqlite", "webhook")


class Quiet:
    """The tenant that is held: what it sends, and what has to be there of it."""

    def __init__(self, server: Server, channel, key: str, seed: int):
        self.channel, self.stub = channel, server.stub(channel)
        self.metadata = bearer(key)
        self.facts = Facts(seed, int(time.time()), space=12)
        # The ids of its hits, and its events that are rejected.
        self.ids: set[bytes] = set()
        self.wrong: list[bytes] = []
        # The totals that it has put: by delivery, how many were delivered.
        self.totals: dict[bytes, int] = {}

    def begin(self) -> None:
        """Has something everywhere before the other one comes."""
        self.record([self.event() for _ in range(KNOWN_EVENTS)])
        for _ in range(KNOWN_WRONG):
            self.be_rejected()

    def event(self, size: int = 0) -> e.TrackingEvent:
        """A new event of one hit, whose id it notes."""
        fact = self.facts.track_action()
        kind = next(iter(fact.hits))[-1]
        action = fact.event.track_action
        action.delivery_id = DELIVERY
        self.ids.add(hit_id(kind, "push", QUIET, "standard", fact.event.app_id, DELIVERY,
                            action.broadlog_id, ""))
        if size:
            # A field that the server does not know, and keeps.
            fact.event.MergeFromString(field(1000, bytes(size)))
        return fact.event

    def record(self, events: list[e.TrackingEvent]) -> None:
        """Each is accepted, at the first attempt."""
        tally = self.call(events)
        assert tally.accepted == len(events), tally

    def be_rejected(self) -> None:
        """An event that is rejected, and kept in the quarantine."""
        event = self.facts.invalid().event
        self.wrong.append(event.SerializeToString())
        tally = self.call([event])
        assert tally.rejected == 1, tally

    def call(self, events: list[e.TrackingEvent]) -> s.Tally:
        return self.stub.RecordEvents(s.RecordEventsRequest(events=events), timeout=CALL_SECONDS,
                                      metadata=self.metadata).tally

    def explain(self) -> int:
        """The events of its delivery that were accepted, as the ledger has them."""
        rows = self.stub.ExplainDelivery(
            s.ExplainDeliveryRequest(delivery_id=DELIVERY), metadata=self.metadata,
            timeout=CALL_SECONDS).rows
        return sum(row.events for row in rows
                   if row.delivery_id == DELIVERY and row.verdict == v.VERDICT_ACCEPTED
                   and not row.warning and not row.closed_impression
                   and not row.sent_and_failed)

    def work(self, seconds: float) -> list[float]:
        """Sends single events, and now and then what else it does; milliseconds until each ack."""
        times: list[float] = []
        due = time.monotonic()
        end = due + seconds
        while time.monotonic() < end or len(times) < LEAST_ROUNDS:
            time.sleep(max(0.0, due - time.monotonic()))
            started = time.monotonic()
            self.record([self.event()])
            times.append((time.monotonic() - started) * 1000)
            due = max(due + PAUSE_SECONDS, time.monotonic())
            if len(times) % LARGE_EVERY == 0:
                self.record([self.event(LARGE_BYTES) for _ in range(LARGE_COUNT)])
            if len(times) % WRONG_EVERY == 0:
                self.be_rejected()
            if len(times) % WHY_EVERY == 0:
                self.explain()
        return times

    def read_tap(self, is_over: threading.Event) -> None:
        """Reads the verdicts all the time, and is shown its own."""
        reader = Reader(self.channel, self.metadata)
        is_over.wait()
        wait_until(lambda: reader.events or reader.error, "an event at the tap")
        assert reader.error is None and reader.events, reader.error
        assert {event.tenant for event in reader.events} == {QUIET}
        reader.call.cancel()

    def forget(self, is_over: threading.Event) -> None:
        """Has one recipient after the other forgotten, of whom there is nothing."""
        forget = erasure_service_grpc.ErasureServiceStub(self.channel).ForgetSubject
        while not is_over.wait(0.1):
            places = forget(
                es.ForgetSubjectRequest(subject_id=f"quiet-{secrets.token_hex(8)}"),
                metadata=self.metadata, timeout=CALL_SECONDS).places
            assert all(place.outcome != es.ERASURE_OUTCOME_FAILED for place in places), places

    def put(self, is_over: threading.Event) -> None:
        """Puts totals, new ones and others again, and each is stored."""
        stub = delivery_service_grpc.DeliveryServiceStub(self.channel)
        for number in itertools.count():
            if is_over.wait(0.1):
                return
            totals = {b"%d" % ((number * PUT + index) % MOST_PUT): number for index in range(PUT)}
            answer = stub.PutDeliveries(
                ds.PutDeliveriesRequest(deliveries=[
                    ds.DeliveryTotals(delivery_id=delivery, platforms=[
                        ds.PlatformTotals(delivered=delivered)])
                    for delivery, delivered in totals.items()]),
                metadata=self.metadata, timeout=CALL_SECONDS)
            assert answer.stored_count == PUT and not answer.rejected, answer
            self.totals |= totals

    def rest(self, is_over: threading.Event) -> None:
        """Most ways are held by `work` alone."""


# What the quiet one does beside its work.
BESIDE = {"tap": Quiet.read_tap, "ForgetSubject": Quiet.forget, "PutDeliveries": Quiet.put}


@contextlib.contextmanager
def attack(server: Server, name: str, key: str, seconds: float):
    """The loud tenant's process, once it has begun; ends when the attack has."""
    process = subprocess.Popen(
        [sys.executable, tenant_attacks.__file__, name, server.target, str(seconds)],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=os.environ | {KEY: key})
    try:
        assert process.stdout.readline().strip() == BEGUN, "the attack did not begin"
        yield process
    finally:
        process.kill()
        process.wait(timeout=CALL_SECONDS)


def most_lag(server: Server, is_over: threading.Event) -> float:
    """The longest that a group has waited for a sink, in seconds."""
    most = 0.0
    while not is_over.wait(0.25):
        # A page that is late tells nothing.
        with contextlib.suppress(OSError):
            most = max([most, *(value for name, value in values(scrape(server)[0]).items()
                                if name.startswith(LAG))])
    return most


def start(make_server, receiver, keys: KeysFile, way: Way) -> Server:
    """A server with the way's bounds; its webhook gets the quiet one's hits, and those of the loud
    one where its receiver is to refuse them."""
    if way.is_unwanted:
        write(receiver.folder / "unwanted", LOUD)
    chosen = "" if way.is_unwanted else f", filter: {{tenant: {QUIET}}}"
    return make_server(
        f"--set=sinks=[{{type: sqlite}}, {{type: webhook{chosen}}}]", *receiver.options[1:],
        "--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}", MANY_CONNECTIONS,
        *way.settings).start()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", WAYS)
def test_a_tenant_at_its_worst_takes_nothing_from_another(
        make_server, receiver, tmp_path, figure, amount, seed, name):
    keys = KeysFile(tmp_path / "keys.jsonl")
    quiet_key, loud_key = (keys.new(tenant, "--scopes", "tap,erase,deliveries") for tenant in (QUIET, LOUD))
    server = start(make_server, receiver, keys, WAYS[name])
    seconds, is_over = amount(SAMPLE_SECONDS, WHOLE_SECONDS), threading.Event()
    with server.channel() as channel, concurrent.futures.ThreadPoolExecutor(2) as pool:
        quiet = Quiet(server, channel, quiet_key, seed)
        quiet.begin()
        alone = quiet.work(seconds)
        with attack(server, name, loud_key, seconds) as process:
            lag = pool.submit(most_lag, server, is_over)
            beside = pool.submit(BESIDE.get(name, Quiet.rest), quiet, is_over)
            try:
                attacked = quiet.work(seconds)
            finally:
                is_over.set()
            beside.result(timeout=END_SECONDS)
            output, _ = process.communicate(timeout=END_SECONDS)
        assert process.returncode == 0 and int(output) > 0, "the attack failed"
        check(server, receiver, quiet)
    quiet_p99, attacked_p99 = percentile(alone), percentile(attacked)
    figure(f"worst tenant: {name}: {int(output):,} times in {seconds} s; ack p99 {quiet_p99:.1f} ms"
           f" quiet, {attacked_p99:.1f} ms attacked ({attacked_p99 / quiet_p99:.1f}x of"
           f" {len(attacked)}); sinks {lag.result():.1f} s behind at most")
    if IS_STRICT:
        assert attacked_p99 <= MOST_TIMES * quiet_p99
        assert lag.result() < MOST_LAG_SECONDS


def check(server: Server, receiver, quiet: Quiet) -> None:
    """All that the quiet tenant has sent is where it belongs, once, and nothing else is."""
    wait_until_drained(server, *SINKS)
    wait_until(lambda: len(rejected(server)) >= len(quiet.wrong), "its rejected events to be kept")
    assert sorted(rejected(server)) == sorted(quiet.wrong)
    assert quiet.explain() == len(quiet.ids), "the ledger has other counts"
    hits = of_quiet(server, "hits.db", "hit_id", "hits")
    assert len(hits) == len(quiet.ids) and set(hits) == quiet.ids
    assert receiver.ids("taken").keys() | receiver.ids("refused").keys() == quiet.ids
    letters = of_quiet(server, "dead_letters.db", "hit_id", "dead_letters")
    owed = {identity for identity in quiet.ids if is_refused(identity)}
    assert len(letters) == len(owed) > 0 and set(letters) == owed
    totals = query(server.directory / "deliveries.db",
                   "SELECT id, delivered FROM platforms WHERE tenant = ?", QUIET.encode())
    assert {bytes(delivery): delivered for delivery, delivered in totals} == quiet.totals
    assert server.terminate() == 0, server.log()
    for name in ("faults", "unverified"):
        assert not receiver.noted(name), receiver.noted(name)[:3]


def rejected(server: Server) -> list[bytes]:
    """The quiet tenant's events in the quarantine."""
    return of_quiet(server, "quarantine.db", "event", "events")


def of_quiet(server: Server, file: str, column: str, table: str) -> list[bytes]:
    """What a file of the server has of the quiet tenant."""
    rows = query(server.directory / file, f"SELECT {column} FROM {table} WHERE tenant = ?", QUIET)
    return [bytes(row[0]) for row in rows]
