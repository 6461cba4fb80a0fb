"""`sightline sinks`: a running server's sinks through the Unix socket in its data directory."""

import os
import signal
import stat
import time
import urllib.error
import urllib.request

import pytest

from facts import Facts
from protos import event as e
from protos import service as s
from server import wait_until
from test_terminal_commands import lines, run

SINKS = "--set=sinks=[{type: sqlite}, {type: jsonl, required: false}]"


def listed(server) -> dict[str, dict]:
    rows = lines(run("sinks", "--data-dir", server.directory, "--json").stdout)
    return {row["name"]: row for row in rows}


def send(server, facts: Facts, count: int) -> None:
    events = [facts.push(kind=e.PUSH_INTERACTION_KIND_OPENED).event for _ in range(count)]
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))


def written(server) -> int:
    return sum(len(file.read_text().splitlines())
               for file in (server.directory / "hits").glob("*.jsonl"))


def test_a_sink_is_paused_and_resumed_while_another_goes_on(make_server, seed):
    server = make_server(SINKS).start()
    facts = Facts(seed, int(time.time()))
    where = ("--data-dir", server.directory)
    assert "the sink jsonl is paused" in run("sinks", "pause", "jsonl", *where).stdout
    send(server, facts, 50)
    server.wait_for_hits(100)
    paused = wait_until(lambda: (rows := listed(server))["sqlite"]["delivered_hits"] == 100
                        and rows["jsonl"]["lag_groups"] > 0 and rows, "a backlog to be listed")
    assert paused["jsonl"]["is_paused"] and not paused["sqlite"]["is_paused"]
    assert written(server) == 0
    assert "the sink jsonl is running" in run("sinks", "resume", "jsonl", *where).stdout
    wait_until(lambda: written(server) == 100, "the sink to catch up")
    text = run("sinks", *where).stdout
    assert "sqlite" in text and "jsonl" in text and "running" in text, text


def test_a_pause_outlives_no_stop_and_loses_nothing(make_server, seed):
    server = make_server(SINKS.replace("required: false", "paused: true")).start()
    send(server, Facts(seed, int(time.time())), 50)
    assert wait_until(lambda: listed(server)["jsonl"], "it to be listed")["is_paused"]
    assert server.terminate() == 0
    assert written(server) == 0
    assert not (server.directory / "admin.sock").exists()
    server.start()
    run("sinks", "resume", "jsonl", "--data-dir", server.directory)
    wait_until(lambda: written(server) == 100, "the sink to catch up")


def test_a_reload_pauses_what_the_file_has_changed(make_server, tmp_path):
    config = tmp_path / "sightline.yaml"
    text = "sinks: [{type: sqlite}, {type: jsonl, paused: false}, {type: discard}]\n"
    config.write_text(text)
    server = make_server("--config", str(config)).start()

    def paused() -> list[str]:
        return [name for name, row in listed(server).items() if row["is_paused"]]

    run("sinks", "pause", "discard", "--data-dir", server.directory)
    config.write_text(text.replace("paused: false", "paused: true"))
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: paused() == ["discard", "jsonl"], "both to be paused")
    config.write_text(text)
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: paused() == ["discard"], "one to be resumed")
    assert "with a restart" not in server.log()
    config.write_text(text.replace("type: jsonl", "type: jsonl, max_bytes: 2000000"))
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "change with a restart" in server.log(), "the warning")


