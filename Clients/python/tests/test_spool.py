"""What the spool took is there after any end, and goes once it is settled."""

import contextlib
import errno
import fcntl
import os
import random
import shutil

import pytest

from sightline.segment import MAGIC, SpoolDamaged, record
from sightline.spool import Spool, SpoolLocked

# Of a record of the tests.
SIZE = len(record(b"event number 0"))


def left(folder) -> list[bytes]:
    """What a new owner finds."""
    spool = Spool(folder)
    with contextlib.closing(spool):
        return [data for _, data in spool.recover()]


def abandon(spool: Spool) -> None:
    """The end of a process: its files are closed, and nothing is said."""
    os.close(spool._lock)
    os.close(spool._file)


def test_what_is_not_released_is_found_again_in_order(tmp_path):
    spool = Spool(tmp_path, segment_bytes=64)
    segments = [spool.append(b"event %d" % number) for number in range(20)]
    for segment in segments[:7]:
        spool.release(segment)
    abandon(spool)
    found = left(tmp_path)
    assert found == [b"event %d" % number for number in range(20)][-len(found):]
    assert len(found) >= 13


@pytest.mark.parametrize("cut", range(1, SIZE + 1))
def test_a_torn_tail_is_cut_and_the_rest_is_found(tmp_path, cut, caplog):
    spool = Spool(tmp_path)
    for number in range(3):
        spool.append(b"event number %d" % number)
    abandon(spool)
    path = next(tmp_path.glob("*.spool"))
    os.truncate(path, path.stat().st_size - cut)
    assert left(tmp_path) == [b"event number 0", b"event number 1"]
    # With all of the record, nothing is torn.
    told = [f"a torn record of {SIZE - cut} bytes is cut from {path}, behind 2 events"]
    assert [record.getMessage() for record in caplog.records] == (told if cut < SIZE else [])
    assert path.stat().st_size == len(MAGIC) + 2 * SIZE
    assert left(tmp_path) == [b"event number 0", b"event number 1"]


