"""What a client raises, and how the end of a stream is classified."""

from __future__ import annotations

import dataclasses
from typing import Any, Iterator, Optional

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.duration_pb2 import Duration
from google.protobuf.empty_pb2 import Empty
from google.protobuf.unknown_fields import UnknownFieldSet

from sightline.v1.verdict_pb2 import VERDICT_REJECTED, EventResult

DOMAIN = "sightline.v1"
RETRYABLE = {grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.ABORTED, grpc.StatusCode.CANCELLED,
             grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.INTERNAL,
             grpc.StatusCode.UNKNOWN}


class SightlineError(Exception):
    """The base of all that a client raises."""


class QueueFull(SightlineError):
    """No room for the event now: the client holds as many as it may. Nothing was taken."""


class TooLarge(SightlineError):
    """The event exceeds the largest request. Nothing was taken."""


class ClientClosed(SightlineError):
    """The client was closed before the event had a verdict; `unacknowledged` has it."""


class ClientFailed(ClientClosed):
    """The server refuses this client for good, or its token cannot be sent; what has no verdict is
    kept."""

    def __init__(self, failure: StreamFailure):
        super().__init__(str(failure))
        self.code = failure.code
        self.error_reason = failure.error_reason


class BadCredential(SightlineError):
    """The token cannot be sent. The message does not hold it: it is logged."""


class FlushTimeout(SightlineError):
    """Time was up; `report` says what has a verdict and what has none, the message why."""

    def __init__(self, report: FlushReport, why: str = ""):
        super().__init__(f"{events(report.pending)} no verdict yet{why}")
        self.report = report


class EventsLost(SightlineError):
    """The client ended, and no spool keeps the events without a verdict: `report` says how many,
    the message why. They stay in `unacknowledged` until the process ends."""

    def __init__(self, report: FlushReport, why: str = ""):
        super().__init__(f"{events(report.pending)} no verdict, and no spool keeps them{why}")
        self.report = report


class EventRejected(SightlineError):
    """The event breaks a rule; `result` has its violations."""

    def __init__(self, result: EventResult):
        rules = "; ".join(f"{v.field}: {v.description}" for v in result.violations)
        super().__init__(f"event {result.event_id!r}: {rules or 'rejected'}")
        self.result = result


def raise_for_rejection(result: EventResult) -> EventResult:
    """The result, or EventRejected. Every other verdict is a success, DUPLICATE too: it is what an
    event gets that was recorded, and sent again because its ack was lost."""
    if result.verdict == VERDICT_REJECTED:
        raise EventRejected(result)
    return result


def events(count: int) -> str:
    """So many events, as the begin of a sentence about what they have."""
    return "1 event has" if count == 1 else f"{count} events have"


@dataclasses.dataclass(frozen=True)
class FlushReport:
    """What became of the events that were sent before a flush."""

    acknowledged: int
    pending: int


@dataclasses.dataclass(frozen=True)
class StreamFailure:
    """Why a stream ended before all was settled."""

    code: str
    reason: str
    is_retryable: bool = True
    retry_seconds: float = 0.0
    error_reason: str = ""

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"

    @classmethod
    def of(cls, error: grpc.RpcError) -> StreamFailure:
        """Reads a status with its google.rpc details."""
        code = error.code()
        details = dict(error_details(error))
        delay, info = details.get("RetryInfo"), details.get("ErrorInfo")
        seconds = duration(delay) if delay is not None else 0.0
        texts = {n: data.decode() for n, data in fields(info) if n in (1, 2)}
        reason, is_servers = texts.get(1, ""), texts.get(2) == DOMAIN
        # A library's or a proxy's status may pass: while a proxy has no route to the server, its
        # 404 is UNIMPLEMENTED. Expired credentials may have been renewed meanwhile.
        retryable = (not is_servers or code in RETRYABLE or reason == "CREDENTIALS_EXPIRED"
                     or (code == grpc.StatusCode.RESOURCE_EXHAUSTED and delay is not None))
        return cls(code.name, error.details() or "", retryable, seconds, reason)


ENDED = StreamFailure("OK", "the server ended the stream before all was settled")
# The client's own deadline, such as `answer_timeout`.
SILENT = StreamFailure("DEADLINE_EXCEEDED", "the server has not answered in time")
# No end of a stream: each event of an answer is to be sent again.
LATER = StreamFailure("RETRY_LATER", "the server takes no events now")


def error_details(error: grpc.RpcError) -> Iterator[tuple[str, bytes]]:
    """The name and bytes of each google.rpc detail of a status."""
    metadata: Any = error.trailing_metadata()
    for key, value in metadata or ():
        if key != "grpc-status-details-bin":
            continue
        for number, data in fields(value):
            if number == 3:
                message = AnyMessage.FromString(data)
                yield message.type_url.rpartition("google.rpc.")[2], message.value


def fields(data: Optional[bytes]) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a message's fields, without its type: google.rpc is a package more."""
    unknown: Any = UnknownFieldSet(Empty.FromString(data or b""))
    for field in unknown:
        yield field.field_number, field.data


def duration(retry_info: bytes) -> float:
    """The delay of a RetryInfo in seconds."""
    for number, data in fields(retry_info):
        if number == 1:
            delay = Duration.FromString(data)
            # Also one that is larger than a timedelta.
            return delay.seconds + delay.nanos / 1e9
    return 0.0
