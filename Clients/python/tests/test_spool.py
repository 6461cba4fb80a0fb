"""What the spool took is there after any end, and goes once it is settled."""

import contextlib
import errno
import fcntl
import os
import pathlib
import random
import shutil

import pytest

from sightline import spool as spool_module
from sightline.outbox import Outbox
from sightline.segment import HEAD, MAGIC, MARKS_MAGIC, Place, SpoolDamaged, head, record
from sightline.session import Session
from sightline.spool import UNSYNCED_EVENTS, Spool, SpoolLocked
from sightline.ticket import Ticket

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
    places = [spool.append(b"event %d" % number) for number in range(20)]
    for place in places[:7]:
        spool.release(place)
    abandon(spool)
    assert left(tmp_path) == [b"event %d" % number for number in range(7, 20)]


def copied(folder) -> list[bytes]:
    """What the next owner finds if this one is killed now: it opens a copy."""
    copy = folder.with_name(f"{folder.name} copy")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    return left(copy)


@pytest.mark.parametrize("segment_bytes", [200, 4 << 20])
@pytest.mark.parametrize("answer", [1, 7, 100])
def test_what_was_settled_is_not_found_after_a_kill(tmp_path, segment_bytes, answer):
    spool = Spool(tmp_path / "spool", segment_bytes=segment_bytes)
    events = [b"event %d" % number for number in range(1007)]
    places = [spool.append(data) for data in events]
    for start in range(0, 1000, answer):
        spool.release(*places[start:start + answer])
        settled = min(start + answer, len(events))
        if start % 250 < answer:
            assert copied(tmp_path / "spool") == events[settled:]
    assert copied(tmp_path / "spool") == events[settled:]
    spool.close()
    assert left(tmp_path / "spool") == events[settled:]


def test_what_was_settled_out_of_order_is_not_found_after_a_kill(tmp_path):
    """As where a part of a request has to come later. The next owner adds to the marks it finds."""
    spool = Spool(tmp_path / "spool")
    events = [b"event %d" % number for number in range(60)]
    places = [spool.append(data) for data in events]
    spool.release(*places[1::3], *places[10:40:15])
    abandon(spool)
    spool = Spool(tmp_path / "spool")
    found = spool.recover()
    assert [data for _, data in found] == [
        data for number, data in enumerate(events) if number % 3 != 1 and number not in (10, 25)]
    spool.append(b"of the next owner")
    spool.release(*[place for place, data in found if data in events[::2]])
    assert copied(tmp_path / "spool") == [
        data for number, data in enumerate(events)
        if number % 2 and number % 3 != 1 and number != 25] + [b"of the next owner"]
    spool.close()


def test_nobody_is_told_of_a_verdict_before_the_spool_has_it(tmp_path, monkeypatch):
    spool, settle = Spool(tmp_path / "spool"), Ticket.settle
    session = Session(Outbox(), spool, 10, 1 << 20, None)
    tickets = [Ticket(session.settled, b"event %d" % number, session.guard) for number in range(3)]
    for ticket in tickets:
        session.take(ticket, 0)
    found = []

    def tell(ticket, result):
        found.append(copied(tmp_path / "spool"))
        return settle(ticket, result)

    monkeypatch.setattr(Ticket, "settle", tell)
    with session.lock:
        session.settle([(ticket, None) for ticket in tickets[:2]])
    assert found == [[b"event 2"]] * 2
    spool.close()


@pytest.mark.parametrize("of_limit", [-1, 0, 1])
def test_marks_are_synced_at_the_limit_of_settled_events(tmp_path, monkeypatch, of_limit):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(
        os.readlink(f"/proc/self/fd/{file}")))
    spool = Spool(tmp_path)
    places = [spool.append(b"event %d" % number) for number in range(UNSYNCED_EVENTS + 2)]
    synced.clear()
    for place in places[:UNSYNCED_EVENTS + of_limit]:
        spool.release(place)
    marks, names = str(tmp_path / f"{1:016x}.settled"), str(tmp_path)
    assert sorted(synced) == ([] if of_limit < 0 else [names, marks])
    spool.close()
    assert synced.count(marks) == max(1, of_limit + 1)


