"""A server, and clients of it that are closed with the test."""

import contextlib

import pytest

import sightline
from fake import Fake


@pytest.fixture
def fake():
    server = Fake()
    yield server
    server.server.stop(0)


@pytest.fixture
def connect(fake):
    made = []

    def make(**options):
        made.append(sightline.Client(fake.target, **options))
        return made[-1]

    yield make
    for client in made:
        with contextlib.suppress(sightline.EventsLost):
            client.close(0)
