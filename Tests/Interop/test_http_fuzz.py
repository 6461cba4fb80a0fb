"""Any bytes to the HTTP port: each request gets the one answer that it may get, no two readers of a
connection disagree, and the server lives, stays small and keeps no connection.

`--seed N` sends the same connections again; a finding tells its seed and its connection's number."""

import concurrent.futures
import functools
import multiprocessing
import os
import pathlib
import re
import urllib.request

import pytest

from effects import resident
from http_answers import Finding
from http_fake import FAULTS, FakeServer
from http_fuzzer import Seen, connection_of, send_all
from http_grammar import POSTBACK_HOST
from server import MANY_CONNECTIONS, wait_until

SAMPLE, WHOLE, PROCESSES = 4_000, 1_000_000, 4
# A round in which all that is allocated once is allocated. Its facts are its own, by its numbers.
WARM_UP = range(WHOLE, WHOLE + 500)
MIB = 1 << 20
MOST_MIB, MOST_GROWN_MIB = 256, 32
# Connections that a fault may need to be found, and that a good server has to bear.
TO_FIND = 2_000
SEED_OF_FAULTS = 1
CONFIGURATION = f"""
http: {{cors_origins: "https://shop.example"}}
postback:
  per_address_per_second: 0
  hosts: [{{host: {POSTBACK_HOST}, tenant: default, product: standard, app: com.example.shop}}]
"""


def search(target: tuple[str, int], seed: int, numbers: range) -> tuple[Seen, list[Finding]]:
    """Sends connections by several processes; what came of them, and the first finding of each."""
    parts = [numbers[first::PROCESSES] for first in range(PROCESSES)]
    whole, findings = Seen(), []
    context = multiprocessing.get_context("forkserver")
    with concurrent.futures.ProcessPoolExecutor(PROCESSES, context) as pool:
        for seen, finding in pool.map(functools.partial(send_all, target, seed), parts):
            whole.add_all(seen)
            findings += [finding] if finding else []
    return whole, findings


def files(server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def accepted(server) -> int:
    with urllib.request.urlopen(f"{server.admin.rstrip('/')}/metrics") as answer:
        text = answer.read().decode()
    return int(sum(float(value) for value in re.findall(
        r'^sightline_events_total\{[^}]*verdict="accepted"[^}]*\} (\S+)$', text, re.MULTILINE)))


@pytest.mark.timeout(6 * 3600)
def test_no_bytes_harm_the_http_port(make_server, seed, amount, figure, tmp_path):
    """The answers' form and status, what follows an ambiguous end, memory, files, and that the events
    that were told of as accepted were counted."""
    configuration = tmp_path / "sightline.yaml"
    configuration.write_text(CONFIGURATION)
    server = make_server("--http", "127.0.0.1:0", "--sink", "discard", "--set=log.level=critical",
                         # So small that it is full after the first round.
                         "--set=journal.recent_hits=1000", "--config", str(configuration),
                         MANY_CONNECTIONS,
                         environment=os.environ | {"SWIFT_BACKTRACE": "enable=no"}).start()
    count = amount(SAMPLE, WHOLE)
    _, findings = search(server.http_address, seed, WARM_UP)
    assert not findings, findings[0]
    idle, open_files = resident(server, "VmRSS"), files(server)
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    first, findings = search(server.http_address, seed, range(count // 2))
    assert not findings, findings[0]
    half = resident(server, "VmRSS")
    seen, findings = search(server.http_address, seed, range(count // 2, count))
    seen.add_all(first)
    assert server.process.poll() is None, f"the server ended with {server.process.poll()}"
    assert not findings, findings[0]
    peak, grown = resident(server, "VmHWM") - idle, resident(server, "VmRSS") - half
    answers = ", ".join(f"{number} × {status}" for status, number in sorted(seen.answers.items()))
    figure(f"http fuzz: {count} connections, {seen.requests} requests; {answers}; {seen.events} good "
           f"events; +{peak // MIB} MiB at most, {grown // MIB:+} MiB in the second half")
    assert peak <= MOST_MIB * MIB and grown <= MOST_GROWN_MIB * MIB
    wait_until(lambda: files(server) <= open_files + 4, "as many open files as before", 30)
    assert accepted(server) >= seen.events


def test_a_good_server_gives_no_finding():
    """The fuzzer's own rules can be kept."""
    with FakeServer() as server:
        seen, findings = search(server.server_address, SEED_OF_FAULTS, range(TO_FIND))
        server.shutdown()
    assert not findings, findings[0]
    assert seen.events > 1000 and {200, 400, 404, 413, 415, 431} <= seen.answers.keys()


@pytest.mark.parametrize("fault", FAULTS)
def test_the_fuzzer_finds_a_planted_fault(fault):
    """Each fault of a server that is otherwise good is found, and for what it is."""
    with FakeServer(fault) as server:
        _, findings = search(server.server_address, SEED_OF_FAULTS, range(TO_FIND))
        server.shutdown()
    assert findings, f"{fault} was not found in {TO_FIND} connections"
    assert re.search(FAULTS[fault], str(findings[0])), findings[0]


def test_a_seed_makes_the_same_requests_again():
    """A finding can be repeated by its seed and number; in a later run, but for the time in events."""
    first, second = ([[request.data for request in connection_of(7, number)[1]]
                      for number in range(50)] for _ in range(2))
    assert first == second
