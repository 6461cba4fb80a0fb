"""100,000 hits through one server: the stream holds each of them once, as the client sent it."""

import collections
import random
import time

from conftest import settings
from facts import Facts
from judge import STREAM, check_message, count, read, run, times, told_by_leader
from protos import event as e
from server import wait_until
from stream import Batch, Stream

HITS = 100_000
REQUEST = 500
WINDOW = 16
STREAM_SECONDS = 240


def make_batches(seed: int) -> list[Batch]:
    """Requests of new facts; the first event of each begins a trace that tells its request."""
    facts, batches, hits = Facts(seed, int(time.time())), [], 0
    while hits < HITS:
        made = [facts.accepted() for _ in range(REQUEST)]
        sequence = len(batches) + 1
        first = e.TrackingEvent.FromString(made[0].bytes)
        first.trace_context.traceparent = f"00-{sequence:032x}-{sequence:016x}-01"
        first.trace_context.tracestate = f"vendor={sequence}"
        made[0].event, made[0].bytes = first, first.SerializeToString()
        batches.append(Batch(sequence, made))
        hits += sum(len(fact.hits) for fact in made)
    return batches


def test_a_hundred_thousand_hits(jetstream, make_server, figure):
    """Each accepted hit is there once, in its order, with its headers and its trace."""
    seed = random.SystemRandom().randrange(1 << 32)
    figure(f"judge: seed {seed}")
    batches = make_batches(seed)
    expected = [(identity, row, fact, batch.sequence) for batch in batches
                for fact in batch.facts for identity, row in fact.hits.items()]
    server = make_server(*settings(jetstream.url)).start()
    with server.channel() as channel:
        Stream(channel, collections.deque(), WINDOW).run(
            iter(batches), lambda *_: None, STREAM_SECONDS)
    wait_until(lambda: count(jetstream.url) >= len(expected), "all hits in the stream", 120)
    messages = read(jetstream.url)
    assert run(jetstream.url, lambda _, stream: told_by_leader(
        stream, STREAM, range(len(messages) - 99, len(messages) + 100))) == messages[-100:]
    twice = [identity for identity, number in times(messages).items() if number > 1]
    figure(f"judge: {len(expected):,} hits accepted, {len(messages):,} messages,"
           f" {len(twice)} twice")
    assert not twice
    assert [message.hit_id for message in messages] == [identity for identity, *_ in expected]
    for message, (_, row, fact, sequence) in zip(messages, expected):
        check_message(message, row, fact.bytes)
        trace, span = message.trace
        assert int(trace, 16) == sequence, "not the trace of its request"
        assert int(span, 16) != sequence, "the client's own span, not the server's"
        assert message.headers["tracestate"] == f"vendor={sequence}"
    assert server.terminate() == 0, server.log()
