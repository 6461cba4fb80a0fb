"""Sends ten events on one stream, and reads answers until all are durable."""

import sys
import time

import grpc

from sightline.v1 import event_pb2 as event
from sightline.v1 import tracking_service_pb2 as service
from sightline.v1 import tracking_service_pb2_grpc as service_grpc

REQUESTS = 10


def requests():
    """Ends, and so half-closes the stream, behind the last request."""
    run = time.time_ns()
    for sequence in range(1, REQUESTS + 1):
        yield service.StreamEventsRequest(sequence=sequence, events=[event.TrackingEvent(
            event_id=f"{run:x}-{sequence}",
            track_action=event.TrackAction(
                delivery_id="56c4", broadlog_id=f"h{run:x}{sequence:02x}",
                action=event.ACTION_OPEN))])


def main() -> None:
    durable = accepted = 0
    with grpc.insecure_channel(sys.argv[1]) as channel:
        for answer in service_grpc.TrackingServiceStub(channel).StreamEvents(requests()):
            durable = answer.durable_sequence
            accepted += answer.tally.accepted
    print(f"durable up to {durable}, {accepted} accepted")


if __name__ == "__main__":
    main()
