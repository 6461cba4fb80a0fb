"""What a client's user meets: limits, results, ends. The server is a few lines of grpcio."""

import asyncio
import concurrent.futures
import os
import queue
import threading

import grpc
import pytest
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

import sightline
from sightline.client import MAX_REQUEST_BYTES
from sightline.v1.event_pb2 import TrackingEvent
from sightline.v1.tracking_service_pb2 import StreamEventsRequest, StreamEventsResponse
from sightline.v1.verdict_pb2 import (VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REJECTED,
                                      EventResult)

SECONDS = 20


class Fake(grpc.GenericRpcHandler):
    """Accepts events while `open`; rejects those named bad, and knows those named known."""

    def __init__(self):
        self.open = threading.Event()
        self.open.set()
        self.metadata: list[dict] = []
        self.events: list[TrackingEvent] = []
        self.requests: list[StreamEventsRequest] = []
        self.half_closed = threading.Event()
        self.refusal: list = []
        self.first = StreamEventsResponse()
        pool = concurrent.futures.ThreadPoolExecutor(8)
        self.server = grpc.server(pool, handlers=[self])
        self.target = f"127.0.0.1:{self.server.add_insecure_port('127.0.0.1:0')}"
        self.server.start()

    def service(self, details):
        self.metadata.append(dict(details.invocation_metadata))
        return grpc.stream_stream_rpc_method_handler(
            self.stream, StreamEventsRequest.FromString, StreamEventsResponse.SerializeToString)

    def stream(self, requests, context):
        if self.refusal:
            context.abort_with_status(self.refusal.pop())
        yield self.first
        for request in requests:
            while not self.open.wait(0.02):
                if not context.is_active():
                    return
            self.requests.append(request)
            self.events += request.events
            answer = StreamEventsResponse(durable_sequence=request.sequence)
            for index, event in enumerate(request.events):
                verdict = {"bad": VERDICT_REJECTED, "known": VERDICT_DUPLICATE}.get(event.event_id)
                if verdict:
                    answer.results.append(EventResult(
                        sequence=request.sequence, index=index, event_id=event.event_id,
                        verdict=verdict))
            yield answer
        self.half_closed.set()


@pytest.fixture
def fake():
    server = Fake()
    yield server
    server.server.stop(0)


@pytest.fixture
def connect(fake):
    made = []

    def make(**options):
        made.append(sightline.Client(fake.target, **options))
        return made[-1]

    yield make
    for client in made:
        client.close(0)


def event(identity: str = "e", size: int = 0) -> TrackingEvent:
    return TrackingEvent(event_id=identity, app_id="a" * size)


def test_a_ticket_has_the_verdict_and_a_duplicate_is_a_success(connect):
    client = connect()
    tickets = [client.send(event(name)) for name in ("new", "known", "bad")]
    results = [ticket.result(SECONDS) for ticket in tickets]
    assert [r.verdict for r in results] == [VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REJECTED]
    assert [r.event_id for r in results] == ["new", "known", "bad"]
    assert sightline.raise_for_rejection(results[1]) is results[1]
    with pytest.raises(sightline.EventRejected):
        sightline.raise_for_rejection(results[2])


def test_results_come_in_order_and_a_failing_callback_ends_nothing(connect):
    seen = []

    def hear(result):
        seen.append(result.event_id)
        raise ValueError("of the user")

    client = connect(on_result=hear)
    for number in range(300):
        client.send(event(f"{number}"))
    client.close(SECONDS)
    assert seen == [f"{number}" for number in range(300)]
    assert client.stats().failed_callbacks == 300


def test_who_hears_of_a_verdict_may_send_in_its_room(connect):
    """Also in asyncio, where the one that awaits a ticket wakes while its callback still runs."""
    client = connect(max_pending=2, linger=60)
    outcomes = queue.Queue()

    def send_again(_):
        try:
            outcomes.put(client.try_send(event()))
        except sightline.QueueFull as error:
            outcomes.put(error)

    for _ in range(2):
        client.send(event()).add_done_callback(send_again)
    client.flush(SECONDS)
    assert all(isinstance(outcomes.get(timeout=SECONDS), sightline.Ticket) for _ in range(2))


