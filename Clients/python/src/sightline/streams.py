"""The thread that opens one stream after another while there is something to settle."""

from __future__ import annotations

import dataclasses
import random
import re
import threading
import time
from typing import Any, Callable, Iterator, Optional, Union

import grpc

from sightline.errors import ENDED, LATER, SILENT, BadCredential, StreamFailure, events
from sightline.outbox import NEVER, HalfClose, Request
from sightline.session import Session, log
from sightline.ticket import varint
from sightline.v1.tracking_service_pb2 import (StreamEventsRequest, StreamEventsResponse,
                                               StreamOptions)

METHOD = "/sightline.v1.TrackingService/StreamEvents"
REPORT_ACCEPTED = StreamEventsRequest(
    options=StreamOptions(report_accepted=True)).SerializeToString()
FIRST_BACKOFF_SECONDS, MAX_BACKOFF_SECONDS = 0.1, 30.0
# The server's quotas ask for minutes; only what cannot be meant is cut.
MAX_ASKED_SECONDS = 3600.0
MAX_TOKEN_CHARACTERS = 16 << 10
# A file's text may end its line.
TOKEN_LINE = re.compile(rf"([!-~]{{1,{MAX_TOKEN_CHARACTERS}}})\r?\n?")


@dataclasses.dataclass(frozen=True)
class Server:
    """Where and how to open a stream."""

    target: str
    token: Union[str, Callable[[], str], None]
    credentials: Optional[grpc.ChannelCredentials]
    keepalive: float
    keepalive_timeout: float
    report_accepted: bool

    def channel(self) -> grpc.Channel:
        """A connection of its own for each stream, so that only our backoff applies."""
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0),
                   ("grpc.keepalive_time_ms", int(self.keepalive * 1000)),
                   ("grpc.keepalive_timeout_ms", int(self.keepalive_timeout * 1000)),
                   # A PING without an answer has a timeout of its own, a minute by default.
                   ("grpc.http2.ping_timeout_ms", int(self.keepalive_timeout * 1000)),
                   ("grpc.http2.max_pings_without_data", 0),
                   # One answer may have the results of all requests under way: grpcio's 4 MiB are
                   # too few for that.
                   ("grpc.max_receive_message_length", -1)]
        if self.credentials:
            return grpc.secure_channel(self.target, self.credentials, options)
        return grpc.insecure_channel(self.target, options)

    def metadata(self) -> list[tuple[str, str]]:
        """The credential's header; a callable is asked for each stream."""
        token = self.token() if callable(self.token) else self.token
        if not token:
            return []
        # grpcio would name the whole header in its error.
        line = TOKEN_LINE.fullmatch(token)
        if not line:
            raise BadCredential("the token has to be one line of printable ASCII without spaces, "
                                f"of at most {MAX_TOKEN_CHARACTERS} characters")
        return [("authorization", f"Bearer {line[1]}")]


def hint(reason: str, uses_tls: bool) -> str:
    """What grpcio's words for a connection that did not come about mean to who has set it up."""
    if not uses_tls and re.search("Socket closed|Connection reset", reason):
        return "; this client uses no TLS: if the server does, give tls=Tls(…)"
    if uses_tls and "WRONG_VERSION_NUMBER" in reason:
        return "; the server uses no TLS: leave tls out"
    # BAD_SIGNATURE: the roots have another authority of the same name.
    if uses_tls and re.search("CERTIFICATE_VERIFY_FAILED|BAD_SIGNATURE", reason):
        return ("; the server's certificate is not trusted: roots has to have its authority, and "
                "the target its name")
    return ""


@dataclasses.dataclass
class Stream:
    """What the threads of one stream share."""

    has_ended: bool = False
    has_answer: bool = False
    failure: StreamFailure = ENDED


