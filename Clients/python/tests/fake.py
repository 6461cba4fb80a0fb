"""A server in a few lines of grpcio, for the tests of a client."""

import concurrent.futures
import threading

import grpc

from sightline.v1.event_pb2 import TrackingEvent
from sightline.v1.tracking_service_pb2 import StreamEventsRequest, StreamEventsResponse
from sightline.v1.verdict_pb2 import (VERDICT_DUPLICATE, VERDICT_REJECTED, VERDICT_RETRY_LATER,
                                      EventResult, FieldViolation)

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
        self.later = False  # Whether it takes nothing.
        self.words = ""  # Said of each event that is rejected or known.
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
                verdict = VERDICT_RETRY_LATER if self.later else {
                    "bad": VERDICT_REJECTED, "known": VERDICT_DUPLICATE}.get(event.event_id)
                if verdict:
                    answer.results.append(EventResult(
                        sequence=request.sequence, index=index, event_id=event.event_id,
                        verdict=verdict, violations=[FieldViolation(description=self.words)]))
            yield answer
        self.half_closed.set()


def event(identity: str = "e", size: int = 0) -> TrackingEvent:
    return TrackingEvent(event_id=identity, app_id="a" * size)
