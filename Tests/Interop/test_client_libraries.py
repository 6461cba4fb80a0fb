"""The client libraries of Clients, all by one harness: whatever ends, refuses or slows the server, or
kills the client, each event is stored exactly once, and the client's memory stays bounded."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request

import pytest

from certificates import CLIENT, Authority
from nats_server import free_port
from protos import ROOT
from server import MANY_CONNECTIONS, binary, wait_until
from test_credentials import KeysFile

SAMPLE, WHOLE = 3_000, 200_000
SAMPLE_KILLS, WHOLE_KILLS = 2, 10
MISSING = 69
SECONDS = 240
# Beyond what a client had when it began: 10,000 pending events, buffers, an allocator's leftovers.
MOST_BYTES = 96 << 20
BUILT = ROOT / ".build" / "clients"
HERE = pathlib.Path(__file__).resolve().parent
# Each program takes the arguments and prints the lines that clients/library.py describes.
LIBRARIES = {
    "python": [sys.executable, HERE / "clients" / "library.py"],
    "go": [BUILT / "go" / "program"],
    # A heap takes what it may before it is looked through: with this bound, more would be an error.
    # The best compiler and collector would take longer to start than a test does.
    "java": ["java", "-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
             "-cp", f"{BUILT / 'java'}/*", "Program"],
    # Built with the program under test: a product of the same package.
    "swift": [binary().with_name("LibraryClient")],
}
PAGES = {name: ROOT / "Clients" / name / "README.md" for name in LIBRARIES} | {
    "swift": ROOT / "docs" / "clients" / "swift.md"}
EXAMPLE = ROOT / "Examples" / "client-swift" / "Sources" / "SendingClient" / "main.swift"
PAYLOAD = HERE / "clients" / "library-swift" / "Payload.swift"
WITH_SPOOL = {"python", "go", "java", "swift"}
# Clients/java/README.md says why it is not.
WITH_TLS = {"python", "go", "swift"}
ACCEPTED, DUPLICATE = "1", "7"


def built(name: str) -> str:
    """A library that is there, or no test."""
    if name == "swift":
        program = pathlib.Path(LIBRARIES[name][0])
        if not program.exists():
            pytest.skip(f"{program} is not built: make build-tests")
        return name
    build = subprocess.run([ROOT / "Scripts" / "build-client-libraries", BUILT, name],
                           capture_output=True, text=True)
    if build.returncode == MISSING:
        pytest.skip(build.stderr.strip())
    assert build.returncode == 0, build.stderr
    return name


@pytest.fixture(scope="module", params=LIBRARIES)
def library(request) -> str:
    return built(request.param)


def only_of(libraries: set[str], library: str) -> None:
    if library not in libraries:
        pytest.skip(f"Clients/{library}/README.md says why there is none")


def environment() -> dict[str, str]:
    """What finds the built libraries."""
    return os.environ | {"PYTHONPATH": str(BUILT / "python" / "site"), "GO111MODULE": "off",
                         "GOPATH": f"{BUILT / 'go'}:/usr/share/gocode", "GOFLAGS": ""}


class Sender:
    """A running program of one library, and what it has said."""

    def __init__(self, library: str, target: str, *arguments: str):
        self.process = subprocess.Popen([*LIBRARIES[library], target, *arguments],
                                        env=environment(), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.taken = self.settled = 0
        self.end: dict = {}
        self.most_bytes = self.first_bytes = 0
        self.errors = ""
        self._threads = [threading.Thread(target=read, daemon=True)
                         for read in (self._read, self._read_errors)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            said = json.loads(line)
            self.taken = said.get("taken", self.taken)
            self.settled = said.get("settled", self.settled)
            self.end = said.get("end", self.end)
            self._watch()

    def _read_errors(self) -> None:
        self.errors = self.process.stderr.read()

    def _watch(self) -> None:
        try:
            pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return
        size = pages * os.sysconf("SC_PAGE_SIZE")
        self.first_bytes = self.first_bytes or size
        self.most_bytes = max(self.most_bytes, size)

    def wait_for(self, what: str, count: int) -> None:
        wait_until(lambda: getattr(self, what) >= count or self.process.poll() is not None,
                   f"{count} events {what}, {getattr(self, what)} so far", SECONDS, every=0.005)

    def kill(self) -> None:
        self.process.kill()
        self._join()

    def wait(self) -> dict:
        """The last line of one that ends by itself, with all events settled."""
        code = self.process.wait(SECONDS)
        self._join()
        assert code == 0 and self.end["pending"] == 0, f"{code} {self.end}\n{self.errors}"
        assert set(self.end["verdicts"]) <= {ACCEPTED, DUPLICATE}, self.end
        grown = self.most_bytes - self.first_bytes
        assert grown < MOST_BYTES, f"the client has grown by {grown} bytes"
        return self.end

    def _join(self) -> None:
        self.process.wait(SECONDS)
        for thread in self._threads:
            thread.join(SECONDS)


def check(server, space: str, events: int) -> None:
    """Each event of a space is in hits.db exactly once."""
    server.wait_for_hits(events, SECONDS)
    assert server.terminate() == 0, server.log()
    rows = server.query("SELECT count(*), count(DISTINCT broadlog_id), min(broadlog_id),"
                        " max(broadlog_id) FROM hits")
    assert tuple(rows[0]) == (events, events, f"h{space}{0:08x}", f"h{space}{events - 1:08x}")


def rate(events: int) -> int:
    """Events in a second: a run takes one and a half, or ten with --whole."""
    return events * 2 // 3 if events < WHOLE else events // 10


def on_one_port(server):
    """The same address for all its processes, so that clients find it again."""
    server.listen = f"127.0.0.1:{free_port()}"
    return server.start()


@dataclasses.dataclass
class Fault:
    """What the server is told, and what happens while events come."""

    settings: dict
    act: object = None
    # What the client must have counted, so that the test has met what it is about.
    met: str = "streams"
    at_least: int = 2
    # What takes the longer the more events there are.
    most_events: int = WHOLE
    rate: int | None = None
    # What takes its time, whether or not there are events.
    slower: int = 1


# What is done to the server. False where the client had ended before; else what it counted tells.
def kill(server, sender, events, kills, dice) -> bool:
    for number in range(kills):
        sender.wait_for("settled", events * (number + 1) // (kills + 2))
        threading.Event().wait(dice.uniform(0, 0.1))
        if sender.process.poll() is not None:
            return False
        server.kill()
        server.start()
    return True


def drain(server, sender, events, kills, dice) -> bool:
    for number in range(max(1, kills // 5)):
        sender.wait_for("settled", events * (number + 1) // (kills + 2))
        assert server.terminate() == 0, server.log()
        server.start()
    return True


def fill(server, sender, events, kills, dice) -> bool:
    """Holds the sink's database until the journal in front of it is full."""
    sender.wait_for("settled", 100)
    database = sqlite3.connect(server.directory / "hits.db", timeout=10, isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    with contextlib.closing(database):
        wait_until(lambda: refused(server) > 0 or sender.process.poll() is not None,
                   "a full journal")
    return True


def refused(server) -> int:
    with urllib.request.urlopen(f"{server.admin}stats.json", timeout=10) as answer:
        return json.load(answer)["events"]["retry_later"]


FAULTS = {
    "kills": Fault({}, kill, at_least=3),
    "a drain": Fault({}, drain),
    "connections that age": Fault({"connections.max_age_seconds": 1}, slower=3),
    # A request uses up more than a second of it, which ends its stream.
    "a quota": Fault({"quotas.events_per_second": 80, "quotas.stream_wait_seconds": 1},
                     most_events=300, rate=0),
    "a full journal": Fault({"journal.max_bytes": 131072}, fill, "retried_events", 1),
}


def test_the_first_program_of_its_page_runs(library, running, tmp_path):
    """Against a server of this test's own address."""
    program = PAGES[library].read_text().split(f"```{library}\n")[1].split("```")[0]
    # Go's package and imports are what an editor writes.
    start = max(0, program.find("func main"), program.find("public class"))
    assert program[start:].count("\n") <= 15
    if library == "swift":
        done = run_compiled("SendingClientExample", EXAMPLE, [program], running.target)
    else:
        program = program.replace("127.0.0.1:50051", running.target)
        done = run_program(library, program, tmp_path)
    assert done.returncode == 0 and {"1000", "VERDICT_ACCEPTED"} & set(
        re.findall(r"\w+", done.stdout)), done


# What a service has around the lines of its page: a client, and a payload that it was given.
FRAMES = {
    "python": """
{lines}
for verdict, count in client.stats().verdicts.items():
    print(f"VERDICT_{{verdict}}", count)
""",
    "go": """
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	sightline "github.com/sightline/sightline/Clients/go"
	pb "github.com/sightline/sightline/Clients/go/sightline/v1"
)

func main() {{
	ctx := context.Background()
	payload, _ := os.ReadFile("{path}")
	client, _ := sightline.Dial("{target}")
	{lines}
	client.Close(ctx)
	fmt.Println(client.Stats().Verdicts)
}}
""",
    "java": """
import static com.sightline.v1.Platform.*;
import static com.sightline.v1.PushInteractionKind.*;
import com.google.protobuf.ByteString;
import com.sightline.client.SightlineClient;
import com.sightline.v1.*;
import java.nio.file.*;

public class First {{
    public static void main(String[] arguments) throws Exception {{
        var payload = Files.readAllBytes(Path.of("{path}"));
        var client = SightlineClient.builder("{target}").plaintext().build();
        {lines}
        client.close();
        System.out.println(client.stats().verdicts());
    }}
}}
""",
}


@pytest.mark.parametrize("sample, platform, verdict", [
    ("apns-alert", "IOS", "ACCEPTED"), ("apns-tester", "IOS", "REJECTED"),
    ("fcm-sent", "ANDROID", "ACCEPTED"), ("fcm-tester", "ANDROID", "ACCEPTED"),
    ("fcm-map", "ANDROID", "ACCEPTED")])
def test_a_vendors_sample_goes_in_with_three_lines(library, make_server, payloads, tmp_path,
                                                   sample, platform, verdict):
    """D31, D32: those of its page. The tester's has no ids, and is refused for it (D2)."""
    lines = PAGES[library].read_text().split(f"```{library}\n")[2].split("```")[0].strip()
    # Python's are a program as it stands.
    assert lines.count("\n") == (6 if library == "python" else 2)
    path, target = payloads / f"{sample}.json", make_server().start().target
    if library == "swift":
        done = run_compiled("LibraryClient", PAYLOAD, lines.replace(".android", "platform").split(
            "\n"), target, "--payload", path, "--platform", platform)
    elif library == "python":
        for old, new in {"payload.json": str(path), "127.0.0.1:50051": target,
                         '"android"': f'"{platform.lower()}"'}.items():
            assert lines.count(old) == 1
            lines = lines.replace(old, new)
        done = run_program(library, FRAMES[library].format(lines=lines), tmp_path)
    else:
        lines = lines.replace("\n", "\n    ").replace("PLATFORM_ANDROID", f"PLATFORM_{platform}")
        done = run_program(library, FRAMES[library].format(path=path, target=target, lines=lines),
                           tmp_path)
    assert done.returncode == 0, done
    assert re.findall(r"VERDICT_(\w+)\W+1\b", done.stdout) == [verdict], done


def run_compiled(program: str, source: pathlib.Path, parts: list[str],
                 *arguments: str) -> subprocess.CompletedProcess:
    """Runs a program in Swift that was compiled with the package, of the text of a page."""
    assert all(part in source.read_text() for part in parts)
    return subprocess.run([binary().with_name(program), *arguments], capture_output=True,
                          text=True, timeout=SECONDS)


def run_program(library: str, program: str, folder: pathlib.Path) -> subprocess.CompletedProcess:
    """Runs a program's text with a library."""
    path, command = {"python": (folder / "main.py", [sys.executable]),
                     "go": (folder / "main.go", ["go", "run"]),
                     "java": (folder / "First.java", ["java", "-cp", f"{BUILT / 'java'}/*"]),
                     }[library]
    path.write_text(program)
    return subprocess.run([*command, path], env=environment(), capture_output=True, text=True,
                          timeout=SECONDS)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", FAULTS)
def test_each_event_is_stored_exactly_once(library, make_server, figure, amount, seed, name):
    """D17: by the client, whatever happens to the server."""
    fault = FAULTS[name]
    events = min(amount(SAMPLE, WHOLE), fault.most_events)
    kills = SAMPLE_KILLS if events < WHOLE else WHOLE_KILLS
    settings = dict(fault.settings)
    if "journal.max_bytes" in settings:
        # Per event, so that a long run takes no longer than its events' rate.
        settings["journal.max_bytes"] *= events // SAMPLE
    for slower in (1, 4, 16):
        server = on_one_port(make_server(
            MANY_CONNECTIONS, *(f"--set={key}={value}" for key, value in settings.items())))
        # At a rate, so that the fault meets a client which still has events to send.
        pace = rate(events) // fault.slower // slower if fault.rate is None else fault.rate
        end, is_met = send_through(fault, library, server, events, kills, pace, seed)
        figure(f"{library}, {name}: {events:,} events, {end}")
        if is_met:
            return
    pytest.fail("the client had sent all before the fault came, at each rate")


def send_through(fault, library, server, events, kills, pace, seed) -> tuple[dict, bool]:
    """Sends events through a fault and finds each stored once. What the client said in the end, and
    whether the fault met it while it sent: beside other work it may have ended before."""
    space = f"{seed:08x}"
    sender = Sender(library, server.target, "--space", space, "--events", str(events),
                    "--rate", str(pace))
    is_met = not fault.act or fault.act(server, sender, events, kills, random.Random(seed))
    end = sender.wait()
    check(server, space, events)
    grown = sender.most_bytes - sender.first_bytes
    return end | {"grown_bytes": grown}, is_met and end[fault.met] >= fault.at_least


@pytest.mark.timeout(1800)
def test_with_tls_and_a_key_each_event_is_stored_once(library, make_server, figure, amount, seed,
                                                      tmp_path):
    """mTLS and an API key at once; and the tenant is the key's."""
    only_of(WITH_TLS, library)
    events, authority = amount(SAMPLE, WHOLE), Authority()
    certificate, key = authority.issue().write(tmp_path, "server")
    own, own_key = authority.issue("shop", usage=CLIENT).write(tmp_path, "client")
    (tmp_path / "roots.pem").write_bytes(authority.pem)
    (tmp_path / "token").write_text(KeysFile(tmp_path / "keys.jsonl").new("shop"))
    server = on_one_port(make_server(*(f"--set={name}={value}" for name, value in {
        "tls.mode": "mtls", "tls.certificate": certificate, "tls.key": key,
        "tls.client_roots": tmp_path / "roots.pem", "auth.mode": "keys",
        "auth.keys_file": tmp_path / "keys.jsonl"}.items())))
    space = f"{seed:08x}"
    sender = Sender(library, server.target, "--space", space, "--events", str(events),
                    "--tls-roots", str(tmp_path / "roots.pem"), "--tls-certificate", own,
                    "--tls-key", own_key, "--token-file", str(tmp_path / "token"))
    figure(f"{library}, TLS: {sender.wait()}")
    check(server, space, events)
    assert [row[0] for row in server.query("SELECT DISTINCT tenant FROM hits")] == ["shop"]


@pytest.mark.timeout(1800)
def test_with_a_spool_not_even_the_clients_end_loses_an_event(library, make_server, figure, amount,
                                                              seed, tmp_path):
    """kill -9 of client and server in turn. What `send` had returned for is never sent again by
    the program: only the spool has it."""
    only_of(WITH_SPOOL, library)
    events, dice = amount(SAMPLE, WHOLE), random.Random(seed)
    kills = SAMPLE_KILLS if events < WHOLE else WHOLE_KILLS
    server = on_one_port(make_server(MANY_CONNECTIONS))
    space, first, held = f"{seed:08x}", 0, 0
    arguments = ["--space", space, "--events", str(events), "--spool", str(tmp_path / "spool"),
                 "--rate", str(rate(events) // 4)]
    for number in range(kills):
        sender = Sender(library, server.target, *arguments, "--first", str(first))
        sender.wait_for("taken", events * (number + 1) // (kills + 2))
        if number % 2:
            server.kill()
            # Until the spool has some that no server took.
            sender.wait_for("taken", sender.taken + 200)
        threading.Event().wait(dice.uniform(0, 0.1))
        assert sender.process.poll() is None, f"it ended before kill {number}\n{sender.errors}"
        sender.kill()
        first = sender.taken
        held += any((tmp_path / "spool").glob("*.spool"))
        if number % 2:
            server.start()
    end = Sender(library, server.target, *arguments, "--first", str(first)).wait()
    figure(f"{library}, spool: {events:,} events, {kills} kills, {end}")
    assert held, "no kill met events in the spool"
    check(server, space, events)
    assert [path.name for path in (tmp_path / "spool").iterdir()] == ["lock"]


def test_what_one_library_has_spooled_another_one_sends(library, make_server, tmp_path, seed):
    """Its files are the same in all; here the sender's server is away all its life."""
    only_of(WITH_SPOOL, library)
    names = sorted(WITH_SPOOL)
    other = names[names.index(library) - 1]
    built(other)
    space, arguments = f"{seed:08x}", ["--events", "500", "--spool", str(tmp_path / "spool")]
    sender = Sender(library, "127.0.0.1:1", "--space", space, *arguments)
    sender.wait_for("taken", 500)
    sender.kill()
    server = on_one_port(make_server())
    Sender(other, server.target, "--space", space, *arguments, "--first", "500").wait()
    check(server, space, 500)


class Link:
    """A proxy of one port, whose connections can be made to take bytes and pass none on."""

    def __init__(self, target: str):
        self.host, self.port = target.rsplit(":", 1)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.target = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.connections: list[dict] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                server = socket.create_connection((self.host, int(self.port)))
                connection = {"is_dead": False, "sockets": (client, server)}
                self.connections.append(connection)
                for source, sink in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(connection, source, sink),
                                     daemon=True).start()

    @staticmethod
    def _pass_on(connection: dict, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if not connection["is_dead"]:
                    sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def cut(self) -> None:
        """From now on nobody hears of the other, and no connection ends."""
        for connection in self.connections:
            connection["is_dead"] = True

    def close(self) -> None:
        self.listener.close()
        for connection in self.connections:
            for end in connection["sockets"]:
                end.close()


def test_a_dead_link_is_noticed(library, make_server, request, seed, figure):
    """By PINGs: nothing else tells a client that its bytes arrive nowhere."""
    if library in ("go", "java") and not request.config.getoption("--whole"):
        pytest.skip("grpc-go and grpc-java take no less than 10 s of silence: see --whole")
    server, events, space = on_one_port(make_server()), 1_000, f"{seed:08x}"
    with contextlib.closing(Link(server.target)) as link:
        sender = Sender(library, link.target, "--space", space, "--events", str(events),
                        "--rate", "250", "--keepalive", "1")
        sender.wait_for("settled", 300)
        link.cut()
        cut = time.monotonic()
        end = sender.wait()
        seconds = time.monotonic() - cut
    figure(f"{library}, a dead link: all acked {seconds:.1f} s after the cut")
    assert end["streams"] == 2 and seconds < 20, end
    check(server, space, events)
