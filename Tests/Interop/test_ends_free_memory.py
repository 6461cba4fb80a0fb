"""However connections and streams end, the server's memory is afterwards what it was before."""

import concurrent.futures
import os
import pathlib
import time

import pytest

from connection_ends import STREAMS, connection_ends, stream_rounds
from server import MANY_CONNECTIONS, Server, wait_until

CONNECTIONS = connection_ends()
SAMPLE, WHOLE = 200, 20_000
# In a sample: those that left something once, and some of the others.
OFFENDERS = ["connection with a new stream: DATA on stream 0", "a stream that is reset",
             "connection with a new stream: WINDOW_UPDATE of 0", "a stream that depends on itself",
             "connection with a new stream: ENABLE_PUSH of 7", "a call that succeeds",
             "connection with an answered stream: closes", "connection with no stream: closes"]
# Nothing is measured before the allocator has what it keeps: a tenth of what is repeated, and at
# least so many. Streams take it in larger steps than connections do.
WARM_UP, STREAMS_WARM_UP = 200, 1000
MOST_GROWTH = 0.05
# What a sample is held to as well: it is too small for a share of the memory to tell.
MOST_KIB_EACH = 4
# The allocator takes memory in steps, and a step may fall into what is measured. What is left by each
# end is left each time.
TRIES = 3
# Ends that take a connection 600 streams or frames are repeated less often.
FLOODS = 20
AT_ONCE = 4
SETTINGS = ["--admin", "off", "--sink", "discard", "--set=connections.max_per_address=1900", MANY_CONNECTIONS,
            "--set=log.level=critical"]


def memory(server) -> int:
    """Resident memory, in KiB."""
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def connections(server) -> int:
    """Connections that the server's kernel still holds for its port."""
    port = f":{int(server.target.rsplit(':', 1)[1]):04X}"
    rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # 01 is established, 08 closed by the peer alone.
    return sum(row[1].endswith(port) and row[3] in ("01", "08") for row in rows)


def settle(server) -> int:
    """Waits until all connections have gone; the memory then, once it falls no more."""
    wait_until(lambda: connections(server) == 0, "no connection left", 30)
    lowest = memory(server)
    for _ in range(5):
        time.sleep(0.1)
        lowest = min(lowest, memory(server))
    return lowest


def repeat(server, name: str, count: int) -> None:
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as workers:
        if name in CONNECTIONS:
            done = workers.map(lambda _: CONNECTIONS[name](server.target), range(count))
        else:
            share = -(-count // AT_ONCE)
            done = workers.map(lambda _: stream_rounds(server.target, STREAMS[name], share),
                               range(AT_ONCE))
        for _ in done:
            pass


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """One server for all ways: each is held to what was taken before it."""
    server = Server(tmp_path_factory.mktemp("ends") / "data", *SETTINGS,
                    environment=os.environ | {"SWIFT_BACKTRACE": "enable=no"}).start()
    yield server
    server.close()


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--whole") or metafunc.config.getoption("--amount")
        metafunc.parametrize("name", [*CONNECTIONS, *STREAMS] if whole else OFFENDERS)


@pytest.mark.timeout(1800)
def test_an_end_leaves_nothing(crowded, amount, figure, name):
    """Finding 3: 28 KiB stayed for each connection that broke the protocol."""
    if crowded.process.poll() is not None:
        crowded.start()
    share = FLOODS if "flood" in name else 1
    count = amount(SAMPLE, WHOLE) // share
    warm_up = max(count // 10, STREAMS_WARM_UP if name in STREAMS else WARM_UP // share)
    repeat(crowded, name, warm_up)
    for _ in range(TRIES):
        before = settle(crowded)
        repeat(crowded, name, count)
        after = settle(crowded)
        growth = (after - before) / before
        figure(f"ends: {name}: {count} of them, {before >> 10} MiB before and {after >> 10} after"
               f" ({growth:+.1%}, {(after - before) / count:+.1f} KiB each)")
        assert crowded.process.poll() is None, crowded.log()
        if growth <= MOST_GROWTH and after - before <= MOST_KIB_EACH * count * share:
            return
    raise AssertionError(f"{after - before} KiB stay after {count}, each of {TRIES} times")
