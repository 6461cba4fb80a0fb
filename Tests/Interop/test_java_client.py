"""The client library for Java: each event counts once through all that a server can do to it."""

import json
import os
import re
import socket
import subprocess
import time
import urllib.request

import pytest

from protos import ROOT
from server import wait_until
from test_commands import BLOCK, Terminal, commands, difference
from test_credentials import KeysFile
from test_tail import run

FOLDER = ROOT / ".build" / "clients"
MISSING = 69
SECONDS = 120
MAX_PENDING = 10_000
KILLS, ALL_KILLS = 3, 10


@pytest.fixture(scope="module", autouse=True)
def built():
    """The library as jars, by Debian's packages, or no test."""
    build = subprocess.run([ROOT / "Scripts" / "build-clients", FOLDER], capture_output=True,
                           text=True, check=False)
    if build.returncode == MISSING:
        pytest.skip(build.stderr.strip())
    assert build.returncode == 0, build.stderr


class Load:
    """The load program, while it runs."""

    def __init__(self, target: str, count: int, rate: int | None = None, **variables: str):
        self.count = count
        self.process = subprocess.Popen(
            ["java", "-cp", f"{FOLDER}/java/*", "Load", target, str(count),
             *([str(rate)] if rate else [])],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | variables)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def result(self) -> dict:
        """What it tells in the end; each event has its verdict, and few were held at a time."""
        output, errors = self.process.communicate(timeout=SECONDS)
        assert self.process.returncode == 0, errors
        told = json.loads(output)
        assert told["most_pending"] <= MAX_PENDING
        return told

    def check_all_recorded(self, server) -> dict:
        told = self.result()
        assert told["failure"] == "" and told["unacknowledged"] == 0, told
        recorded = {verdict: count for verdict, count in told["verdicts"].items()
                    if verdict in ("VERDICT_ACCEPTED", "VERDICT_DUPLICATE")}
        assert recorded == told["verdicts"] and sum(recorded.values()) == self.count, told
        server.wait_for_hits(self.count)
        assert server.terminate() == 0, server.log()
        counts = server.query("SELECT count(*), count(DISTINCT broadlog_id) FROM hits")[0]
        assert tuple(counts) == (self.count, self.count)
        return told


def free_address() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{one.getsockname()[1]}"


def test_the_first_program_of_the_readme(tmp_path):
    page = (ROOT / "Clients/java/README.md").read_text()
    (program,) = (block for language, block in BLOCK.findall(page) if language == "java")
    lines = [line for line in program.splitlines() if line and not line.startswith("import")]
    assert len(lines) <= 15
    terminal = Terminal(tmp_path)
    try:
        (terminal.home / ".build").symlink_to(ROOT / ".build")
        (terminal.home / "First.java").write_text(program)
        terminal.serve("sightline serve")
        (command,) = commands(page)
        command.output.insert(0, "…")
        found = difference(terminal, command, command.words)
        assert not found, found
    finally:
        terminal.close()


@pytest.mark.timeout(300)
def test_each_event_counts_once_through_kills_and_a_drain(make_server, amount, figure):
    kills = amount(KILLS, ALL_KILLS)
    server = make_server(listen=free_address()).start()
    rate = 5_000
    with Load(server.target, (kills + 2) * rate, rate) as load:
        for number in range(1, kills + 2):
            # The load goes on meanwhile, so each end comes into the middle of it.
            server.wait_for_hits(number * rate // 2)
            if number == 2:
                assert server.terminate() == 0, server.log()
            else:
                server.kill()
            server.start()
        told = load.check_all_recorded(server)
    assert told["streams"] >= kills + 2
    figure(f"java: {told} through {kills} kills and a drain")


def test_a_connection_that_ends_by_its_age_loses_nothing(make_server):
    server = make_server("--set=connections.max_age_seconds=1",
                         "--set=connections.age_jitter_percent=0").start()
    with Load(server.target, 8_000, 2_000) as load:
        told = load.check_all_recorded(server)
    assert told["streams"] > 2 and set(told["verdicts"]) == {"VERDICT_ACCEPTED"}, told


def test_a_full_journal_is_waited_for(make_server):
    server = make_server("--set=journal.max_bytes=200000").start()
    where = ("--data-dir", server.directory)
    run("sinks", "pause", "sqlite", *where)
    with Load(server.target, 5_000) as load:
        wait_until(lambda: refused(server) > 0, "events are refused")
        run("sinks", "resume", "sqlite", *where)
        told = load.check_all_recorded(server)
    assert set(told["verdicts"]) == {"VERDICT_ACCEPTED"}


def refused(server) -> int:
    """The events that were told to come again."""
    with urllib.request.urlopen(server.admin + "metrics") as answer:
        found = re.findall(r'^sightline_events_total\{[^}]*retry_later[^}]*\} (\d+)$',
                           answer.read().decode(), re.MULTILINE)
    return sum(map(int, found))


def test_a_quota_is_kept_to(make_server):
    server = make_server("--set=quotas.events_per_second=2000").start()
    with Load(server.target, 6_000) as load:
        told = load.check_all_recorded(server)
    assert told["seconds"] > 1.5 and set(told["verdicts"]) == {"VERDICT_ACCEPTED"}


def test_a_key_is_taken_and_a_wrong_one_ends_the_client(make_server, tmp_path):
    """At once, and with all events kept."""
    keys = KeysFile(tmp_path / "keys.jsonl")
    right, wrong = keys.new("shop"), KeysFile(tmp_path / "other.jsonl").new("shop")
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}").start()
    started = time.monotonic()
    with Load(server.target, 1_000, SIGHTLINE_KEY=wrong) as load:
        told = load.result()
    assert time.monotonic() - started < SECONDS / 2, "it has tried again and again"
    assert told["verdicts"] == {} and 0 < told["unacknowledged"] <= 1_000, told
    with Load(server.target, 1_000, SIGHTLINE_KEY=right) as load:
        load.check_all_recorded(server)