@pytest.mark.parametrize("events", [0, 1, 2])
def test_what_an_earlier_owner_has_settled_is_synced(tmp_path, monkeypatch, events):
    """Else each owner that is killed would add to what a power cut brings back."""
    spool = Spool(tmp_path)
    places = [spool.append(b"event %d" % number) for number in range(events)]
    if places:
        spool.release(places[0])
    os.close(spool._lock)
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(
        os.readlink(f"/proc/self/fd/{file}")))
    assert left(tmp_path) == [b"event 1"][:max(0, events - 1)]
    marks = str(tmp_path / f"{1:016x}.settled")
    assert sorted(synced) == [str(tmp_path)] + ([marks] if events > 1 else [])


GAP = bytes(HEAD.size)


@pytest.mark.parametrize("marks", [
    b"", MARKS_MAGIC[:5], MARKS_MAGIC, MARKS_MAGIC + bytes(100), bytes(100),
    b"SLMARKS2" + head(b"event 0"), MAGIC + head(b"event 0"), MARKS_MAGIC + head(b"event 0")[:7],
    MARKS_MAGIC + head(b"event 1") + head(b"event 0"), MARKS_MAGIC + GAP * 3 + head(b"event 0"),
    MARKS_MAGIC + b"\xff" * 100])
def test_what_is_no_mark_settles_nothing(tmp_path, marks):
    """A torn file, one of another form, and marks of other events: what a power cut may leave."""
    spool = Spool(tmp_path)
    events = [b"event %d" % number for number in range(3)]
    for data in events:
        spool.append(data)
    abandon(spool)
    (tmp_path / f"{1:016x}.settled").write_bytes(marks)
    spool = Spool(tmp_path)
    found = spool.recover()
    assert [data for _, data in found] == events
    spool.append(b"event 3")
    spool.release(found[1][0])
    abandon(spool)
    assert left(tmp_path) == [b"event 0", b"event 2", b"event 3"]


def test_an_event_that_comes_again_in_its_place_is_kept(tmp_path):
    """A file that was emptied has no marks of what was there before, also of the same bytes."""
    spool = Spool(tmp_path / "spool")
    first, second = spool.append(b"event"), spool.append(b"another")
    spool.release(first)
    spool.release(second)
    spool.append(b"event")
    assert copied(tmp_path / "spool") == [b"event"]
    spool.close()


def test_marks_go_with_their_segment_and_those_without_one_at_the_start(tmp_path):
    spool = Spool(tmp_path, segment_bytes=64)
    places = [spool.append(b"event number %d" % number) for number in range(6)]
    for place in places:
        spool.release(place)
    assert not list(tmp_path.glob("*.settled"))
    spool.close()
    others = [tmp_path / name for name in ("copy.settled", f"{1:x}.settled",
                                           f"{1:016x}.settled.bak")]
    for path in [tmp_path / f"{7:016x}.settled", *others]:
        path.write_bytes(MARKS_MAGIC)
    assert left(tmp_path) == []
    assert sorted(tmp_path.glob("*.settled*")) == sorted(others)


def test_marks_that_the_disk_does_not_take_end_nothing(tmp_path, monkeypatch, caplog):
    """A full disk is no reason to take no more events. Theirs are sent again after a kill."""
    spool = Spool(tmp_path / "spool")
    places = [spool.append(b"event %d" % number) for number in range(4)]

    def fail(file, data, place):
        raise OSError(errno.ENOSPC, "no space")

    with monkeypatch.context() as patched:
        patched.setattr(os, "pwrite", fail)
        spool.release(*places[:2])
    assert "settled events are not marked" in caplog.text
    spool.release(places[2])
    spool.append(b"event 4")
    assert copied(tmp_path / "spool") == [b"event 0", b"event 1", b"event 3", b"event 4"]
    spool.close()


