#!/usr/bin/env python3
"""Reads hits from the stream, continues their traces, and prints the funnel of each delivery.

    python funnel.py --servers nats://127.0.0.1:4222 --until-idle --spans

A durable consumer goes on where it was: start it twice, and the two share the work. A hit is acked
when it has been counted, so one that was under way in a crash comes again; the hit id tells.
"""

import argparse
import asyncio
import collections
import pathlib
import sys
import tempfile

import nats
from grpc_tools import protoc
from nats.js.api import AckPolicy, ConsumerConfig
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SimpleSpanProcessor
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KINDS = {1: "impressions", 2: "clicks", 3: "opens"}
# Hit ids that are remembered: enough for what comes again after a crash or a loss.
REMEMBERED = 1_000_000


def records():
    """The Python code of the records' proto, made here so that none has to be kept current."""
    folder = tempfile.mkdtemp(prefix="sightline-consumer-")
    well_known = pathlib.Path(protoc.__file__).parent / "_proto"
    protos = [str(path) for path in (ROOT / "Protos/sightline/v1").glob("*.proto")]
    if protoc.main(["protoc", f"-I{ROOT / 'Protos'}", f"-I{well_known}",
                    f"--python_out={folder}", *protos]) != 0:
        sys.exit(f"cannot compile the protos in {ROOT / 'Protos'}")
    sys.path.insert(0, folder)
    from sightline.v1 import record_pb2  # pylint: disable=import-outside-toplevel
    return record_pb2


class Funnel:
    """Counts of each delivery; a hit counts once."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)
        self.seen: collections.OrderedDict[bytes, None] = collections.OrderedDict()

    def add(self, record) -> None:
        """Counts a hit, unless it has been counted before."""
        if record.hit_id in self.seen:
            return
        self.seen[record.hit_id] = None
        if len(self.seen) > REMEMBERED:
            self.seen.popitem(last=False)
        self.counts[record.delivery_id][KINDS.get(record.kind, "others")] += 1

    def print(self) -> None:
        """A line for each delivery."""
        names = [*KINDS.values(), "others"]
        print("delivery".ljust(20), *(name.rjust(12) for name in names))
        for delivery, counts in sorted(self.counts.items()):
            print(delivery.ljust(20), *(str(counts[name]).rjust(12) for name in names))


def count(message, record_pb2, tracer, funnel: Funnel) -> None:
    """Counts one message in a span of its own, a child of the server's span in its headers: the
    trace that the sender's app began goes on here."""
    context = TraceContextTextMapPropagator().extract(message.headers or {})
    record = record_pb2.TrackingRecord.FromString(message.data)
    attributes = {"messaging.system": "nats", "messaging.operation.name": "process",
                  "messaging.destination.name": message.subject,
                  "messaging.message.id": record.hit_id.hex()}
    with tracer.start_as_current_span("process funnel", context=context,
                                      kind=trace.SpanKind.CONSUMER, attributes=attributes):
        funnel.add(record)


async def consume(options, record_pb2, tracer, funnel: Funnel) -> None:
    """Reads in batches until nothing comes, or for ever."""
    connection = await nats.connect(options.servers.split(","))
    try:
        consumer = await connection.jetstream(timeout=30).pull_subscribe(
            options.subject, durable=options.durable, stream=options.stream,
            config=ConsumerConfig(ack_policy=AckPolicy.EXPLICIT, ack_wait=30, max_ack_pending=2000))
        while True:
            try:
                messages = await consumer.fetch(500, timeout=2)
            # Of two kinds, depending on who notices first: the library's own is one of these.
            except asyncio.TimeoutError:
                if options.until_idle:
                    return
                continue
            for message in messages:
                count(message, record_pb2, tracer, funnel)
                await message.ack()
    finally:
        await connection.close()


def main() -> None:
    """Reads the arguments, the stream, and prints what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--servers", default="nats://127.0.0.1:4222", help="with commas between")
    parser.add_argument("--stream", default="SIGHTLINE")
    parser.add_argument("--subject", default="sightline.>", help="as in sightline.shop.*.open.*")
    parser.add_argument("--durable", default="funnel", help="the name under which it goes on")
    parser.add_argument("--until-idle", action="store_true", help="end when nothing comes for 2 s")
    parser.add_argument("--spans", action="store_true", help="print each span on standard error")
    options = parser.parse_args()
    provider = TracerProvider()
    if options.spans:
        provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(
            out=sys.stderr, formatter=lambda span: span.to_json(indent=None) + "\n")))
    funnel = Funnel()
    try:
        asyncio.run(consume(options, records(), provider.get_tracer("funnel"), funnel))
    except KeyboardInterrupt:
        pass
    finally:
        funnel.print()


if __name__ == "__main__":
    main()
