"""Several sinks at once: each required one has every hit, and what another one misses is told."""

import random
import re

from server import query, wait_until
from test_kill_loses_no_ack import ROUND_SECONDS, Client, kill_under_load, resend_all

ROUNDS = 4
STREAMS = 2
LAG_BYTES = 100_000
# A hit has more bytes than this in the journal: an event has 24 beside its own, and three hits at
# most.
HIT_BYTES = 20
MISSED = re.compile(r"missed: sequences? (\d+)(?: to \d+)? of the journal, \d+ events, (\d+) hits")
LISTED = ("[{type: sqlite}, {type: jsonl}, "
          f"{{type: nats, required: false, max_lag_bytes: {LAG_BYTES}}}]")


def line_ids(server, is_over: bool = False) -> set[str]:
    """The ids of the hits in the files of the jsonl sink."""
    return {line["hitId"] for line in server.jsonl_lines(is_over=is_over)}


def missed(server) -> int:
    """The hits that the journal let go before nats had them: what each start told of in a dead
    letter, and what its checkpoint holds since then. Where the process was killed before it noted
    that it had told of a gap, a later letter begins at the same sequence and has all of it."""
    rows = query(server.directory / "dead_letters.db",
                 "SELECT reason FROM dead_letters WHERE sink = 'nats' ORDER BY rowid")
    letters = [MISSED.fullmatch(row["reason"]) for row in rows]
    assert all(letters), [row["reason"] for row in rows]
    told = {int(letter[1]): int(letter[2]) for letter in letters}
    untold = query(server.directory / "journal" / "checkpoint.db",
                   "SELECT hits FROM gap WHERE sink = 'nats'")
    return sum(told.values()) + sum(row["hits"] for row in untold)


def test_each_sink_has_its_hits_after_kills(make_server, figure, seed):
    """A sink whose server is gone holds up no client and no other sink."""
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server(f"--set=sinks={LISTED}", "--set=nats.servers=nats://127.0.0.1:1",
                         "--set=nats.retain_seconds=0")
    for number in range(ROUNDS):
        kill_under_load(server, clients, moments, f"round {number}, seed {seed}")
    resend_all(server, clients)
    owed = set().union(*(client.owed for client in clients))
    server.wait_for_hits(len(owed), seconds=ROUND_SECONDS)
    rows = [row["hit_id"] for row in server.query("SELECT hit_id FROM hits")]
    assert len(rows) == len(set(rows)) and owed <= set(rows)
    wait_until(lambda: len(line_ids(server)) >= len(rows), "the lines to be written")
    server.terminate()
    assert len(line_ids(server, is_over=True)) == len(rows)
    # What nats does not miss yet is in the journal still.
    assert len(rows) - LAG_BYTES / HIT_BYTES <= missed(server) <= len(rows)
    figure(f"{len(rows)} hits after {ROUNDS} kills: sqlite and jsonl have them all, and nats "
           f"misses {missed(server)}")
