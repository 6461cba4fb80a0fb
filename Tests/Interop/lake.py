"""The lake's own process, what is read of its table without any code of ours, and a peer that
speaks to it as a server does."""

import atexit
import collections
import functools
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request

import deltalake
import grpc
import pyarrow

from logs import scan
from protos import ROOT
from server import wait_until
from sightline.v1 import sink_service_pb2 as pb
from sightline.v1 import sink_service_pb2_grpc as pb_grpc

READERS = pathlib.Path(__file__).with_name("lake_readers.py")
START_SECONDS = 60
STOP_SECONDS = 60
ANSWER_SECONDS = 60
SINK = "lake"


@functools.cache
def built(protos: pathlib.Path | None = None) -> pathlib.Path:
    """The package as `pip install` lays it down, of these protos or of the project's."""
    folder = ROOT / ".build/lake"
    if protos:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sightline-lake-package-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    done = subprocess.run([ROOT / "Scripts/build-lake", folder, protos or "Protos"],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "site"


class Lake:
    """A table, and the process that keeps it now. Logs of all its processes go into one file."""

    def __init__(self, table: pathlib.Path | str, state: pathlib.Path, *options: str,
                 environment: dict[str, str] | None = None, package: pathlib.Path | None = None):
        self.table, self.state, self.options = table, state, options
        self.environment = environment or {}
        self.package = package
        self.listen = "127.0.0.1:0"
        self.log_path = state.with_name(f"{state.name}.log")
        self.process: subprocess.Popen | None = None
        # Words before the command: a program that runs it.
        self.prefix: list[str] = []
        self.metrics = ""
        # Where the log of this process begins.
        self.begun = 0

    def spawn(self) -> None:
        """Starts the process, and does not wait for it to listen."""
        command = [sys.executable, "-m", "sightline_lake", "--table", str(self.table),
                   "--state", str(self.state), "--listen", self.listen, "--metrics", "127.0.0.1:0",
                   *self.options]
        environment = os.environ | self.environment | {
            "PYTHONPATH": str(self.package or built())}
        self.begun = self.log_path.stat().st_size if self.log_path.exists() else 0
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen([*self.prefix, *command], stdin=subprocess.DEVNULL,
                                            stderr=log, env=environment)

    def told(self, message: str) -> list[dict]:
        """Log lines of this process with these words."""
        with self.log_path.open("rb") as file:
            file.seek(self.begun)
            lines = [line for line in file.read().splitlines(keepends=True)
                     if line.startswith(b"{") and line.endswith(b"\n")]
        return [line for line in map(json.loads, lines) if line["msg"] == message]

    def start(self) -> "Lake":
        """Starts it and waits until it listens: at the address that it had before."""
        self.spawn()
        found = wait_until(
            lambda: self.told("listening") or self.process.poll() is not None and [None],
            "the lake to listen", START_SECONDS)
        assert found[0], f"ended with {self.process.returncode}\n{self.log()}"
        self.listen = f"127.0.0.1:{found[0]['port']}"
        self.metrics = f"http://127.0.0.1:{found[0]['metrics_port']}/metrics"
        return self

    def fails(self) -> tuple[int, str]:
        """Starts it where it must not start: its exit code, and what it says."""
        self.spawn()
        try:
            code = self.process.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it runs\n{self.log()}") from None
        return code, self.log()

    def sinks(self, *others: dict, **options) -> str:
        """The server's argument: this one behind those."""
        own = {"type": "grpc", "name": SINK, "target": self.listen, "connect_seconds": 5} | options
        return f"--set=sinks={json.dumps([*others, own])}"

    def log(self, characters: int = 4000) -> str:
        return "lake's log:\n" + self.log_path.read_text(errors="replace")[-characters:]

    def kill(self) -> None:
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(timeout=10)

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"took over {STOP_SECONDS} s to end\n{self.log()}") from None

    def close(self) -> None:
        """Ends the process where it still runs, and looks through its log."""
        self.kill()
        scan(self.log_path)

    def figures(self) -> dict[str, float]:
        """What /metrics says: values by name."""
        with urllib.request.urlopen(self.metrics, timeout=10) as answer:
            rows = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines()
                    if line and not line.startswith("#")]
        return {name: float(value) for name, value in rows}


