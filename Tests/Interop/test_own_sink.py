"""A server with a sink of its own: the example of Examples/sink-swift, compiled without access to what
is not public."""

import itertools
import json
import pathlib
import shutil
import subprocess
import threading

import pytest

from facts import TENANT
from protos import ROOT
from server import Server, binary, wait_until
from test_kill_loses_no_ack import Client

PROGRAM = "PrintingServerExample"
# Each is a package with one product of this one.
EXAMPLES = {"sink-swift": "SightlineSinks", "client-swift": "SightlineClient"}


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


def resolve(folder: pathlib.Path, example: str, product: str) -> subprocess.CompletedProcess:
    """Has SwiftPM load an example as the package of somebody else, in a folder outside, which
    needs a product of this one. The checkouts are those of the build: nothing is fetched."""
    package, scratch = folder / product / "package", folder / product / "scratch"
    shutil.copytree(ROOT / "Examples" / example, package,
                    ignore=shutil.ignore_patterns(".build"))
    shutil.copy(ROOT / "Package.resolved", package)
    scratch.mkdir()
    for name in ("checkouts", "repositories"):
        (scratch / name).symlink_to(ROOT / ".build" / name)
    shutil.copy(ROOT / ".build" / "workspace-state.json", scratch)
    manifest = (package / "Package.swift").read_text()
    outside = manifest.replace('"../.."', json.dumps(str(ROOT))).replace(
        json.dumps(EXAMPLES[example]), json.dumps(product))
    assert outside.count(str(ROOT)) == 1 and outside.count(json.dumps(product)) == 1
    (package / "Package.swift").write_text(outside)
    return subprocess.run(
        ["swift", "package", "--package-path", str(package), "--scratch-path", str(scratch),
         "--force-resolved-versions", "show-dependencies", "--format", "json"],
        capture_output=True, text=True, timeout=240, stdin=subprocess.DEVNULL, check=False)


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_example_is_a_package_outside_of_this_one(folder, example):
    """Its manifest finds the product that it names, and no other. That its sources need nothing but
    what is public is proven by the build of the same sources, as a target without access to the
    package: to compile all of this package once more, below the example, would take seven
    minutes."""
    if not shutil.which("swift") or not (ROOT / ".build" / "workspace-state.json").exists():
        pytest.skip("no build of this package to share the checkouts of")
    product = EXAMPLES[example]
    found = resolve(folder, example, product)
    assert found.returncode == 0, found.stderr
    graph = json.loads(found.stdout)
    assert [package["path"] for package in graph["dependencies"]] == [str(ROOT)]
    wrong = resolve(folder, example, product[:-1])
    assert wrong.returncode != 0 and f"product '{product[:-1]}' required" in wrong.stderr, wrong
