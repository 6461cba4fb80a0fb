"""What the spool took is there after any end, and goes once it is settled."""

import os
import random

import pytest

from sightline.spool import MAGIC, Spool, SpoolLocked, record


def left(folder) -> list[bytes]:
    """What a new owner finds."""
    spool = Spool(folder)
    found = [data for _, data in spool.recover()]
    os.close(spool._lock)
    return found


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


@pytest.mark.parametrize("cut", range(1, 23))
def test_a_torn_tail_is_cut_and_the_rest_is_found(tmp_path, cut):
    spool = Spool(tmp_path)
    for number in range(3):
        spool.append(b"event number %d" % number)
    abandon(spool)
    path = next(tmp_path.glob("*.spool"))
    os.truncate(path, path.stat().st_size - cut)
    assert left(tmp_path) == [b"event number 0", b"event number 1"]


def test_a_changed_byte_ends_its_segment(tmp_path):
    spool = Spool(tmp_path)
    for number in range(3):
        spool.append(b"event number %d" % number)
    abandon(spool)
    path = next(tmp_path.glob("*.spool"))
    data = bytearray(path.read_bytes())
    data[len(MAGIC) + len(record(b"event number 0")) + 10] ^= 1
    path.write_bytes(data)
    assert left(tmp_path) == [b"event number 0"]


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
