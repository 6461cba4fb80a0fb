"""Fixtures: nats-servers that end with their test."""

import pathlib
import shutil
import tempfile

import pytest

from nats_server import Cluster, NatsServer


@pytest.fixture
def folder():
    """A folder of the test's own."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="sightline-nats-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def jetstream(folder):
    """One server, running."""
    server = NatsServer(folder / "nats")
    try:
        yield server.start()
    finally:
        server.close()


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
