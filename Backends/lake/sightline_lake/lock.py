"""One process for a folder."""

import fcntl
import os
import pathlib


class Refused(Exception):
    """The lake may not write here: why, and what to do."""


def hold(folder: pathlib.Path) -> None:
    """Keeps a folder for this process, until it ends; raises Refused if another has it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise Refused(f"Another sightline-lake uses {folder}: a table has one writer. Stop the "
                      "other one first, or name another table and state.") from None
