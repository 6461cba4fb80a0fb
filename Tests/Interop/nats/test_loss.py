"""A stream that goes back to what it was: the nodes notice, and feed it again."""

import signal
import time

import pytest

from conftest import settings
from load import Load
from nats_server import Snapshot
from scenario import check, filled, under_load
from server import wait_until


@pytest.mark.timeout(300)
def test_a_lost_tail(jetstream, make_server, figure, folder):
    """The last seconds are lost on a running server's restart."""
    nodes = [make_server(*settings(jetstream.url)).start() for _ in range(2)]
    kept = filled(jetstream.url, nodes)
    snapshot = Snapshot(jetstream, folder / "snapshot")
    lost = filled(jetstream.url, nodes, kept)
    with Load(nodes) as load:
        snapshot.restore()
        under_load(load)
    check(jetstream.url, nodes, kept + lost + load, figure, "tail lost", losses=2)


@pytest.mark.timeout(300)
def test_a_lost_tail_that_another_node_has_covered(jetstream, make_server, figure, folder):
    """While one node is down the tail is lost, and the other one's hits take its sequences: the
    count alone would not tell."""
    nodes = [make_server(*settings(jetstream.url)).start() for _ in range(2)]
    with Load(nodes[:1]) as before:
        under_load(before)
        snapshot = Snapshot(jetstream, folder / "snapshot")
        under_load(before)
    before.stop()
    assert nodes[0].terminate() == 0, nodes[0].log()
    snapshot.restore()
    with Load(nodes[1:], space=10) as during:
        under_load(during, 400)
    nodes[0].start()
    with Load(nodes[:1], space=20) as after:
        under_load(after)
    check(jetstream.url, nodes, before + during + after, figure, "tail lost and covered", losses=1)


@pytest.mark.timeout(300)
def test_a_server_that_is_down_when_the_node_starts(jetstream, make_server, figure):
    """Ingest does not wait for the stream, not even for its first second."""
    jetstream.kill()
    nodes = [make_server(*settings(jetstream.url)).start()]
    with Load(nodes) as load:
        under_load(load)
        jetstream.start()
    check(jetstream.url, nodes, load, figure, "server down at the start")


@pytest.mark.timeout(300)
def test_a_server_that_hangs(jetstream, make_server, figure):
    """Ingest goes on, a node that is to end does end, and all gets through when it wakes up."""
    nodes = [make_server(*settings(jetstream.url)).start() for _ in range(2)]
    with Load(nodes) as load:
        under_load(load)
        jetstream.process.send_signal(signal.SIGSTOP)
        # Longer than an ack may take, and than a connection may be silent.
        wait_until(lambda: "the sink is unavailable" in nodes[0].log(), "a word of it in the log")
        under_load(load, 400)
        load.stop()
        started = time.monotonic()
        assert nodes[0].terminate() == 0, nodes[0].log()
        figure(f"server hangs: a node ended {time.monotonic() - started:.1f} s after SIGTERM")
        jetstream.process.send_signal(signal.SIGCONT)
        nodes[0].start()
    check(jetstream.url, nodes, load, figure, "server hangs")
