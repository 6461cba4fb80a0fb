"""A real server process, and the databases that it leaves in its data directory."""

import json
import os
import pathlib
import queue
import signal
import sqlite3
import subprocess
import threading
import time
import urllib.parse

import grpc

from logs import scan
from protos import ROOT, service_grpc

START_SECONDS = 60
STOP_SECONDS = 25
# For tests that make connections faster than one address may.
MANY_CONNECTIONS = "--set=connections.new_per_second=1000000"


def binary() -> pathlib.Path:
    """The program under test: INTEROP_BINARY, or else the debug build."""
    path = pathlib.Path(os.environ.get("INTEROP_BINARY", ".build/debug/sightline"))
    path = path if path.is_absolute() else ROOT / path
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: run `make build`, or set INTEROP_BINARY")
    return path


def conformance_kit() -> pathlib.Path:
    """The program that tries clients and backends, beside the one under test."""
    path = binary().with_name("sightline-conformance")
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: run `make build-conformance`")
    return path


def wait_until(condition, what: str, seconds: float = 60, every: float = 0.05):
    """Waits for the thing itself, and returns the first true value; fails when time is up."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"after {seconds} s still not: {what}")
        time.sleep(every)


CRASHES = {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV,
           signal.SIGTRAP}


class Server:
    """One data directory, and the process that serves it now. Logs of all its processes go into
    one file beside the directory."""

    def __init__(self, directory: pathlib.Path, *arguments: str, listen: str = "127.0.0.1:0",
                 limits=None, environment: dict[str, str] | None = None):
        self.directory = pathlib.Path(directory)
        self.log_path = self.directory.parent / f"{self.directory.name}.stderr"
        self.arguments = arguments
        self.listen = listen
        # Called in the new process before the program runs.
        self.limits = limits
        self.environment = environment
        # Words before the command: a program that runs it, as strace does.
        self.prefix: list[str] = []
        self.process: subprocess.Popen | None = None
        self.target = ""
        self.admin = ""
        # The HTTP port's URL; none unless `--http` is among the arguments.
        self.http = ""
        # What its standard output says and nobody has taken yet; None at its end.
        self.lines: queue.Queue[str | None] = queue.Queue()

    def spawn(self) -> None:
        """Starts the process, and does not wait for it to listen."""
        command = [*self.prefix, str(binary()), "serve", "--listen", self.listen,
                   "--admin", "127.0.0.1:0", "--data-dir", str(self.directory), *self.arguments]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=log,
                                            stdout=subprocess.PIPE, text=True,
                                            preexec_fn=self.limits, env=self.environment)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, args=(self.process.stdout, self.lines),
                         daemon=True).start()

    @staticmethod
    def _read(stdout, lines) -> None:
        for line in stdout:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    def start(self) -> "Server":
        """Starts the process and waits until it listens."""
        self.spawn()
        deadline = time.monotonic() + START_SECONDS
        # Until then the last process's address stands: its clients go on trying it.
        missing = {"target"} if "off" in self.arguments else {"target", "admin"}
        others = []
        while missing:
            line = self._line(deadline)
            if name := self.take(line):
                missing.discard(name)
            else:
                others.append(line)
        # What a sink prints may come before an address.
        with self.lines.mutex:
            self.lines.queue.extendleft(reversed(others))
        return self

    def take(self, line: str) -> str:
        """Notes the address that a line tells of; which it was: the gRPC port's, the page's, or the
        HTTP port's."""
        for name, prefix in (("target", "listening on "), ("admin", "admin page on "),
                             ("http", "HTTP on ")):
            if line.startswith(prefix):
                address = line.removeprefix(prefix).strip()
                # Paths are put behind the HTTP port's.
                setattr(self, name, address.rstrip("/") if name == "http" else address)
                return name
        return ""

    @property
    def http_address(self) -> tuple[str, int]:
        """The host and port of the HTTP port's URL."""
        url = urllib.parse.urlsplit(self.http)
        return url.hostname, url.port

    def _line(self, deadline: float) -> str:
        try:
            line = self.lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"not listening after {START_SECONDS} s\n{self.log()}") from None
        if line is None:
            code = self.process.wait()
            raise AssertionError(f"ended with {code} before it listened\n{self.log()}")
        return line

    def log(self, characters: int = 4000) -> str:
        """The last of what the processes logged."""
        return "server's log:\n" + self.log_path.read_text(errors="replace")[-characters:]

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=10)

    def terminate(self) -> int:
        """SIGTERM; the exit code. Fails when the process takes longer than it may."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait(STOP_SECONDS, "to end after SIGTERM")

    def wait(self, seconds: float, what: str) -> int:
        """The exit code, waited for."""
        try:
            return self.process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"took over {seconds} s {what}\n{self.log()}") from None

    def close(self) -> None:
        """Ends the process where it still runs, and looks through its log; for cleaning up."""
        if self.process and self.process.poll() is None:
            self.kill()
        scan(self.log_path)
        # No test of ours has asked for one of these.
        if self.process and -self.process.returncode in CRASHES:
            signal_name = signal.Signals(-self.process.returncode).name
            raise AssertionError(f"ended by {signal_name}\n{self.log(40_000)}")

    def channel(self) -> grpc.Channel:
        # No pooled subchannel: each channel is a connection of its own, and a dead one is not kept.
        return grpc.insecure_channel(self.target, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)])

    def stub(self, channel: grpc.Channel):
        return service_grpc.TrackingServiceStub(channel)

    def query(self, sql: str, *values) -> list[sqlite3.Row]:
        """Rows of hits.db, read only, as anybody may read it while the server runs."""
        return query(self.directory / "hits.db", sql, *values)

    def hit_count(self) -> int:
        """The hits that the sink has written; 0 while there is no such table yet. It is the sink's
        own number: to count millions of rows again and again would slow it down."""
        try:
            return self.query("SELECT coalesce(sum(hits), 0) FROM partitions")[0][0]
        except sqlite3.OperationalError:
            return 0

    def jsonl_lines(self, folder: str = "hits", is_over: bool = False) -> list[dict]:
        """The lines of a jsonl sink, in order. While it writes, the last one may be there in part,
        and is left out; once that is over, each has to be whole."""
        found = []
        for path in sorted((self.directory / folder).glob("*.jsonl")):
            *whole, rest = path.read_bytes().split(b"\n")
            assert not (is_over and rest), f"{path.name} ends with a part of a line: {rest}"
            found += map(json.loads, whole)
        return found

    def wait_for_hits(self, count: int, seconds: float = 60) -> None:
        """Waits until the sink has at least this many hits, or has had no new one for so long."""
        known = -1
        while known < count:
            try:
                wait_until(lambda: self.hit_count() > known, f"{count} hits in hits.db", seconds)
            except AssertionError as error:
                raise AssertionError(f"{error}, but {known}\n{self.log()}") from None
            known = self.hit_count()


def query(path: pathlib.Path, sql: str, *values) -> list[sqlite3.Row]:
    """Rows of a database, opened read only."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)
    try:
        connection.row_factory = sqlite3.Row
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()
