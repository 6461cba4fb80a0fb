"""Calls that fail on purpose: `faults.c`, preloaded into a server, and what it is told."""

import atexit
import errno
import functools
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# calls, first, count, fault, call: `struct state` of faults.c.
STATE = struct.Struct("qqqq32s")
KILL, LIE, SHORT = -1, -2, -3
FAULTS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EMFILE": errno.EMFILE, "EINTR": errno.EINTR,
          "KILL": KILL, "SHORT": SHORT}
# Not one of those that a server has to bear: a judge has to find what it does.
PLANTED = {"LIE": LIE}
FOR_EVER = 1 << 60


@functools.cache
def library(name: str = "faults") -> pathlib.Path | None:
    """A library of a C file here, compiled once for each run; None where there is no C compiler."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        return None
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sightline-faults-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", folder / f"{name}.so",
                    HERE / f"{name}.c", "-ldl"], check=True)
    return folder / f"{name}.so"


class Faults:
    """What befalls all processes that have this environment: they share one count of calls."""

    def __init__(self, directory: pathlib.Path, home: pathlib.Path):
        self.directory = directory
        self.state, self.log = home / "faults.state", home / "faults.log"
        self.clear()

    def clear(self) -> "Faults":
        """Counts from 0 again, and lets every call be made."""
        return self.set(0, 0)

    def set(self, first: int, fault: int, count: int = 1, call: str = "") -> "Faults":
        """The `first` call from now, and `count` in all, meet a fault; only those named `call`
        count, where one is named. For processes that start after this."""
        self.state.write_bytes(STATE.pack(0, first, count, fault, call.encode()))
        self.log.unlink(missing_ok=True)
        return self

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"LD_PRELOAD": str(library()), "FAULTS_STATE": str(self.state),
                             "FAULTS_DIRECTORY": str(self.directory), "FAULTS_LOG": str(self.log)}

    @property
    def count(self) -> int:
        """Calls so far."""
        return STATE.unpack(self.state.read_bytes())[0]

    def calls(self) -> list[tuple[str, str]]:
        """Name and path, within the directory, of each call so far; the first is number 1."""
        if not self.log.exists():
            return []
        rows = [line.split(" ", 2) for line in self.log.read_text().splitlines()]
        return [(name, path) for _, name, path in sorted(rows, key=lambda row: int(row[0]))]
