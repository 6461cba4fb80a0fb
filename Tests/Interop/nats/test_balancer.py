"""Two nodes behind a balancer: one is drained under load, and no client minds."""

import pytest

from balancer import Balancer
from conftest import settings
from load import Load
from nats_server import free_port
from scenario import check, under_load

CLIENTS = 6


@pytest.fixture
def nodes(jetstream, make_server):
    """Two ingest nodes that keep their ports."""
    return [make_server(*settings(jetstream.url), listen=f"127.0.0.1:{free_port()}").start()
            for _ in range(2)]


@pytest.fixture
def balancer(nodes, folder):
    """A balancer in front of them."""
    balancer = Balancer([node.target for node in nodes], folder / "haproxy.log")
    try:
        yield balancer.start()
    finally:
        balancer.close()


@pytest.mark.timeout(300)
def test_a_node_drained(jetstream, nodes, balancer, figure):
    """Each node is drained and started again: clients resend, and nothing is lost or twice."""
    with Load([balancer], clients=CLIENTS, requests_per_second=8) as load:
        under_load(load)
        for node in nodes:
            assert node.terminate() == 0, node.log()
            under_load(load)
            node.start()
            under_load(load)
    figure(f"balancer: errors that clients saw: {dict(load.errors)}")
    assert load.refused == 0
    check(jetstream.url, nodes, load, figure, "each node drained behind haproxy")