def test_marks_that_cannot_be_synced_end_nothing(tmp_path, monkeypatch, caplog):
    spool = Spool(tmp_path / "spool")
    places = [spool.append(b"event %d" % number) for number in range(UNSYNCED_EVENTS + 1)]

    def fail(file):
        raise OSError(errno.EIO, "it fails")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        spool.release(*places[:UNSYNCED_EVENTS])
    assert "are not synced" in caplog.text
    spool.append(b"one more")
    assert copied(tmp_path / "spool") == [b"event %d" % UNSYNCED_EVENTS, b"one more"]
    spool.close()


def test_a_segment_that_a_power_cut_brings_back_has_its_marks(tmp_path, monkeypatch):
    """Its name is durably gone before its marks go."""
    spool = Spool(tmp_path, segment_bytes=64)
    places = [spool.append(b"event number %d" % number) for number in range(6)]
    spool.release(*places[:2])
    names = []
    monkeypatch.setattr(os, "fsync", lambda file: names.append(
        sorted(path.name for path in tmp_path.glob(f"{1:016x}.*"))))
    spool.release(*places[2:])
    assert [f"{1:016x}.settled"] in names
    spool.close()


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
    most = 3 * (len(MAGIC + MARKS_MAGIC) + len(record(b"x" * 100)) + HEAD.size)
    for limit in (most - 1, most):
        spool = Spool(tmp_path, max_bytes=limit, segment_bytes=1 << 20)
        places = []
        while spool.has_room(100):
            places.append(spool.append(b"x" * 100))
        assert len(places) == (3 if limit == most else 2)
        for place in places:
            spool.release(place)
            assert held(tmp_path) <= spool.bytes <= spool.max_bytes
        assert spool.has_room(100)
        spool.close()
    assert not list(tmp_path.glob("*.s*"))


def test_a_closed_spool_leaves_the_lock_alone(tmp_path):
    spool = Spool(tmp_path)
    places = [spool.append(b"event %d" % number) for number in range(3)]
    for place in places:
        spool.release(place)
    spool.close()
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]


def held(folder) -> int:
    """The bytes of a spool's files."""
    return sum(path.stat().st_size for path in folder.glob("*.s*"))


def test_random_appends_and_releases_leave_what_is_not_released(tmp_path):
    seed = random.SystemRandom().randrange(1 << 32)
    dice = random.Random(seed)
    kept: dict[bytes, Place] = {}
    first = b""
    for number in range(1000):
        if number % 250 == 0:
            if number:
                abandon(spool)
            spool = Spool(tmp_path, segment_bytes=200)
            found = {data: place for place, data in spool.recover()}
            assert kept.keys() | ({first} if first else set()) == found.keys(), f"seed {seed}"
            kept, first = found, b"first %d" % number
            spool.append(first)
        # With an end, as else 1 twice would be 11 once.
        data = b"%d " % number * dice.randint(1, 9)
        kept[data] = spool.append(data)
        while kept and dice.random() < 0.5:
            spool.release(kept.pop(dice.choice(list(kept))))
        assert held(tmp_path) <= spool.bytes, f"seed {seed}"


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


