"""Peers that misbehave harm themselves alone: others are served in time, and memory is bounded.

One server for all rows. Beside each attack there is a bystander with a stream of its own that was
open before, and a client that comes new.
"""

import contextlib
import dataclasses
import gzip
import pathlib
import queue
import resource
import socket
import struct
import tempfile
import threading
import time
from collections.abc import Callable

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc_status import rpc_status
from hyperframe.frame import (ContinuationFrame, DataFrame, PingFrame, RstStreamFrame,
                              SettingsFrame, WindowUpdateFrame)

from cost_inputs import RAW
from facts import Facts
from peer import ENHANCE_YOUR_CALM, PREFACE, Peer
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import MANY_CONNECTIONS, Server, wait_until
from stream import METHOD, field

# Whether others are served at all: how fast, Benchmarks/attacks measures on a quiet machine.
SERVED_SECONDS = 20
ACK_SECONDS = 2
MIB = 1 << 20
RESOURCE_EXHAUSTED = str(grpc.StatusCode.RESOURCE_EXHAUSTED.value[0])
SILENT_CONNECTIONS = 1000


class Bystander:
    """A client with one stream that must never notice anything."""

    def __init__(self, server: Server):
        self.facts = Facts(7, int(time.time()), space=77)
        self.requests: queue.Queue = queue.Queue()
        self.condition = threading.Condition()
        self.durable = self.sequence = 0
        self.failure: grpc.RpcError | None = None
        self.channel = server.channel()
        call = server.stub(self.channel).StreamEvents(iter(self.requests.get, None))
        threading.Thread(target=self._read, args=(call,), daemon=True).start()

    def _read(self, call) -> None:
        try:
            for answer in call:
                self._note(answer.durable_sequence)
        except grpc.RpcError as error:
            self.failure = error
        self._note(-1)

    def _note(self, durable: int) -> None:
        with self.condition:
            self.durable = durable
            self.condition.notify_all()

    def ask(self) -> float:
        """Sends one event on the stream; the seconds until it is acked."""
        started = time.monotonic()
        with self.condition:
            self.sequence += 1
            self.requests.put(s.StreamEventsRequest(
                sequence=self.sequence, events=[self.facts.track_action().event]))
            self.condition.wait_for(
                lambda: self.durable < 0 or self.durable >= self.sequence, SERVED_SECONDS)
        assert self.durable == self.sequence, f"no ack in {SERVED_SECONDS} s: {self.failure}"
        return time.monotonic() - started

    def close(self) -> None:
        self.requests.put(None)
        self.channel.close()


@dataclasses.dataclass
class Target:
    """The server that is attacked, and its bystander."""

    server: Server
    bystander: Bystander
    facts: Facts

    @property
    def address(self) -> str:
        return self.server.target

    def serve_newcomer(self) -> float:
        """A client that connects now; the seconds until its event is recorded."""
        started = time.monotonic()
        with self.server.channel() as channel:
            answer = self.server.stub(channel).RecordEvents(
                s.RecordEventsRequest(events=[self.facts.track_action().event]),
                timeout=SERVED_SECONDS)
        assert answer.tally.accepted == 1
        return time.monotonic() - started

    def memory(self, key: str) -> int:
        """VmRSS or VmHWM of the process, in bytes."""
        status = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines()
                    if line.startswith(key)) << 10

    def is_idle(self) -> bool:
        """Whether no thread of the process runs, may run, or waits for the disk, three times."""
        for _ in range(3):
            for thread in pathlib.Path(f"/proc/{self.server.process.pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    if (thread / "stat").read_text().rpartition(") ")[2][0] in "RD":
                        return False
            time.sleep(0.01)
        return True

    def has_connection(self, peer: Peer) -> bool:
        """Whether the server's end of a connection is still there, as the kernel says."""
        port, own = (int(peer.socket.getpeername()[1]), int(peer.socket.getsockname()[1]))
        ends = f":{port:04X} 0100007F:{own:04X} 01"
        return ends in pathlib.Path("/proc/net/tcp").read_text()

    def reset_peak(self) -> int:
        """Begins a new peak; the memory that is taken now."""
        pathlib.Path(f"/proc/{self.server.process.pid}/clear_refs").write_text("5")
        return self.memory("VmRSS")


