"""Python's client library for `sightline-conformance client`: docs/clients/conformance.md says what a
program for it does. With --asyncio it is AsyncClient."""

import asyncio
import contextlib
import json
import os
import sys

import sightline
from google.protobuf import json_format
from sightline.v1.event_pb2 import TrackingEvent

OPTIONS = {"token": os.environ["SIGHTLINE_TOKEN"],
           "on_result": lambda result: tell(json_format.MessageToDict(result))}


def tell(line: dict) -> None:
    # In one piece: the thread of results tells too.
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def events():
    for line in sys.stdin:
        yield json_format.Parse(line, TrackingEvent())


def end(left: list[TrackingEvent]) -> int:
    if left:
        tell({"unacknowledged": [event.event_id for event in left]})
    return 1 if left else 0


def main() -> int:
    client, refused = sightline.Client(os.environ["SIGHTLINE_TARGET"], **OPTIONS), []
    for event in events():
        try:
            client.send(event)
        except sightline.ClientClosed:
            refused.append(event)
    with contextlib.suppress(sightline.EventsLost):  # They are told of below.
        client.close(None)
    return end(client.unacknowledged() + refused)


async def run() -> int:
    client, refused = sightline.AsyncClient(os.environ["SIGHTLINE_TARGET"], **OPTIONS), []
    lines = events()
    while (event := await asyncio.to_thread(next, lines, None)) is not None:
        try:
            await client.send(event)
        except sightline.ClientClosed:
            refused.append(event)
    with contextlib.suppress(sightline.EventsLost):
        await client.close(None)
    return end(client.unacknowledged() + refused)


if __name__ == "__main__":
    sys.exit(asyncio.run(run()) if "--asyncio" in sys.argv else main())
