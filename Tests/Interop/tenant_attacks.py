"""What one tenant does at its worst to each bound that all tenants share.

`python tenant_attacks.py WAY HOST:PORT SECONDS` attacks with the API key in the environment's
LOUD_KEY. It prints `begun` once all is in place, and in the end how often it did it.
"""

import concurrent.futures
import contextlib
import dataclasses
import itertools
import os
import sys
import time
from collections.abc import Callable

import grpc

from attacks import KIB, MIB, Flow, raise_limit
from peer import Peer
from protos import delivery_service as ds
from protos import delivery_service_grpc
from protos import erasure_service as es
from protos import erasure_service_grpc
from protos import event as e
from protos import service as s
from protos import service_grpc
from protos import tap as t
from protos import tap_grpc
from stream import METHOD, field

QUIET, LOUD = "quiet", "loud"
KEY = "LOUD_KEY"
BEGUN = "begun"
BEGIN_SECONDS, CALL_SECONDS = 60, 60
STREAMS, EVENTS, DELIVERIES = 4, 500, 10_000
# What stands for a number in the bytes of an event, as many digits; and for one of the deliveries,
# which no number has among its digits.
NUMBER, DELIVERY = b"0" * 12, b"/////"
FIRST_NUMBER, FIRST_DELIVERY = 1 << 44, 1 << 16
# A message over 16 KiB counts in limits.bytes_waiting. Those of a small rest leave no room for one.
UNFINISHED = [600 * KIB, 200 * KIB, 80 * KIB, 40 * KIB, 24 * KIB, 18 * KIB]
NO_WINDOW = {4: 0}
# More than dead_letters.max_rows of that way.
REFUSED_REQUESTS = 10
FORGOTTEN = 100
# Deliveries in a put, and the puts that differ: three times as many deliveries as are kept.
PUT, PUTS = 1000, 6


class Loud:
    """Who attacks, and for how long."""

    def __init__(self, target: str, seconds: float):
        self.target, self.seconds = target, seconds
        self.metadata = [("authorization", f"Bearer {os.environ[KEY]}")]
        self.until = time.monotonic() + BEGIN_SECONDS

    def begin(self) -> None:
        """All is in place: the time of the attack begins."""
        self.until = time.monotonic() + self.seconds
        print(BEGUN, flush=True)

    @property
    def goes_on(self) -> bool:
        return time.monotonic() < self.until

    def channel(self) -> grpc.Channel:
        """A connection of its own."""
        return grpc.insecure_channel(self.target, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])

    def again(self, call: Callable[[int], object], at_once: int) -> int:
        """Calls so many at once, again and again, whatever is refused."""
        numbers = itertools.count()

        def again_and_again() -> int:
            count = 0
            while self.goes_on:
                with contextlib.suppress(grpc.RpcError):
                    call(next(numbers))
                count += 1
            return count
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            return sum(call.result() for call in [
                pool.submit(again_and_again) for _ in range(at_once)])


def action(app: str = "com.example.shop", delivery: str = "5ec8",
           subject: str = "loud") -> e.TrackingEvent:
    """An event with a number in its ids."""
    number = NUMBER.decode()
    event = e.TrackingEvent(event_id=f"e{number}", app_id=app, platform=e.PLATFORM_ANDROID,
                            subject_id=subject, consent=e.CONSENT_OPTED_IN)
    event.track_action.delivery_id, event.track_action.broadlog_id = delivery, f"h{number}"
    event.track_action.action = e.ACTION_IMPRESSION
    return event


class Maker:
    """Makes events that nobody has sent, as bytes: to encode each would be slower than to serve
    it."""

    def __init__(self, event: e.TrackingEvent, space: int = 0):
        self.event = event.SerializeToString()
        self.has_deliveries = DELIVERY in self.event
        self.numbers = itertools.count(FIRST_NUMBER + (space << 36))

    def batch(self, number: int, count: int = EVENTS) -> bytes:
        """The next events, as fields of a request with this number."""
        # All are equally long.
        parts = field(number, self.event).split(NUMBER)
        return b"".join(self.one(parts, next(self.numbers)) for _ in range(count))

    def one(self, parts: list[bytes], number: int) -> bytes:
        made = (b"%012x" % number).join(parts)
        if not self.has_deliveries:
            return made
        return made.replace(DELIVERY, b"%05x" % (FIRST_DELIVERY + number % DELIVERIES))


# MARK: Ways in. Each returns how often it was gone.


def floods(event: e.TrackingEvent) -> Callable[[Loud], int]:
    """Four streams with 500 new events in a request, as fast as they are taken."""
    def run(loud: Loud) -> int:
        loud.begin()
        with concurrent.futures.ThreadPoolExecutor(STREAMS) as pool:
            return sum(pool.map(lambda space: flood(loud, Maker(event, space)), range(STREAMS)))
    return run