@pytest.fixture(scope="module")
def target():
    """A server that loses patience with readers soon, and takes many connections."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("SIGHTLINE_STREAM_ACK_SECONDS", f"{ACK_SECONDS}")
        environment.setenv("SIGHTLINE_DRAIN_SECONDS", "1")
        environment.setenv("SIGHTLINE_CONNECTIONS_MAX_PER_ADDRESS", f"{2 * SILENT_CONNECTIONS}")
        server = Server(home / "data", "--sink", "discard", MANY_CONNECTIONS).start()
    bystander = Bystander(server)
    try:
        bystander.ask()
        yield Target(server, bystander, Facts(9, int(time.time()), space=99))
    finally:
        bystander.close()
        server.close()


# MARK: Attacks: each returns words on what became of the offender


def rapid_resets(count: int, ends: bool) -> Callable[[Target], str]:
    def attack(target: Target) -> str:
        with Peer(target.address) as peer:
            for number in range(count):
                stream = 2 * number + 1
                peer.send(peer.headers(stream), RstStreamFrame(stream, error_code=8))
            if ends:
                assert peer.wait_for_end() == ENHANCE_YOUR_CALM
                return "cut off"
            # What browsers may do is not yet an attack.
            peer.send(PingFrame(0, b"stillyou"))
            assert peer.wait(lambda f: isinstance(f, PingFrame)), "cut off too early"
            return "lives"
    return attack


def flood(name: str) -> Callable[[Target], str]:
    def attack(target: Target) -> str:
        with Peer(target.address) as peer:
            match name:
                case "SETTINGS":
                    peer.send(*[SettingsFrame(0, {4: 65535})] * 5000)
                case "PING":
                    peer.send(*[PingFrame(0, b"12345678")] * 5000)
                case "CONTINUATION":
                    peer.send(peer.headers(1, flags=()), *[ContinuationFrame(1, b"")] * 5000)
                case "large CONTINUATION":
                    field = b"\x00\x01a\x7f\x80\x7c" + b"x" * 15999
                    peer.send(peer.headers(1, flags=()), *[ContinuationFrame(1, field)] * 100)
                case "empty DATA":
                    peer.send(peer.headers(1), *[DataFrame(1, b"")] * 5000)
            peer.wait_for_end()
            return "cut off"
    return attack


def huge_prefix(target: Target) -> str:
    with Peer(target.address) as peer:
        peer.send(peer.headers(1), DataFrame(1, b"\0\xff\xff\xff\xff" + b"x" * 100))
        status = peer.wait_for_status(1)
        assert status["grpc-status"] == RESOURCE_EXHAUSTED, status
        return "RESOURCE_EXHAUSTED"


def transport_limit(size: int) -> Callable[[Target], str]:
    """A request over the transport's own limit, from a client library."""
    def attack(target: Target) -> str:
        with target.server.channel() as channel:
            with pytest.raises(grpc.RpcError) as caught:
                channel.unary_unary("/sightline.v1.TrackingService/RecordEvents")(
                    b"\x12" + b"\0" * size, timeout=5)
        return refusal(caught.value, grpc.StatusCode.RESOURCE_EXHAUSTED)
    return attack


def refusal(error, code: grpc.StatusCode) -> str:
    """The reason of an error that a client must not try again."""
    assert error.code() == code, error
    kinds = [detail.type_url.rsplit(".", 1)[1] for detail in rpc_status.from_call(error).details]
    assert "RetryInfo" not in kinds, kinds
    info = error_details_pb2.ErrorInfo()
    rpc_status.from_call(error).details[kinds.index("ErrorInfo")].Unpack(info)
    return f"{code.name} {info.reason}"


