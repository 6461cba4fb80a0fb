"""What a byte that a client sends costs the server at most: CPU, and memory that it holds."""

import contextlib
import dataclasses
import json
import os
import pathlib
import subprocess
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from hyperframe.frame import WindowUpdateFrame

from attacks import INITIAL_WINDOW, KIB, MIB, raise_limit
from certificates import Authority
from connection_ends import raw
from effects import resident
from peer import Peer
from server import MANY_CONNECTIONS, Server, binary, wait_until

WIDE, NARROW = (1 << 31) - 1, 65535
DATA, HEADERS, RESET, SETTINGS, WINDOW_UPDATE = 0, 1, 3, 4, 8
END_STREAM, END_HEADERS = 1, 4
MOST_MEMORY = 3 << 29
CALM_SECONDS, CALM_SHARE = 0.2, 0.05


class Meter(Peer):
    """A peer that counts what it sends, and of what comes looks at ends and windows alone."""

    def __init__(self, target: str, window: int = WIDE):
        self.sent = self.stream = 0
        self.open: set[int] = set()
        self.windows, self.stream_window = {0: NARROW}, NARROW
        super().__init__(target, {INITIAL_WINDOW: window})
        self.send(WindowUpdateFrame(0, window_increment=WIDE - NARROW))

    def send(self, *parts) -> "Meter":
        data = b"".join(p if isinstance(p, bytes) else p.serialize() for p in parts)
        self.sent += len(data)
        self.socket.settimeout(20)
        super().send(data)
        return self

    def head(self, path: str, *fields: tuple[str, str], end: bool = False) -> int:
        """Opens a stream; its number."""
        self.stream += 2 if self.stream else 1
        block = self.encoder.encode([
            (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "a"),
            ("content-type", "application/grpc"), ("te", "trailers"), *fields])
        self.open.add(self.stream)
        self.windows[self.stream] = self.stream_window
        self.send(raw(HEADERS, END_HEADERS | (END_STREAM if end else 0), self.stream, block))
        return self.stream

    def data(self, stream: int, data: bytes, end: bool = False, seconds: float = 5) -> bool:
        """Sends DATA as far as the windows are open; False where they open no more."""
        until = time.monotonic() + seconds
        while stream in self.open and not self.ended:
            room = min(self.windows[0], self.windows[stream], len(data), 1 << 14)
            if room > 0 or not data:
                last = end and room == len(data)
                self.send(raw(DATA, END_STREAM if last else 0, stream, data[:room]))
                data = data[room:]
                for key in (0, stream):
                    self.windows[key] -= room
                if not data:
                    return True
            elif time.monotonic() > until:
                return False
            else:
                self.read(0.1)
        return False

    def read(self, seconds: float) -> None:
        """Reads what there is, and waits so long for it."""
        self.ended = self.ended or not self._read(seconds)

    def wait_for_answers(self, most_open: int = 0, seconds: float = 60) -> None:
        """Waits until no more than so many streams are open."""
        until = time.monotonic() + seconds
        while len(self.open) > most_open and not self.ended and time.monotonic() < until:
            self.read(0.1)

    def _read(self, seconds: float) -> bool:
        self.socket.settimeout(seconds)
        try:
            chunk = self.socket.recv(1 << 20)
        except TimeoutError:
            return True
        except OSError:
            return False
        data, at = self._buffer + chunk, 0
        while len(data) - at >= 9:
            length = int.from_bytes(data[at:at + 3], "big")
            if len(data) - at - 9 < length:
                break
            self._note(data[at + 3], data[at + 4], int.from_bytes(data[at + 5:at + 9], "big"),
                       data[at + 9:at + 9 + length])
            at += 9 + length
        self._buffer = data[at:]
        return bool(chunk)

    def _note(self, kind: int, flags: int, stream: int, body: bytes) -> None:
        if kind == RESET or kind in (DATA, HEADERS) and flags & END_STREAM:
            self.open.discard(stream)
        elif kind == WINDOW_UPDATE and stream in self.windows:
            self.windows[stream] += int.from_bytes(body, "big")
        elif kind == SETTINGS and not flags:
            for at in range(0, len(body), 6):
                if int.from_bytes(body[at:at + 2], "big") == INITIAL_WINDOW:
                    self.stream_window = int.from_bytes(body[at + 2:at + 6], "big")


class Site:
    """A server that is sent something, and how much it was."""

    def __init__(self, server: Server, credentials: dict[str, str], until: float,
                 connections: int):
        self.server, self.target, self.until = server, server.target, until
        self.http = server.http_address if server.http else None
        self.credentials = tuple(credentials.items())
        # How many are held at once, where something is held.
        self.connections = connections
        self.meters: list[Meter] = []
        self.others = 0

    @property
    def goes_on(self) -> bool:
        """Until time is up; and more memory than this is not needed to show that no limit holds."""
        return (time.monotonic() < self.until and self.server.process.poll() is None
                and resident(self.server, "VmRSS") < MOST_MEMORY)

    @property
    def streams(self) -> int:
        return sum(len(meter.open) for meter in self.meters)

    @property
    def sent(self) -> int:
        return self.others + sum(meter.sent for meter in self.meters)

    def meter(self, window: int = WIDE) -> Meter:
        """A connection that is greeted."""
        meter = Meter(self.target, window)
        self.meters.append(meter)
        meter.read(1)
        return meter

    def close(self) -> None:
        for meter in self.meters:
            meter.socket.close()


