"""The end of the interpreter: closes the clients that are still open, so that no event is lost
without a word."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
from typing import Any, Optional, Protocol

from sightline.errors import EventsLost

log = logging.getLogger("sightline")


class Closable(Protocol):
    """A client."""

    close_timeout: Optional[float]

    def close(self, timeout: Optional[float]) -> object:
        """See Client.close."""


class Open:
    """The clients of this process that have sent events and were not closed."""

    def __init__(self) -> None:
        self.clients: set[Closable] = set()
        # Whatever Python cleans up while a thread is started may close a client.
        self.lock = threading.RLock()
        self.is_watched = False


OPEN = Open()


def watch(client: Closable) -> None:
    """Closes the client at the interpreter's end, unless it was closed before."""
    with OPEN.lock:
        if not OPEN.is_watched:
            # No daemon: the interpreter waits for it. In functions of `atexit` no thread can be
            # started from Python 3.12 on, and a stream needs some.
            threading.Thread(target=close_at_exit, name="sightline exit").start()
            OPEN.is_watched = True
        OPEN.clients.add(client)


def forget(client: Closable) -> None:
    """The client is closed."""
    with OPEN.lock:
        OPEN.clients.discard(client)


def close_at_exit() -> None:
    """Waits until no thread can send any more, and closes what is open."""
    threading.main_thread().join()
    while others := [thread for thread in threading.enumerate() if thread.is_alive()
                     and not thread.daemon and thread is not threading.current_thread()]:
        others[0].join()
    close_all()


def close_all(most_seconds: float = float("inf")) -> None:
    """Closes what is open; all share the time that they may take."""
    started = time.monotonic()
    with OPEN.lock:
        clients = list(OPEN.clients)
    for client in clients:
        seconds = min(most_seconds, float("inf") if client.close_timeout is None
                      else max(0, started + client.close_timeout - time.monotonic()))
        try:
            client.close(None if seconds == float("inf") else seconds)
        except EventsLost as error:
            log.error("the client was not closed before the interpreter ended: %s", error)
            fail_exit_code()
        except Exception:
            log.exception("the client was not closed before the interpreter ended")
            fail_exit_code()


def fail_exit_code() -> None:
    """Makes the interpreter's exit code 120, as where its output cannot be flushed: nothing else
    can change it now without keeping other functions from running."""
    sys.stderr = Unflushed(sys.stderr)


class Unflushed:
    """A stream whose last flush, that of the interpreter, fails."""

    def __init__(self, stream: Any):
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        """As the stream's, and fails at the very end."""
        if self._stream:
            self._stream.flush()
        if sys.is_finalizing():
            raise OSError("events were lost")


def leave_to_parent() -> None:
    """In a forked child: the parent's clients are closed by the parent."""
    global OPEN
    OPEN = Open()


os.register_at_fork(after_in_child=leave_to_parent)
# Whoever has interrupted the wait is told what is lost.
atexit.register(close_all, 0)
