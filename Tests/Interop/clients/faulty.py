"""A small client of StreamEvents for `sightline-conformance`: right as it is, and wrong in one way
with --fault. test_conformance.py has each fault, and where the kit has to find it."""

import argparse
import collections
import contextlib
import dataclasses
import json
import os
import random
import socket
import sys
import threading
import time

import grpc
from google.protobuf import json_format
from grpc_status import rpc_status
from google.rpc import error_details_pb2
from sightline.v1.event_pb2 import TrackingEvent
from sightline.v1.tracking_service_pb2 import StreamEventsRequest, StreamEventsResponse
from sightline.v1.verdict_pb2 import (VERDICT_ACCEPTED, VERDICT_DUPLICATE, VERDICT_REJECTED,
                                      VERDICT_RETRY_LATER)

METHOD = "/sightline.v1.TrackingService/StreamEvents"
FINAL = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED,
         grpc.StatusCode.INVALID_ARGUMENT}
FAULTS = [
    "forgets-on-reconnect", "new-ids", "changes-events", "sequence-0", "falling-sequences",
    "reorders", "ignores-closing", "no-half-close", "leaves-early", "ignores-max-events",
    "ignores-max-bytes", "ignores-max-requests", "believes-watermark", "accepted-too-early",
    "duplicate-is-failure", "resends-rejected", "index-alone", "index-0-for-whole",
    "retries-at-once", "old-sequence", "drops-retry-later", "retry-later-is-final",
    "unknown-verdict-again", "hammers", "ignores-retry-info", "gives-up-at-quota",
    "goes-on-after-refusal", "silent-loss", "exits-0-when-refused", "no-key", "stops-at-cut",
    "takes-4-mib",
]


@dataclasses.dataclass
class Request:
    """Events that are under way together."""

    sequence: int
    events: list[TrackingEvent]
    results: dict[int | None, int] = dataclasses.field(default_factory=dict)


