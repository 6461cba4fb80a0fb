"""The logs: their form, and what is not in them. `silent_logs` in conftest.py looks at all of a run's."""

import json
import os
import pty
import signal
import subprocess
import time

import grpc
import pytest

import logs
from facts import CANARY, Facts
from faults import library
from protos import service as s
from server import STOP_SECONDS, binary, wait_until


def records(server) -> list[dict]:
    return [json.loads(line) for line in server.log_path.read_text().splitlines()]


def test_a_log_that_is_no_terminal_is_json_and_sums_up(make_server):
    server = make_server("--set=log.summary_seconds=1").start()
    facts = Facts(3, int(time.time()), space=90)
    events = [facts.push(flag="on").event for _ in range(5)] + [facts.invalid().event]
    with server.channel() as channel:
        stub = server.stub(channel)
        stub.RecordEvents(s.RecordEventsRequest(events=events), timeout=20)
        with pytest.raises(grpc.RpcError):
            stub.RecordEvents(s.RecordEventsRequest(events=events * 1000), timeout=20)
    wait_until(lambda: any(r["msg"] == "summary" for r in records(server)), "a summary", 20)
    assert server.terminate() == 0
    told = records(server)
    for record in told:
        assert list(record)[:5] == ["time", "level", "logger", "msg", "service.name"]
        assert record["service.name"] == "sightline"
        assert record["time"].endswith("Z") and record["logger"] == "sightline"
    sums = [record for record in told if record["msg"] == "summary"]
    assert sum(record.get("accepted", 0) for record in sums) == 5
    assert sum(record.get("rejected", 0) for record in sums) == 1
    refusals = [record["refusals"] for record in sums if "refusals" in record]
    assert refusals == [{"request_too_large": 1}]


def test_a_life_in_records_with_figures(make_server):
    """What was found, how it is set up, how long it took, and what is left: numbers are numbers."""
    server = make_server("--sink", "sqlite", environment=os.environ | {
        "OTEL_SERVICE_NAME": "tracking"}).start()
    event = Facts(4, int(time.time()), space=93).push(flag="on").event
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[event]), timeout=20)
    server.kill()
    server.start()
    assert server.terminate() == 0
    lives = [{r["msg"]: r for r in life} for life in split(records(server), "the journal is open")]
    assert len(lives) == 2
    for life in lives:
        found, started = life["the journal is open"], life["started"]
        assert {found["torn_records"], found["losses"]} == {0} and found["mode"] == "disk"
        assert isinstance(found["milliseconds"], int) and started["milliseconds"] >= 0
        assert started["sinks"] == ["sqlite"] and started["tls"] == "off" and started["auth"] == []
        assert started["service.name"] == "tracking" and started["version"] and started["commit"]
        assert started["data_dir"] == str(server.directory)
    assert [life["the journal is open"]["window_keys"] for life in lives] == [0, 1]
    assert "stopped" not in lives[0]
    stopped = lives[1]["stopped"]
    assert stopped["left_groups"] == 0 and stopped["drain_milliseconds"] >= 0
    assert 0 < stopped["uptime_seconds"] < 600 and "cut" not in stopped


def split(told: list[dict], first: str) -> list[list[dict]]:
    """The records of each process, which begin with the same one."""
    starts = [index for index, record in enumerate(told) if record["msg"] == first]
    return [told[start:end] for start, end in zip(starts, [*starts[1:], len(told)])]


def test_text_is_for_people_and_has_no_colours_in_a_file(make_server):
    server = make_server("--set=log.format=text").start()
    assert server.terminate() == 0
    lines = server.log_path.read_text().splitlines()
    assert any("INFO     sightline: listening address=127.0.0.1:" in line for line in lines)
    assert not any("\x1b" in line for line in lines)


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_gets_text_with_colours_unless_no_color_is_set(tmp_path, no_color):
    terminal, side = pty.openpty()
    process = subprocess.Popen(
        [str(binary()), "serve", "--listen", "127.0.0.1:0", "--admin", "off", "--data-dir",
         str(tmp_path / "data")],
        stdout=subprocess.DEVNULL, stderr=side, env=os.environ | {"NO_COLOR": no_color})
    os.close(side)
    told = b""
    try:
        while b"listening" not in told:
            told += os.read(terminal, 4096)
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)
        os.close(terminal)
    assert b" sightline: listening" in told
    assert (b"\x1b[" in told) == (no_color == "")


@pytest.mark.parametrize("line, count", [
    (f"a subject {CANARY}-subject-1", 1),
    (f'{{"msg":"custom","{CANARY} key":"1"}}', 1),
    ("7" * 26, 1),
    ("authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl", 1),
    ("slk_" + "a" * 43, 1),
    ('{"msg":"listening","address":"127.0.0.1:50051","key":"slk_…"}', 0),
])
def test_a_planted_canary_is_found(line, count):
    assert len(logs.leaks(f"first line\n{line}\nlast line")) == count


def test_the_log_of_a_server_is_looked_through_as_it_ends(make_server):
    before = len(logs.scanned_logs)
    make_server("--sink", "discard").start().close()
    assert len(logs.scanned_logs) == before + 1 and logs.scanned_logs[-1] > 0


def test_a_server_that_crashes_fails_its_test_and_tells_where_it_was(make_server):
    if not library("crash"):
        pytest.skip("no C compiler here, and crash.c has to be compiled")
    server = make_server("--sink", "discard", environment=os.environ | {
        "LD_PRELOAD": str(library("crash"))}).start()
    server.process.send_signal(signal.SIGUSR2)
    # It prints where it was first, which takes long.
    assert server.process.wait(120) == -signal.SIGSEGV
    with pytest.raises(AssertionError, match="(?s)ended by SIGSEGV.*Thread 0 .* crashed"):
        server.close()
    server.process = None