@pytest.mark.parametrize("options, size", [({"max_pending": 3}, 0),
                                           ({"max_pending_bytes": 3 * 108}, 100)])
def test_at_its_limit_a_client_has_room_for_no_more(fake, connect, options, size):
    fake.open.clear()
    client = connect(**options)
    tickets = [client.send(event("x", size)) for _ in range(3)]
    with pytest.raises(sightline.QueueFull):
        client.try_send(event("x", size))
    with pytest.raises(sightline.QueueFull):
        client.send(event("x", size), timeout=0.01)
    assert client.stats().refused_events == 2
    threading.Timer(0.05, fake.open.set).start()
    client.send(event("x", size), timeout=SECONDS)
    assert all(ticket.result(SECONDS) for ticket in tickets)


def test_an_event_that_fits_no_request_is_refused_before_it_is_taken(connect):
    client = connect()
    room = MAX_REQUEST_BYTES - 16 - 4  # The request's own, and the event's tag and length.
    fits = next(event("", size) for size in range(room, 0, -1)
                if event("", size).ByteSize() <= room)
    client.send(fits).result(SECONDS)
    with pytest.raises(sightline.TooLarge):
        client.send(event("", len(fits.app_id) + 1))
    assert client.stats().pending == 0


def test_flush_tells_what_is_left_and_close_keeps_it(fake, connect):
    fake.open.clear()
    client = connect(linger=60)
    ticket = client.send(event("left"))
    with pytest.raises(sightline.FlushTimeout) as raised:
        client.flush(0.05)
    assert raised.value.report == sightline.FlushReport(0, 1)
    assert client.close(0.05).pending == 1
    assert [e.event_id for e in client.unacknowledged()] == ["left"]
    assert client.close(0.05).pending == 1
    with pytest.raises(sightline.ClientClosed):
        ticket.result(SECONDS)
    with pytest.raises(sightline.ClientClosed):
        client.send(event())


def test_linger_ends_with_flush_and_close_half_closes(fake, connect):
    client = connect(linger=60)
    client.send(event())
    assert client.flush(SECONDS) == sightline.FlushReport(1, 0)
    client.send(event())
    assert client.close(SECONDS) == sightline.FlushReport(1, 0)
    assert fake.half_closed.wait(SECONDS)


def test_batches_are_as_large_as_the_strictest_limit(fake, connect):
    fake.first.limits.max_events = 7
    client = connect(batch=sightline.Limits(events=10), linger=60)
    for _ in range(30):
        client.send(event())
    client.flush(SECONDS)
    # The first goes before the limits are known.
    assert [len(request.events) for request in fake.requests] == [10, 7, 7, 6]
    assert [request.sequence for request in fake.requests] == [1, 2, 3, 4]


def test_a_refused_client_ends_and_keeps_its_events(fake, connect):
    fake.refusal = [rpc_status.to_status(status_pb2.Status(code=16, message="who are you"))]
    client = connect()
    ticket = client.send(event("kept"))
    with pytest.raises(sightline.ClientFailed, match="UNAUTHENTICATED: who are you"):
        ticket.result(SECONDS)
    with pytest.raises(sightline.ClientFailed):
        client.flush(SECONDS)
    assert [e.event_id for e in client.unacknowledged()] == ["kept"]


def test_a_server_that_is_away_is_tried_again(fake, connect):
    fake.refusal = [rpc_status.to_status(status_pb2.Status(code=14, message="later"))] * 2
    client = connect()
    assert client.send(event()).result(SECONDS).verdict == VERDICT_ACCEPTED
    assert client.stats().streams == 3


def test_the_credential_and_the_trace_go_along(fake, connect):
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    client = connect(token=lambda: "key", traceparent=lambda: parent)
    own = event("own")
    own.trace_context.traceparent = parent.replace("b7", "b8")
    client.send(event("of the call"))
    client.send(own)
    client.flush(SECONDS)
    assert fake.metadata[0]["authorization"] == "Bearer key"
    assert [e.trace_context.traceparent for e in fake.events] == [
        parent, own.trace_context.traceparent]


