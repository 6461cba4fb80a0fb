"""The disk that a benchmark writes to: how long appends take that are synced one by one."""

import os
import pathlib
import time


def append_times(folder: pathlib.Path, size: int, count: int) -> list[float]:
    """Seconds that each of `count` appends of `size` bytes takes with its fdatasync."""
    path, block, times = folder / "disk-probe", os.urandom(size), []
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        for _ in range(count):
            start = time.perf_counter()
            os.write(file, block)
            os.fdatasync(file)
            times.append(time.perf_counter() - start)
    finally:
        os.close(file)
        path.unlink()
    return times
