"""Root changes keys and certificates of a server that runs as another user, as the unit in Deploy
has it: the server reads them afterwards as before, and who could not read a file is told so."""

import fcntl
import json
import os
import pathlib
import pwd
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time

import grpc
import pytest

from certificates import Authority
from facts import Facts
from protos import service as s
from server import Server, binary, wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
CONFIGURATION = 78
SECONDS = 60


class Installation:
    """A folder for the configuration and one for the data, of a server that runs as nobody."""

    def __init__(self, home: pathlib.Path):
        nobody = pwd.getpwnam("nobody")
        self.user, self.group = nobody.pw_uid, nobody.pw_gid
        home.chmod(0o755)
        self.etc, self.data = home / "etc", home / "data"
        self.yaml, self.keys = self.etc / "sightline.yaml", self.etc / "keys.jsonl"
        # As `install -d -m 0750 -g sightline` and the unit make them.
        self.etc.mkdir()
        self.give(self.etc, 0, self.group, 0o750)
        self.data.mkdir()
        self.give(self.data, self.user, self.group, 0o700)
        self.authority = Authority()
        self.install_certificate()
        self.yaml.write_text(json.dumps({
            "data_dir": str(self.data), "auth": {"mode": "keys", "keys_file": str(self.keys)},
            "tls": {"mode": "tls", "certificate": str(self.etc / "tls.pem"),
                    "key": str(self.etc / "tls.key"), "reload_seconds": 86400}}))
        self.give(self.yaml, 0, self.group, 0o640)

    @staticmethod
    def give(path: pathlib.Path, owner: int, group: int, mode: int) -> None:
        os.chown(path, owner, group)
        path.chmod(mode)

    def install_certificate(self) -> bytes:
        """A new certificate, put in its place as certbot's hook does; its DER."""
        made = self.authority.issue()
        for path in made.write(self.etc, "tls"):
            self.give(pathlib.Path(path), 0, self.group, 0o640)
        return made.der

    def become_nobody(self) -> None:
        os.setgroups([])
        os.setgid(self.group)
        os.setuid(self.user)

    def run(self, *arguments, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([str(binary()), *map(str, arguments)], capture_output=True,
                              text=True, timeout=SECONDS, check=False)
        assert done.returncode == code, done
        return done

    def run_keys(self, *arguments) -> subprocess.CompletedProcess:
        return self.run("keys", *arguments, "--config", self.yaml)


@pytest.fixture
def installed(monkeypatch):
    with tempfile.TemporaryDirectory(prefix="sightline-test-") as home:
        # Another user may not be able to reach the build's folder.
        program = pathlib.Path(home, "sightline")
        shutil.copy(binary(), program)
        monkeypatch.setenv("INTEROP_BINARY", str(program))
        yield Installation(pathlib.Path(home))


@pytest.fixture
def serving(installed, make_server) -> Server:
    return make_server("--config", str(installed.yaml), directory=installed.data,
                       limits=installed.become_nobody)


def reload(server: Server) -> None:
    size = len(server.log_path.read_text())
    server.process.send_signal(signal.SIGHUP)

    def said() -> str:
        return server.log_path.read_text()[size:]

    wait_until(lambda: '"msg":"reloaded"' in said() or "not reloaded" in said(), "a reload")
    assert "not reloaded" not in said(), server.log()


def code(installed: Installation, server: Server, key: str) -> grpc.StatusCode:
    """How a call with a key ends."""
    request = s.RecordEventsRequest(events=[Facts(1, int(time.time())).track_action().event])
    credentials = grpc.ssl_channel_credentials(installed.authority.pem)
    with grpc.secure_channel(server.target, credentials) as channel:
        try:
            server.stub(channel).RecordEvents(request, metadata=[("x-api-key", key)], timeout=30)
        except grpc.RpcError as error:
            return error.code()
    return grpc.StatusCode.OK


OK, REFUSED = grpc.StatusCode.OK, grpc.StatusCode.UNAUTHENTICATED


@pytest.mark.parametrize("is_of_root", [True, False], ids=["etc of root", "etc of the server"])
def test_keys_that_root_makes_and_revokes_are_in_force_at_the_next_reload(
        installed, serving, is_of_root):
    owner = 0 if is_of_root else installed.user
    installed.give(installed.etc, owner, installed.group, 0o750)
    first = installed.run_keys("new", "--tenant", "shop").stdout.strip()
    expected = (owner, installed.group, 0o640 if is_of_root else 0o600)

    def found() -> tuple[int, int, int]:
        status = installed.keys.stat()
        return status.st_uid, status.st_gid, status.st_mode & 0o777

    assert found() == expected
    server = serving.start()
    assert code(installed, server, first) == OK
    second = installed.run_keys("new", "--tenant", "shop").stdout.strip()
    revoked = installed.run_keys("revoke", first[4:20])
    assert revoked.stderr == "" and found() == expected
    reload(server)
    assert (code(installed, server, first), code(installed, server, second)) == (REFUSED, OK)
    assert server.terminate() == 0
    assert code(installed, server.start(), second) == OK


def test_the_mode_of_a_keys_file_is_kept_and_its_owner_may_go_on(installed):
    """Whichever mode an operator has chosen; and root's lock does not shut the owner out."""
    installed.give(installed.etc, installed.user, installed.group, 0o755)
    installed.run_keys("new", "--tenant", "shop")
    installed.give(installed.keys, installed.user, 0, 0o604)
    installed.run_keys("new", "--tenant", "shop")
    status = installed.keys.stat()
    assert (status.st_uid, status.st_gid, status.st_mode & 0o777) == (installed.user, 0, 0o604)
    installed.give(installed.keys, installed.user, installed.group, 0o600)
    done = subprocess.run(
        [binary(), "keys", "new", "--tenant", "shop", "--config", installed.yaml],
        preexec_fn=installed.become_nobody, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done
    assert len(installed.keys.read_text().splitlines()) == 3


def test_a_user_who_cannot_keep_the_owner_changes_nothing(installed):
    installed.run_keys("new", "--tenant", "shop")
    installed.etc.chmod(0o777)
    installed.keys.chmod(0o644)
    before = installed.keys.read_bytes(), set(installed.etc.iterdir())
    done = subprocess.run(
        [binary(), "keys", "new", "--tenant", "shop", "--config", installed.yaml],
        preexec_fn=installed.become_nobody, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 74 and done.stdout == "", done
    assert "belongs to user 0" in done.stderr and "as root" in done.stderr
    assert (installed.keys.read_bytes(), set(installed.etc.iterdir())) == before


def test_what_the_owner_changes_before_the_lock_is_free_is_kept(installed):
    """The command waits for the lock, and keeps what the file is when it has it."""
    installed.give(installed.etc, installed.user, installed.group, 0o755)
    installed.run_keys("new", "--tenant", "shop")
    with open(f"{installed.keys}.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen([binary(), "keys", "new", "--tenant", "shop", "--config",
                               installed.yaml], stdout=subprocess.PIPE) as waiting:
            wait_until(lambda: is_waiting(waiting.pid), "a command that waits for the lock")
            installed.give(installed.keys, 1, installed.group, 0o604)
            fcntl.flock(lock, fcntl.LOCK_UN)
            waiting.communicate(timeout=SECONDS)
    assert waiting.returncode == 0
    status = installed.keys.stat()
    assert (status.st_uid, status.st_mode & 0o777) == (1, 0o604)
    assert len(installed.keys.read_text().splitlines()) == 2


def is_waiting(pid: int) -> bool:
    """Whether a process waits for a lock, as the kernel lists it."""
    lines = pathlib.Path("/proc/locks").read_text().splitlines()
    return any("->" in line and f" {pid} " in line for line in lines)


@pytest.mark.parametrize("name", ["keys.jsonl", "keys.jsonl.lock"])
@pytest.mark.parametrize("put", [os.symlink, os.link], ids=["symbolic", "hard"])
def test_a_link_that_the_owner_of_the_directory_has_put_leads_root_to_no_other_file(
        installed, name, put):
    installed.give(installed.etc, installed.user, installed.group, 0o755)
    installed.run_keys("new", "--tenant", "shop")
    # As a server's of root; it is empty or has keys, and so could be taken for either.
    other = installed.etc.parent / "other"
    other.write_bytes(b"" if name.endswith(".lock") else installed.keys.read_bytes())
    other.chmod(0o600)
    place = installed.etc / name
    place.unlink()
    put(other, place)

    def found():
        status = other.stat()
        return (status.st_uid, status.st_gid, status.st_mode, other.read_bytes(),
                place.is_symlink(), place.samefile(other))

    before = found()
    done = installed.run("keys", "new", "--tenant", "shop", "--config", installed.yaml, code=74)
    assert f"{place} is not changed" in done.stderr and "link" in done.stderr
    assert found() == before


def test_a_file_that_is_moved_to_the_place_of_the_lock_is_not_given_away(installed):
    """In its own directory the server's user may move a file of root, which it cannot read."""
    installed.give(installed.etc, installed.user, installed.group, 0o755)
    secret = installed.etc / "secret"
    secret.write_text("of root")
    installed.give(secret, 0, 0, 0o600)
    lock = secret.rename(installed.etc / "keys.jsonl.lock")
    done = installed.run("keys", "new", "--tenant", "shop", "--config", installed.yaml, code=74)
    assert "is no lock" in done.stderr and lock.stat().st_uid == 0


def test_a_certificate_that_root_replaces_is_shown_after_a_reload(installed, serving):
    installed.run_keys("new", "--tenant", "shop")
    server = serving.start()
    host, _, port = server.target.rpartition(":")
    look = ssl.create_default_context(cadata=installed.authority.pem.decode())
    look.check_hostname = False
    look.set_alpn_protocols(["h2"])

    def shown() -> bytes:
        with socket.create_connection((host, int(port)), timeout=SECONDS) as raw:
            with look.wrap_socket(raw) as connection:
                return connection.getpeercert(binary_form=True)

    before = shown()
    renewed = installed.install_certificate()
    assert shown() == before, "nobody asked for it yet"
    reload(server)
    assert shown() == renewed


@pytest.mark.parametrize("name, key", [
    ("keys.jsonl", "auth.keys_file"), ("tls.key", "tls.key"), ("sightline.yaml", "user")])
def test_what_the_servers_user_could_not_read_is_told(installed, name, key):
    installed.run_keys("new", "--tenant", "shop")
    assert installed.run("validate", installed.yaml).stderr == ""
    file = installed.etc / name
    for path, owner, group, mode in [(file, 0, 0, 0o640), (file, 0, installed.group, 0o600),
                                     (installed.etc, 0, 0, 0o750)]:
        installed.give(installed.etc, 0, installed.group, 0o750)
        installed.give(path, owner, group, mode)
        told = installed.run("validate", installed.yaml, code=CONFIGURATION).stderr
        assert key in told and f"user {installed.user}, who owns data_dir, cannot" in told
        assert str(path) in told and "chgrp" in told
        listed = installed.run_keys("list").stderr
        assert ("could not read" in listed) == (path == installed.etc or name == "keys.jsonl")
    # Root's own server reads everything.
    os.chown(installed.data, 0, 0)
    assert installed.run("validate", installed.yaml).stderr == ""