def names(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_workers_that_are_gone_have_left_is_adopted_in_order(tmp_path):
    for worker in (b"1", b"2"):
        gone = Spool(tmp_path / worker.decode())
        places = [gone.append(b"%s %d" % (worker, number)) for number in range(5)]
        gone.release(*places[:2])
        abandon(gone)
    spool = Spool(tmp_path / "3", adopt_siblings=True)
    spool.append(b"its own")
    abandon(spool)
    spool = Spool(tmp_path / "3", adopt_siblings=True)
    found = spool.recover()
    assert [data for _, data in found] == [
        b"its own", *(b"%s %d" % (worker, number) for worker in (b"1", b"2")
                      for number in range(2, 5))]
    assert names(tmp_path / "1") == names(tmp_path / "2") == ["lock"]
    assert copied(tmp_path / "3") == [data for _, data in found]
    spool.release(*[place for place, _ in found])
    spool.close()
    assert names(tmp_path / "3") == ["lock"]


def test_the_folders_of_workers_that_live_or_are_no_spools_are_left_alone(tmp_path):
    owner = Spool(tmp_path / "alive")
    owner.append(b"event")
    copied(tmp_path / "alive")
    shutil.move(tmp_path / "alive copy", tmp_path / "a copy")
    (tmp_path / "a copy" / "lock").unlink()
    before = {folder: names(tmp_path / folder) for folder in ("alive", "a copy")}
    with contextlib.closing(Spool(tmp_path / "own", adopt_siblings=True)) as spool:
        assert spool.recover() == []
    assert {folder: names(tmp_path / folder) for folder in before} == before
    abandon(owner)
    assert left(tmp_path / "alive") == [b"event"]


@pytest.mark.parametrize("of_room", [-1, 0, 1])
def test_what_has_no_room_is_left_where_it_is(tmp_path, caplog, of_room):
    events = [b"event number %2d" % number for number in range(40)]
    with contextlib.closing(Spool(tmp_path / "full" / "own", max_bytes=512)) as spool:
        room = 0
        while spool.has_room(len(events[0])):
            spool.append(events[0])
            room += 1
    gone = Spool(tmp_path / "gone")
    for data in events[:room + of_room]:
        gone.append(data)
    abandon(gone)
    with contextlib.closing(
            Spool(tmp_path / "own", max_bytes=512, adopt_siblings=True)) as spool:
        assert [data for _, data in spool.recover()] == events[:min(room, room + of_room)]
    assert left(tmp_path / "gone") == events[room:room + of_room]
    assert (f"1 of {room + 1} events have no room here" in caplog.text) == (of_room > 0)


def test_a_damaged_spool_is_not_adopted_and_ends_nothing(tmp_path, caplog):
    gone = Spool(tmp_path / "gone")
    for number in range(3):
        gone.append(b"event %d" % number)
    abandon(gone)
    before = damaged(tmp_path / "gone" / f"{1:016x}.spool", len(MAGIC) + 1)
    with contextlib.closing(Spool(tmp_path / "own", adopt_siblings=True)) as spool:
        assert spool.recover() == []
    assert "the events in" in caplog.text and "damaged at byte 8" in caplog.text
    assert (tmp_path / "gone" / f"{1:016x}.spool").read_bytes() == before


@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_where_the_adopting_disk_fails_nothing_is_removed(tmp_path, monkeypatch, call):
    gone = Spool(tmp_path / "gone")
    gone.append(b"event")
    abandon(gone)
    orphan = Spool(tmp_path / "gone")
    orphan.recover()
    spool = Spool(tmp_path / "own")

    def fail(*_):
        raise OSError(errno.EIO, "it fails")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with contextlib.suppress(OSError):
            spool._take_over(orphan)
    abandon(spool) if spool._file is not None else os.close(spool._lock)
    with contextlib.suppress(OSError):
        orphan.close()
    assert left(tmp_path / "gone") == [b"event"]


class Failing:
    """A call of the disk that fails for some files."""

    def __init__(self, patch, name):
        self.call, self.may_fail = getattr(os, name), lambda _: False
        patch.setattr(os, name, self)

    def __call__(self, file, *more, **options):
        path = os.readlink(f"/proc/self/fd/{file}") if isinstance(file, int) else str(file)
        if self.may_fail(path):
            raise OSError(errno.EIO, "it fails")
        return self.call(file, *more, **options)


def test_where_a_file_that_is_full_cannot_be_synced_nothing_is_removed(tmp_path, monkeypatch):
    """The next file may be synced: it has none of its events."""
    gone = Spool(tmp_path / "gone")
    events = [b"event %d" % number for number in range(3)]
    for data in events:
        gone.append(data)
    abandon(gone)
    orphan = Spool(tmp_path / "gone")
    spool = Spool(tmp_path / "own", segment_bytes=1)
    with monkeypatch.context() as patch:
        sync = Failing(patch, "fdatasync")
        sync.may_fail = lambda path: "own" in path
        with contextlib.suppress(OSError):
            spool._take_over(orphan)
    orphan.close()
    with contextlib.suppress(OSError):
        spool.close()
    assert left(tmp_path / "gone") == events


def test_a_disk_that_takes_no_marks_is_told_of_once(tmp_path, monkeypatch, caplog):
    """And once more after it has taken some."""
    spool = Spool(tmp_path)
    places = [spool.append(b"event %d" % number) for number in range(10)]
    for refused, marked in ((places[0:3], places[3]), (places[4:7], places[7])):
        with monkeypatch.context() as patch:
            Failing(patch, "pwrite").may_fail = lambda _: True
            for place in refused:
                spool.release(place)
        assert caplog.text.count("settled events are not marked in") == 1
        caplog.clear()
        spool.release(marked)
    assert caplog.text == ""
    spool.close()


def test_what_is_adopted_and_cannot_be_removed_is_told(tmp_path, monkeypatch, caplog):
    gone = Spool(tmp_path / "gone")
    gone.append(b"event")
    abandon(gone)
    with monkeypatch.context() as patch:
        unlink = Failing(patch, "unlink")
        unlink.may_fail = lambda path: "gone" in path
        with contextlib.closing(Spool(tmp_path / "own", adopt_siblings=True)) as spool:
            assert [data for _, data in spool.recover()] == [b"event"]
    assert f"what is adopted from {tmp_path / 'gone'} is not removed there" in caplog.text
    assert left(tmp_path / "gone") == left(tmp_path / "own") == [b"event"]


@pytest.mark.parametrize("name", [".", "below/..", "../own"])
def test_a_folder_with_a_relative_name_has_the_same_neighbours(tmp_path, monkeypatch, name):
    for folder in ("gone", "own/below"):
        other = Spool(tmp_path / folder)
        other.append(folder.encode())
        abandon(other)
    monkeypatch.chdir(tmp_path / "own")
    with contextlib.closing(Spool(name, adopt_siblings=True)) as spool:
        assert [data for _, data in spool.recover()] == [b"gone"]


def test_a_parent_that_cannot_be_read_ends_nothing(tmp_path, monkeypatch, caplog):
    spool = Spool(tmp_path / "own", adopt_siblings=True)
    spool.append(b"event")
    abandon(spool)
    iterdir = pathlib.Path.iterdir

    def refused(path):
        if path == tmp_path:
            raise PermissionError(errno.EACCES, "it is refused")
        return iterdir(path)

    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "iterdir", refused)
        with contextlib.closing(Spool(tmp_path / "own", adopt_siblings=True)) as spool:
            assert [data for _, data in spool.recover()] == [b"event"]
    assert f"no folder beside {tmp_path / 'own'} is adopted" in caplog.text


