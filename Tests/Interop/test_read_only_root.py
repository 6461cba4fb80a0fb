"""A server and its commands in a container's conditions: the root read-only, no home, no name for the
user, and only the data directory to write in."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from server import STOP_SECONDS, binary, wait_until

# Nobody's in /etc/passwd.
USER = 10001
IO_ERROR = 74
# The words: the data directory, an empty folder, the program's folder, and the command's words. A
# bind mount keeps the data directory writable, and lets the user reach a program in another's home.
ENTER = """
set -eu
data=$1 place=$2 build=$3
shift 3
mount --make-rprivate /
mount --bind "$data" "$data"
mount --bind "$build" "$place"
mount -o remount,bind,ro "$place"
mount -o remount,bind,ro /
cd "$data"
exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all \\
    "$place/sightline" "$@"
"""


@pytest.fixture
def contained(payloads):
    """Starts the program there."""
    probe = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    if os.geteuid() != 0 or probe.returncode:
        pytest.skip("no mounts of its own here: it needs root")
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    home.chmod(0o755)
    data, place = home / "data", home / "program"
    data.mkdir()
    place.mkdir()
    shutil.copy(payloads / "apns-alert.json", data)
    os.chown(data, USER, USER)
    environment = {"PATH": "/usr/bin:/bin", "SIGHTLINE_DATA_DIR": str(data)}

    def start(*words: str) -> subprocess.Popen:
        return subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", ENTER, "sh", data, place, binary().resolve().parent,
             *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    yield start
    shutil.rmtree(home, ignore_errors=True)


def run(contained, *words: str) -> tuple[int, str, str]:
    """A command's exit code, and what it prints."""
    process = contained(*words)
    output, errors = process.communicate(timeout=STOP_SECONDS)
    return process.returncode, output, errors


def listening(server: subprocess.Popen) -> str:
    """The address that a server tells."""
    for line in server.stdout:
        if line.startswith("listening on "):
            return line.removeprefix("listening on ").strip()
    raise AssertionError(server.stderr.read())


def test_it_serves_and_reports(contained):
    """It takes events, stores them, reports them, and ends with 0."""
    server = contained("serve", "--listen", "127.0.0.1:0", "--admin", "off")
    try:
        target = listening(server)
        assert run(contained, "health", "--target", target) == (0, "SERVING\n", "")
        code, _, errors = run(contained, "send", "apns-alert.json", "--platform", "ios",
                              "--interaction", "opened", "--target", target)
        assert code == 0, errors
        wait_until(lambda: run(contained, "tail", "--json", "--data-dir", ".")[1], "a hit")
        code, report, errors = run(contained, "report", "--json", "--data-dir", ".")
        assert code == 0 and json.loads(report.splitlines()[0]), errors
        # The conditions hold: beside the data directory nothing can be written.
        code, _, errors = run(contained, "report", "--data-dir", ".", "--html", "/tmp/report.html")
        assert code == IO_ERROR and "/tmp/report.html: " in errors, errors
    finally:
        server.terminate()
        code = server.wait(STOP_SECONDS)
    assert code == 0, server.stderr.read()
