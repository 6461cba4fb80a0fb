"""The client, as its users see it."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import enum
import os
import pathlib
import ssl
import threading
import time
from typing import Callable, Final, Iterator, Optional, Union

import grpc

from sightline import exits
from sightline.errors import EventsLost, FlushReport, TooLarge, events
from sightline.outbox import REQUEST_OVERHEAD_BYTES, Limits, Outbox
from sightline.session import Session, Stats, log
from sightline.spool import Spool
from sightline.streams import Server, Streams
from sightline.ticket import Ticket
from sightline.v1.event_pb2 import TraceContext, TrackingEvent
from sightline.v1.verdict_pb2 import EventResult

# The service takes no larger request, whatever its limits are.
MAX_REQUEST_BYTES = 512 << 10
# How long a client that is closed waits for the callbacks of its last results, also where its time
# is over.
CALLBACK_SECONDS = 5.0


class Default(enum.Enum):
    """Says that an argument was left out, where None means without a limit."""

    DEFAULT = enum.auto()


DEFAULT: Final = Default.DEFAULT


@dataclasses.dataclass(frozen=True)
class Tls:
    """TLS, by the system's roots or these; mTLS with a certificate and its key. All PEM."""

    roots: Optional[bytes] = None
    certificate: Optional[bytes] = None
    key: Optional[bytes] = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None:
                continue
            if not isinstance(value, bytes):
                raise TypeError(f"{name} is {type(value).__name__}, and has to be the bytes of a "
                                f"PEM file: {name}=pathlib.Path(…).read_bytes()")
            if b"-----BEGIN " not in value:
                raise ValueError(f"{name} has no line -----BEGIN …-----, and has to be the bytes "
                                 "of a PEM file, not of a DER file or its path")
        if (self.certificate is None) != (self.key is None):
            raise ValueError("a certificate without its key, or a key without its certificate: "
                             "mTLS takes both, and TLS none")


def system_roots() -> Optional[bytes]:
    """The authorities that the system trusts, where OpenSSL finds them. None leaves it to grpcio,
    which has a list of its own, and takes another one from this variable."""
    if os.environ.get("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"):
        return None
    paths = ssl.get_default_verify_paths()
    if paths.cafile:
        return pathlib.Path(paths.cafile).read_bytes() or None
    # Its files are named by a hash and a number.
    files = sorted(pathlib.Path(paths.capath).glob("*.[0-9]")) if paths.capath else []
    return b"\n".join(file.read_bytes() for file in files) or None


