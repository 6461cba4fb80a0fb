"""What standard output does not take ends a command: with 74 where it is full, so that nothing that
was cut looks whole, and quietly where its reader has gone, as other tools end."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from protos import event as e
from protos import service as s
from server import Server, binary, wait_until
from test_details_view import apns
from test_terminal_commands import run

IO_ERROR = 74
SECONDS = 60
FULL = "sightline: the output cannot be written: No space left on device"
# Each command in its forms; the words in braces are of the server that runs.
COMMANDS = [
    "--help", "--version", "report --help", "--generate-completion-script bash",
    "version", "version --json", "validate", "config print", "config print --json",
    "explain --rule D1", "explain {payload} --platform ios --interaction opened",
    "explain {payload} --platform ios --interaction opened --json",
    "inspect {payload}", "inspect {payload} --json", "sinks sql postgresql",
    "dev-certs --out certs --force", "keys new --keys-file keys.jsonl --tenant a",
    "keys new --keys-file keys.jsonl --tenant a --json", "keys list --keys-file keys.jsonl",
    "keys list --keys-file keys.jsonl --json",
    "report {data}", "report {data} --json", "report {data} --csv", "report {data} --series day",
    "report {data} --series day --csv", "report {data} --details",
    "report --from {lines}", "report --json --from {lines}",
    "export {data} --format csv", "export {data} --format ndjson",
    "tail {data}", "tail {data} --json", "why 56c4 {data}", "why 56c4 {data} --json",
    "why 56c4 --target {target}", "deliveries put {names} --target {target}",
    "deliveries list {data}", "deliveries list {data} --json", "sinks list {data}", "sinks list {data} --json",
    "sinks pause sqlite {data}", "sinks resume sqlite {data}", "sinks try sqlite {data} --json",
    "replay {data}", "replay {data} --json", "replay {data} --dry-run",
    "replay {data} --sink sqlite --since 1h", "recover {data} --json",
    "recover {data} --dry-run --json", "forget {data} --tenant default --subject nobody",
    "forget {data} --tenant default --subject nobody --json",
    "top --admin {admin} --once", "top --admin {admin} --once --json",
    "health --target {target}", "health --admin {admin}",
    "send {payload} --platform ios --interaction opened --target {target}",
    "send {payload} --platform ios --interaction opened --target {target} --json",
    "bench --target {target} --seconds 1 --rate 10 --json",
]
# What has nothing to say on standard output, or says it in the log as well; and what needs a sink
# that was taken out of the configuration.
OTHERS = {"serve", "keys revoke", "sinks forget"}


@pytest.fixture(scope="module")
def words(tmp_path_factory, payloads):
    """The words in braces."""
    home = tmp_path_factory.mktemp("output")
    server = Server(home / "data", "--set=sinks=[{type: sqlite}, {type: jsonl}]").start()
    try:
        with server.channel() as channel:
            events = [apns(number, "received") for number in range(1, 1200)]
            server.stub(channel).RecordEvents(
                s.RecordEventsRequest(events=[*events, e.TrackingEvent()]))
        server.wait_for_hits(1199)
        lines = home / "hits.jsonl"
        exported = sorted((server.directory / "hits").glob("*.jsonl"))
        lines.write_bytes(b"".join(path.read_bytes() for path in exported))
        names = home / "names.csv"
        names.write_text("id,name,sent,delivered\n56c4,Sale,1200,1199\n")
        run("deliveries", "put", names, "--target", server.target)
        run("keys", "new", "--keys-file", home / "keys.jsonl", "--tenant", "a")
        yield home, {
            "data": f"--data-dir {server.directory}", "lines": lines, "names": names,
            "target": server.target, "admin": server.admin.split("/")[2],
            "payload": payloads / "apns-alert.json"}
    finally:
        server.close()


def end(command: str, words: tuple[pathlib.Path, dict], output) -> subprocess.CompletedProcess:
    home, values = words
    return subprocess.run([str(binary()), *command.format(**values).split()], cwd=home, text=True,
                          stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
                          timeout=SECONDS, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_output_is_told_and_ends_the_command(words, command):
    with open("/dev/full", "wb") as full:
        done = end(command, words, full)
    assert done.returncode == IO_ERROR, done.stderr
    assert done.stderr.splitlines() == [FULL]


@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_without_a_reader_ends_the_command_quietly(words, command):
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = end(command, words, writer)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_every_command_is_in_the_table():
    found = set()

    def visit(command: dict, path: list[str]) -> None:
        below = [inner for inner in command.get("subcommands", [])
                 if inner["commandName"] != "help"]
        for inner in below:
            visit(inner, [*path, inner["commandName"]])
        if not below:
            found.add(" ".join(path))

    visit(json.loads(run("--experimental-dump-help").stdout)["command"], [])
    untold = {name for name in found
              if not any(f"{command} ".startswith(f"{name} ") for command in COMMANDS)}
    assert untold == OTHERS


@pytest.mark.parametrize("is_full", [True, False], ids=["full", "closed"])
def test_a_server_runs_without_anybody_who_reads_its_address(make_server, is_full):
    server = make_server()
    reader, writer = os.pipe()
    os.close(reader)
    with open("/dev/full", "wb") as full, server.log_path.open("wb") as log:
        server.process = subprocess.Popen(
            [str(binary()), "serve", "--listen", "127.0.0.1:0", "--admin", "off", "--data-dir",
             str(server.directory)], stdin=subprocess.DEVNULL, stderr=log,
            stdout=full if is_full else writer)
    os.close(writer)
    wait_until(lambda: "started" in server.log(), "the address in the log")
    assert server.terminate() == 0
