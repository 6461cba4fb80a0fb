"""The example of a consumer: what it counts, and whose trace it continues."""

import json
import subprocess
import sys
import time

from conftest import settings
from facts import Facts
from judge import count, read
from protos import ROOT
from protos import service as s
from server import wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def consume(url: str, *arguments: str) -> subprocess.CompletedProcess:
    """Runs the example until nothing more comes."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "Examples/consumer-python/funnel.py"), "--servers", url,
         "--until-idle", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done


def test_the_funnel_and_its_traces(jetstream, make_server):
    """Each hit is counted once, in a span whose parent is the server's and whose trace is the
    client's; a second run goes on where the first one ended."""
    facts = Facts(1, int(time.time()))
    opened = [facts.push(kind=3) for _ in range(20)]
    for fact in opened:
        push = fact.event.push
        carrier = push.apns if push.HasField("apns") else push.fcm.data
        carrier.delivery_id = "4711a"
    server = make_server(*settings(jetstream.url)).start()
    with server.channel() as channel:
        server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[fact.event for fact in opened]), timeout=30,
            metadata=[("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")])
    wait_until(lambda: count(jetstream.url) >= 40, "40 hits in the stream")
    parents = {message.trace for message in read(jetstream.url)}
    done = consume(jetstream.url, "--spans")
    assert done.stdout.splitlines()[1].split() == ["4711a", "0", "20", "20", "0"], done.stdout
    spans = [json.loads(line) for line in done.stderr.splitlines()]
    assert len(spans) == 40
    for span in spans:
        trace, parent = span["context"]["trace_id"], span["parent_id"]
        assert (trace.removeprefix("0x"), parent.removeprefix("0x")) in parents
        assert trace.removeprefix("0x") == TRACE
    assert len(consume(jetstream.url).stdout.splitlines()) == 1