@dataclasses.dataclass(frozen=True)
class Cost:
    """What an input has cost."""

    name: str
    sent: int
    # Seconds of CPU.
    cpu: float
    # Bytes above the idle server: at most, and while all of it was held.
    peak: int
    held: int
    # Streams that were open in the end, where they are held.
    streams: int

    def __str__(self) -> str:
        micros = self.cpu * 1e6 / (self.sent / KIB)
        each = f"{self.held / self.streams / KIB:,.1f}" if self.streams else ""
        return (f"| {self.name} | {self.sent / KIB:,.1f} | {micros:,.0f} | {self.peak / MIB:,.1f} |"
                f" {self.peak / self.sent:,.1f} | {each} |")


TABLE_HEAD = """\
| input | KiB sent | CPU, µs per KiB | peak, MiB | peak, bytes per byte | KiB per open stream |
|---|---|---|---|---|---|"""


def cpu(server: Server) -> float:
    """Seconds of CPU that the process has used, by its own clock (clock_getcpuclockid)."""
    return time.clock_gettime(~server.process.pid << 3 | 2)


def calm(server: Server, seconds: float = 60) -> None:
    """Waits until the server works no more."""
    def is_calm() -> bool:
        before = cpu(server)
        time.sleep(CALM_SECONDS)
        return cpu(server) - before < CALM_SECONDS * CALM_SHARE
    wait_until(is_calm, "the server calm", seconds)


class Grounds:
    """Credentials and certificates for the servers that are measured."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder
        keys = folder / "keys.json"
        self.key = subprocess.run(
            [str(binary()), "keys", "new", "--tenant", "a", "--scopes", "erase,deliveries",
             "--keys-file", str(keys)],
            capture_output=True, text=True, timeout=60, check=True).stdout.strip()
        signer = ec.generate_private_key(ec.SECP521R1())
        jwk = json.loads(jwt.get_algorithm_by_name("ES512").to_jwk(signer.public_key()))
        (folder / "jwks.json").write_text(json.dumps({"keys": [jwk | {"kid": "k"}]}))
        claims = {"iss": "i", "aud": "a", "tenant": "t", "exp": int(time.time()) + 9999}
        self.forged = jwt.encode(claims, ec.generate_private_key(ec.SECP521R1()),
                                 algorithm="ES512", headers={"kid": "k"})
        self.settings = [
            "--set=auth.mode=keys,jwt", f"--set=auth.keys_file={keys}",
            f"--set=auth.jwks_file={folder / 'jwks.json'}", "--set=auth.jwt_audience=a",
            "--set=auth.jwt_issuer=i", "--set=auth.required_scope="]

    def tls(self) -> list[str]:
        """What makes a server ask for TLS."""
        files = Authority().issue().write(self.folder, "server")
        return ["--set=tls.mode=tls", f"--set=tls.certificate={files[0]}",
                f"--set=tls.key={files[1]}"]


def measure(name: str, row, folder: pathlib.Path, seconds: float, connections: int) -> Cost:
    """What one input costs a server that was started for it."""
    raise_limit()
    grounds = Grounds(folder)
    credentials = {"stranger": {}, "tenant": {"x-api-key": grounds.key},
                   "forger": {"authorization": f"Bearer {grounds.forged}"}}[row.sender]
    server = Server(folder / "data", "--admin", "off", "--sink", "discard", MANY_CONNECTIONS,
                    *grounds.settings, *(grounds.tls() if row.is_tls else ()),
                    *(("--http", "127.0.0.1:0") if row.is_http else ()),
                    environment=os.environ | {"SWIFT_BACKTRACE": "enable=no"}).start()
    try:
        with contextlib.closing(Site(server, credentials, time.monotonic() + 0.2, 1)) as first:
            if row.is_held:  # What it frees could be held again, and would not be seen.
                meter = first.meter()
                meter.head("/a/b", end=True)
                meter.wait_for_answers()
            else:
                row.run(first)
        calm(server)
        idle, used = resident(server, "VmRSS"), cpu(server)
        pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
        with contextlib.closing(Site(server, credentials, time.monotonic() + seconds,
                                     connections)) as site:
            row.run(site)
            calm(server)
            held = resident(server, "VmRSS") - idle
        return Cost(name, site.sent, cpu(server) - used, resident(server, "VmHWM") - idle, held,
                    site.streams if row.is_held else 0)
    finally:
        server.close()
