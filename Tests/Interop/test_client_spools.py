"""What the client libraries do with a spool that they find: owned, damaged, torn, not synced, or
settled in part."""

import contextlib
import pathlib
import re
import shutil
import subprocess
import zlib

import pytest

from server import wait_until
from test_client_libraries import (
    BUILT, DUPLICATE, LIBRARIES, SECONDS, WITH_SPOOL, Sender, built, check, environment,
    on_one_port)

NOBODY = "127.0.0.1:1"
MAGIC, MARKS_MAGIC = b"SLSPOOL1", b"SLMARKS1"
# Length and checksum of a record, and so a mark.
HEAD_BYTES = 8
EVENTS, MORE_EVENTS = 500, 5_000
# Requests of one event, so that few are under way. An answer settles at most as many.
ALONE, UNDER_WAY = ("--batch", "1"), 16
# The libraries' limit of settled events whose marks are not synced.
UNSYNCED_EVENTS = 1_000
OPENING_SECONDS = 60
# Swift's lock is not the one that Java has: Clients/java/README.md.
APART = {"java", "swift"}


@pytest.fixture(params=sorted(WITH_SPOOL))
def library(request) -> str:
    return built(request.param)


def arguments(spool: pathlib.Path, space: str, first: int = 0, events: int = EVENTS) -> list[str]:
    return ["--space", space, "--events", str(events), "--first", str(first), "--spool", str(spool)]


def spooled(library: str, spool: pathlib.Path, space: str, events: int = EVENTS) -> pathlib.Path:
    """The file of a client that was killed before anything was acknowledged."""
    sender = Sender(library, NOBODY, *arguments(spool, space, events=events))
    sender.wait_for("taken", events)
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
def opened(library: str, spool: pathlib.Path, *words: str, target: str = NOBODY):
    """A program that appends nothing, behind these words, and is killed in the end."""
    process = subprocess.Popen(
        [*words, *LIBRARIES[library], target, *arguments(spool, "0", EVENTS), *ALONE],
        env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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


def events_in(spool: pathlib.Path, space: str) -> tuple[list[int], list[int]]:
    """The numbers of a spool's events that are marked as settled, and of those that are not."""
    marked: list[int] = []
    left: list[int] = []
    for file in sorted(spool.glob("*.spool")):
        marks_file = file.with_suffix(".settled")
        marks = marks_file.read_bytes() if marks_file.exists() else b""
        text, place, mark = file.read_bytes(), len(MAGIC), len(MARKS_MAGIC)
        while place < len(text):
            head = text[place:place + HEAD_BYTES]
            end = place + HEAD_BYTES + int.from_bytes(head[:4], "little")
            number = re.search(f"h{space}([0-9a-f]{{8}})".encode(), text[place:end])[1]
            is_marked = marks.startswith(MARKS_MAGIC) and marks[mark:mark + HEAD_BYTES] == head
            (marked if is_marked else left).append(int(number, 16))
            place, mark = end, mark + HEAD_BYTES
    return marked, left


def test_what_was_settled_is_not_sent_again_after_a_kill(library, make_server, tmp_path, seed):
    """Each event whose verdict was told has its mark, and the next client reads it, in whatever
    language. Only what was under way may be sent twice."""
    spool, space = tmp_path / "spool", f"{seed:08x}"
    spooled(library, spool, space, MORE_EVENTS)
    server = on_one_port(make_server())
    sender = Sender(library, server.target, *arguments(spool, space, EVENTS), *ALONE)
    sender.wait_for("settled", MORE_EVENTS // 5)
    sender.kill()
    marked, left = events_in(spool, space)
    assert left, "all was settled before the kill"
    assert marked + left == list(range(MORE_EVENTS)), "they are settled in order"
    assert len(marked) >= sender.settled > 0
    names = sorted(WITH_SPOOL)
    other = built(names[names.index(library) - 1])
    end = Sender(other, server.target, *arguments(spool, space, EVENTS)).wait()
    assert sum(end["verdicts"].values()) == len(left), end
    assert end["verdicts"].get(DUPLICATE, 0) <= UNDER_WAY, end
    assert [path.name for path in spool.iterdir()] == ["lock"]
    check(server, space, MORE_EVENTS)


def test_marks_are_synced_at_a_bounded_distance(library, strace, make_server, tmp_path, seed):
    """So a power cut brings back few events."""
    spool, trace, server = tmp_path / "spool", tmp_path / "trace", on_one_port(make_server())
    marks = spooled(library, spool, f"{seed:08x}", MORE_EVENTS).with_suffix(".settled")
    with opened(library, spool, *strace, "-o", str(trace), target=server.target) as process:
        assert process.wait(SECONDS) == 0
    syncs = trace.read_text().count(f"<{marks}>")
    # The last ones go with their file.
    fewest = (MORE_EVENTS - 1) // (UNSYNCED_EVENTS + UNDER_WAY)
    assert fewest <= syncs <= MORE_EVENTS // UNSYNCED_EVENTS
    assert server.terminate() == 0, server.log()


def test_marks_that_are_none_settle_nothing(library, make_server, tmp_path, seed):
    """Zeros, which a power cut may leave, and marks of other events."""
    spool, space = tmp_path / "spool", f"{seed:08x}"
    file = spooled(library, spool, space)
    text = file.read_bytes()
    second = text[len(MAGIC) + HEAD_BYTES + int.from_bytes(text[8:12], "little"):][:HEAD_BYTES]
    file.with_suffix(".settled").write_bytes(MARKS_MAGIC + second + bytes(HEAD_BYTES * EVENTS))
    server = on_one_port(make_server())
    Sender(library, server.target, *arguments(spool, space, EVENTS)).wait()
    check(server, space, EVENTS)


def test_a_random_history_of_javas_spool(tmp_path, seed, amount):
    """The other libraries have such a test of their own."""
    built("java")
    for round_seed in range(seed, seed + amount(1, 50)):
        done = subprocess.run(
            ["java", "-cp", f"{BUILT / 'java'}/*", "com.sightline.client.SpoolHistory",
             tmp_path / f"{round_seed}", str(round_seed)], capture_output=True, text=True,
            timeout=SECONDS)
        assert done.returncode == 0, f"seed {round_seed}\n{done.stderr}"
