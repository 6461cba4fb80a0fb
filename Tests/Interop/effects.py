"""What an attack does to a server, and to another client that sends one event after the other."""

import dataclasses
import http.client
import json
import os
import pathlib
import ssl
import subprocess
import sys
import time

import grpc
from google.protobuf import json_format

from attacks import ATTACKS, MIB, Attack, moments, raise_limit
from certificates import Authority
from facts import Facts
from http_attacks import HTTP_ATTACKS
from protos import service as s
from server import Server

ASK_SECONDS, PAUSE_SECONDS = 20, 0.005


@dataclasses.dataclass
class Effect:
    """What an attack did to the server and to another client."""

    name: str
    times: int
    lives: bool
    exit_code: int | None
    # Resident memory above that of the idle server, at its most, in bytes.
    growth: int
    # Milliseconds until an ack, before and while the attack goes on.
    quiet: float
    attacked: float
    failures: int

    def __str__(self) -> str:
        fate = "lives" if self.lives else f"ENDED with {self.exit_code}"
        return (f"{self.name}: {self.times} times; {fate}; +{self.growth / MIB:.0f} MiB; ack p99"
                f" {self.quiet:.1f} ms quiet, {self.attacked:.1f} ms attacked"
                f" ({self.attacked / self.quiet:.1f}x); {self.failures} calls failed")


def measure(name: str, folder: pathlib.Path, seconds: float, *settings: str) -> Effect:
    """Attacks a server that was started for it, with these settings besides the attack's own."""
    attack = (ATTACKS | HTTP_ATTACKS)[name]
    raise_limit()
    server = Server(folder / name, "--admin", "off", "--sink", "discard", *attack.settings, *settings,
                    *(["--http", "127.0.0.1:0"] if attack.is_http else []),
                    *(certificate(folder) if attack.is_tls else []),
                    environment=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
    if attack.files:
        server.prefix = ["prlimit", f"--nofile={attack.files}:{max(attack.files, 4096)}"]
    server.start()
    try:
        return _measure(name, attack, server, seconds)
    finally:
        server.close()


def certificate(folder: pathlib.Path) -> list[str]:
    """Settings with a certificate of its own authority."""
    path, key = Authority().issue().write(folder, "server")
    return ["--set=tls.mode=tls", f"--set=tls.certificate={path}", f"--set=tls.key={key}"]


def _measure(name: str, attack: Attack, server: Server, seconds: float) -> Effect:
    asker = HTTPAsker(server) if attack.is_http else Asker(server)
    asker.ask(0.5)
    quiet, failures = asker.ask(min(seconds, 5))
    assert not failures, f"{failures} calls failed before the attack\n{server.log()}"
    idle = resident(server, "VmRSS")
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    attacker = subprocess.Popen(
        [sys.executable, sys.modules[attack.run.__module__].__file__, name, asker.target, str(seconds)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    attacked, failures = asker.ask(seconds)
    lives = server.process.poll() is None
    peak = resident(server, "VmHWM") if lives else 0
    if not lives:
        attacker.kill()
    output, _ = attacker.communicate(timeout=seconds + 60)
    return Effect(name, json.loads(output or "0"), lives, server.process.poll(),
                  max(0, peak - idle), percentile(quiet), percentile(attacked), failures)


class Asker:
    """A client that sends one event after the other."""

    def __init__(self, server: Server):
        self.server = server
        self.facts = Facts(5, int(time.time()), space=55)
        self.connect()

    @property
    def target(self) -> str:
        """The port that is asked."""
        return self.server.target

    def connect(self) -> None:
        self.stub = self.server.stub(self.server.channel())

    def send(self) -> None:
        """Sends one event, and waits until it is acknowledged; raises where it is not."""
        request = s.RecordEventsRequest(events=[self.facts.track_action().event])
        self.stub.RecordEvents(request, timeout=ASK_SECONDS)

    def ask(self, seconds: float) -> tuple[list[float], int]:
        """Milliseconds until each ack, and how many calls failed: those count as the longest."""
        times, failures = [], 0
        for _ in moments(time.monotonic() + seconds):
            if self.server.process.poll() is not None:
                break
            started = time.monotonic()
            try:
                self.send()
            except (grpc.RpcError, OSError, http.client.HTTPException):
                failures += 1
            times.append((time.monotonic() - started) * 1000)
            time.sleep(PAUSE_SECONDS)
        return times, failures


class HTTPAsker(Asker):
    """The same over HTTP, on a connection that stays open."""

    @property
    def target(self) -> str:
        return "{}:{}".format(*self.server.http_address)

    def connect(self) -> None:
        host, port = self.server.http_address
        if self.server.http.startswith("https:"):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            self.connection = http.client.HTTPSConnection(
                host, port, timeout=ASK_SECONDS, context=context)
        else:
            self.connection = http.client.HTTPConnection(host, port, timeout=ASK_SECONDS)

    def send(self) -> None:
        event = json_format.MessageToJson(self.facts.track_action().event, indent=None)
        try:
            self.connection.request("POST", "/v1/events", event, {"Content-Type": "application/json"})
            answer = self.connection.getresponse()
            body = answer.read()
            if answer.status != 200 or int(json.loads(body)["tally"]["accepted"]) != 1:
                raise http.client.HTTPException(f"{answer.status} {body[:500]!r}")
        except (OSError, http.client.HTTPException):
            self.connection.close()
            raise


def percentile(times: list[float], share: float = 0.99) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] if times else float("inf")


def resident(server: Server, key: str) -> int:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(key)) << 10
