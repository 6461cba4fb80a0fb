"""What the client libraries do with a spool that they find: owned, damaged, torn or not synced."""

import contextlib
import pathlib
import shutil
import subprocess
import zlib

import pytest

from server import wait_until
from test_client_libraries import (
    BUILT, LIBRARIES, SECONDS, WITH_SPOOL, Sender, built, check, environment, on_one_port)

NOBODY = "127.0.0.1:1"
MAGIC = b"SLSPOOL1"
EVENTS = 500
OPENING_SECONDS = 60
# Swift's lock is not the one that Java has: Clients/java/README.md.
APART = {"java", "swift"}


@pytest.fixture(params=sorted(WITH_SPOOL))
def library(request) -> str:
    return built(request.param)


def arguments(spool: pathlib.Path, space: str, first: int = 0) -> list[str]:
    return ["--space", space, "--events", str(EVENTS), "--first", str(first), "--spool", str(spool)]


def spooled(library: str, spool: pathlib.Path, space: str) -> pathlib.Path:
    """The file of a client that was killed before anything was acknowledged."""
    sender = Sender(library, NOBODY, *arguments(spool, space))
    sender.wait_for("taken", EVENTS)
    sender.kill()
    file, = spool.glob("*.spool")
    return file


def refused(library: str, spool: pathlib.Path) -> str:
    """What a program says whose client is not made."""
    sender = Sender(library, NOBODY, *arguments(spool, "0"))
    try:
        assert sender.process.wait(OPENING_SECONDS) != 0
    finally:
        sender.kill()
    assert sender.taken == 0
    return sender.errors


def test_a_folder_has_one_owner_whatever_its_language(library, tmp_path, seed):
    others = [name for name in sorted(WITH_SPOOL) if {name, library} != APART]
    owner = Sender(library, NOBODY, *arguments(tmp_path / "spool", f"{seed:08x}"))
    owner.wait_for("taken", EVENTS)
    for other in others:
        assert "belongs to another client" in refused(built(other), tmp_path / "spool"), other
    owner.kill()


@pytest.mark.parametrize("place", [3, 20], ids=["magic", "event"])
def test_damage_is_told_of_and_no_file_is_changed(library, tmp_path, seed, place):
    file = spooled(library, tmp_path / "spool", f"{seed:08x}")
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    said = refused(library, tmp_path / "spool")
    assert f"{file} is damaged at byte {0 if place < len(MAGIC) else len(MAGIC)}" in said, said
    assert file.read_bytes() == data


def test_a_torn_end_is_cut_and_the_rest_is_sent(library, make_server, tmp_path, seed):
    spool, space = tmp_path / "spool", f"{seed:08x}"
    file = spooled(library, spool, space)
    with file.open("r+b") as opened:
        opened.truncate(file.stat().st_size - 5)
    server = on_one_port(make_server())
    Sender(library, server.target, *arguments(spool, space, EVENTS - 1)).wait()
    check(server, space, EVENTS)


def test_its_file_has_the_form_that_all_document(library, tmp_path, seed):
    """A magic and then records: length, CRC-32 of length and bytes, bytes."""
    file = spooled(library, tmp_path / "spool", f"{seed:08x}")
    text, events = file.read_bytes(), 0
    assert text.startswith(MAGIC)
    place = len(MAGIC)
    while place < len(text):
        length = int.from_bytes(text[place:place + 4], "little")
        summed = text[place:place + 4] + text[place + 8:place + 8 + length]
        assert int.from_bytes(text[place + 4:place + 8], "little") == zlib.crc32(summed)
        place, events = place + 8 + length, events + 1
    assert (place, events) == (len(text), EVENTS)


@pytest.fixture
def strace() -> list[str]:
    """Words before a command. -D: the process that is started is the client, and not strace."""
    if not shutil.which("strace"):
        pytest.skip("no strace here: `make bootstrap` installs it")
    if subprocess.run(["strace", "true"], capture_output=True, check=False).returncode:
        pytest.skip("strace may not trace here")
    return ["strace", "-D", "-f", "-y", "-e", "trace=fsync,fdatasync"]


@contextlib.contextmanager
def opened(library: str, spool: pathlib.Path, *words: str):
    """A program that appends nothing, behind these words, and is killed in the end."""
    process = subprocess.Popen(
        [*words, *LIBRARIES[library], NOBODY, *arguments(spool, "0", EVENTS)], env=environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(SECONDS)


def test_what_is_found_is_synced_at_opening(library, strace, tmp_path, seed):
    """Its owner may have ended before it was, and what is sent next must not outlive it."""
    spool, trace = tmp_path / "spool", tmp_path / "trace"
    file = spooled(library, spool, f"{seed:08x}")
    with opened(library, spool, *strace, "-o", str(trace)):
        wait_until(lambda: trace.exists() and f"<{file}>" in trace.read_text(),
                   f"a sync of {file}", OPENING_SECONDS)


def test_what_cannot_be_synced_is_kept_and_no_client_is_made(library, strace, tmp_path, seed):
    spool = tmp_path / "spool"
    file = spooled(library, spool, f"{seed:08x}")
    data = file.read_bytes()
    with opened(library, spool, *strace, "-o", str(tmp_path / "trace"),
                "-e", "inject=fsync,fdatasync:error=EIO") as process:
        assert process.wait(OPENING_SECONDS) != 0
    assert file.read_bytes() == data


def test_a_random_history_of_javas_spool(tmp_path, seed, amount):
    """The other libraries have such a test of their own."""
    built("java")
    for round_seed in range(seed, seed + amount(1, 50)):
        done = subprocess.run(
            ["java", "-cp", f"{BUILT / 'java'}/*", "com.sightline.client.SpoolHistory",
             tmp_path / f"{round_seed}", str(round_seed)], capture_output=True, text=True,
            timeout=SECONDS)
        assert done.returncode == 0, f"seed {round_seed}\n{done.stderr}"
