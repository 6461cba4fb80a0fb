"""Fixtures: a cluster of nats-servers that ends with its test, and the settings of its sink."""

import pytest

from nats_server import Cluster


@pytest.fixture
def cluster(folder):
    """Three servers, running."""
    cluster = Cluster(folder)
    try:
        yield cluster.start()
    finally:
        cluster.close()


def settings(url: str, **values) -> list[str]:
    """Arguments of a server whose sink is the stream there."""
    arguments = ["--sink", "nats", "--set", f"nats.servers={url}"]
    for name, value in values.items():
        arguments += ["--set", f"nats.{name.replace('__', '.')}={value}"]
    return arguments