def over_each_limit(target: Target) -> str:
    """Whole requests are refused for good; of events, each one alone."""
    bulky = s.RecordEventsRequest(events=[e.TrackingEvent()]).SerializeToString()
    requests = [bulky + field(100, bytes(512 << 10)), bulky * 2001]
    with target.server.channel() as channel:
        record = channel.unary_unary("/sightline.v1.TrackingService/RecordEvents")
        for request in requests:
            with pytest.raises(grpc.RpcError) as caught:
                record(request, timeout=5)
            refusal(caught.value, grpc.StatusCode.RESOURCE_EXHAUSTED)
        events = list(events_over_limits(target.facts))
        answer = target.server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=events), timeout=5)
    assert answer.tally.accepted == 1, "the one that breaks no limit"
    codes = [[violation.code for violation in result.violations] for result in answer.results[1:]]
    assert codes == [[v.VIOLATION_CODE_TOO_LARGE]] * (len(events) - 1), answer
    return f"{len(requests)} requests and {len(events) - 1} events refused"


def events_over_limits(facts: Facts):
    """An event, and then some that go beyond one limit each."""
    yield facts.push(1, e.PLATFORM_ANDROID).event
    for change in [
        lambda event: setattr(event, "event_id", "x" * 65),
        lambda event: setattr(event, "subject_id", "x" * 257),
        lambda event: event.push.fcm.data.custom_fields.update(
            {f"k{number}": "v" for number in range(65)}),
        lambda event: event.push.fcm.data.custom_fields.update({"k" * 65: "v"}),
        lambda event: event.push.fcm.data.custom_fields.update({"k": "v" * 1025}),
        lambda event: event.MergeFromString(field(1000, bytes(16 << 10))),
    ]:
        event = facts.push(1, e.PLATFORM_ANDROID).event
        change(event)
        yield event


def metadata_over(size: int) -> Callable[[Target], str]:
    def attack(target: Target) -> str:
        with target.server.channel() as channel, pytest.raises(grpc.RpcError) as caught:
            target.server.stub(channel).RecordEvents(
                s.RecordEventsRequest(), timeout=5, metadata=[("x-large", "x" * size)])
        return refusal(caught.value, grpc.StatusCode.RESOURCE_EXHAUSTED)
    return attack


def metadata_over_transport(target: Target) -> str:
    with Peer(target.address) as peer:
        peer.send(peer.headers(1, "StreamEvents", ("x-large", "\x01" * 20_000)))
        peer.wait(lambda f: f.stream_id == 1 or f.type in (3, 7))
        return "cut off"


def silent_connections(target: Target) -> str:
    host, port = target.address.rsplit(":", 1)
    with contextlib.ExitStack() as stack:
        for _ in range(SILENT_CONNECTIONS):
            stack.enter_context(socket.create_connection((host, int(port)), timeout=5))
        return f"{SILENT_CONNECTIONS} held, {judge(target)}"


def half_preface(target: Target) -> str:
    host, port = target.address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=5) as peer:
        peer.sendall(PREFACE[:10])
        return f"held, {judge(target)}"


def many_results(number: int) -> bytes:
    """A request of 4 KB whose answer is a hundred times as large: every event is refused, with
    words."""
    return s.StreamEventsRequest(sequence=number).SerializeToString() + b"\x12\0" * 2000


def never_reads_socket(target: Target) -> str:
    """Asks for more than the sockets' buffers hold, and takes nothing out of its own."""
    with Peer(target.address, {4: (1 << 31) - 1}, receive_bytes=4096) as peer:
        peer.send(WindowUpdateFrame(0, window_increment=(1 << 31) - 1 - 65535))
        peer.send(peer.headers(1), *[peer.message(1, many_results(n)) for n in range(1, 11)])
        # The last that it reads: that it may send as much again, and far more.
        peer.wait(lambda f: isinstance(f, WindowUpdateFrame) and f.stream_id == 0)
        peer.send(*[peer.message(1, many_results(n)) for n in range(11, 100)])
        started = time.monotonic()
        wait_until(lambda: not target.has_connection(peer), "the server has closed it",
                   ACK_SECONDS + 10)
        return f"cut off after {time.monotonic() - started:.1f} s"


