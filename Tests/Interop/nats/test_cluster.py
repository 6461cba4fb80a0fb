"""Three servers with a replicated stream, two ingest nodes, and what breaks under load."""

import asyncio
import json
import time

import nats

import pytest

from conftest import settings
from judge import STREAM, run
from load import Load
from scenario import check, filled, stream_info, under_load
from server import wait_until

REPLICAS = 3
# Filled within seconds by what the clients send.
SMALL_JOURNAL = 4 << 20


@pytest.fixture
def nodes(cluster, make_server):
    """Two ingest nodes on the cluster, both listening."""
    return [make_server(*settings(cluster.url, replicas=REPLICAS)).start() for _ in range(2)]


def leader(cluster):
    """The server that leads the stream, waited for."""
    def led():
        info = stream_info(cluster.url)
        return info and info.cluster and info.cluster.leader
    return cluster.named(wait_until(led, "a leader of the stream"))


def wait_until_whole(cluster) -> None:
    """Waits until each replica has everything."""
    def whole():
        info = stream_info(cluster.url)
        return info and info.cluster and info.cluster.leader and len(
            [peer for peer in info.cluster.replicas or [] if peer.current and not peer.offline]
        ) == REPLICAS - 1
    wait_until(whole, "all replicas current", 120, every=0.5)


@pytest.mark.timeout(600)
def test_the_leader_killed(cluster, nodes, figure):
    """kill -9 of the stream's leader, and its return."""
    with Load(nodes) as load:
        under_load(load)
        killed = leader(cluster)
        killed.kill()
        under_load(load, 200)
        killed.start()
        under_load(load)
    check(cluster.url, nodes, load, figure, "leader killed")


@pytest.mark.timeout(600)
def test_without_a_quorum(cluster, make_server, figure):
    """Two of three gone for 20 s: ingest goes on until the journal is full, then refuses, and all
    of it gets through when they are back."""
    nodes = [make_server(*settings(cluster.url, replicas=REPLICAS), "--set",
                         f"journal.max_bytes={SMALL_JOURNAL}").start() for _ in range(2)]
    with Load(nodes) as load:
        under_load(load)
        gone = [server for server in cluster.servers if server is not leader(cluster)]
        started, acks = time.monotonic(), load.acks
        for server in gone:
            server.kill()
        # The outage itself is the test.
        while time.monotonic() - started < 20:
            time.sleep(0.5)
        assert load.acks > acks, "ingest has stopped with the stream"
        refused = load.refused
        assert refused, f"the journal was never full: {load.acks - acks} acks"
        for server in gone:
            server.start()
        under_load(load, 200)
    check(cluster.url, nodes, load, figure, "quorum gone for 20 s")


@pytest.mark.timeout(600)
def test_each_restarted_in_turn(cluster, nodes, figure):
    """What an upgrade does: SIGTERM, start, and on to the next when the replicas are whole."""
    with Load(nodes) as load:
        under_load(load)
        for server in cluster.servers:
            server.terminate()
            under_load(load)
            server.start()
            wait_until_whole(cluster)
        under_load(load)
    check(cluster.url, nodes, load, figure, "each server restarted")


def made_at_once(cluster, creations: int = 20) -> None:
    """Makes the stream by so many creations at once, as ingest nodes that start together do: each
    server keeps the first one's time while it runs, and has the last one's when it comes back."""
    stream = {"name": STREAM, "subjects": ["sightline.>"], "num_replicas": REPLICAS,
              "storage": "file", "retention": "limits", "discard": "new",
              "max_bytes": -1, "duplicate_window": 3600 * 10**9}

    async def make(connection, _):
        subject, payload = f"$JS.API.STREAM.CREATE.{STREAM}", json.dumps(stream).encode()
        answers = await asyncio.gather(
            *(connection.request(subject, payload, timeout=5) for _ in range(creations)),
            return_exceptions=True)
        return [answer for answer in answers if not isinstance(answer, Exception)
                and "error" not in json.loads(answer.data)]

    def made():
        try:
            return run(cluster.url, make)
        except nats.errors.Error:
            return None
    wait_until(made, "the stream made", 60, every=0.5)


def restarted_in_turn(cluster, nodes, figure) -> set:
    """Restarts each server under load; when the stream was made, as it was told meanwhile."""
    made = {stream_info(cluster.url).created}
    with Load(nodes) as load:
        for server in cluster.servers:
            under_load(load)
            server.terminate()
            server.start()
            wait_until_whole(cluster)
            made.add(stream_info(cluster.url).created)
        under_load(load)
    check(cluster.url, nodes, load, figure, f"{len(made)} creation times")
    return made


@pytest.mark.timeout(600)
def test_servers_that_disagree_on_when_the_stream_was_made(cluster, make_server, figure):
    """Another time of making tells of no loss where what was seen in the stream is still there."""
    async def delete(_, jetstream):
        await jetstream.delete_stream(STREAM)

    # Whether they disagree is theirs to decide; now and then they do not.
    for _ in range(4):
        made_at_once(cluster)
        nodes = [make_server(*settings(cluster.url, replicas=REPLICAS)).start() for _ in range(2)]
        made = restarted_in_turn(cluster, nodes, figure)
        if len(made) > 1:
            return
        for node in nodes:
            assert node.terminate() == 0, node.log()
        run(cluster.url, delete)
    pytest.fail(f"the servers agree, nothing was tried: {made}")


@pytest.mark.timeout(600)
def test_an_ingest_node_killed(cluster, nodes, figure):
    """kill -9 of an ingest node, five times, with what it has not delivered yet."""
    with Load(nodes) as load:
        for _ in range(5):
            under_load(load)
            nodes[0].kill()
            nodes[0].start()
        under_load(load)
    check(cluster.url, nodes, load, figure, "ingest node killed 5 times")


@pytest.mark.timeout(600)
def test_the_stream_deleted(cluster, nodes, figure):
    """The stream is deleted under load: it is made anew, and gets all that is kept."""
    async def delete(_, jetstream):
        await jetstream.delete_stream(STREAM)

    before = filled(cluster.url, nodes)
    with Load(nodes) as load:
        under_load(load)
        run(cluster.url, delete)
        under_load(load, 200)
    check(cluster.url, nodes, before + load, figure, "stream deleted",
          losses=2)