def flood(loud: Loud, maker: Maker) -> int:
    """The events of one stream that are answered."""
    def requests():
        for sequence in itertools.count(1):
            if not loud.goes_on:
                return
            yield s.StreamEventsRequest(sequence=sequence).SerializeToString() + maker.batch(2)

    count = 0
    with loud.channel() as channel:
        stream = channel.stream_stream(METHOD, request_serializer=None,
                                       response_deserializer=s.StreamEventsResponse.FromString)
        while loud.goes_on:
            try:
                for answer in stream(requests(), metadata=loud.metadata, timeout=CALL_SECONDS):
                    tally = answer.tally
                    count += tally.accepted + tally.duplicate + tally.rejected
            except grpc.RpcError:
                time.sleep(0.05)
    return count


def record(channel: grpc.Channel) -> Callable:
    """RecordEvents with a request's bytes."""
    return channel.unary_unary("/sightline.v1.TrackingService/RecordEvents",
                               request_serializer=None,
                               response_deserializer=s.RecordEventsResponse.FromString)


def calls(loud: Loud) -> int:
    """Unary calls of 100 new events, 60 at once on two connections."""
    maker = Maker(action())
    loud.begin()
    with loud.channel() as one, loud.channel() as other:
        stubs = [record(one), record(other)]
        return loud.again(lambda number: stubs[number % 2](
            maker.batch(1, 100), metadata=loud.metadata, timeout=CALL_SECONDS), 60)


class Unfinished:
    """A connection with messages that never end."""

    def __init__(self, loud: Loud, peer: Peer):
        self.loud, self.peer = loud, peer
        self.flow, self.streams = Flow(peer, loud.until), itertools.count(1, 2)
        self.answered = 0

    def fill(self, sizes: list[int]) -> int:
        """Begins messages of each size until one is refused; how many are held."""
        count = 0
        for size in sizes:
            is_held = True
            while is_held and self.loud.goes_on and not self.peer.ended:
                stream = next(self.streams)
                self.peer.send(self.peer.headers(stream, "RecordEvents", *self.loud.metadata))
                self.flow.until = self.loud.until
                self.flow.send(stream, (MIB - 16).to_bytes(5, "big") + bytes(size))
                is_held = not self.is_refused()
                count += is_held
        return count

    def is_refused(self) -> bool:
        """Whether one more call was answered: this one, or a former one whose answer was late."""
        with contextlib.suppress(AssertionError):
            self.peer.wait(lambda _: self.count_answers() > self.answered, 0.1)
        before, self.answered = self.answered, self.count_answers()
        return self.answered > before

    def count_answers(self) -> int:
        return sum("grpc-status" in getattr(frame, "fields", {}) for frame in self.peer.frames)


def unfinished_messages(loud: Loud) -> int:
    """Messages that never end, until there is no room for another one."""
    count, is_begun = 0, False
    while loud.goes_on:
        # Until their streams are used up, or the server has closed them; then others.
        with contextlib.ExitStack() as stack:
            peers = [stack.enter_context(Peer(loud.target)) for _ in range(3)]
            connections = [Unfinished(loud, peer) for peer in peers]
            count += sum(connection.fill(UNFINISHED) for connection in connections)
            if not is_begun:
                loud.begin()
                is_begun = True
            while loud.goes_on and not all(peer.ended for peer in peers):
                count += sum(connection.fill(UNFINISHED[-2:]) for connection in connections)
                time.sleep(0.1)
    return count


def many_results(number: int) -> bytes:
    """A message of 4 KB, all of whose events are refused, with words."""
    request = s.StreamEventsRequest(sequence=number).SerializeToString() + b"\x12\0" * 2000
    return len(request).to_bytes(5, "big") + request


def unread_answers(loud: Loud) -> int:
    """Streams on which all is refused with words, and that read no answer."""
    with contextlib.ExitStack() as stack:
        streams, count = range(1, 49, 2), 0
        for _ in range(3):
            peer = stack.enter_context(Peer(loud.target, NO_WINDOW))
            peer.send(*[peer.headers(stream, "StreamEvents", *loud.metadata)
                        for stream in streams])
            flow = Flow(peer, loud.until)
            for number in range(1, 9):
                message = many_results(number)
                count += sum(flow.send(stream, message) for stream in streams)
        loud.begin()
        while loud.goes_on:
            time.sleep(0.1)
    return count


def tap_readers(loud: Loud) -> int:
    """As many readers as a tenant may have, who never read, others that ask again and again, and
    events to be shown."""
    with loud.channel() as channel, loud.channel() as other, \
            concurrent.futures.ThreadPoolExecutor(1) as pool:
        def read(stub):
            reader = stub.Tap(t.TapRequest(), metadata=loud.metadata, timeout=10 * CALL_SECONDS)
            next(reader)
            return reader

        readers = [read(tap_grpc.TapServiceStub(channel)) for _ in range(2)]
        loud.begin()
        flooding = pool.submit(flood, loud, Maker(action()))
        stub = tap_grpc.TapServiceStub(other)
        count = loud.again(lambda _: read(stub).cancel(), 8)
        flooding.result()
        for reader in readers:
            reader.cancel()
    return count


