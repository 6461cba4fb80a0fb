"""Who has to do with a soak's server: clients of four languages, an operator, readers of its page
and of its tap."""

import contextlib
import dataclasses
import os
import subprocess
import threading
import urllib.request

import grpc

from facts import CANARY
from protos import event as e
from protos import service as s
from protos import service_grpc
from server import binary, query, wait_until
from test_client_libraries import Sender

OPERATOR = "operator"
OPERATOR_SPACE = "f0"
# No log may hold it either.
FORGOTTEN = f"{CANARY}-forgotten"
TRY_SECONDS = 120


@dataclasses.dataclass(frozen=True)
class Language:
    """What a client library's program sends."""

    # Begins its events' ids: two hexadecimal digits.
    space: str
    # Its part of all events.
    share: float
    # Events in a request, at most.
    batch: int


# Requests of 1 to 100 events.
LANGUAGES = {"go": Language("a1", 0.4, 100), "swift": Language("b2", 0.3, 50),
             "java": Language("c3", 0.25, 20), "python": Language("d4", 0.05, 1)}


def begin(language: str, target: str, events: int, rate: float, *arguments: str) -> Sender:
    """A running client, which ends when it has sent so many events."""
    of = LANGUAGES[language]
    return Sender(language, target, "--space", of.space, "--events", str(events), "--rate",
                  f"{rate:.3f}", "--batch", str(of.batch), *arguments)


class Repeated(threading.Thread):
    """Does something again and again, with a pause, until it is told to stop. What it raises is
    kept for the end."""

    def __init__(self, seconds: float):
        super().__init__(daemon=True)
        self.seconds = seconds
        self.ended = threading.Event()
        self.error: BaseException | None = None
        self.times = 0

    def run(self) -> None:
        try:
            while not self.ended.is_set():
                self.once()
                self.times += 1
                self.ended.wait(self.seconds)
        except BaseException as error:  # pylint: disable=broad-except
            self.error = error

    def once(self) -> None:
        """What is done."""
        raise NotImplementedError

    def stop(self) -> None:
        self.ended.set()
        self.join(TRY_SECONDS)


class PageReader(Repeated):
    """An open page: its figures each second. While nobody listens, it shows the last ones."""

    def __init__(self, server):
        super().__init__(1)
        self.server = server

    def once(self) -> None:
        for path in ("", "stats.json", "metrics"):
            with contextlib.suppress(OSError), \
                    urllib.request.urlopen(f"{self.server.admin}{path}", timeout=10) as answer:
                answer.read()


class TapReader(Repeated):
    """`sightline tail --follow`, begun again when the server ends it; counts what it shows."""

    def __init__(self, server, *security: str):
        super().__init__(1)
        self.command = [str(binary()), "tail", "--follow", "--target", server.target,
                        "--sampling-ratio", "0.1", *security]
        self.lines = 0
        self.process: subprocess.Popen | None = None

    def once(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        with self.process:
            for _ in self.process.stdout:
                self.lines += 1

    def stop(self) -> None:
        self.ended.set()
        if self.process:
            self.process.kill()
        super().stop()


class Operator(Repeated):
    """Sends what the clients do not: events of many deliveries, for the ledger; events that are
    refused, for the quarantine; and those of a recipient who is forgotten in between."""

    DELIVERIES, REFUSED, OF_FORGOTTEN = 200, 20, 10

    def __init__(self, server, seconds: float, key: str, roots: bytes):
        super().__init__(seconds)
        self.server = server
        self.metadata = [("authorization", f"Bearer {key}")]
        self.credentials = grpc.ssl_channel_credentials(roots)
        # So many events are to be counted, numbered from 0.
        self.sent = 0

    def event(self, subject: str = "", delivery: str = "1f") -> e.TrackingEvent:
        number, self.sent = self.sent, self.sent + 1
        return e.TrackingEvent(
            event_id=str(number), app_id="com.example.shop", subject_id=subject,
            track_action=e.TrackAction(delivery_id=delivery, action=e.ACTION_OPEN,
                                       broadlog_id=f"h{OPERATOR_SPACE}{number:08x}"))

    def once(self) -> None:
        events = [self.event(FORGOTTEN) for _ in range(self.OF_FORGOTTEN)]
        events += [self.event(delivery=f"{0x1000 + self.sent:x}") for _ in range(self.DELIVERIES)]
        # Without an interaction.
        events += [e.TrackingEvent(event_id=f"refused-{self.times}-{number}")
                   for number in range(self.REFUSED)]
        answer = wait_until(lambda: self.recorded(events), "the operator's events to be recorded",
                            TRY_SECONDS, every=0.5)
        counted = answer.tally.accepted + answer.tally.duplicate
        if (counted, answer.tally.rejected) != (len(events) - self.REFUSED, self.REFUSED):
            raise AssertionError(f"of the operator's events came {answer.tally}")

    def recorded(self, events: list[e.TrackingEvent]) -> s.RecordEventsResponse | None:
        """The answer; none where the server was not there, or asks to try again."""
        with contextlib.suppress(grpc.RpcError), grpc.secure_channel(
                self.server.target, self.credentials,
                options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            answer = service_grpc.TrackingServiceStub(channel).RecordEvents(
                s.RecordEventsRequest(events=events), metadata=self.metadata, timeout=30)
            return None if answer.tally.retry_later else answer
        return None

    def forget(self) -> None:
        """As an operator would, on the machine."""
        done = subprocess.run(
            [str(binary()), "forget", "--tenant", OPERATOR, "--subject-file", "-", "--data-dir",
             str(self.server.directory)], input=f"{FORGOTTEN}\n", capture_output=True, text=True,
            timeout=TRY_SECONDS, env=os.environ)
        if done.returncode != 0:
            raise AssertionError(f"forget ended with {done.returncode}: {done.stdout}{done.stderr}")

    def remembered(self) -> int:
        """Rows of hits.db that still name who was forgotten."""
        return query(self.server.directory / "hits.db",
                     "SELECT count(*) FROM hits WHERE subject_id = ?", FORGOTTEN)[0][0]