def test_a_reload_adds_and_removes_sinks_while_events_come_in(make_server, tmp_path, seed):
    """The sink that stays has every hit; one that comes has the later ones; one that goes keeps its
    place, with a gap told when it comes back, until it is forgotten."""
    config = tmp_path / "sightline.yaml"
    facts = Facts(seed, int(time.time()))

    def reload(text: str, *names: str) -> None:
        config.write_text(f"sinks: [{text}]\n")
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: set(listed(server)) == set(names), f"the sinks to be {names}")

    config.write_text("sink: sqlite\n")
    server = make_server("--config", str(config)).start()
    where = ("--data-dir", server.directory)
    send(server, facts, 50)
    server.wait_for_hits(100)
    reload("{type: sqlite}, {type: jsonl, from: newest}", "sqlite", "jsonl")
    wait_until(lambda: "the sinks have changed" in server.log(), "the new sink to begin")
    send(server, facts, 50)
    wait_until(lambda: written(server) == 100, "the lines of the new sink")
    # A filter of a running sink, and a sink that cannot be: the first reload changes all, the
    # second nothing.
    reload("{type: sqlite}, {type: jsonl, filter: {kind: open}}, {type: discard}",
           "sqlite", "jsonl", "discard")
    send(server, facts, 50)
    wait_until(lambda: written(server) == 150, "the lines that pass the filter")
    (server.directory / "hits-other").write_text("no directory")
    config.write_text("sinks: [{type: sqlite}, {type: jsonl, name: other}]\n")
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: "the configuration stays as it was" in server.log(), "the refusal")
    assert set(listed(server)) == {"sqlite", "jsonl", "discard"}
    # Removed: the others go on, its series and its row are gone, its place is not.
    reload("{type: sqlite}, {type: discard}", "sqlite", "discard")
    send(server, facts, 50)
    server.wait_for_hits(400)
    assert written(server) == 150
    with urllib.request.urlopen(server.admin + "metrics", timeout=10) as answer:
        assert 'sink="jsonl"' not in answer.read().decode()
    shown = wait_until(lambda: "forget" in (text := run("sinks", *where).stdout) and text,
                       "the former sink to be shown")
    assert "jsonl" in shown.split("configured no more")[1]
    assert "is in use" in run("sinks", "forget", "discard", *where, code=69).stderr
    missing = run("sinks", "forget", "jsonI", *where, code=69).stderr
    assert 'no former sink "jsonI"; there are: jsonl' in missing, missing
    # Back, it is told of what has gone.
    wait_until(lambda: listed(server)["discard"]["lag_groups"] == 0, "the journal to be empty")
    send(server, facts, 1)
    server.wait_for_hits(402)
    reload("{type: sqlite}, {type: jsonl}", "sqlite", "jsonl")
    wait_until(lambda: listed(server)["jsonl"]["missed_hits"] >= 100, "the gap to be told")
    reload("{type: sqlite}", "sqlite")
    wait_until(lambda: "jsonl" in run("sinks", *where).stdout, "it to be a former sink")
    wait_until(lambda: "forgotten" in run("sinks", "forget", "jsonl", *where, code=None).stdout,
               "its last delivery to end")
    lines_before = written(server)
    reload("{type: sqlite}, {type: jsonl}", "sqlite", "jsonl")
    send(server, facts, 50)
    wait_until(lambda: written(server) >= lines_before + 100, "it to begin anew")
    assert listed(server)["jsonl"]["missed_hits"] == 0
    assert server.hit_count() == 502


def test_only_the_servers_user_may_open_the_socket(make_server):
    # A umask that would let everybody in.
    before = os.umask(0)
    try:
        server = make_server("--admin", "off").start()
    finally:
        os.umask(before)
    socket = server.directory / "admin.sock"
    mode = wait_until(lambda: socket.exists() and socket.stat().st_mode, "the socket")
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600, oct(mode)
    # It goes once the socket was moved out of it.
    wait_until(lambda: not (server.directory / ".admin").exists(), "its folder to go")
    assert listed(server)["sqlite"]["lag_groups"] == 0


def test_a_killed_servers_socket_is_replaced(make_server):
    server = make_server().start()
    wait_until((server.directory / "admin.sock").exists, "the socket")
    server.kill()
    (server.directory / ".admin").mkdir(mode=0o700)
    gone = run("sinks", "--data-dir", server.directory, code=69)
    assert "no server answers" in gone.stderr and "--data-dir" in gone.stderr
    server.start()
    wait_until(lambda: "sqlite" in run("sinks", "--data-dir", server.directory, code=None).stdout,
               "the new server to answer")


def test_what_cannot_be_done_is_said(make_server, tmp_path):
    server = make_server().start()
    where = ("--data-dir", server.directory)
    wait_until((server.directory / "admin.sock").exists, "the socket")
    unknown = run("sinks", "pause", "kafka", *where, code=69)
    assert "there is no sink \"kafka\"; there are: sqlite" in unknown.stderr, unknown.stderr
    missing = run("sinks", "--data-dir", tmp_path / "none", code=69)
    assert "there is no such file" in missing.stderr


def test_a_directory_too_deep_for_a_socket_is_served_without_one(make_server, tmp_path):
    deep = tmp_path / ("d" * 100)
    server = make_server(f"--data-dir={deep}").start()
    wait_until(lambda: "there is no admin socket" in server.log(), "the warning")
    assert "a socket's may have 107" in server.log()
    assert server.terminate() == 0


def test_the_page_changes_nothing(make_server):
    """What steers sinks is behind the socket alone."""
    server = make_server().start()
    for path in ("sinks/sqlite/pause", "sinks/sqlite/replay"):
        request = urllib.request.Request(f"{server.admin}{path}", method="POST")
        with pytest.raises(urllib.error.HTTPError) as refusal:
            urllib.request.urlopen(request, timeout=10)
        assert refusal.value.code == 405
