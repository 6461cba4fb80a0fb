"""What the sinks' files survive: a name that is not on the disk is a file that is lost."""

import re
import shutil
import subprocess
import time

import pytest

from facts import Facts
from ledger import Ledger, lines_of
from server import binary, wait_until
from test_full_or_broken_disk import make_batch, send

CALLS = "openat,mkdir,fsync,fdatasync"
UNFINISHED = " <unfinished ...>"


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """Servers run under strace, which leaves their pid to them. The file that it writes."""
    if not shutil.which("strace"):
        pytest.skip("no strace here: `make bootstrap` installs it")
    path = tmp_path / "trace"
    tried = subprocess.run(["strace", "-D", "-f", "-y", "-o", path, "true"], check=False,
                           capture_output=True, text=True)
    if tried.returncode != 0:
        pytest.skip(f"strace may not trace here: {tried.stderr.strip()}")
    program = tmp_path / "traced"
    program.write_text(
        f"#!/bin/sh\nexec strace -D -f -y -e trace={CALLS} -o {path} {binary()} \"$@\"\n")
    program.chmod(0o755)
    monkeypatch.setenv("INTEROP_BINARY", str(program))
    return path


def whole_calls(lines: list[str]) -> list[str]:
    """strace's lines, where a call that another thread's calls came between is one line again: it
    stands where it returned."""
    calls, begun = [], {}
    for line in lines:
        thread = line.split(maxsplit=1)[0]
        if line.endswith(UNFINISHED):
            begun[thread] = line.removesuffix(UNFINISHED)
        elif resumed := re.match(r"\d+ +<\.\.\. \w+ resumed>", line):
            calls.append(begun.pop(thread, "") + line[resumed.end():])
        else:
            calls.append(line)
    return calls


def test_a_call_that_others_came_between_is_one_line():
    assert whole_calls([
        "17 fsync(7</data> <unfinished ...>",
        '18 mkdir("/data/hits", 0700) = 0',
        "17 <... fsync resumed>) = 0",
    ]) == ['18 mkdir("/data/hits", 0700) = 0', "17 fsync(7</data>) = 0"]


@pytest.mark.parametrize("compression, ending", [("none", "jsonl"), ("zstd", "jsonl.zst")])
def test_a_new_file_of_lines_has_its_name_on_disk(make_server, trace, compression, ending):
    """Before its hits count as delivered: the directory is synced after each new file, and the
    data directory after that one was made."""
    facts = Facts(12, 1_800_000_000)
    server = make_server("--sink", "jsonl", "--set=jsonl.file_bytes=1",
                         f"--set=jsonl.compression={compression}").start()
    for _ in range(3):
        _, refusal = send(server, make_batch(facts, 1))
        assert not refusal
    folder = server.directory / "hits"
    last = folder / f"hits-000003.{ending}"
    wait_until(lambda: last.exists() and last.stat().st_size > 0, f"lines in {last}")
    assert server.terminate() == 0, server.log()
    lines = whole_calls(trace.read_text(errors="replace").splitlines())

    def first(pattern: str, after: int = 0) -> int:
        """The first line behind `after` in which a call has returned 0 or a descriptor."""
        for number in range(after, len(lines)):
            if re.search(pattern, lines[number]) and " = -1 " not in lines[number]:
                return number
        raise AssertionError(f"no {pattern} after line {after}:\n" + "\n".join(lines[-200:]))

    name = re.escape(str(folder))
    made = first(f'mkdir\\("{name}"')
    listed = first(rf"fsync\(\d+<{re.escape(str(server.directory))}>\)", made)
    # SQLite syncs the same directory for its own files, but later.
    assert listed < first(f'openat\\(.*"{name}/hits-000001.{ending}", O_WRONLY')
    for number in (1, 2, 3):
        file = f"{name}/hits-00000{number}.{ending}"
        created = first(f'openat\\(.*"{file}", O_WRONLY\\|O_CREAT')
        named = first(rf"fsync\(\d+<{name}>\)", created)
        assert named < first(rf"fdatasync\(\d+<{file}>", created)


def test_compressed_lines_are_read_by_zstd(make_server):
    """Each start begins a file if the compression has changed, and cuts off what the kill before it
    left. The tool reads every file, and finds every hit that was acked."""
    facts, ledger = Facts(13, int(time.time())), Ledger()
    server = make_server("--sink", "jsonl")
    arguments = server.arguments
    for compression in ("none", "zstd", "zstd", "none", "zstd"):
        server.arguments = (*arguments, f"--set=jsonl.compression={compression}")
        server.start()
        with server.channel() as channel:
            for _ in range(5):
                assert ledger.offer(server.stub(channel), [facts.accepted() for _ in range(40)])
        server.kill()
    server.start()
    wait_until(lambda: not ledger.missing(server), "all hits in the files")
    assert server.terminate() == 0, server.log()
    folder = server.directory / "hits"
    assert sorted(path.name for path in folder.iterdir()) == [
        "hits-000001.jsonl", "hits-000002.jsonl.zst", "hits-000003.jsonl", "hits-000004.jsonl.zst"]
    for path in folder.glob("*.zst"):
        subprocess.run(["zstd", "-tq", path], check=True)
        ratio = sum(len(line) for line in lines_of(path)) / path.stat().st_size
        assert ratio > 3, f"{path} is compressed by {ratio}"
