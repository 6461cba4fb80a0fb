"""A server with a sink of its own: the example of Examples/sink-swift, compiled without access to what
is not public."""

import itertools
import json
import pathlib
import subprocess
import threading

import pytest

from facts import TENANT
from server import Server, binary, wait_until
from test_crash import Client

PROGRAM = "PrintingServerExample"


class OwnServer(Server):
    """The example, which prints hits, and tells its address in its log."""

    def spawn(self) -> None:
        file = self.directory.parent / "sightline.yaml"
        file.write_text(f"listen: 127.0.0.1:0\ndata_dir: {self.directory}\n")
        with self.log_path.open("wb") as log, self.printed.open("ab") as out:
            self.process = subprocess.Popen([str(program()), str(file)], stdin=subprocess.DEVNULL,
                                            stderr=log, stdout=out)

    @property
    def printed(self) -> pathlib.Path:
        return self.directory.parent / "printed"

    def start(self) -> "OwnServer":
        self.spawn()
        self.target = wait_until(self.address, "the server listens")
        return self

    def address(self) -> str | None:
        lines = self.log_path.read_text().splitlines(keepends=True)
        records = [json.loads(line) for line in lines if line.endswith("\n")]
        return next((r["address"] for r in records if r["msg"] == "listening"), None)


def program() -> pathlib.Path:
    path = binary().with_name(PROGRAM)
    if not path.exists():
        pytest.skip(f"{path} is not built: swift build --product {PROGRAM}")
    return path


def test_each_hit_comes_to_a_sink_of_ones_own(folder, seed):
    """Over two runs of the server, in the order of the journal, each hit once."""
    server = OwnServer(folder / "data")
    client = Client(0, seed)
    try:
        for _ in range(2):
            server.start()
            client.run(server, itertools.islice(client.batches(), 5), threading.Event(), 60)
            assert client.failure is None and client.owed
            # It delivers what it has before it ends.
            assert server.terminate() == 0, server.log()
    finally:
        server.close()
    lines = server.printed.read_text().splitlines()
    assert len(lines) == len(client.owed)
    assert {line.split()[0] for line in lines} == {TENANT}
    assert not (folder / "data" / "hits.db").exists()


def test_its_wrong_configuration_is_told_of(folder):
    (folder / "wrong.yaml").write_text(f"data_dir: {folder}/data\nlisten: nowhere\n")
    answer = subprocess.run([program(), folder / "wrong.yaml"], capture_output=True, text=True,
                            timeout=30, stdin=subprocess.DEVNULL, check=False)
    assert answer.returncode != 0 and 'listen is "nowhere"' in answer.stderr, answer
