"""The ways that a connection ends, and those that a stream ends: each once, by frames."""

import socket
import struct
from collections.abc import Callable

from hyperframe.frame import (ContinuationFrame, DataFrame, GoAwayFrame, HeadersFrame, PingFrame,
                              PriorityFrame, PushPromiseFrame, RstStreamFrame, SettingsFrame,
                              WindowUpdateFrame)

from peer import PREFACE, Peer

CANCEL = 8
ENABLE_PUSH, INITIAL_WINDOW, MAX_FRAME = 2, 4, 5
UNARY = "RecordEvents"
# gRPC's EmptyMessage, which is a request without events.
EMPTY = b""


def raw(kind: int, flags: int, stream: int, body: bytes = b"", length: int | None = None) -> bytes:
    """A frame that no library would make."""
    size = len(body) if length is None else length
    return size.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def linger(peer: Peer) -> None:
    """What closes it now is a reset."""
    peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


# MARK: Connections. Each is given a peer, with or without an open stream, and breaks it off.

Break = Callable[[Peer], None]


def sends(*parts, until_closed: bool = True) -> Break:
    """Sends something, and waits until the server has closed."""
    def end(peer: Peer) -> None:
        peer.send(*parts)
        if until_closed:
            peer.wait_for_end()
    return end


def half_closes(peer: Peer) -> None:
    peer.socket.shutdown(socket.SHUT_WR)
    peer.wait_for_end()


def continues_nothing(peer: Peer) -> None:
    peer.send(HeadersFrame(3, b"\x82"), DataFrame(3, b"x"))
    peer.wait_for_end()


def floods_with_resets(peer: Peer) -> None:
    for stream in range(5, 1205, 2):
        peer.send(peer.headers(stream), RstStreamFrame(stream, error_code=CANCEL))
    peer.wait_for_end()


BREAKS: dict[str, Break] = {
    "closes": lambda peer: None,
    "resets": linger,
    "closes its half": half_closes,
    "sends GOAWAY and closes": sends(GoAwayFrame(0), until_closed=False),
    "DATA on stream 0": sends(raw(0, 0, 0, b"x")),
    "HEADERS on stream 0": sends(raw(1, 4, 0, b"\x82")),
    "HEADERS on an even stream": sends(raw(1, 4, 2, b"\x82")),
    "headers that are no HPACK": sends(raw(1, 4, 3, b"\xff\xff\xff\xff\xff\xff\xff")),
    "WINDOW_UPDATE of 0": sends(raw(8, 0, 0, bytes(4))),
    "a window that overflows": sends(WindowUpdateFrame(0, window_increment=(1 << 31) - 1)),
    "WINDOW_UPDATE of 3 bytes": sends(raw(8, 0, 0, b"abc")),
    "ENABLE_PUSH of 7": sends(SettingsFrame(0, {ENABLE_PUSH: 7})),
    "a window of 2^32 - 1": sends(raw(4, 0, 0, struct.pack(">HI", INITIAL_WINDOW, 0xFFFFFFFF))),
    "a frame size of 1": sends(raw(4, 0, 0, struct.pack(">HI", MAX_FRAME, 1))),
    "SETTINGS of 5 bytes": sends(raw(4, 0, 0, b"12345")),
    "SETTINGS on a stream": sends(raw(4, 0, 1)),
    "an acknowledgement with a body": sends(raw(4, 1, 0, b"123456")),
    "PING of 7 bytes": sends(raw(6, 0, 0, b"1234567")),
    "PING on a stream": sends(raw(6, 0, 1, b"12345678")),
    "RST_STREAM of an idle stream": sends(RstStreamFrame(99, error_code=CANCEL)),
    "RST_STREAM on stream 0": sends(raw(3, 0, 0, bytes(4))),
    "CONTINUATION of nothing": sends(ContinuationFrame(1, b"")),
    "DATA amid HEADERS": continues_nothing,
    "PUSH_PROMISE": sends(PushPromiseFrame(1, promised_stream_id=2, data=b"\x82",
                                           flags=("END_HEADERS",))),
    "a frame of 16 MiB": sends(raw(0, 0, 1, b"", length=(1 << 24) - 1)),
    "padding beyond the frame": sends(raw(0, 8, 1, b"\xffx")),
    "a flood of resets": floods_with_resets,
    "a flood of PINGs": sends(*[PingFrame(0, b"12345678")] * 600),
    "a flood of SETTINGS": sends(*[SettingsFrame(0, {})] * 5000),
    "half a frame, and closes": sends(raw(0, 0, 1, b"x", length=100), until_closed=False),
}
# What a peer may say that has not said hello.
GREETINGS: dict[str, bytes] = {
    "nothing": b"", "half a preface": PREFACE[:10], "no preface": b"GET / HTTP/1.1\r\n\r\n",
    "a preface alone": PREFACE, "DATA for SETTINGS": PREFACE + raw(0, 0, 1, b"x"),
}


def connection_ends() -> dict[str, Callable[[str], None]]:
    """A function for each way, which is given the server's address."""
    ends = {}
    for stream in ("no", "a new", "an answered"):
        for name, breaks in BREAKS.items():
            ends[f"connection with {stream} stream: {name}"] = (
                lambda target, s=stream, b=breaks: _break(target, s, b))
    for name, data in GREETINGS.items():
        ends[f"connection: {name}"] = lambda target, d=data: _greet(target, d)
    return ends


