"""What an attack does to a server, and to another client that sends one event after the other."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

import grpc

import attacks
from attacks import ATTACKS, MIB, moments, raise_limit
from facts import Facts
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
    attack = ATTACKS[name]
    raise_limit()
    server = Server(folder / name, "--admin", "off", "--sink", "discard", *attack.settings, *settings,
                    environment=os.environ | {"SWIFT_BACKTRACE": "enable=no"})
    if attack.files:
        server.prefix = ["prlimit", f"--nofile={attack.files}:{max(attack.files, 4096)}"]
    server.start()
    try:
        return _measure(name, server, seconds)
    finally:
        server.close()


def _measure(name: str, server: Server, seconds: float) -> Effect:
    asker = Asker(server)
    asker.ask(0.5)
    quiet, failures = asker.ask(min(seconds, 5))
    assert not failures, f"{failures} calls failed before the attack\n{server.log()}"
    idle = resident(server, "VmRSS")
    pathlib.Path(f"/proc/{server.process.pid}/clear_refs").write_text("5")
    attacker = subprocess.Popen(
        [sys.executable, attacks.__file__, name, server.target, str(seconds)], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True)
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
        self.stub = server.stub(server.channel())

    def ask(self, seconds: float) -> tuple[list[float], int]:
        """Milliseconds until each ack, and how many calls failed: those count as the longest."""
        times, failures = [], 0
        for _ in moments(time.monotonic() + seconds):
            if self.server.process.poll() is not None:
                break
            request = s.RecordEventsRequest(events=[self.facts.track_action().event])
            started = time.monotonic()
            try:
                self.stub.RecordEvents(request, timeout=ASK_SECONDS)
            except grpc.RpcError:
                failures += 1
            times.append((time.monotonic() - started) * 1000)
            time.sleep(PAUSE_SECONDS)
        return times, failures


def percentile(times: list[float], share: float = 0.99) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * share))] if times else float("inf")


def resident(server: Server, key: str) -> int:
    status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(key)) << 10
