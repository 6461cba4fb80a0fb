"""What a client's user meets: limits, results, callbacks. test_ends.py has how streams end."""

import asyncio
import errno
import os
import queue
import threading

import pytest

import sightline
from fake import SECONDS, event
from sightline import client as client_module
from sightline.client import CALLBACK_SECONDS, MAX_REQUEST_BYTES
from sightline.v1.verdict_pb2 import VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REJECTED
from test_spool import abandon


def test_a_ticket_has_the_verdict_and_a_duplicate_is_a_success(connect):
    client = connect()
    tickets = [client.send(event(name)) for name in ("new", "known", "bad")]
    results = [ticket.result(SECONDS) for ticket in tickets]
    assert [r.verdict for r in results] == [VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REJECTED]
    assert [r.event_id for r in results] == ["new", "known", "bad"]
    assert sightline.raise_for_rejection(results[1]) is results[1]
    with pytest.raises(sightline.EventRejected):
        sightline.raise_for_rejection(results[2])


@pytest.mark.parametrize("error", [ValueError, SystemExit, asyncio.CancelledError])
def test_results_come_in_order_and_a_failing_callback_ends_nothing(connect, error):
    seen = []

    def hear(result):
        seen.append(result.event_id)
        raise error("of the user")

    client = connect(on_result=hear)
    for number in range(300):
        client.send(event(f"{number}"))
    client.close(SECONDS)
    assert seen == [f"{number}" for number in range(300)]
    assert client.stats().failed_callbacks == 300


@pytest.mark.parametrize("error", [ValueError, SystemExit, asyncio.CancelledError])
@pytest.mark.parametrize("is_settled", [True, False])
def test_a_done_callback_that_fails_is_logged_whenever_it_is_added(fake, connect, caplog, error,
                                                                   is_settled):
    """Before the verdict as after it: counted, and never raised into the caller."""
    heard = threading.Event()

    def fail(told):
        heard.set()
        raise error(f"of {told is ticket}")

    if not is_settled:
        fake.open.clear()
    client = connect()
    ticket = client.send(event())
    if is_settled:
        assert ticket.result(SECONDS)
    ticket.add_done_callback(fail)
    fake.open.set()
    assert heard.wait(SECONDS)
    client.close(SECONDS)
    ticket.add_done_callback(fail)
    assert client.stats().failed_callbacks == 2
    assert caplog.text.count("a callback failed") == 2 and caplog.text.count("of True") == 2


def test_a_done_callback_of_a_ticket_that_failed_is_called_at_once(fake, connect):
    fake.open.clear()
    client = connect()
    ticket = client.send(event())
    with pytest.raises(sightline.EventsLost):
        client.close(0.05)
    told = []
    ticket.add_done_callback(told.append)
    assert told == [ticket]


