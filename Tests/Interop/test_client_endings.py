"""docs/clients.md, "Endings": however a program with a client ends, it loses no event without saying
how many and why, and then its exit code is not 0."""

import contextlib
import dataclasses
import pathlib
import re
import signal
import subprocess
import sys

import pytest

from certificates import Authority
from server import Server, wait_until
from test_client_libraries import HERE, built, environment
from test_credentials import KeysFile

EVENTS = 50
# How long a program waits for verdicts that do not come; in other states it ends before.
CLOSE_SECONDS = {"away": 2, "away, a spool": 2, "plaintext to TLS": 10, "TLS to plaintext": 10,
                 "other roots": 10}
ENDS_SECONDS = 60
SECONDS = 120
# How long an interrupted program may take to end.
INTERRUPT_SECONDS = 5
PROGRAMS = {"python": [sys.executable, HERE / "clients" / "ending.py"]}
LOST = f"{EVENTS} events have no verdict, and no spool keeps them"
AWAY, NOBODY = "UNAVAILABLE: .*Connection refused", "UNAUTHENTICATED: "
PLAIN, NO_TLS, ROOTS = "give tls=Tls", "leave tls out", "roots has to have its authority"
NOT_CLOSED = "was not closed before the interpreter ended: "


@dataclasses.dataclass
class End:
    """The exit code, how many events are stored at last, and what standard error says, in this
    order; nothing at all where it is empty."""

    code: int
    stored: int
    said: tuple[str, ...] = ()


# A library's endings by the state of things: a server that takes the events, one that is away,
# without a spool and with one, one that does not know the key, and TLS on one side alone or by
# other roots.
ENDINGS = {
    "python": {
        ("taken", "closed"): End(0, EVENTS),
        ("taken", "not closed"): End(0, EVENTS),
        ("taken", "exception"): End(1, EVENTS, ("ValueError: of the block",)),
        ("taken", "exit"): End(0, EVENTS),
        ("away", "closed"): End(1, 0, (AWAY, f"EventsLost: {LOST}.*{AWAY}")),
        ("away", "not closed"): End(120, 0, (AWAY, f"{NOT_CLOSED}{LOST}.*{AWAY}")),
        ("away", "exception"): End(1, 0, (AWAY, f"{LOST}.*{AWAY}", "ValueError: of the block")),
        ("away", "exit"): End(1, 0, (AWAY, f"EventsLost: {LOST}.*{AWAY}")),
        ("away", "killed"): End(-signal.SIGKILL, 0),
        ("away, a spool", "closed"): End(0, EVENTS, (AWAY, "the next client sends them from .*")),
        ("away, a spool", "not closed"): End(0, EVENTS, (AWAY, "the next client sends them from ")),
        ("away, a spool", "killed"): End(-signal.SIGKILL, EVENTS),
        ("wrong key", "closed"): End(1, 0, (NOBODY, f"EventsLost: {LOST}.*{NOBODY}")),
        ("wrong key", "not closed"): End(120, 0, (NOBODY, f"{NOT_CLOSED}{LOST}.*{NOBODY}")),
        ("wrong key", "exception"): End(1, 0, (NOBODY, f"{LOST}.*{NOBODY}", "ValueError")),
        ("plaintext to TLS", "closed"): End(1, 0, (PLAIN, f"EventsLost: {LOST}.*{PLAIN}")),
        ("TLS to plaintext", "closed"): End(1, 0, (NO_TLS, f"EventsLost: {LOST}.*{NO_TLS}")),
        ("other roots", "closed"): End(1, 0, (ROOTS, f"EventsLost: {LOST}.*{ROOTS}")),
        ("plaintext to TLS", "not closed"): End(120, 0, (PLAIN, f"{NOT_CLOSED}{LOST}.*{PLAIN}")),
    },
}


def run(library: str, target: str, ending: str, seconds: float,
        *more: str) -> subprocess.CompletedProcess:
    """One program's whole life."""
    return subprocess.run(
        [*PROGRAMS[library], target, ending, "--events", str(EVENTS), "--seconds", str(seconds),
         *more], env=environment(), capture_output=True, text=True, timeout=SECONDS)


@pytest.mark.parametrize("library", PROGRAMS)
def test_an_interrupt_of_the_wait_tells_what_is_lost(library):
    """Ctrl-C of who does not want to wait an hour for a server that is away."""
    built(library)
    program = subprocess.Popen(
        [*PROGRAMS[library], "127.0.0.1:1", "not closed", "--events", str(EVENTS), "--seconds",
         "3600"], env=environment(), stderr=subprocess.PIPE, text=True)
    said = [program.stderr.readline()]
    assert re.search(AWAY, said[0])

    def interrupt() -> bool:
        program.send_signal(signal.SIGINT)
        # Before the next one, or it would interrupt what the program says of this one.
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.wait(INTERRUPT_SECONDS)
        return program.returncode is not None

    # It may have been before its end, whose wait comes then.
    wait_until(interrupt, "the end of the program", SECONDS)
    said += program.stderr.readlines()
    assert program.returncode != 0 and NOT_CLOSED + LOST in "".join(said), said


def started(state: str, make_server, folder: pathlib.Path) -> Server:
    """The server of a state."""
    if state == "wrong key":
        KeysFile(folder / "keys.jsonl").new("shop")
        return make_server("--set=auth.mode=keys",
                           f"--set=auth.keys_file={folder / 'keys.jsonl'}").start()
    if state in ("plaintext to TLS", "other roots"):
        certificate, key = Authority().issue().write(folder, "server")
        return make_server("--set=tls.mode=tls", f"--set=tls.certificate={certificate}",
                           f"--set=tls.key={key}").start()
    return make_server().start()


@pytest.mark.parametrize("library, state, ending", [
    (library, *case) for library, cases in ENDINGS.items() for case in cases])
def test_no_ending_loses_events_without_a_word(library, state, ending, make_server, tmp_path):
    built(library)
    expected = ENDINGS[library][state, ending]
    server = started(state, make_server, tmp_path)
    more = ["--spool", str(tmp_path / "spool")] if "spool" in state else []
    more += ["--token", "slk_0123456789abcdef_" + "A" * 43] if state == "wrong key" else []
    if state in ("TLS to plaintext", "other roots"):
        (tmp_path / "roots.pem").write_bytes(Authority("of another server").pem)
        more += ["--tls-roots", str(tmp_path / "roots.pem")]
    done = run(library, "127.0.0.1:1" if "away" in state else server.target, ending,
               CLOSE_SECONDS.get(state, ENDS_SECONDS), *more)
    assert done.returncode == expected.code, done
    rest = done.stderr
    for text in expected.said:
        found = re.search(text, rest)
        assert found, f"{text!r} is not said, or not in its place: {done.stderr}"
        rest = rest[found.end():]
    assert bool(done.stderr) == bool(expected.said), done.stderr
    if "spool" in state:
        assert run(library, server.target, "closed", ENDS_SECONDS, *more, "--events",
                   "0").returncode == 0
    assert server.terminate() == 0, server.log()
    assert server.query("SELECT count(*) FROM hits")[0][0] == expected.stored