def _break(target: str, stream: str, breaks: Break) -> None:
    with Peer(target) as peer:
        assert peer.wait(lambda frame: isinstance(frame, SettingsFrame)), "refused"
        if stream != "no":
            peer.send(peer.headers(1))
        if stream == "an answered":
            peer.send(peer.message(1, b"\x08\x01"))
            assert peer.wait(lambda frame: frame.stream_id == 1), "not answered"
        breaks(peer)


def _greet(target: str, data: bytes) -> None:
    host, port = target.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=5) as peer:
        peer.sendall(data)


# MARK: Streams. Each is given a peer and the number of a new stream.

Stream = Callable[[Peer, int], None]


def _call(peer: Peer, stream: int, *extra, method: str = UNARY, data: bytes = EMPTY,
          compressed: bool = False) -> None:
    peer.send(peer.headers(stream, method, *extra),
              peer.message(stream, data, is_compressed=compressed, end=True))


def _opened(peer: Peer, stream: int, data: bytes = b"") -> None:
    peer.send(peer.headers(stream), data)


def resets_open(peer: Peer, stream: int) -> None:
    _opened(peer, stream)
    peer.send(RstStreamFrame(stream, error_code=CANCEL), PingFrame(0, b"in order"))


def resets_in_message(peer: Peer, stream: int) -> None:
    _opened(peer, stream, DataFrame(stream, b"\0\0\0\xff\xffhalf").serialize())
    peer.send(RstStreamFrame(stream, error_code=CANCEL), PingFrame(0, b"in order"))


def resets_answered(peer: Peer, stream: int) -> None:
    _opened(peer, stream, peer.message(stream, b"\x08\x01"))
    peer.wait(lambda frame: frame.stream_id == stream)
    peer.send(RstStreamFrame(stream, error_code=CANCEL), PingFrame(0, b"in order"))


def ends_in_message(peer: Peer, stream: int) -> None:
    end = DataFrame(stream, b"\0\0\0\xff\xffhalf", flags=("END_STREAM",))
    _opened(peer, stream, end.serialize())
    peer.wait_for_status(stream)


def streams_and_ends(peer: Peer, stream: int) -> None:
    _opened(peer, stream, peer.message(stream, b"\x08\x01", end=True))
    peer.wait_for_status(stream)


def with_trailers(peer: Peer, stream: int) -> None:
    _opened(peer, stream, peer.message(stream, b"\x08\x01"))
    peer.send(HeadersFrame(stream, peer.encoder.encode([("x-end", "1")]),
                           flags=("END_HEADERS", "END_STREAM")))
    peer.wait_for_status(stream)


def answered(*extra, **options) -> Stream:
    """A call that is answered, however."""
    def end(peer: Peer, stream: int) -> None:
        _call(peer, stream, *extra, **options)
        peer.wait_for_status(stream)
    return end


def breaks_stream(frame: Callable[[int], bytes]) -> Stream:
    """A stream that the server ends for a frame on it."""
    def end(peer: Peer, stream: int) -> None:
        _opened(peer, stream)
        peer.send(frame(stream))
        peer.wait(lambda f: f.stream_id == stream and (
            isinstance(f, RstStreamFrame) or "END_STREAM" in f.flags))
    return end


STREAMS: dict[str, Stream] = {
    "a call that succeeds": answered(),
    "a call that is refused": answered(data=b"\xff\xff"),
    "an unknown method": answered(method="Nothing"),
    "a stream that is ended": streams_and_ends,
    "a deadline that has passed": answered(("grpc-timeout", "1n")),
    "a deadline in eleven years": answered(("grpc-timeout", "99999H")),
    "a deadline that is wrong": answered(("grpc-timeout", "x")),
    "an unknown encoding": answered(("grpc-encoding", "snappy")),
    "gzip that is none": answered(("grpc-encoding", "gzip"), data=b"none", compressed=True),
    "compressed without an encoding": answered(data=b"none", compressed=True),
    "a stream that is reset": resets_open,
    "a stream that is reset in a message": resets_in_message,
    "a stream that is reset once answered": resets_answered,
    "a stream that ends in a message": ends_in_message,
    "a stream that ends with trailers": with_trailers,
    "a message of 4 GiB": breaks_stream(
        lambda stream: DataFrame(stream, b"\0\xff\xff\xff\xffx").serialize()),
    "a WINDOW_UPDATE of 0 on a stream": breaks_stream(lambda stream: raw(8, 0, stream, bytes(4))),
    "a window that overflows on a stream": breaks_stream(
        lambda stream: WindowUpdateFrame(stream, window_increment=(1 << 31) - 1).serialize()),
    "a stream that depends on itself": breaks_stream(
        lambda stream: PriorityFrame(stream, depends_on=stream).serialize()),
    "DATA after its end": breaks_stream(
        lambda stream: DataFrame(stream, flags=("END_STREAM",)).serialize()
        + DataFrame(stream, b"x").serialize()),
    "two heads": breaks_stream(lambda stream: raw(1, 4, stream, b"\x82")),
}
# Streams of one connection: below what the server takes for a flood of resets.
STREAMS_PER_CONNECTION = 50


def stream_rounds(target: str, end: Stream, count: int) -> int:
    """Ends this many streams; how many connections that took."""
    left, connections = count, 0
    while left > 0:
        connections += 1
        with Peer(target) as peer:
            for number in range(min(left, STREAMS_PER_CONNECTION)):
                left -= 1
                end(peer, 2 * number + 1)
                if peer.ended:
                    break
    return connections
