"""A peer that speaks HTTP/2 frame by frame, and so can say what no client library would say."""

import socket
import ssl
import struct
import time

from hpack import Decoder, Encoder
from hyperframe.frame import (DataFrame, Frame, GoAwayFrame, HeadersFrame, RstStreamFrame,
                              SettingsFrame)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
ENHANCE_YOUR_CALM = 11
# Less than the times after which a server ends what does nothing wrong, by its defaults: what ends
# within it, ends for what the peer did.
WAIT_SECONDS = 20


class Peer:
    """One connection. What it sends after the server has closed it goes nowhere, silently."""

    def __init__(self, target: str, settings: dict | None = None, receive_bytes: int = 0,
                 source: str = "", tls: ssl.SSLContext | None = None):
        host, port = target.rsplit(":", 1)
        self.socket = socket.socket()
        if source:
            self.socket.bind((source, 0))
        if receive_bytes:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.settimeout(WAIT_SECONDS)
        self.socket.connect((host, int(port)))
        if tls:
            self.socket = tls.wrap_socket(self.socket)
        self.encoder, self.decoder = Encoder(), Decoder()
        self.ended = False
        self.frames: list[Frame] = []
        self._buffer = b""
        self.send(PREFACE, SettingsFrame(0, settings or {}))

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, *parts: bytes | Frame) -> "Peer":
        data = b"".join(p if isinstance(p, bytes) else p.serialize() for p in parts)
        try:
            self.socket.sendall(data)
        except OSError:
            self.ended = True
        return self

    def headers(self, stream: int, method: str = "StreamEvents", *extra: tuple[str, str],
                flags: tuple[str, ...] = ("END_HEADERS",),
                service: str = "sightline.v1.TrackingService") -> HeadersFrame:
        """The head of a call."""
        fields = [(":method", "POST"), (":scheme", "http"), (":authority", "test"),
                  (":path", f"/{service}/{method}"),
                  ("content-type", "application/grpc"), ("te", "trailers"), *extra]
        return HeadersFrame(stream, self.encoder.encode(fields), flags=flags)

    @staticmethod
    def message(stream: int, data: bytes, is_compressed: bool = False, frame: int = 1 << 14,
                end: bool = False) -> bytes:
        """A gRPC message in DATA frames."""
        data = struct.pack(">BI", is_compressed, len(data)) + data
        parts = [data[i:i + frame] for i in range(0, len(data), frame)]
        frames = [DataFrame(stream, part) for part in parts]
        if end:
            frames[-1].flags.add("END_STREAM")
        return b"".join(f.serialize() for f in frames)

    def wait(self, condition, seconds: float = WAIT_SECONDS) -> Frame | None:
        """The first frame that meets the condition; None where the server closes before that.
        Fails when time is up."""
        deadline = time.monotonic() + seconds
        seen = 0
        while True:
            for frame in self.frames[seen:]:
                if condition(frame):
                    return frame
            seen = len(self.frames)
            left = deadline - time.monotonic()
            assert left > 0, f"after {seconds} s only {self.frames[-9:]}"
            if not self._read(left):
                self.ended = True
                return None

    def _read(self, seconds: float) -> bool:
        self.socket.settimeout(seconds)
        try:
            data = self.socket.recv(1 << 16)
        except TimeoutError:
            return True
        except OSError:
            return False
        self._buffer += data
        while len(self._buffer) >= 9:
            frame, length = Frame.parse_frame_header(memoryview(self._buffer[:9]))
            if len(self._buffer) < 9 + length:
                break
            frame.parse_body(memoryview(self._buffer[9:9 + length]))
            self._buffer = self._buffer[9 + length:]
            if isinstance(frame, HeadersFrame):
                frame.fields = dict(self.decoder.decode(frame.data))
            self.frames.append(frame)
        return bool(data)

    def wait_for_end(self, seconds: float = WAIT_SECONDS) -> int | None:
        """Waits until the server closes; the code of its GOAWAY, where it sent one."""
        self.wait(lambda frame: False, seconds)
        codes = [f.error_code for f in self.frames if isinstance(f, GoAwayFrame)]
        return codes[-1] if codes else None

    def wait_for_reset(self, stream: int, seconds: float = WAIT_SECONDS) -> RstStreamFrame | None:
        """Waits until the server ends a stream by force, or the whole connection."""
        return self.wait(
            lambda f: isinstance(f, RstStreamFrame) and f.stream_id == stream, seconds)

    def wait_for_status(self, stream: int, seconds: float = WAIT_SECONDS) -> dict[str, str]:
        """The trailers of a call, or what the server gave instead of them."""
        frame = self.wait(lambda f: f.stream_id == stream and (
            isinstance(f, RstStreamFrame) or "grpc-status" in getattr(f, "fields", {})), seconds)
        return getattr(frame, "fields", {"grpc-status": f"{frame}"})
