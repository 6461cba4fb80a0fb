"""The interpreter's end; Tests/Interop/test_client_endings.py has whole programs."""

import io
import sys

import pytest

import sightline
from fake import SECONDS, event
from sightline import exits


class Slow:
    """A client whose close takes some seconds of a clock, and may lose events."""

    def __init__(self, close_timeout, takes, clock, error=None):
        self.close_timeout, self.takes, self.clock, self.error = close_timeout, takes, clock, error
        self.timeout = "was not closed"

    def close(self, timeout):
        self.timeout = timeout
        self.clock[0] += self.takes
        if self.error:
            raise self.error


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(exits.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(exits, "OPEN", exits.Open())
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    return now


def test_clients_that_are_open_at_the_end_share_the_time(clock, monkeypatch):
    clients = [Slow(seconds, 20, clock) for seconds in (30, 30, 30, 60, None)]
    # A set has no order.
    monkeypatch.setattr(exits.OPEN, "clients", clients)
    exits.close_all()
    assert [client.timeout for client in clients] == [30, 10, 0, 0, None]


def test_after_an_interrupt_nobody_waits(clock):
    clients = [Slow(seconds, 0, clock) for seconds in (30, None)]
    exits.OPEN.clients.update(clients)
    exits.close_all(0)
    assert [client.timeout for client in clients] == [0, 0]


@pytest.mark.parametrize("error, fails", [
    (None, False), (OSError("the disk"), True),
    (sightline.EventsLost(sightline.FlushReport(0, 3), "; why"), True)])
def test_what_is_lost_at_the_end_is_told_and_fails_the_exit_code(clock, caplog, error, fails):
    stderr = sys.stderr
    lossy, other = Slow(1, 0, clock, error), Slow(1, 0, clock)
    exits.OPEN.clients.update({lossy, other})
    exits.close_all()
    assert lossy.timeout == other.timeout == 1
    assert (sys.stderr is not stderr) == fails
    assert bool(caplog.text) == fails and str(error or "") in caplog.text


@pytest.mark.parametrize("is_finalizing", [False, True])
@pytest.mark.parametrize("stream", [io.StringIO(), None])
def test_only_the_interpreters_last_flush_fails(monkeypatch, is_finalizing, stream):
    monkeypatch.setattr(sys, "is_finalizing", lambda: is_finalizing)
    if is_finalizing:
        with pytest.raises(OSError):
            exits.Unflushed(stream).flush()
    else:
        exits.Unflushed(stream).flush()


def test_who_has_closed_its_client_does_not_wait_at_the_end(connect):
    client = connect()
    client.send(event()).result(SECONDS)
    assert client in exits.OPEN.clients
    client.close(SECONDS)
    assert client not in exits.OPEN.clients
