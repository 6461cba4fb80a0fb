"""A PostgreSQL server of a test's own, which can be killed, stopped and filled."""

import os
import pathlib
import signal
import subprocess

import psycopg

from protos import ROOT
from server import wait_until

SCRIPT = ROOT / "Scripts" / "postgresql"
START_SECONDS = 60


class Database:
    """One data directory, and the processes that serve it now."""

    def __init__(self, folder: pathlib.Path, *settings: str):
        self.folder = folder
        self.settings = settings
        self.url = ""
        self.is_stopped = False

    def start(self) -> "Database":
        """Starts it, and waits until it takes connections."""
        done = subprocess.run([SCRIPT, "start", self.folder, *self.settings], text=True,
                              capture_output=True, check=False, timeout=2 * START_SECONDS)
        assert done.returncode == 0, done.stderr
        self.url = done.stdout.strip()
        return self

    def standby(self) -> "Database":
        """A server that follows this one."""
        made = Database(self.folder.parent / "standby")
        done = subprocess.run([SCRIPT, "standby", made.folder, self.folder], text=True,
                              capture_output=True, check=False, timeout=2 * START_SECONDS)
        assert done.returncode == 0, done.stderr
        made.url = done.stdout.strip()
        return made

    def promote(self) -> None:
        subprocess.run([SCRIPT, "promote", self.folder], check=True, timeout=START_SECONDS)

    def restart_after_kill(self) -> None:
        """The killed processes' memory has to be free before it starts again."""
        wait_until(self._starts, "PostgreSQL to start again", START_SECONDS, every=0.2)

    def _starts(self) -> bool:
        try:
            self.start()
            return True
        except AssertionError:
            return False

    def processes(self) -> list[int]:
        """The postmaster, and then its children."""
        file = self.folder / "data" / "postmaster.pid"
        if not file.exists():
            return []
        parent = int(file.read_text().split()[0])
        if not pathlib.Path(f"/proc/{parent}").exists():
            return []
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(parent)], text=True,
                                  capture_output=True, check=False).stdout.split()
        return [parent, *map(int, children)]

    def _signal(self, number: int) -> None:
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass  # A session that has ended.

    def kill(self) -> None:
        """kill -9 of all its processes, the postmaster first."""
        self._signal(signal.SIGKILL)
        wait_until(lambda: not self.processes(), "PostgreSQL to be gone", 10)

    def stop(self) -> None:
        """All its processes stand still: it takes connections, and says nothing."""
        self._signal(signal.SIGSTOP)
        self.is_stopped = True

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)
        self.is_stopped = False

    def reload(self) -> None:
        os.kill(self.processes()[0], signal.SIGHUP)

    def close(self) -> None:
        if self.is_stopped:
            self.go_on()
        if self.processes():
            self.kill()

    def run(self, sql: str, *values) -> list[tuple]:
        """Runs a statement in the sink's schema, and returns its rows."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("SET search_path = sightline, public")
            cursor = connection.execute(sql, values or None)
            return cursor.fetchall() if cursor.description else []

    @property
    def options(self) -> list[str]:
        """What our server is started with."""
        return ["--set=sink=postgresql", f"--set=postgresql.url={self.url}",
                "--set=postgresql.tls.mode=disable", "--set=postgresql.statement_seconds=2",
                "--set=postgresql.connect_seconds=1"]