class Client:
    """Sends events over one stream after another until each has its final verdict. Any number of
    threads may use it; it starts its own with the first event.

    target: HOST:PORT.
    token: an API key or a JWT, or a function that is called for each stream.
    tls: Tls(roots, certificate, key), PEM; None for plaintext.
    on_result: called with each EventResult, in order, on the client's own thread.
    report_accepted: whether accepted events have their hits and warnings in their result.
    batch: limits of a request, and of the requests under way.
    linger: seconds that an event may wait for others to fill a request.
    max_pending, max_pending_bytes: what the client holds; beyond it `send` waits.
    spool: a Spool, which keeps the events across the end of this process.
    keepalive, keepalive_timeout: seconds without a byte until a PING, and until the connection
        counts as dead.
    answer_timeout: seconds without an answer until the client ends the stream.
    close_timeout: seconds that `close`, `with` and the end of the interpreter wait for verdicts.
    traceparent: a function that is called in each `send`; the event carries its result."""

    def __init__(self, target: str, *, token: Union[str, Callable[[], str], None] = None,
                 tls: Optional[Tls] = None,
                 on_result: Optional[Callable[[EventResult], None]] = None,
                 report_accepted: bool = False, batch: Limits = Limits(), linger: float = 0.005,
                 max_pending: int = 10_000, max_pending_bytes: int = 8 << 20,
                 spool: Optional[Spool] = None, keepalive: float = 20.0,
                 keepalive_timeout: float = 10.0, answer_timeout: float = 120.0,
                 close_timeout: Optional[float] = 30.0,
                 traceparent: Optional[Callable[[], Optional[str]]] = None):
        if target.startswith(("http://", "https://")):
            raise ValueError(f"the target is {target!r}, and has to be HOST:PORT, such as "
                             "'127.0.0.1:50051'; for TLS give tls=Tls()")
        credentials = (grpc.ssl_channel_credentials(tls.roots or system_roots(), tls.key,
                                                    tls.certificate) if tls else None)
        if min(batch.events, batch.request_bytes, batch.requests, max_pending) < 1:
            raise ValueError(f"a limit below 1: {batch}, max_pending={max_pending}")
        if batch.request_bytes > MAX_REQUEST_BYTES:
            raise ValueError(f"request_bytes is {batch.request_bytes}, the service takes "
                             f"{MAX_REQUEST_BYTES}")
        self._session = Session(Outbox(batch, linger, answer_timeout), spool, max_pending,
                                max_pending_bytes, on_result)
        self._streams = Streams(self._session, Server(
            target, token, credentials, keepalive, keepalive_timeout, report_accepted))
        self._traceparent = traceparent
        self.close_timeout = close_timeout
        self._has_told = False
        self._started: list[threading.Thread] = []
        # The one that sends comes last: where another cannot start, nothing is sent.
        self._unstarted = [self._session.caller, *(
            threading.Thread(target=run, daemon=True, name="sightline")
            for run in (*([spool.run] if spool else []), self._streams.run))]
        if self._session.outbox.count:
            try:
                self._start()
            except BaseException:
                self.close(0)  # Nobody has it, and its spool belongs to the next one.
                raise

    def __enter__(self) -> Client:
        return self

    def __exit__(self, _: object, error: Optional[BaseException], *__: object) -> None:
        with failures_behind(error):
            self.close()

    def send(self, event: TrackingEvent, timeout: Optional[float] = None) -> Ticket:
        """Takes an event, and waits while the client is full; with a spool, until it is written.
        Raises QueueFull if there is no room in time, TooLarge, ClientClosed, ClientFailed, and
        RuntimeError where no thread can be started."""
        return self._synced(self._take(event, timeout))

    def try_send(self, event: TrackingEvent) -> Ticket:
        """Takes an event, or raises QueueFull at once: for those who rather drop it than wait."""
        return self._synced(self._take(event, 0))

    def send_or_call(self, event: TrackingEvent,
                     on_room: Optional[Callable[[], object]] = None) -> Ticket:
        """As try_send, without a wait for the spool's sync. Where there is no room, calls `on_room`
        once there is, from any thread."""
        return self._take(event, 0, on_room)

    def call_when_synced(self, callback: Callable[[Optional[OSError]], object]) -> bool:
        """Calls back, from any thread, once the spool has synced all that it has, as far as sends
        are to be synced, or with its failure. False, without a call, where nothing is awaited."""
        spool = self._session.spool
        return spool is not None and spool.call_when_synced(callback)

    def check_process(self) -> None:
        """Raises ClientClosed in a forked child: threads and locks are the parent's."""
        self._session.check_process()

    def _synced(self, ticket: Ticket) -> Ticket:
        if self._session.spool:
            self._session.spool.wait_for_sync()
        return ticket

    def _take(self, event: TrackingEvent, timeout: Optional[float],
              on_room: Optional[Callable[[], object]] = None) -> Ticket:
        data = event.SerializeToString()
        if self._traceparent and not event.HasField("trace_context"):
            if parent := self._traceparent():
                # A field is appended, so that the caller's event stays as it is.
                data += TrackingEvent(
                    trace_context=TraceContext(traceparent=parent)).SerializeToString()
        ticket = self._session.ticket(data)
        if len(ticket.frame) + REQUEST_OVERHEAD_BYTES > MAX_REQUEST_BYTES:
            raise TooLarge(f"the event takes {len(data)} bytes, a request {MAX_REQUEST_BYTES}")
        # Before it is taken: an event that no thread sends would wait for ever.
        if self._unstarted:
            self._start()
        self._session.take(ticket, timeout, on_room)
        return ticket

    def _start(self) -> None:
        """Starts the threads. Where the system has none left, the next call goes on there."""
        self._session.check_process()
        with self._session.lock:
            if self._session.is_closing:
                return
            exits.watch(self)
            while self._unstarted:
                self._unstarted[0].start()
                self._started.append(self._unstarted.pop(0))

    def flush(self, timeout: Optional[float] = None) -> FlushReport:
        """Sends what waits without lingering, and waits until all that was sent before has its
        verdict. Raises FlushTimeout with the report, ClientFailed, ClientClosed."""
        return self._session.flush(timeout)

    def unacknowledged(self) -> list[TrackingEvent]:
        """The events without a final verdict, in order; also after the client's end."""
        self._session.check_process()
        with self._session.lock:
            return [TrackingEvent.FromString(ticket.data)
                    for ticket in self._session.outbox.unsettled()]

    def stats(self) -> Stats:
        """What the client holds, and has done."""
        session = self._session
        session.check_process()
        with session.lock:
            return dataclasses.replace(
                session.stats, pending=session.outbox.count, pending_bytes=session.outbox.bytes,
                resent_requests=session.outbox.resent_requests,
                retried_events=session.outbox.retried_events,
                last_failure=str(session.failure or ""),
                verdicts=copy.copy(session.stats.verdicts))

    def close(self, timeout: Union[float, None, Default] = DEFAULT) -> FlushReport:
        """Takes no more events, waits for the verdicts on all, `close_timeout` at most or a time of
        its own, half-closes the stream, and reads its end and the last callbacks. What has no
        verdict in time stays in `unacknowledged`, and in the spool; without a spool, raises
        EventsLost. Callbacks have what is left of the time, or 5 s; the log tells of those that
        need more. May be repeated, and then raises nothing."""
        started = time.monotonic()
        seconds = self.close_timeout if isinstance(timeout, Default) else timeout
        session = self._session
        session.check_process()
        with session.lock:
            count, session.is_closing = session.outbox.count, True
            session.outbox.finish()
            session.wake()
            try:
                if not self._unstarted:
                    session.settled.wait_for(lambda: session.is_over, seconds)
            finally:  # Who interrupts it does not wait again at the interpreter's end.
                session.fail_rest()
        # A callback may close its own client.
        if self._started and threading.current_thread() is not session.caller:
            session.caller.join(None if seconds is None else max(
                CALLBACK_SECONDS, started + seconds - time.monotonic()))
            if session.caller.is_alive():
                log.warning("a callback has not returned, and %d results wait for theirs: the "
                            "close goes on, and the end of the process drops them",
                            session.undelivered)
        if session.spool:
            session.spool.close()
        exits.forget(self)
        report = FlushReport(count - session.outbox.count, session.outbox.count)
        if report.pending and not self._has_told:
            self._has_told = True
            if not session.spool:
                raise EventsLost(report, session.why())
            log.warning("%s no verdict, and the next client sends them from %s%s",
                        events(report.pending), session.spool.directory, session.why())
        return report


@contextlib.contextmanager
def failures_behind(first: Optional[BaseException]) -> Iterator[None]:
    """Logs why a close has failed where its block already ends with an exception of its own. That
    of `sys.exit(0)` is none: its process may not end as if all were well."""
    try:
        yield
    except Exception as error:
        if first is None or isinstance(first, SystemExit) and first.code in (None, 0):
            raise
        log.error("the close of the client has failed: %s", error)