# What the table has.

def opened(table, storage: dict[str, str] | None = None) -> deltalake.DeltaTable:
    return deltalake.DeltaTable(str(table), storage_options=storage)


def columns(table, *names: str, storage: dict[str, str] | None = None) -> pyarrow.Table:
    """Columns of the newest version."""
    return opened(table, storage).to_pyarrow_table(columns=list(names))


def hits(table, storage: dict[str, str] | None = None) -> collections.Counter:
    """How often each hit is there."""
    return collections.Counter(columns(table, "hit_id", storage=storage)["hit_id"].to_pylist())


def asked(folder: pathlib.Path, engine: str, blocks: list[str], questions: list[str]) -> list:
    """The answers of one engine to questions, in a process of its own."""
    request = json.dumps({"blocks": blocks, "questions": questions})
    done = subprocess.run([sys.executable, str(READERS), engine], input=request, text=True,
                          cwd=folder, capture_output=True, check=False)
    assert done.returncode == 0, f"{engine}\n{done.stderr[-4000:]}"
    return json.loads(done.stdout)


# A server's side.

class Peer:
    """One stream to a lake, as a server opens it."""

    def __init__(self, lake: Lake, journal: str = "journal", sink: str = SINK,
                 capabilities=(pb.SINK_CAPABILITY_REFUSALS, pb.SINK_CAPABILITY_ERASURE)):
        self.requests: queue.Queue[pb.DeliverRequest | None] = queue.Queue()
        self.channel = grpc.insecure_channel(lake.listen, options=[
            ("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0),
            ("grpc.max_send_message_length", 64 << 20)])
        stub = pb_grpc.SinkServiceStub(self.channel)
        self.answers = stub.Deliver(iter(self.requests.get, None), timeout=600)
        self.requests.put(pb.DeliverRequest(hello=pb.Hello(
            versions=[1], capabilities=capabilities, journal_id=journal, sink=sink)))
        self.welcome = self.next("welcome")

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_) -> None:
        self.requests.put(None)
        self.channel.close()

    def next(self, kind: str):
        """The next answer that asks for no time."""
        for answer in self.answers:
            if not answer.HasField("busy"):
                assert answer.HasField(kind), answer
                return getattr(answer, kind)
        raise AssertionError(f"the stream ended before {kind}")

    def send(self, sequence: int, records, first_index: int = 0, awaits_ack: bool = True,
             raw: list[bytes] = ()) -> pb.Position:
        """Records of one group; `raw` ones are bytes that our protos need not know."""
        count = len(records) + len(raw)
        batch = pb.RecordBatch(records=records, awaits_ack=awaits_ack)
        batch.groups.add(sequence=sequence, first_index=first_index, count=count)
        batch.end.MergeFrom(pb.Position(sequence=sequence, index=first_index + count - 1,
                                        check=sequence & 0xFFFF))
        for content in raw:
            batch.MergeFromString(b"\x0a" + varint(len(content)) + content)
        self.requests.put(pb.DeliverRequest(batch=batch))
        return batch.end

    def deliver(self, sequence: int, records, **options) -> None:
        """Sends a group, and waits until it is acknowledged."""
        end = self.send(sequence, records, **options)
        ack = self.next("ack")
        assert ack.durable == end, (ack, end)

    def erase(self, tenant: str, *subjects: str) -> pb.Erased:
        self.requests.put(pb.DeliverRequest(erase=pb.Erase(tenant=tenant, subject_ids=subjects)))
        return self.next("erased")


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def wait_for_rows(table, count: int, storage: dict[str, str] | None = None) -> None:
    """Waits until the newest version has so many rows."""
    def has_them() -> bool:
        try:
            return opened(table, storage).count() >= count
        except deltalake.exceptions.TableNotFoundError:
            return False
    wait_until(has_them, f"{count} rows in {table}", ANSWER_SECONDS, every=0.2)
