"""What every fault is judged by."""

import time

import nats

from judge import STREAM, read, run, times
from load import Load
from server import wait_until

DRAIN_SECONDS = 180


def stream_info(url: str):
    """The stream as its leader tells of it; None while nobody does."""
    async def work(_, jetstream):
        try:
            return await jetstream.stream_info(STREAM)
        except (nats.js.errors.Error, nats.errors.Error):
            return None
    return run(url, work)


def under_load(load, acks: int = 100) -> None:
    """Waits until so many more requests have been acked."""
    target = load.acks + acks
    wait_until(lambda: load.acks >= target, f"{acks} more acks: {dict(load.errors)}", 120)


def filled(url: str, nodes, *earlier: Load) -> Load:
    """A load that has ended, all of it in the stream behind what ended earlier: each node has
    something to lose there."""
    with Load(nodes, space=100 * (len(earlier) + 1)) as load:
        under_load(load)
    owed = sum(len(each.owed) for each in (load, *earlier))
    wait_until(lambda: (stream_info(url) or Empty).state.messages >= owed,
               f"{owed} hits in the stream", DRAIN_SECONDS, every=0.5)
    return load


def losses_told(nodes) -> int:
    """How often nodes have noticed that the stream had lost something."""
    return sum(node.log_path.read_text().count("the sink has lost hits") for node in nodes)


def check(url: str, nodes, load, figure, fault: str, losses: int = 0) -> None:
    """Everything owed is in the stream, nothing is twice, nothing is strange; and the stream was
    taken to have lost something as often as it had."""
    owed, sent = load.owed, load.sent
    started = time.monotonic()
    wait_until(lambda: (stream_info(url) or Empty).state.messages >= len(owed),
               f"{len(owed)} hits in the stream", DRAIN_SECONDS, every=0.5)
    drained = time.monotonic() - started
    stored = times(read(url))
    lost, strange = owed - stored.keys(), stored.keys() - sent
    twice = [identity for identity, number in stored.items() if number > 1]
    figure(f"{fault}: {len(owed):,} hits owed, {len(stored):,} stored, {len(lost)} lost,"
           f" {len(twice)} twice, {len(strange)} never sent; {load.refused:,} events refused,"
           f" {sum(load.errors.values())} streams broken, drained in {drained:.1f} s")
    assert not lost and not twice and not strange
    assert losses_told(nodes) == losses, "\n".join(node.log() for node in nodes)


class Empty:
    """Stands for a stream that nobody tells of."""

    class state:  # pylint: disable=invalid-name
        messages = -1