class Client:
    def __init__(self, fault: str | None):
        self.fault = fault
        self.changed = threading.Condition()
        self.unsent: collections.deque[TrackingEvent] = collections.deque()
        self.under_way: list[Request] = []
        # Events to be sent again, each with the time from which on it may be.
        self.again: list[tuple[float, TrackingEvent]] = []
        self.is_input_over = self.is_closing = self.has_ended = False
        self.sequence = 0
        self.limits = None
        self.settled_at = 0

    # What goes out

    def read_input(self) -> None:
        for line in sys.stdin:
            with self.changed:
                self.unsent.append(json_format.Parse(line, TrackingEvent()))
                self.changed.notify_all()
        with self.changed:
            self.is_input_over = True
            self.changed.notify_all()

    def is_done(self) -> bool:
        return self.is_input_over and not (self.unsent or self.under_way or self.again)

    def requests(self):
        while True:
            with self.changed:
                if self.has_ended or self.is_closing and self.fault != "ignores-closing":
                    return
                if self.is_done() and self.fault != "no-half-close":
                    return
                if (self.fault == "leaves-early" and self.is_input_over and not self.unsent):
                    return
                request = self.next_request()
                if request is None:
                    self.changed.wait(0.02)
                    continue
            yield request

    def next_request(self) -> StreamEventsRequest | None:
        if self.limits is None:
            return None
        most = 16 if self.fault == "ignores-max-requests" else (
            self.limits.max_unacknowledged_requests)
        batch = self.next_batch() if len(self.under_way) < most else []
        if not batch:
            return None
        self.sequence += 1
        sequence = self.sequence
        if self.fault == "sequence-0":
            sequence = 0
        if self.fault == "falling-sequences" and sequence % 5 == 0:
            sequence -= 2
        self.under_way.append(Request(sequence, batch))
        if self.fault == "accepted-too-early":
            for event in batch:
                tell(event, VERDICT_ACCEPTED)
        return StreamEventsRequest(sequence=sequence, events=batch)

    def next_batch(self) -> list[TrackingEvent]:
        most = 1000 if self.fault == "ignores-max-events" else self.limits.max_events
        room = (1 << 20 if self.fault == "ignores-max-bytes"
                else self.limits.max_request_bytes) - 20
        batch: list[TrackingEvent] = []
        while len(batch) < most and (event := self.next_event()) is not None:
            room -= event.ByteSize() + 3
            if batch and room < 0:
                self.unsent.appendleft(event)
                break
            batch.append(event)
        return batch

    def next_event(self) -> TrackingEvent | None:
        for place, (due, event) in enumerate(self.again):
            if due <= time.monotonic():
                del self.again[place]
                return event
        return self.unsent.popleft() if self.unsent else None

    # What comes back

    def take(self, answer: StreamEventsResponse) -> None:
        if answer.HasField("limits"):
            self.limits = answer.limits
        self.is_closing |= answer.HasField("closing")
        for result in answer.results:
            for place, request in enumerate(self.under_way):
                if request.sequence == result.sequence or (
                        self.fault == "index-alone" and place == 0):
                    index = result.index if result.HasField("index") else None
                    if self.fault == "index-0-for-whole":
                        index = result.index
                    request.results[index] = result.verdict
        delay = answer.retry_delay.ToTimedelta().total_seconds()
        while self.under_way and self.under_way[0].sequence <= answer.durable_sequence:
            self.settle(self.under_way.pop(0), delay)
            self.settled_at = time.monotonic()
        if self.fault == "believes-watermark" and answer.durable_sequence > self.sequence:
            for event in self.unsent:
                tell(event, VERDICT_ACCEPTED)
            self.unsent.clear()

    def settle(self, request: Request, delay: float) -> None:
        for index, event in enumerate(request.events):
            verdict = request.results.get(index, request.results.get(None, VERDICT_ACCEPTED))
            if verdict == VERDICT_RETRY_LATER:
                self.retry(request, event, delay)
            elif verdict == VERDICT_DUPLICATE and self.fault == "duplicate-is-failure":
                failed.append(event.event_id)
            elif (verdict == VERDICT_REJECTED and self.fault == "resends-rejected"
                  or verdict > VERDICT_RETRY_LATER and self.fault == "unknown-verdict-again"):
                # After a while: it never ends, and would keep a core busy until it is killed.
                self.again.append((time.monotonic() + 0.1, event))
            elif self.fault != "accepted-too-early":
                tell(event, verdict)

    def retry(self, request: Request, event: TrackingEvent, delay: float) -> None:
        match self.fault:
            case "drops-retry-later":
                return
            case "retry-later-is-final":
                return tell(event, VERDICT_RETRY_LATER)
            case "retries-at-once":
                delay = 0
            case "old-sequence":
                # The next request has the sequence of this one.
                self.sequence = request.sequence - 1
        self.again.append((time.monotonic() + delay, event))

    # Streams

    def stream(self) -> grpc.RpcError | None:
        """Runs one stream; what it ended with."""
        with self.changed:
            self.has_ended = self.is_closing = False
            self.limits = None
            self.sequence = 0
            events = [event for request in self.under_way for event in request.events]
            self.under_way = []
            self.unsent.extendleft(reversed(self.changed_on_resend(events)))
        key = os.environ.get("SIGHTLINE_TOKEN", "")
        metadata = [] if self.fault == "no-key" else [("authorization", f"Bearer {key}")]
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]
        if self.fault != "takes-4-mib":
            options.append(("grpc.max_receive_message_length", -1))
        with grpc.insecure_channel(os.environ["SIGHTLINE_TARGET"], options) as channel:
            call = channel.stream_stream(
                METHOD, StreamEventsRequest.SerializeToString,
                StreamEventsResponse.FromString)(self.requests(), metadata=metadata)
            try:
                for answer in call:
                    with self.changed:
                        self.take(answer)
                        self.changed.notify_all()
                    if self.fault == "no-half-close" and self.is_done():
                        os._exit(0)
                    if self.fault == "leaves-early" and self.is_input_over and not self.unsent:
                        os._exit(0)
            except grpc.RpcError as error:
                return error
            finally:
                with self.changed:
                    self.has_ended = True
                    self.changed.notify_all()
        return None

    def changed_on_resend(self, events: list[TrackingEvent]) -> list[TrackingEvent]:
        match self.fault:
            case "forgets-on-reconnect":
                return []
            case "reorders":
                return events[::-1]
            case "new-ids":
                for event in events:
                    event.event_id += "-again"
            case "changes-events":
                for event in events:
                    event.app_id = "again"
        return events

    def run(self) -> int:
        tries = 0
        while True:
            started = time.monotonic()
            with self.changed:
                self.changed.wait_for(lambda: self.unsent or self.again or self.is_input_over)
                if self.is_done():
                    return 0
            error = self.stream()
            if error is None:
                tries = 0
                continue
            if self.ends_with(error):
                return 0 if self.fault == "exits-0-when-refused" else 1
            tries = 0 if self.settled_at > started else tries + 1
            time.sleep(self.wait(error, tries))

    def ends_with(self, error: grpc.RpcError) -> bool:
        if self.fault == "gives-up-at-quota" and (
                error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED):
            return True
        if self.fault == "stops-at-cut" and error.code() == grpc.StatusCode.UNAVAILABLE:
            return True
        return error.code() in FINAL and self.fault != "goes-on-after-refusal"

    def wait(self, error: grpc.RpcError, tries: int) -> float:
        if self.fault == "hammers":
            hammer()
            return 0.1
        status = rpc_status.from_call(error)
        asked = error_details_pb2.RetryInfo()
        for detail in status.details if status else ():
            if detail.Is(asked.DESCRIPTOR):
                detail.Unpack(asked)
        delay = asked.retry_delay.ToTimedelta().total_seconds()
        backoff = random.uniform(0.05, min(30.0, 0.1 * 2 ** min(tries, 10)))
        return (0 if self.fault == "ignores-retry-info" else delay) + backoff

    def unacknowledged(self) -> list[str]:
        left = [event for request in self.under_way for event in request.events]
        left += [event for _, event in self.again] + list(self.unsent)
        return failed + [event.event_id for event in left]


# Events that count as failures by a fault.
failed: list[str] = []


def hammer() -> None:
    """Connects 20 times at once, as grpcio on a slow machine may not do within the second."""
    host, port = os.environ["SIGHTLINE_TARGET"].rsplit(":", 1)
    with contextlib.ExitStack() as connections:
        for _ in range(20):
            connections.enter_context(socket.create_connection((host, int(port))))


def tell(event: TrackingEvent, verdict: int) -> None:
    print(json.dumps({"event_id": event.event_id, "verdict": verdict}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=FAULTS)
    client = Client(parser.parse_args().fault)
    reader = threading.Thread(target=client.read_input, daemon=True)
    reader.start()
    code = client.run()
    if code == 1 or client.fault == "exits-0-when-refused":
        # What it was never asked to send is unacknowledged too.
        reader.join()
    left = client.unacknowledged()
    if left and client.fault != "silent-loss":
        print(json.dumps({"unacknowledged": left}), flush=True)
    return 1 if failed else code


if __name__ == "__main__":
    sys.exit(main())
