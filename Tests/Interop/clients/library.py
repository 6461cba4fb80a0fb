"""Sends events by Python's client library, and says in lines of JSON how far it is. Every library has
a program with these arguments and lines; test_client_libraries.py drives them all.

{"taken": n}    `send` has returned for so many events
{"settled": n}  so many have their verdict
{"end": {…}}    verdicts by number, what the client counted, seconds and CPU of the sending
"""

import argparse
import json
import pathlib
import sys
import time

import sightline
from sightline.v1.event_pb2 import ACTION_OPEN, TrackAction, TrackingEvent

TOLD_EVERY = 100
CLOSE_SECONDS = 300


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--space", required=True, help="begins every id, in hexadecimal")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--events", type=int, required=True, help="the last one's number, and 1")
    parser.add_argument("--rate", type=float, default=0, help="events in a second; 0 for all")
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--max-pending", type=int, default=10_000)
    parser.add_argument("--token-file")
    parser.add_argument("--tls-roots")
    parser.add_argument("--tls-certificate")
    parser.add_argument("--tls-key")
    parser.add_argument("--spool")
    parser.add_argument("--keepalive", type=float, default=20)
    parser.add_argument("--quiet", action="store_true", help="only the last line, for measuring")
    return parser.parse_args()


def contents(path: str | None) -> bytes | None:
    return pathlib.Path(path).read_bytes() if path else None


def event(space: str, number: int) -> TrackingEvent:
    """An event with one hit, whose id is its number."""
    return TrackingEvent(
        event_id=f"{number}", app_id="com.example.shop", subject_id=f"subject-{number % 5000}",
        track_action=TrackAction(delivery_id="1f", broadlog_id=f"h{space}{number:08x}",
                                 action=ACTION_OPEN))


def tell(**line) -> None:
    # In one piece: two threads tell.
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def main() -> int:
    options = arguments()
    settled = 0

    def hear(_) -> None:
        nonlocal settled
        settled += 1
        if settled % TOLD_EVERY == 0:
            tell(settled=settled)

    tls = sightline.Tls(contents(options.tls_roots), contents(options.tls_certificate),
                        contents(options.tls_key)) if options.tls_roots else None
    token = contents(options.token_file)
    client = sightline.Client(
        options.target, token=token.decode().strip() if token else None, tls=tls,
        on_result=None if options.quiet else hear, batch=sightline.Limits(events=options.batch),
        max_pending=options.max_pending, keepalive=options.keepalive, keepalive_timeout=1,
        spool=sightline.Spool(options.spool) if options.spool else None)
    # Made before the clock starts: an application has its events.
    made = [event(options.space, number) for number in range(options.first, options.events)
            ] if options.quiet else None
    started, used = time.monotonic(), time.process_time()
    for number in range(options.first, options.events):
        client.send(made[number - options.first] if made else event(options.space, number))
        if not options.quiet and (number + 1) % TOLD_EVERY == 0:
            tell(taken=number + 1)
            due = started + (number + 1 - options.first) / (options.rate or float("inf"))
            time.sleep(max(0.0, due - time.monotonic()))
    report = client.close(CLOSE_SECONDS)
    seconds, cpu = time.monotonic() - started, time.process_time() - used
    stats = client.stats()
    tell(end={"verdicts": {str(int(number)): count for number, count in stats.verdicts.items()},
              "pending": report.pending, "streams": stats.streams,
              "resent_requests": stats.resent_requests, "retried_events": stats.retried_events,
              "seconds": seconds, "cpu_seconds": cpu})
    return 0 if report.pending == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