def never_opens_window(target: Target) -> str:
    """Reads the socket, and never gives the stream a byte of window."""
    with Peer(target.address, {4: 0}) as peer:
        peer.send(peer.headers(1), *[peer.message(1, many_results(n)) for n in range(1, 3)])
        started = time.monotonic()
        reset = peer.wait_for_reset(1, ACK_SECONDS + 10)
        seconds = time.monotonic() - started
        assert reset is not None and seconds >= ACK_SECONDS - 0.5, f"{reset} after {seconds} s"
        # Its other streams are none the worse.
        peer.send(PingFrame(0, b"stillyou"))
        assert peer.wait(lambda f: isinstance(f, PingFrame))
        return f"stream reset after {seconds:.1f} s"


def vanishes(abort: bool) -> Callable[[Target], str]:
    """Ends its connection in the middle of a message, ten times."""
    def attack(target: Target) -> str:
        for _ in range(10):
            with Peer(target.address) as peer:
                peer.send(peer.headers(1), peer.message(1, many_results(1)))
                peer.send(DataFrame(1, struct.pack(">BI", 0, 100_000) + b"half"))
                if abort:
                    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                           struct.pack("ii", 1, 0))
        return "gone"
    return attack


def leave_with_full_windows(target: Target) -> str:
    """Go while the server has most of what they sent still to read, eight at once."""
    wide = WindowUpdateFrame(0, window_increment=(1 << 31) - 1 - 65535)
    with contextlib.ExitStack() as stack:
        for _ in range(8):
            peer = stack.enter_context(Peer(target.address, {4: (1 << 31) - 1}))
            peer.send(wide, *[peer.headers(stream) for stream in (1, 3)])
            for stream in (1, 3):
                peer.send(*[peer.message(stream, many_results(n)) for n in range(1, 200)])
    return "gone"