def test_a_worker_waits_while_its_folder_is_adopted(tmp_path, monkeypatch):
    adopter = Spool(tmp_path)
    monkeypatch.setattr(spool_module, "wait_for_adoption", lambda: pytest.fail("it waits"))
    with pytest.raises(SpoolLocked):
        Spool(tmp_path)
    monkeypatch.setattr(spool_module, "wait_for_adoption", adopter.close)
    Spool(tmp_path, adopt_siblings=True).close()


def test_a_worker_does_not_wait_for_an_owner_that_stays(tmp_path, monkeypatch):
    owner, now = Spool(tmp_path), [0.0]

    def step():
        now[0] += spool_module.ADOPTION_SECONDS / 2

    monkeypatch.setattr(spool_module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(spool_module, "wait_for_adoption", step)
    with pytest.raises(SpoolLocked):
        Spool(tmp_path, adopt_siblings=True)
    assert now[0] == spool_module.ADOPTION_SECONDS
    owner.close()


@pytest.mark.parametrize("adopts", [False, True])
def test_a_disk_that_has_no_locks_is_not_taken_for_an_owner(tmp_path, monkeypatch, adopts):

    def fail(*_):
        raise OSError(errno.ENOLCK, "no locks")

    monkeypatch.setattr(fcntl, "flock", fail)
    with pytest.raises(OSError, match="no locks") as failed:
        Spool(tmp_path, adopt_siblings=adopts)
    assert not isinstance(failed.value, SpoolLocked)
