"""A grpcio client with the settings that grpcio has by itself: it sends requests at a steady rate
on one stream, reads every answer, and fails unless the watermark has reached its last request."""

import json
import pathlib
import sys
import time

import grpc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from protos import event as e  # noqa: E402
from protos import service as s  # noqa: E402
from protos import service_grpc  # noqa: E402

REQUESTS_PER_SECOND = 200


def requests(total: int):
    """The requests, each at its time."""
    started, space = time.monotonic(), time.time_ns()
    for sequence in range(1, total + 1):
        time.sleep(max(0.0, started + sequence / REQUESTS_PER_SECOND - time.monotonic()))
        event = e.TrackingEvent(track_action=e.TrackAction(
            delivery_id="1f", broadlog_id=f"h{space:x}{sequence:06x}", action=e.ACTION_OPEN))
        yield s.StreamEventsRequest(sequence=sequence, events=[event])


def run(target: str, total: int) -> bool:
    """Whether every request was acked; prints what it has seen."""
    seen = {"requests": total, "answers": 0, "accepted": 0, "durable": 0}
    try:
        with grpc.insecure_channel(target) as channel:
            stub = service_grpc.TrackingServiceStub(channel)
            for answer in stub.StreamEvents(requests(total)):
                seen["answers"] += 1
                seen["accepted"] += answer.tally.accepted
                seen["durable"] = answer.durable_sequence
    except grpc.RpcError as error:
        print(f"client.py: after {seen['answers']} answers: {error}", file=sys.stderr)
        return False
    finally:
        print(json.dumps(seen))
    return seen["durable"] == total


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: client.py HOST:PORT [SECONDS]")
    SECONDS = int(sys.argv[2]) if len(sys.argv) == 3 else 60
    sys.exit(0 if run(sys.argv[1], SECONDS * REQUESTS_PER_SECOND) else 1)
