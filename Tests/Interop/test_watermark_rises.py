"""A client in another language: many requests under way, one rising watermark, exactly the hits."""

import collections
import random
import time

from facts import KIND_NAMES, Fact, Facts, verdict_name
from protos import event as e
from protos import verdict as v
from stream import Batch, Stream, total

SAMPLE, WHOLE = 20_000, 100_000
REQUEST = 100
WINDOW = 16
STREAM_SECONDS = 240
COLUMNS = ("kind", "campaign_action", "delivery_id", "broadlog_id", "app_id", "platform",
           "subject_id", "occur_time", "tenant")


def make_facts(seed: int, count: int) -> list[Fact]:
    """A mix of platforms, products and kinds; 2 % each are duplicates, invalid, opted out, switched
    off, and attempts after one that failed."""
    facts = Facts(seed, int(time.time()))
    chance = random.Random(seed)
    made, known, failed = [], [], []
    while len(made) < count:
        share = chance.random()
        if share < 0.02 and known:
            made.append(facts.again(chance.choice(known)))
        elif share < 0.04:
            made.append(facts.invalid())
        elif share < 0.06:
            made.append(facts.opted_out())
        elif share < 0.08:
            made.append(facts.flag_off())
        elif share < 0.1 and failed:
            made.append(facts.retried(failed.pop(chance.randrange(len(failed)))))
            known.append(made[-1])
        else:
            made.append(facts.accepted())
            known.append(made[-1])
            if made[-1].event.push_send.outcome == e.PUSH_SEND_OUTCOME_FAILED:
                failed.append(made[-1])
    return made


def check_verdicts(batches: list[Batch], answers) -> None:
    """Results tell of every event that was not accepted, by its place, and of no other."""
    told = {(r.sequence, r.index): r for answer in answers for r in answer.results}
    for batch in batches:
        for index, fact in enumerate(batch.facts):
            result = told.pop((batch.sequence, index), None)
            verdict = result.verdict if result else v.VERDICT_ACCEPTED
            assert verdict == fact.verdict, (
                f"event {index} of request {batch.sequence} got {verdict_name(verdict)}, not"
                f" {verdict_name(fact.verdict)}: {fact.event}{result or ''}")
            assert result is None or result.event_id == fact.event.event_id
    assert not told, f"results of events that were never sent: {list(told)[:5]}"


def check_tallies(sent: list[Fact], answers) -> None:
    expected = collections.Counter(verdict_name(f.verdict).split("_")[0] for f in sent)
    tallies = {name: count for name, count in total(answers).items() if count}
    assert tallies == dict(expected), "the tallies do not add up to what was sent"


def check_hits(server, sent: list[Fact]) -> int:
    """hits.db holds the accepted hits, in every column, and nothing else. Their number."""
    expected = {identity: (row, fact.bytes) for fact in sent for identity, row in fact.hits.items()
                if fact.verdict == v.VERDICT_ACCEPTED}
    server.wait_for_hits(len(expected), seconds=120)
    stored = server.query(f"SELECT hit_id, event, {', '.join(COLUMNS)} FROM hits")
    assert len(stored) == len(expected), f"{len(stored)} hits stored, {len(expected)} accepted"
    for hit in stored:
        assert bytes(hit["hit_id"]) in expected, f"a hit that nobody sent: {dict(hit)}"
        row, event = expected.pop(bytes(hit["hit_id"]))
        values = tuple(hit[c] if c != "broadlog_id" else hit[c] or "" for c in COLUMNS)
        assert values == row, f"columns {COLUMNS} of a hit"
        assert bytes(hit["event"]) == event, f"the event of {row} is not the client's bytes"
    assert not expected
    return len(stored)


def test_many_events(make_server, amount, figure):
    """D14, D17, D21-D22, D25, D30, D47, D59-D61: events in requests of 100, 16 under way."""
    seed = random.SystemRandom().randrange(1 << 32)
    figure(f"stream: seed {seed}")
    events = amount(SAMPLE, WHOLE)
    sent = make_facts(seed, events)
    batches = [Batch(start // REQUEST + 1, sent[start:start + REQUEST])
               for start in range(0, events, REQUEST)]
    server = make_server().start()
    acked = []
    with server.channel() as channel:
        stream = Stream(channel, collections.deque(), WINDOW)
        started = time.monotonic()
        stream.run(iter(batches), lambda batch, _: acked.append(batch.sequence), STREAM_SECONDS)
        seconds = time.monotonic() - started

    figure(f"stream: {events / seconds:,.0f} events/s, {events:,} events in {seconds:.1f} s,"
           f" {len(stream.answers)} answers")
    assert acked == [batch.sequence for batch in batches], "the watermark did not reach the end"
    check_limits(stream.answers)
    check_verdicts(batches, stream.answers)
    check_tallies(sent, stream.answers)
    stored = check_hits(server, sent)
    figure(f"stream: {stored:,} hits in hits.db, all expected")
    assert server.terminate() == 0, server.log()


def check_limits(answers) -> None:
    limits = answers[0].limits
    assert (limits.max_events, limits.max_request_bytes, limits.max_event_bytes,
            limits.max_unacknowledged_requests) == (2000, 512 << 10, 16 << 10, 64), limits
    assert not any(answer.HasField("limits") for answer in answers[1:])


def test_every_kind_is_sent():
    """The mix above holds every kind of hit, so that it proves every kind."""
    kinds = {row[0] for fact in make_facts(1, 5000) for row in fact.hits.values()}
    assert kinds == set(KIND_NAMES.values()) - {"unspecified"}
