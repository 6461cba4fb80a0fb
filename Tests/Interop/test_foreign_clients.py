"""Independent clients with the settings that they have by themselves, side by side: each keeps its stream and reads every ack. grpc-go sends a PING with nearly every answer it reads."""

import json
import pathlib
import subprocess
import sys

import pytest

from protos import ROOT

SAMPLE, WHOLE = 10, 60
REQUESTS_PER_SECOND = 200
MISSING = 69
HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def clients() -> dict[str, list]:
    """The commands of all clients; the built ones from Debian's packages, or no test."""
    folder = ROOT / ".build" / "clients"
    build = subprocess.run([ROOT / "Scripts" / "build-clients", folder], capture_output=True,
                           text=True)
    if build.returncode == MISSING:
        pytest.skip(build.stderr.strip())
    assert build.returncode == 0, build.stderr
    return {"grpc-go": [folder / "go-client"], "C++": [folder / "cpp-client"],
            "grpcio": [sys.executable, HERE / "clients" / "client.py"]}


def test_each_client_keeps_its_stream_and_reads_every_ack(clients, make_server, amount, figure):
    seconds = amount(SAMPLE, WHOLE)
    server = make_server().start()
    running = {
        name: subprocess.Popen([*command, server.target, str(seconds)], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        for name, command in clients.items()}
    ended = {name: (*process.communicate(timeout=seconds + 30), process.returncode)
             for name, process in running.items()}
    for name, (output, errors, code) in ended.items():
        assert code == 0, f"{name}: {output}{errors}\n{server.log()}"
        counts = json.loads(output)
        figure(f"clients: {name}: {counts}")
        assert counts["requests"] == counts["accepted"] == counts["durable"]
        assert counts["requests"] == seconds * REQUESTS_PER_SECOND
    server.wait_for_hits(len(clients) * seconds * REQUESTS_PER_SECOND, 180)