def damaged(path, place: int) -> bytes:
    """Changes a byte of a file."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    return bytes(data)


@pytest.mark.parametrize("place", range(len(MAGIC) + 2 * SIZE))
def test_a_changed_byte_is_told_and_no_file_is_changed(tmp_path, place):
    """Wherever it stands but in the last record, which may be torn. A length is a byte too."""
    spool = Spool(tmp_path)
    for number in range(3):
        spool.append(b"event number %d" % number)
    abandon(spool)
    path = next(tmp_path.glob("*.spool"))
    data = damaged(path, place)
    # Whoever ignores it and closes the spool loses nothing either.
    for _ in range(2):
        with pytest.raises(SpoolDamaged) as told:
            left(tmp_path)
        events = max(0, place - len(MAGIC)) // SIZE
        start = len(MAGIC) + events * SIZE if place >= len(MAGIC) else 0
        assert (told.value.path, told.value.byte, told.value.events) == (
            path, start, events)
        assert f"{path} is damaged at byte {start}" in str(told.value)
        assert path.read_bytes() == data


def test_an_earlier_file_may_not_be_torn(tmp_path):
    """It was synced before the next one began."""
    spool = Spool(tmp_path, segment_bytes=1)
    for number in range(3):
        spool.append(b"event %d" % number)
    abandon(spool)
    first, second, third = sorted(tmp_path.glob("*.spool"))
    os.truncate(second, second.stat().st_size - 1)
    with pytest.raises(SpoolDamaged) as told:
        left(tmp_path)
    assert (told.value.path, told.value.byte, told.value.events) == (second, len(MAGIC), 0)
    assert all(path.exists() for path in (first, second, third))


@pytest.mark.parametrize("rest", [b"", MAGIC[:5], MAGIC[:5] + bytes(9), bytes(64), MAGIC + b"\1"])
def test_a_file_that_had_just_begun_goes(tmp_path, rest):
    spool = Spool(tmp_path)
    spool.append(b"event")
    abandon(spool)
    begun = tmp_path / f"{2:016x}.spool"
    begun.write_bytes(rest)
    assert left(tmp_path) == [b"event"]
    assert not begun.exists()


def test_what_is_found_is_synced_before_it_is_given(tmp_path, monkeypatch):
    """Its owner may have ended before it was; what is sent next must not outlive it."""
    spool = Spool(tmp_path, segment_bytes=1)
    for number in range(3):
        spool.append(b"event %d" % number)
    abandon(spool)
    synced = []
    monkeypatch.setattr(os, "fdatasync", lambda file: synced.append(
        os.readlink(f"/proc/self/fd/{file}")))
    spool = Spool(tmp_path)
    assert len(spool.recover()) == 3
    assert synced == [str(path) for path in sorted(tmp_path.glob("*.spool"))]
    spool.close()


def test_a_segment_that_cannot_be_synced_is_the_last(tmp_path, monkeypatch):
    """Nobody knows what is durable of it: no other one may begin."""
    spool = Spool(tmp_path, segment_bytes=1)
    spool.append(b"event 0")

    def fail(file):
        raise OSError(errno.EIO, "it fails")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(OSError, match="it fails"):
            spool.append(b"event 1")
    with pytest.raises(OSError, match="it fails"):
        spool.append(b"event 2")
    spool.close()
    assert left(tmp_path) == [b"event 0"]


def test_what_cannot_be_synced_is_not_given_and_not_lost(tmp_path, monkeypatch):
    spool = Spool(tmp_path)
    spool.append(b"event")
    abandon(spool)

    def fail(file):
        raise OSError(errno.EIO, "it fails")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdatasync", fail)
        with pytest.raises(OSError, match="it fails"):
            left(tmp_path)
    assert left(tmp_path) == [b"event"]


def test_a_tail_of_zeros_is_no_event(tmp_path):
    spool = Spool(tmp_path)
    spool.append(b"event")
    abandon(spool)
    with next(tmp_path.glob("*.spool")).open("ab") as file:
        file.write(bytes(64))
    assert left(tmp_path) == [b"event"]


def test_a_folder_has_one_owner(tmp_path):
    spool = Spool(tmp_path)
    with pytest.raises(SpoolLocked):
        Spool(tmp_path)
    spool.close()
    Spool(tmp_path).close()


def test_a_folder_of_a_client_in_java_is_locked(tmp_path):
    """Its lock is a record lock."""
    with (tmp_path / "lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with pytest.raises(SpoolLocked):
            Spool(tmp_path)
    spool = Spool(tmp_path)
    with (tmp_path / "lock").open("w") as lock, pytest.raises(BlockingIOError):
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    spool.close()


def test_its_bytes_are_bounded_and_come_back(tmp_path):
    """One byte beyond the limit has no room; once all is released there is room for it again."""
    size = len(record(b"x" * 100))
    spool = Spool(tmp_path, max_bytes=len(MAGIC) * 2 + 3 * size, segment_bytes=1 << 20)
    segments = []
    while spool.has_room(100):
        segments.append(spool.append(b"x" * 100))
    assert not spool.has_room(100) and spool.bytes <= spool.max_bytes
    for segment in segments:
        spool.release(segment)
    assert spool.has_room(100)
    spool.close()
    assert not list(tmp_path.glob("*.spool"))


def test_random_appends_and_releases_leave_what_is_not_released(tmp_path):
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    kept: dict[bytes, int] = {}
    for number in range(1000):
        if number % 250 == 0:
            if number:
                abandon(spool)
            spool = Spool(tmp_path, segment_bytes=200)
            found = {data: segment for segment, data in spool.recover()}
            assert kept.keys() <= found.keys(), f"seed {seed}"
            kept = found
            spool.append(b"first %d" % number)
        data = b"%d" % number * dice.randint(1, 9)
        kept[data] = spool.append(data)
        while kept and dice.random() < 0.5:
            spool.release(kept.pop(dice.choice(list(kept))))
    assert spool.bytes == sum(path.stat().st_size for path in tmp_path.glob("*.spool"))


def test_a_failed_write_leaves_no_part_behind(tmp_path, monkeypatch):
    spool = Spool(tmp_path)
    spool.append(b"before")
    write = os.write

    def fail(file, data):
        monkeypatch.setattr(os, "write", fail_now)
        return write(file, bytes(data)[:5])

    def fail_now(file, data):
        raise OSError(28, "no space")

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError):
        spool.append(b"never")
    monkeypatch.setattr(os, "write", write)
    spool.append(b"after")
    abandon(spool)
    assert left(tmp_path) == [b"before", b"after"]


def test_names_that_are_no_segments_are_left_alone(tmp_path):
    """Also where they come last: what may be torn is the last segment."""
    spool = Spool(tmp_path)
    spool.append(b"before")
    spool.append(b"torn")
    abandon(spool)
    path = next(tmp_path.glob("*.spool"))
    os.truncate(path, path.stat().st_size - 1)
    others = [tmp_path / name for name in ("copy.spool", "zz.spool", "1.spool", f"{path.name}.bak",
                                           f"{'f' * 17}.spool", f"-{'f' * 15}.spool")]
    for other in others:
        other.write_bytes(b"of somebody else")
    assert left(tmp_path) == [b"before"]
    assert all(other.read_bytes() == b"of somebody else" for other in others)


def test_a_spool_whose_folder_has_gone_says_so_to_the_next_send(tmp_path):
    spool = Spool(tmp_path / "spool", segment_bytes=1)
    first, _ = spool.append(b"event 0"), spool.append(b"event 1")
    shutil.rmtree(tmp_path / "spool")
    spool.release(first)
    with pytest.raises(FileNotFoundError):
        spool.append(b"event 2")
    spool.close()


def test_nobody_waits_for_room_in_a_spool_that_has_failed(tmp_path, monkeypatch):
    spool = Spool(tmp_path, max_bytes=100, segment_bytes=100)
    segment = spool.append(b"x" * 70)

    def fail(file, size):
        raise OSError(errno.EIO, "it fails")

    monkeypatch.setattr(os, "ftruncate", fail)
    assert not spool.has_room(70)
    spool.release(segment)
    assert spool.has_room(70)
    with pytest.raises(OSError, match="it fails"):
        spool.append(b"x" * 70)
    spool.close()