class Streams:
    """Runs until the client is closed and all is settled, or the server refuses it for good."""

    def __init__(self, session: Session, server: Server):
        self._session = session
        self._outbox = session.outbox
        self._server = server

    def run(self) -> None:
        """The thread's function."""
        try:
            self._open_streams()
        finally:
            with self._session.lock:
                self._session.fail_rest()

    def _open_streams(self) -> None:
        session, tries = self._session, 0
        while self._has_events():
            settled_before = session.stats.verdicts.total()
            try:
                failure = self._stream()
            except BadCredential as error:  # A function may give a better one.
                failure = StreamFailure("UNAUTHENTICATED", str(error), callable(self._server.token))
            # The user's token function, also its sys.exit, or files of TLS.
            except BaseException as error:
                failure = StreamFailure("UNKNOWN", repr(error))
            with session.lock:
                if session.is_over or self._outbox.is_done:
                    break
                if not failure.is_retryable:
                    session.failure = failure
                    log.error("the client ends, and %s no verdict: %s",
                              events(self._outbox.count), failure)
                    break
                tries = 0 if session.stats.verdicts.total() > settled_before else tries + 1
                delay = backoff(tries, failure.retry_seconds, random.random())
                if self._outbox.count:
                    session.fail(failure, f"{self._server.target} is tried again in {delay:.2f} s",
                                 time.monotonic())
                session.ended.wait_for(lambda: session.is_over, delay)

    def _has_events(self) -> bool:
        with self._session.lock:
            self._session.work.wait_for(lambda: self._outbox.count or self._session.is_closing)
            return self._outbox.count > 0 and not self._session.is_over

    def _stream(self) -> StreamFailure:
        """Runs one stream; why it ended."""
        stream, metadata = Stream(), self._server.metadata()
        with self._server.channel() as channel:
            with self._session.lock:
                self._outbox.open_stream()
                self._session.stats.streams += 1
            method: Any = channel.stream_stream(
                METHOD, response_deserializer=StreamEventsResponse.FromString)
            try:
                call = method(self._requests(stream), metadata=metadata)
                reader = threading.Thread(target=self._read, args=(call, stream), daemon=True)
                reader.start()
                is_silent = self._watch(stream)
                call.cancel()
                reader.join()
            finally:
                # Where no reader starts, grpcio's thread would take the next stream's requests.
                self._end(stream)
        return SILENT if is_silent else stream.failure

    def _watch(self, stream: Stream) -> bool:
        """Waits until the stream has ended, the client closes, or the stream is to be given up;
        whether it is."""
        with self._session.lock:
            while not stream.has_ended and not self._session.is_over:
                # A deadline that is set meanwhile is seen within a second.
                left = self._outbox.deadline - time.monotonic()
                if left <= 0:
                    return True
                self._session.ended.wait(min(1.0, left))
        return False

    def _requests(self, stream: Stream) -> Iterator[bytes]:
        """Yields requests as they are due, until the stream is half-closed or has ended."""
        while True:
            with self._session.lock:
                if stream.has_ended:
                    return
                now = time.monotonic()
                step = self._outbox.next_step(now)
                if isinstance(step, HalfClose):
                    return
                if isinstance(step, float):
                    self._session.work.wait(None if step == NEVER else step - now)
                    continue
            yield encoded(step, step.is_first and self._server.report_accepted)

    def _read(self, call: Any, stream: Stream) -> None:
        """Takes answers until the server ends the stream."""
        session = self._session
        try:
            for answer in call:
                stream.has_answer = True
                with session.lock:
                    # Who closed without waiting has been told what is left.
                    if session.is_over:
                        return
                    self._take(answer, time.monotonic())
                    session.work.notify_all()
        except grpc.RpcError as error:
            failure = StreamFailure.of(error)
            uses_tls = self._server.credentials is not None
            text = "" if stream.has_answer else hint(failure.reason, uses_tls)
            stream.failure = dataclasses.replace(failure, reason=failure.reason + text)
        finally:
            self._end(stream)

    def _take(self, answer: StreamEventsResponse, now: float) -> None:
        """Called under the lock. An answer that puts all off is told as the end of a stream is: a
        server may go on so for ever."""
        retried_before = self._outbox.retried_events
        settled = self._outbox.receive(answer, now)
        self._session.settle(settled)
        if not settled and self._outbox.retried_events > retried_before:
            self._session.fail(LATER, f"{self._server.target} gets them again", now)

    def _end(self, stream: Stream) -> None:
        """Wakes whoever waits for something to do on a stream: it takes nothing any more."""
        with self._session.lock:
            stream.has_ended = True
            self._session.wake()


def backoff(tries: int, asked: float, jitter: float) -> float:
    """What the server asks for, and then up to twice as long with each try that settles nothing."""
    longest = min(MAX_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * (1 << min(tries, 10)))
    return min(max(asked, 0.0), MAX_ASKED_SECONDS) + longest * jitter


def encoded(request: Request, reports_accepted: bool) -> bytes:
    """A request's bytes: a repeated field is its parts, one behind the other."""
    frames = [ticket.frame for ticket in request.items]
    return b"".join([b"\x08", varint(request.sequence), *frames,
                     REPORT_ACCEPTED if reports_accepted else b""])
