"""`sqlite.group`: a group of the machine reads hits.db, at each start, and nothing else."""

import grp
import os
import shutil
import stat
import subprocess

import pytest

from test_terminal_commands import run

CONFIGURATION = 78
NOBODY = 65534


def a_group() -> grp.struct_group:
    """A group that this process may give files to, and not its first one where there are others."""
    if os.geteuid() == 0:
        return next(group for group in grp.getgrall() if group.gr_gid not in (0, os.getegid()))
    own = sorted(set(os.getgroups()) - {os.getegid()}) or [os.getegid()]
    return grp.getgrgid(own[0])


def modes(directory) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


def test_a_group_may_read_hits_at_each_start_and_no_other_file(make_server, payloads):
    group = a_group()
    server = make_server(f"--set=sqlite.group={group.gr_name}")
    for number in (1, 2):
        server.start()
        run("send", payloads / "apns-alert.json", "--target", server.target, "--platform", "ios",
            "--interaction", "received" if number == 1 else "dismissed")
        server.wait_for_hits(number)
        for name in ("", "-wal", "-shm"):
            status = (server.directory / f"hits.db{name}").stat()
            assert (stat.S_IMODE(status.st_mode), status.st_gid) == (0o640, group.gr_gid), name
        folder = server.directory.stat()
        assert (stat.S_IMODE(folder.st_mode), folder.st_gid) == (0o710, group.gr_gid)
        others = {name: mode for name, mode in modes(server.directory).items()
                  if not name.startswith("hits.db") and mode & 0o077}
        assert others == {}
        if os.geteuid() == 0 and shutil.which("setpriv"):
            assert counted_by(group, server) == number
        assert server.terminate() == 0


def counted_by(group, server) -> int:
    """The hits that somebody in the group sees with the program sqlite3 while the server runs."""
    os.chmod(server.directory.parent, 0o711)
    done = subprocess.run(
        ["setpriv", f"--reuid={NOBODY}", f"--regid={group.gr_gid}", "--clear-groups", "sqlite3",
         "-readonly", server.directory / "hits.db", "SELECT count(*) FROM hits"],
        text=True, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_without_a_group_the_owner_alone_may_read_hits(make_server):
    server = make_server(f"--set=sqlite.group={a_group().gr_name}").start()
    assert server.terminate() == 0
    server.arguments = ()
    server.start()
    assert {mode for name, mode in modes(server.directory).items()
            if name.startswith("hits.db")} == {0o600}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may give files to every group")
def test_a_group_that_the_server_is_not_in_is_refused():
    other = next(group for group in grp.getgrall()
                 if group.gr_gid not in {os.getegid(), *os.getgroups()})
    done = run("validate", "--set", f"sqlite.group={other.gr_name}", code=CONFIGURATION)
    assert "sqlite.group" in done.stderr and "usermod -aG" in done.stderr


def test_a_group_that_is_not_there_is_refused():
    done = run("validate", "--set", "sqlite.group=no-such-group", code=CONFIGURATION)
    assert all(word in done.stderr for word in
               ("sqlite.group", "no-such-group", "groupadd")), done.stderr
