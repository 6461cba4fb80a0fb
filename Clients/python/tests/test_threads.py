"""A system that has no thread left: what a client does where one of its own cannot start."""

import threading

import pytest

import sightline
from fake import SECONDS, event
from sightline import exits
from sightline.streams import Streams
from sightline.v1.verdict_pb2 import VERDICT_ACCEPTED
from test_spool import abandon


@pytest.fixture
def refuse(monkeypatch):
    """Lets the thread at a place, from 0, not start, of those that a test of them is true of."""
    start = threading.Thread.start

    def refuse(place, is_counted):
        counted = []

        def start_others(thread):
            if is_counted(thread):
                counted.append(thread)
                if len(counted) == place + 1:
                    raise RuntimeError("can't start new thread")
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_others)

    return refuse


def is_of_client(thread):
    return thread.name == "sightline"


@pytest.mark.parametrize("place", range(3))
def test_an_event_that_no_thread_sends_is_not_taken(fake, connect, tmp_path, refuse, place):
    refuse(place, is_of_client)
    client = connect(spool=sightline.Spool(tmp_path))
    with pytest.raises(RuntimeError, match="can't start new thread"):
        client.send(event("refused"))
    assert client.stats().pending == 0
    assert client.send(event("taken")).result(SECONDS).verdict == VERDICT_ACCEPTED
    assert client.close(SECONDS) == sightline.FlushReport(0, 0)
    assert [e.event_id for e in fake.events] == ["taken"]


@pytest.mark.parametrize("place", range(3))
def test_a_client_that_cannot_start_may_be_closed(connect, tmp_path, refuse, place):
    refuse(place, is_of_client)
    client = connect(spool=sightline.Spool(tmp_path))
    with pytest.raises(RuntimeError):
        client.send(event())
    assert client.close(SECONDS) == sightline.FlushReport(0, 0)
    with pytest.raises(sightline.ClientClosed):
        client.send(event())
    assert client not in exits.OPEN.clients
    sightline.Spool(tmp_path).close()


@pytest.mark.parametrize("place", range(3))
def test_a_client_that_is_not_made_leaves_its_spool_to_the_next(fake, connect, tmp_path, refuse,
                                                                place):
    gone = sightline.Spool(tmp_path)
    gone.append(event("kept").SerializeToString())
    abandon(gone)
    refuse(place, is_of_client)
    with pytest.raises(RuntimeError, match="can't start new thread"):
        connect(spool=sightline.Spool(tmp_path))
    assert connect(spool=sightline.Spool(tmp_path)).flush(SECONDS).pending == 0
    assert [e.event_id for e in fake.events] == ["kept"]


def test_without_a_thread_for_the_interpreters_end_the_next_client_starts_it(monkeypatch, connect,
                                                                            refuse):
    monkeypatch.setattr(exits, "OPEN", exits.Open())
    monkeypatch.setattr(exits, "close_at_exit", lambda: None)  # Two would wait for each other.
    refuse(0, lambda thread: thread.name == "sightline exit")
    client = connect()
    with pytest.raises(RuntimeError):
        client.send(event())
    assert not exits.OPEN.is_watched and not exits.OPEN.clients
    assert client.send(event()).result(SECONDS)
    assert exits.OPEN.is_watched and client in exits.OPEN.clients


def test_a_stream_without_a_reader_ends_and_takes_no_request_of_the_next(connect, monkeypatch,
                                                                        refuse):
    streams, requests = [], Streams._requests

    def noted(self, stream):
        streams.append(stream)
        return requests(self, stream)

    monkeypatch.setattr(Streams, "_requests", noted)
    refuse(0, lambda thread: getattr(thread._target, "__name__", "") == "_read")
    client = connect()
    assert client.send(event()).result(SECONDS).verdict == VERDICT_ACCEPTED
    assert client.stats().streams == 2
    assert [stream.has_ended for stream in streams] == [True, False]