def test_an_interrupt_of_the_main_thread_is_its_own(connect):
    """Ctrl-C while a callback runs there."""
    client = connect()
    ticket = client.send(event())
    assert ticket.result(SECONDS)

    def interrupt(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ticket.add_done_callback(interrupt)
    assert client.stats().failed_callbacks == 0


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


@pytest.mark.parametrize("options", [{"max_pending": 3}, {"max_pending_bytes": 3 * 108}])
def test_what_waits_for_a_slow_callback_takes_room_too(connect, options):
    is_called, may_return = threading.Event(), threading.Event()

    def hear(_):
        is_called.set()
        may_return.wait(SECONDS)

    client = connect(on_result=hear, **options)
    try:
        for _ in range(3):
            client.send(event("x", 100))
        client.flush(SECONDS)
        assert is_called.wait(SECONDS)
        # The one whose callback runs has left its room.
        client.try_send(event("x", 100))
        client.flush(SECONDS)
        with pytest.raises(sightline.QueueFull):
            client.try_send(event("x", 100))
    finally:
        may_return.set()
    # All of it comes back.
    assert client.close(SECONDS).pending == 0
    assert client._session._undelivered_bytes == 0


@pytest.mark.parametrize("seconds, waits, longest", [
    (0, CALLBACK_SECONDS, CALLBACK_SECONDS), (3600, 3000, 3600), (None, None, None)])
def test_close_gives_callbacks_what_is_left_of_its_time(connect, seconds, waits, longest):
    told, may_return, waited = [], threading.Event(), []

    def hear(result):
        may_return.wait(SECONDS)
        told.append(result.event_id)

    client = connect(on_result=hear)

    def join(seconds):
        waited.append(seconds)
        may_return.set()
        threading.Thread.join(client._session.caller, SECONDS)

    client._session.caller.join = join
    for number in range(3):
        client.send(event(f"{number}"))
    client.flush(SECONDS)
    client.close(seconds)
    assert told == ["0", "1", "2"]
    if waits is None:
        assert waited == [None]
    else:
        assert waits <= waited[0] <= longest


def test_close_says_which_callbacks_it_does_not_wait_for(connect, caplog, monkeypatch):
    is_called, may_return = threading.Event(), threading.Event()

    def hear(_):
        is_called.set()
        may_return.wait(SECONDS)

    client = connect(on_result=hear)
    try:
        for _ in range(3):
            client.send(event())
        client.flush(SECONDS)
        assert is_called.wait(SECONDS)
        with monkeypatch.context() as patch:
            patch.setattr(client_module, "CALLBACK_SECONDS", 0)
            client.close(0)
    finally:
        may_return.set()
    assert "a callback has not returned, and 2 results wait for theirs" in caplog.text


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
    with pytest.raises(sightline.EventsLost) as lost:
        client.close(0.05)
    assert lost.value.report == sightline.FlushReport(0, 1)
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
    # No stream begins meanwhile: its limits could come before ten are there.
    with client._session.lock:
        for _ in range(30):
            client.send(event())
    client.flush(SECONDS)
    # The first goes before the limits are known.
    assert [len(request.events) for request in fake.requests] == [10, 7, 7, 6]
    assert [request.sequence for request in fake.requests] == [1, 2, 3, 4]


def test_an_answer_of_more_than_4_mib_is_read(fake, connect):
    fake.words = "a" * (5 << 20)
    client = connect()
    result = client.send(event("bad")).result(SECONDS)
    assert result.violations[0].description == fake.words
    assert client.stats().streams == 1


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


def test_a_client_sends_what_a_worker_that_is_gone_has_spooled(fake, connect, tmp_path):
    gone = sightline.Spool(tmp_path / "gone")
    gone.append(event("of the worker").SerializeToString())
    abandon(gone)
    client = connect(spool=sightline.Spool(tmp_path / "own", adopt_siblings=True))
    assert client.flush(SECONDS).pending == 0
    assert [e.event_id for e in fake.events] == ["of the worker"]


def test_a_spool_whose_disk_fails_holds_no_verdict_back(connect, tmp_path, monkeypatch):
    client = connect(spool=sightline.Spool(tmp_path), linger=0)

    def fail(file, size):
        raise OSError(errno.EIO, "it fails")

    with monkeypatch.context() as patched:
        patched.setattr(os, "ftruncate", fail)
        ticket = client.send(event())
        assert ticket.result(SECONDS).verdict == VERDICT_ACCEPTED
        assert client.flush(SECONDS).pending == 0
    with pytest.raises(OSError, match="it fails"):
        client.send(event())


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


class Disk:
    """Syncs files once it may, or fails."""

    def __init__(self, monkeypatch):
        self.may_sync, self.failure, self.sync = threading.Event(), None, os.fdatasync
        self.syncs = 0
        monkeypatch.setattr(os, "fdatasync", self.fdatasync)

    def fdatasync(self, file):
        if not self.may_sync.wait(SECONDS):
            raise OSError(errno.ETIMEDOUT, "the test does not go on")
        self.syncs += 1
        if self.failure:
            raise self.failure
        self.sync(file)


async def turns(count=50):
    """Lets the loop go round."""
    for _ in range(count):
        await asyncio.sleep(0.001)


@pytest.mark.parametrize("segment_bytes", [4 << 20, 1])
def test_asyncio_goes_on_while_the_disk_syncs(fake, tmp_path, monkeypatch, segment_bytes):
    """A `send` has returned once its event is synced; many share a sync. A new file is begun once
    the last one is synced."""
    disk = Disk(monkeypatch)
    spool = sightline.Spool(tmp_path, sync_sends=True, segment_bytes=segment_bytes)

    async def run():
        client = sightline.AsyncClient(fake.target, spool=spool)
        sends = [asyncio.create_task(client.send(event(f"{number}"))) for number in range(20)]
        await turns()
        assert not any(send.done() for send in sends)
        assert not disk.may_sync.is_set() and disk.syncs == 0
        disk.may_sync.set()
        tickets = await asyncio.gather(*sends)
        results = await asyncio.gather(*tickets)
        assert [result.event_id for result in results] == [f"{number}" for number in range(20)]
        if segment_bytes > 1:
            assert disk.syncs < 20
        assert (await client.close(SECONDS)).pending == 0

    try:
        asyncio.run(run())
    finally:
        disk.may_sync.set()
    assert [e.event_id for e in fake.events] == [f"{number}" for number in range(20)]


def test_asyncio_goes_on_while_a_full_file_is_synced(fake, tmp_path, monkeypatch):
    """Also where sends are not."""
    disk = Disk(monkeypatch)

    async def run():
        async with sightline.AsyncClient(
                fake.target, spool=sightline.Spool(tmp_path, segment_bytes=1)) as client:
            await client.send(event("first"))
            send = asyncio.create_task(client.send(event("second")))
            await turns()
            assert not send.done() and disk.syncs == 0
            disk.may_sync.set()
            assert await (await send)

    try:
        asyncio.run(run())
    finally:
        disk.may_sync.set()


def test_asyncio_does_not_wait_for_the_disk_in_try_send(fake, tmp_path, monkeypatch):
    """It has to return at once. What `send` returns from later is synced with it."""
    disk = Disk(monkeypatch)

    async def run():
        client = sightline.AsyncClient(
            fake.target, spool=sightline.Spool(tmp_path, sync_sends=True))
        ticket = client.try_send(event("first"))
        assert disk.syncs == 0
        send = asyncio.create_task(client.send(event("second")))
        await turns()
        assert not send.done()
        disk.may_sync.set()
        assert await ticket and await (await send)
        await client.close(SECONDS)

    try:
        asyncio.run(run())
    finally:
        disk.may_sync.set()


def test_asyncio_is_told_that_the_disk_fails(fake, tmp_path, monkeypatch):
    disk = Disk(monkeypatch)
    disk.failure = OSError(errno.EIO, "it fails")

    async def run():
        client = sightline.AsyncClient(
            fake.target, spool=sightline.Spool(tmp_path, sync_sends=True))
        sends = [asyncio.create_task(client.send(event())) for _ in range(3)]
        cancelled = asyncio.create_task(client.send(event()))
        await turns()
        cancelled.cancel()
        disk.may_sync.set()
        for send in sends:
            with pytest.raises(OSError, match="it fails"):
                await send
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        with pytest.raises(OSError, match="it fails"):
            await client.send(event())
        with pytest.raises(OSError, match="it fails"):
            await client.close(SECONDS)

    try:
        asyncio.run(run())
    finally:
        disk.may_sync.set()


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
        for call in (lambda: client.send(event()), client.flush, client.close,
                     client.unacknowledged, client.stats, ticket.result,
                     lambda: ticket.add_done_callback(print)):
            try:
                call()
            except sightline.ClientClosed:
                refused += 1
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    fake.open.set()
    assert ticket.result(SECONDS) and len(fake.events) == 1