def test_what_a_client_had_spooled_another_one_sends(fake, connect, tmp_path):
    fake.open.clear()
    first = connect(spool=sightline.Spool(tmp_path))
    for number in range(10):
        first.send(event(f"{number}"))
    with pytest.raises(sightline.SpoolLocked):
        sightline.Spool(tmp_path)
    first.close(0.05)
    fake.open.set()
    second = connect(spool=sightline.Spool(tmp_path, sync_sends=True))
    second.send(event("10"))
    assert second.close(SECONDS).pending == 0
    identities = [e.event_id for e in fake.events]
    assert identities[-11:] == [f"{number}" for number in range(11)]
    assert not list(tmp_path.glob("*.spool"))


def test_asyncio_waits_for_room_and_for_verdicts(fake):
    async def run():
        async with sightline.AsyncClient(fake.target, max_pending=5) as client:
            tickets = [await client.send(event(f"{number}")) for number in range(50)]
            results = await asyncio.gather(*tickets)
            await client.flush(SECONDS)
            assert [r.event_id for r in results] == [f"{number}" for number in range(50)]
            fake.open.clear()
            for _ in range(5):
                client.try_send(event())
            with pytest.raises(sightline.QueueFull):
                await client.send(event(), timeout=0.05)
            fake.open.set()

    asyncio.run(run())


RETRY_INFO = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=50_000_000))
EXPIRED = error_details_pb2.ErrorInfo(reason="CREDENTIALS_EXPIRED", domain="sightline.v1")


@pytest.mark.parametrize("code, detail, is_tried_again", [
    (grpc.StatusCode.UNAVAILABLE, RETRY_INFO, True),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, RETRY_INFO, True),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, None, False),
    (grpc.StatusCode.UNAUTHENTICATED, EXPIRED, True),
    (grpc.StatusCode.UNAUTHENTICATED, None, False),
    (grpc.StatusCode.PERMISSION_DENIED, None, False),
    (grpc.StatusCode.INVALID_ARGUMENT, None, False),
    (grpc.StatusCode.INTERNAL, None, True),
])
def test_a_status_is_tried_again_or_ends_the_client(fake, connect, code, detail, is_tried_again):
    """As docs/errors.md says of each reason."""
    status = status_pb2.Status(code=code.value[0], message="no")
    if detail:
        status.details.add().Pack(detail)
    fake.refusal = [rpc_status.to_status(status)]
    ticket = connect().send(event())
    if is_tried_again:
        assert ticket.result(SECONDS).verdict == VERDICT_ACCEPTED
    else:
        with pytest.raises(sightline.ClientFailed, match=code.name):
            ticket.result(SECONDS)


@pytest.mark.parametrize("options, is_taken", [
    ({"batch": sightline.Limits(1, 1, 1)}, True),
    ({"batch": sightline.Limits(0, 1, 1)}, False),
    ({"batch": sightline.Limits(1, 0, 1)}, False),
    ({"batch": sightline.Limits(1, 1, 0)}, False),
    ({"max_pending": 1, "max_pending_bytes": 1}, True),
    ({"max_pending": 0}, False),
    ({"batch": sightline.Limits(request_bytes=MAX_REQUEST_BYTES)}, True),
    ({"batch": sightline.Limits(request_bytes=MAX_REQUEST_BYTES + 1)}, False),
])
def test_a_limit_that_lets_nothing_go_is_refused(connect, options, is_taken):
    if not is_taken:
        with pytest.raises(ValueError):
            connect(**options)
    else:
        assert connect(**options).send(event()).result(SECONDS)


def test_after_a_fork_the_events_stay_the_parents(fake, connect):
    """Whatever the child calls, at once: the threads and locks are the parent's."""
    fake.open.clear()
    client = connect()
    ticket = client.send(event())
    child = os.fork()
    if child == 0:
        refused = 0
        for call in (lambda: client.send(event()), client.flush, client.close):
            try:
                call()
            except sightline.ClientClosed:
                refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    fake.open.set()
    assert ticket.result(SECONDS) and len(fake.events) == 1
