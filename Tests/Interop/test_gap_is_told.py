"""A stream that is gone for longer than the journal keeps for it: what it misses is told, to the
last hit."""

import json
import re
import signal

import pytest

from drained import wait_until_drained
from judge import read, times
from load import Load
from nats_server import Snapshot
from scenario import DRAIN_SECONDS, under_load
from server import query, wait_until
from test_metrics import scrape, values
from test_several_sinks import line_ids
from test_sinks import listed
from test_terminal_commands import lines, run

# More than the largest group has: a row beyond it would not be kept at all.
LAG_BYTES = 1 << 20
MISSED_HITS = 3000
# nats.max_in_flight: so many of a batch may be on their way to a server that comes back.
IN_FLIGHT = 4096
# Requests of each client in a second.
PACE = 25
SINKS = json.dumps([{"type": "sqlite"}, {"type": "jsonl"},
                    {"type": "nats", "required": False, "max_lag_bytes": LAG_BYTES}])
MISSED = re.compile(
    r"missed: sequences? (\d+)(?: to (\d+))? of the journal, (\d+) events, (\d+) hits")
METRIC = 'sightline_sink_missed_hits_total{sink="nats"}'


def metric(server, name: str) -> float:
    return values(scrape(server)[0])[name]


def serve(make_server, jetstream):
    return make_server(f"--set=sinks={SINKS}", f"--set=nats.servers={jetstream.url}",
                       "--set=nats.retain_seconds=0", "--set=nats.ack_seconds=1").start()


def outage(server, load, begin, end) -> None:
    """The stream is gone until more has been missed, and is there again until that is told."""
    told = metric(server, METRIC)
    begin()
    wait_until(lambda: listed(server)["nats"]["missed_hits"] > told + MISSED_HITS,
               f"{MISSED_HITS} missed hits", DRAIN_SECONDS, every=0.5)
    end()
    wait_until(lambda: metric(server, METRIC) > told, "the gap to be told", DRAIN_SECONDS)
    under_load(load, 10)


def gaps(reasons: list[str]) -> list[int]:
    """The hits of each gap, oldest first. Letters of which one begins where another ends are of
    the same one."""
    letters = [MISSED.fullmatch(reason) for reason in reasons]
    assert all(letters), reasons
    hits, last = [], -1
    for first, end, _, count in sorted(
            tuple(int(number or letter[1]) for number in letter.groups()) for letter in letters):
        assert first > last, f"a sequence is told of twice: {reasons}"
        if first == last + 1:
            hits[-1] += count
        else:
            hits.append(count)
        last = end
    return hits


def missing(rows: list[bytes], stored, late: int = 0) -> list[int]:
    """The numbers of consecutive hits in hits.db that the stream does not have, with up to `late`
    between two of them that it does have."""
    runs: list[range] = []
    for number in (number for number, identity in enumerate(rows) if identity not in stored):
        if runs and number <= runs[-1].stop + late:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return [len(run) for run in runs]


def check(server, jetstream, load: Load, figure, fault: str, lost: int = 0, late: int = 0) -> None:
    """Dead letters, metric and `tail --rejected` tell of exactly the hits that hits.db has and the
    stream does not, but for those that it lost before the first gap; and no client noticed.

    Of the batch that was under way when the stream lost its last hits, up to `late` may have come
    to it before the server saw the loss: they are told all the same."""
    wait_until_drained(server, "nats")
    server.wait_for_hits(len(load.owed))
    counted = metric(server, METRIC)
    tailed = lines(run("tail", "--data-dir", server.directory, "--rejected", "--json").stdout)
    assert server.terminate() == 0, server.log()

    rows = [bytes(row[0]) for row in server.query("SELECT hit_id FROM hits ORDER BY rowid")]
    stored = times(read(jetstream.url))
    gone = missing(rows, stored, late)
    letters = query(server.directory / "dead_letters.db", "SELECT sink, reason FROM dead_letters")
    told = gaps([row["reason"] for row in letters])
    figure(f"{fault}: {len(rows):,} hits in hits.db, {len(stored):,} in the stream, missing {gone},"
           f" told {told}, counted {counted:.0f}; {load.refused} events refused")
    assert gone == [told[0] + lost, *told[1:]] and sum(told) == counted
    assert sum(gone) - len(set(rows) - set(stored)) <= late
    assert gaps([row["reason"] for row in tailed]) == told
    assert {row["sink"] for row in [*letters, *tailed]} == {"nats"}
    assert len(rows) == len(set(rows)) and load.owed <= set(rows) <= load.sent
    assert set(stored) <= set(rows) and max(stored.values()) == 1
    assert len(set(line_ids(server))) == len(rows)
    assert load.refused == 0 and not load.errors, load.errors


@pytest.mark.timeout(300)
def test_a_gap_is_what_is_missing(jetstream, make_server, figure):
    """A nats-server hangs, and later it is killed."""
    server = serve(make_server, jetstream)
    with Load([server], requests_per_second=PACE) as load:
        under_load(load, 10)
        outage(server, load, lambda: jetstream.process.send_signal(signal.SIGSTOP),
               lambda: jetstream.process.send_signal(signal.SIGCONT))
        outage(server, load, jetstream.kill, jetstream.start)
    check(server, jetstream, load, figure, "nats-server stopped, then killed")


@pytest.mark.timeout(300)
def test_a_gap_of_a_stream_that_has_lost_hits(jetstream, make_server, figure, folder):
    """A nats-server comes back without its last hits: what went meanwhile is told all the same."""
    server = serve(make_server, jetstream)
    with Load([server], requests_per_second=PACE) as kept:
        under_load(kept, 10)
    wait_until_drained(server, "nats")
    snapshot = Snapshot(jetstream, folder / "snapshot")
    with Load([server], requests_per_second=PACE, space=10) as lost:
        under_load(lost, 10)
    wait_until_drained(server, "nats")
    with Load([server], requests_per_second=PACE, space=20) as load:
        outage(server, load, jetstream.kill, snapshot.restore)
    check(server, jetstream, kept + lost + load, figure, "its last hits lost", len(lost.owed),
          late=IN_FLIGHT)
