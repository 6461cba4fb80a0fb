"""A forked child has its parent's spools, and leaves them alone."""

import os

import pytest

import sightline
from fake import SECONDS, event
from sightline import exits
from sightline.spool import Spool
from test_spool import abandon, left


def test_a_forked_child_does_not_hold_the_folder_of_its_parent(tmp_path):
    """The child outlives the owner."""
    spool = Spool(tmp_path)
    spool.append(b"event")
    ready, is_forked = os.pipe()
    may_end, end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        os.write(is_forked, b"1")
        os.read(may_end, 1)
        os._exit(0)
    try:
        os.read(ready, 1)
        abandon(spool)
        assert left(tmp_path) == [b"event"]
    finally:
        os.close(end)
        os.waitpid(child, 0)
        for pipe in (ready, is_forked, may_end):
            os.close(pipe)


def test_a_forked_child_that_closes_a_spool_removes_nothing_of_its_parent(tmp_path):
    spool = Spool(tmp_path)
    spool.release(spool.append(b"settled"))
    child = os.fork()
    if child == 0:
        spool.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    spool.append(b"event")
    abandon(spool)
    assert left(tmp_path) == [b"event"]


def test_a_client_in_a_forked_child_cannot_have_a_spool_of_its_parent(tmp_path):
    """Each child would send its events, and write to its files."""
    gone = Spool(tmp_path)
    gone.append(event("of the parent").SerializeToString())
    gone.close()
    spool = Spool(tmp_path)
    child = os.fork()
    if child == 0:
        try:
            sightline.Client("127.0.0.1:1", spool=spool)
        except OSError as error:
            os._exit(0 if "of another process" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    spool.close()
    assert left(tmp_path) == [event("of the parent").SerializeToString()]


def test_a_client_cannot_have_a_spool_that_is_closed(tmp_path):
    """It has no lock any more."""
    spool = Spool(tmp_path)
    spool.close()
    with pytest.raises(OSError, match="is closed: make another one"):
        sightline.Client("127.0.0.1:1", spool=spool)


def test_a_fork_after_a_spool_was_closed_closes_nothing_of_others(tmp_path):
    """The number of its lock may be another file's by then."""
    spool = Spool(tmp_path)
    number = spool._lock
    spool.close()
    other = os.open(tmp_path / "other", os.O_CREAT | os.O_RDWR)
    os.dup2(other, number)
    child = os.fork()
    if child == 0:
        os._exit(0 if os.path.sameopenfile(other, number) else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for file in {other, number}:
        os.close(file)


def test_the_clients_of_its_parent_are_not_a_childs_to_close(connect):
    connect().send(event()).result(SECONDS)
    assert exits.OPEN.clients and exits.OPEN.is_watched
    child = os.fork()
    if child == 0:
        os._exit(len(exits.OPEN.clients) + exits.OPEN.is_watched)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