# An in-app event of six bytes, with five violations: 2,000 are a request of 70 bytes in gzip.
REFUSED = gzip.compress(b"\x0a\x06\x62\x04\x40\x63\x48\x63" * 2000)
# An event with a payload, and as many as a request may have bytes: 948 bytes in gzip.
SLOW = gzip.compress(field(1, RAW.SerializeToString()) * ((500 << 10) // RAW.ByteSize()))


def leave_behind_calls(message: bytes) -> Callable[[Target], str]:
    """Go as soon as 100 calls are sent, eight at once."""
    def attack(target: Target) -> str:
        with contextlib.ExitStack() as stack:
            for _ in range(8):
                peer = stack.enter_context(Peer(target.address))
                for stream in range(1, 200, 2):
                    peer.send(peer.headers(stream, "RecordEvents", ("grpc-encoding", "gzip")),
                              peer.message(stream, message, is_compressed=True, end=True))
        return "gone"
    return attack


def gzip_bombs(count: int, size: int) -> Callable[[Target], str]:
    """Requests that are small on the wire, and would be large."""
    def attack(target: Target) -> str:
        bomb = gzip.compress(b"\0" * size)
        with Peer(target.address) as peer:
            streams = range(1, 2 * count, 2)
            for stream in streams:
                peer.send(peer.headers(stream, "RecordEvents", ("grpc-encoding", "gzip")))
            for stream in streams:
                peer.send(peer.message(stream, bomb, is_compressed=True, end=True))
            for stream in streams:
                status = peer.wait_for_status(stream, 10)["grpc-status"]
                assert status == RESOURCE_EXHAUSTED, status
        return f"{len(bomb):,} bytes, RESOURCE_EXHAUSTED"
    return attack


def more_streams(count: int) -> Callable[[Target], str]:
    """More streams at once than a connection may have: they queue, and none is lost."""
    def attack(target: Target) -> str:
        with target.server.channel() as channel:
            stream = channel.stream_stream(
                METHOD, request_serializer=s.StreamEventsRequest.SerializeToString,
                response_deserializer=s.StreamEventsResponse.FromString)
            requests = [s.StreamEventsRequest(
                sequence=number + 1, events=[target.facts.track_action().event])
                for number in range(count)]
            calls = [stream(iter([request]), timeout=30) for request in requests]
            accepted = 0
            for call in calls:
                answers = list(call)
                assert call.code() == grpc.StatusCode.OK
                accepted += sum(answer.tally.accepted for answer in answers)
        assert accepted == count, f"{accepted} of {count}"
        return f"{count} of {count} acked"
    return attack


def streams_beyond(target: Target) -> str:
    """A peer that opens more streams than it was told it may."""
    with Peer(target.address) as peer:
        peer.wait(lambda f: isinstance(f, SettingsFrame))
        peer.send(SettingsFrame(0, flags=("ACK",)))
        peer.send(*[peer.headers(2 * number + 1) for number in range(101)])
        frame = peer.wait(lambda f: isinstance(f, RstStreamFrame) or f.type == 7)
        return f"answered with {type(frame).__name__}"


def judge(target: Target) -> str:
    """Others are served, those that were there before and those that come new."""
    return f"others in {max(target.bystander.ask(), target.serve_newcomer()) * 1000:.0f} ms"


ATTACKS = {
    "150 rapid resets": (rapid_resets(150, ends=False), 16),
    "1,000 rapid resets": (rapid_resets(1000, ends=True), 16),
    "a SETTINGS flood": (flood("SETTINGS"), 16),
    "a PING flood": (flood("PING"), 16),
    "a CONTINUATION flood": (flood("CONTINUATION"), 16),
    "a flood of large CONTINUATIONs": (flood("large CONTINUATION"), 16),
    "an empty-DATA flood": (flood("empty DATA"), 16),
    "a length prefix of 4 GiB": (huge_prefix, 16),
    "a request of 1 MiB + 1": (transport_limit(MIB), 16),
    "a request of 2 MiB": (transport_limit(2 * MIB - 16), 16),
    "a request over each limit": (over_each_limit, 16),
    "9 KiB of metadata": (metadata_over(9 << 10), 16),
    "20 KiB of metadata": (metadata_over_transport, 16),
    "1,000 silent connections": (silent_connections, 96),
    "a half-sent preface": (half_preface, 16),
    "a reader that never reads": (never_reads_socket, 64),
    "a window that never opens": (never_opens_window, 48),
    "a client that vanishes mid-message": (vanishes(abort=False), 16),
    "a client that resets mid-message": (vanishes(abort=True), 16),
    "8 clients that leave with full windows": (leave_with_full_windows, 128),
    "8 clients that leave behind small calls": (leave_behind_calls(REFUSED), 128),
    "8 clients that leave behind large calls": (leave_behind_calls(SLOW), 192),
    "a gzip bomb of 60 MiB": (gzip_bombs(1, 60 * MIB), 16),
    "16 gzip bombs at once": (gzip_bombs(16, 3 * MIB), 48),
    "101 streams on one connection": (more_streams(101), 32),
    "300 streams on one connection": (more_streams(300), 32),
    "streams beyond what was allowed": (streams_beyond, 16),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_harms_the_attacker_alone(target, figure, name):
    """Others are served within 2 s, and the peak of the memory stays below the row's bound."""
    attack, mebibytes = ATTACKS[name]
    before = target.reset_peak()
    fate = attack(target)
    others = judge(target)
    # What the server has still to do for this attacker counts here, and not in the next row.
    wait_until(target.is_idle, "idle")
    growth = target.memory("VmHWM") - before
    figure(f"hostile: {name}: {fate}; {others}; {growth / MIB:.0f} MiB of {mebibytes}")
    assert target.server.process.poll() is None, target.server.log()
    assert growth < mebibytes * MIB, f"the memory grew by {growth / MIB:.1f} MiB"