def explanations(loud: Loud) -> int:
    """More ExplainEvents at once than may wait."""
    request = s.ExplainEventsRequest(events=[action() for _ in range(100)])
    loud.begin()
    with loud.channel() as channel:
        explain = service_grpc.TrackingServiceStub(channel).ExplainEvents
        return loud.again(
            lambda _: explain(request, metadata=loud.metadata, timeout=CALL_SECONDS), 60)


def forgettings(loud: Loud) -> int:
    """More subjects than a tenant may forget, and more of them at once; some have many hits."""
    subjects = [f"loud-{number}" for number in range(FORGOTTEN)]
    with loud.channel() as channel:
        for number in range(20):
            record(channel)(Maker(action(subject=subjects[number]), number).batch(1),
                            metadata=loud.metadata, timeout=CALL_SECONDS)
        forget = erasure_service_grpc.ErasureServiceStub(channel).ForgetSubject
        loud.begin()

        def forget_one(number: int) -> None:
            # Those that are forgotten may be so again: no bound ends that.
            subject = f"loud-{FORGOTTEN + number}"
            if number % 2:
                subject = subjects[number // 2 % FORGOTTEN]
            forget(es.ForgetSubjectRequest(subject_id=subject), metadata=loud.metadata,
                   timeout=CALL_SECONDS)
        return loud.again(forget_one, 8)


def puts(loud: Loud) -> int:
    """More deliveries than are kept, each with all that it may have: some replace what is there, and
    the others find no room."""
    requests = [ds.PutDeliveriesRequest(deliveries=[ds.DeliveryTotals(
        delivery_id=f"{number}-{index:0240}", name="n" * 256, platforms=[
            ds.PlatformTotals(platform=platform, sent=2, delivered=1, failed=1)
            for platform in range(3)]) for index in range(PUT)]) for number in range(PUTS)]
    with loud.channel() as channel:
        put = delivery_service_grpc.DeliveryServiceStub(channel).PutDeliveries

        def put_one(number: int) -> None:
            put(requests[number % PUTS], metadata=loud.metadata, timeout=CALL_SECONDS)
        for number in range(PUTS):
            put_one(number)
        loud.begin()
        return loud.again(put_one, 8)


def refused_hits(loud: Loud) -> int:
    """Hits that the receiver refuses, one request after the other over all the time."""
    maker = Maker(action())
    with loud.channel() as channel:
        loud.begin()
        for _ in range(REFUSED_REQUESTS):
            record(channel)(maker.batch(1), metadata=loud.metadata, timeout=CALL_SECONDS)
            time.sleep(loud.seconds / REFUSED_REQUESTS)
    return REFUSED_REQUESTS * EVENTS


@dataclasses.dataclass(frozen=True)
class Way:
    """What the loud tenant does, and a server on which it can use up the bound."""

    run: Callable[[Loud], int]
    settings: tuple[str, ...] = ()
    # Whether the webhook gets the loud one's hits too, and its receiver refuses them.
    is_unwanted: bool = False


WAYS = {
    "streams": Way(floods(action())),
    "calls": Way(calls),
    "unfinished messages": Way(
        unfinished_messages, (f"--set=limits.bytes_waiting={4 * MIB}",)),
    "unread answers": Way(unread_answers, (f"--set=limits.bytes_in_flight={16 * MIB}",)),
    "tap": Way(tap_readers, ("--set=tap.max_readers=2",)),
    "ExplainEvents": Way(explanations, ("--set=limits.waiting_calls=8",)),
    "ForgetSubject": Way(forgettings, (f"--set=privacy.max_forgotten={3 * FORGOTTEN}",)),
    "PutDeliveries": Way(puts, (f"--set=deliveries.max_rows={PUTS * PUT // 3}",)),
    "dead letters": Way(refused_hits, ("--set=dead_letters.max_rows=1000",), is_unwanted=True),
    "quarantine": Way(floods(action(delivery="a/b?c")), (
        f"--set=quarantine.max_bytes={4 * MIB}", f"--set=quarantine.queue_bytes={64 * KIB}")),
    "new ids": Way(
        floods(action(f"com.example.{NUMBER.decode()}", NUMBER.decode(),
                      f"loud-{NUMBER.decode()}")),
        ("--set=journal.recent_hits=65536", "--set=ledger.max_rows=2000")),
    "deliveries": Way(
        floods(action(delivery=DELIVERY.decode())), ("--set=ledger.max_rows=5000",)),
}


if __name__ == "__main__":
    raise_limit()
    print(WAYS[sys.argv[1]].run(Loud(sys.argv[2], float(sys.argv[3]))))
