"""`sightline bench` sends what it says: its counts are those of hits.db."""

import json
import subprocess

import pytest

from server import binary


def bench(target: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess:
    command = [str(binary()), "bench", "--target", target, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


def test_every_event_of_a_closed_loop_is_a_row_for_each_of_its_hits(make_server, figure):
    server = make_server().start()
    run = bench(server.target, "--seconds", "2", "--connections", "2", "--batch", "50", "--json")
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    assert figures["is_all_accepted"]
    assert figures["accepted"] == figures["events"] > 0
    assert figures["seconds"] >= 2
    assert 0 < figures["latency"]["p50_microseconds"] <= figures["latency"]["p99_microseconds"]
    assert figures["latency"]["p999_microseconds"] <= figures["latency"]["max_microseconds"]
    server.wait_for_hits(2 * figures["events"])
    assert server.hit_count() == 2 * figures["events"]
    figure(f"bench: {figures['events_per_second']:.0f} events/s to a server of this build")


def test_an_open_loop_keeps_its_rate(make_server):
    server = make_server("--sink", "discard").start()
    run = bench(server.target, "--seconds", "2", "--rate", "2000", "--batch", "10",
                "--mix", "real", "--json")
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout)
    # 200 requests a second for 2 s; a machine that stalls may leave some of them unsent.
    assert figures["events"] // 10 + figures["unsent_requests"] == 400
    assert figures["is_all_accepted"]
    assert figures["accepted"] + figures["duplicate"] == figures["events"]
    assert figures["accepted_per_second"] < figures["events_per_second"]


def test_the_mix_real_is_of_both_platforms_and_all_kinds(make_server):
    """Each platform sends impressions, clicks, dismissals, opens and in-app messages, and repeats."""
    server = make_server("--sink", "sqlite").start()
    run = bench(server.target, "--events", "800", "--batch", "7", "--connections", "3",
                "--mix", "real", "--json")
    assert run.returncode == 0, run.stdout + run.stderr
    figures = json.loads(run.stdout)
    assert (figures["accepted"], figures["duplicate"]) == (760, 40)
    # Of each platform 400 events; 10 impressions and 10 opened notifications are there twice.
    kinds = {"impression": 190, "click": 130, "open": 70, "in_app_impression": 20,
             "in_app_click": 20, "in_app_dismissal": 20}
    server.wait_for_hits(2 * sum(kinds.values()))
    rows = server.query("SELECT platform, kind, count(*) FROM hits GROUP BY 1, 2")
    assert {tuple(row[:2]): row[2] for row in rows} == {
        (platform, kind): count for platform in ("android", "ios") for kind, count in kinds.items()}


def test_so_many_events_are_sent_and_no_more(make_server):
    server = make_server("--sink", "sqlite").start()
    run = bench(server.target, "--events", "250", "--connections", "1", "--mix", "opened")
    assert run.returncode == 0, run.stderr
    assert "ACCEPTED" in run.stdout and " 250\n" in run.stdout
    server.wait_for_hits(500)
    assert server.hit_count() == 500


def test_events_that_are_not_accepted_make_it_fail(make_server):
    # 2,000 events of 270 bytes are more than a request may hold: each request is refused.
    server = make_server("--sink", "discard").start()
    run = bench(server.target, "--events", "2000", "--batch", "2000", "--connections", "1")
    assert run.returncode == 1, run.stdout + run.stderr
    first, second, *_ = run.stdout.splitlines()
    assert first.split() == ["accepted", "events/s", "0"], run.stdout
    assert second.split()[:2] == ["sent", "events/s"], "the rate of refusals is not the headline"


@pytest.mark.parametrize("arguments", [
    ["--batch", "2001"], ["--seconds", "0"], ["--mix", "none"], ["--rate", "-1"],
    ["--events", "5", "--seconds", "5"], ["--target", "nowhere"],
], ids=" ".join)
def test_wrong_usage_is_exit_64(arguments):
    run = bench("127.0.0.1:1", *arguments)
    assert run.returncode == 64, run.stderr


def test_a_server_that_is_not_there_is_exit_69():
    run = bench("127.0.0.1:1", "--seconds", "1")
    assert run.returncode == 69, run.stdout + run.stderr
    assert "127.0.0.1:1" in run.stderr
