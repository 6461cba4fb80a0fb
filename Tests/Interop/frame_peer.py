"""A peer that speaks HTTP/2 frame by frame, and as badly as a test wants."""

import socket
import ssl
import time

from hpack import Encoder
from hyperframe.frame import (DataFrame, Frame, GoAwayFrame, HeadersFrame, PingFrame,
                              SettingsFrame, WindowUpdateFrame)

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADER_BYTES = 9
METHOD = "/sightline.v1.TrackingService/StreamEvents"


class Peer:
    """One connection. Nothing is answered by itself."""

    def __init__(self, target: str, tls: ssl.SSLContext | None = None, seconds: float = 10):
        host, port = target.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=seconds)
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_hostname="localhost")
        self.encoder = Encoder()
        self.buffer = b""

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send_bytes(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send(self, *frames: Frame) -> None:
        self.send_bytes(b"".join(frame.serialize() for frame in frames))

    def greet(self) -> "Peer":
        """Preface and SETTINGS, and a connection's window that is never in the way."""
        self.send_bytes(PREFACE)
        self.send(SettingsFrame(settings={SettingsFrame.INITIAL_WINDOW_SIZE: 1 << 30}),
                  WindowUpdateFrame(0, window_increment=1 << 30))
        return self

    def open_stream(self, stream: int = 1) -> None:
        """Opens a StreamEvents call."""
        headers = [(":method", "POST"), (":scheme", "http"), (":path", METHOD),
                   (":authority", "test"), ("te", "trailers"),
                   ("content-type", "application/grpc")]
        frame = HeadersFrame(stream, data=self.encoder.encode(headers))
        frame.flags.add("END_HEADERS")
        self.send(frame)

    def send_message(self, message: bytes, stream: int = 1) -> None:
        """Sends a gRPC message, uncompressed."""
        self.send(DataFrame(stream, data=b"\0" + len(message).to_bytes(4, "big") + message))

    def ping(self, number: int) -> None:
        """A PING that wants an answer."""
        self.send(PingFrame(opaque_data=number.to_bytes(8, "big")))

    def answer(self, ping: PingFrame) -> None:
        """Answers a PING."""
        self.send(PingFrame(flags=["ACK"], opaque_data=ping.opaque_data))

    def frame(self) -> Frame | None:
        """The next frame; None when the server has closed the connection."""
        header = self._read(HEADER_BYTES)
        if header is None:
            return None
        frame, length = Frame.parse_frame_header(memoryview(header))
        frame.parse_body(memoryview(self._read(length) or b""))
        return frame

    def frames(self):
        """All frames until the server closes the connection."""
        while (frame := self.frame()) is not None:
            yield frame

    def wait_for(self, kind: type, condition=lambda frame: True) -> Frame:
        """The next frame of a kind; fails when the connection ends before it."""
        for frame in self.frames():
            if isinstance(frame, kind) and condition(frame):
                return frame
        raise AssertionError(f"closed before {kind.__name__}")

    def wait_for_answer(self, number: int) -> None:
        """Waits for the answer to a PING."""
        ping = self.wait_for(PingFrame, lambda frame: "ACK" in frame.flags)
        assert ping.opaque_data == number.to_bytes(8, "big")

    def wait_for_close(self) -> tuple[float, list[Frame]]:
        """The seconds until the server closes the connection, and what it still sent."""
        started = time.monotonic()
        frames = list(self.frames())
        return time.monotonic() - started, frames

    def _read(self, count: int) -> bytes | None:
        while len(self.buffer) < count:
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.buffer += data
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data


def goaways(frames) -> list[GoAwayFrame]:
    """The GOAWAY frames among these."""
    return [frame for frame in frames if isinstance(frame, GoAwayFrame)]
