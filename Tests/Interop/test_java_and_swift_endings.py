"""How programs with the Java and the Swift client end: what is lost, what they say of it, and with
which code. Each cell of docs/clients.md's table of endings is a row here."""

import dataclasses
import pathlib
import subprocess

import pytest

from certificates import Authority
from server import binary
from test_client_libraries import BUILT, built
from test_credentials import KeysFile

EVENTS = 5
SECONDS = 120
# How long an end waits where nobody takes the events. In this time a JVM loads its classes, and has
# to try the server.
CLOSE_SECONDS = 15
# Nobody listens there, and no other test can come to.
NOBODY = "127.0.0.1:1"
# Each takes TARGET ENDING EVENTS SECONDS KEY [SPOOL]; the seconds are those that its end may wait.
PROGRAMS = {
    "java": ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{BUILT / 'java'}/*",
             "Endings"],
    "swift": [binary().with_name("LibraryClient"), "--ending"],
}
NO_SERVER, WRONG_KEY = "refused", "credentials were refused"
COUNTED = f"{EVENTS} events have no verdict"
# A refusal may come before the last event was sent.
REFUSED = "events have no verdict"


@dataclasses.dataclass
class Ending:
    """A server, how the program ends, and what then holds."""

    server: str
    ending: str
    # All events are stored, or none.
    is_stored: bool
    # The exit code by language, of those that can end so.
    codes: dict[str, int]
    # Words of its standard error.
    says: tuple[str, ...] = ()
    seconds: int = 60


FAILS = {"java": 1, "swift": 1}
ENDS = {"java": 0, "swift": 0}
ROWS = {
    "closed": Ending("here", "closed", True, ENDS),
    "not closed": Ending("here", "open", True, ENDS),
    "exception in the block": Ending("here", "exception", True, FAILS, ("of the program",)),
    "server away": Ending("away", "closed", False, FAILS, (COUNTED, NO_SERVER),
                          seconds=CLOSE_SECONDS),
    "server away, not closed": Ending("away", "open", False, {"java": 0, "swift": 1},
                                      (COUNTED, NO_SERVER), seconds=CLOSE_SECONDS),
    "server away, exception in the block": Ending(
        "away", "exception", False, FAILS, ("of the program", COUNTED, NO_SERVER),
        seconds=CLOSE_SECONDS),
    "wrong key": Ending("keyed", "closed", False, FAILS, (REFUSED, WRONG_KEY)),
    "wrong key, not closed": Ending("keyed", "open", False, {"java": 0, "swift": 1},
                                    (REFUSED, WRONG_KEY)),
    "plaintext to TLS": Ending("encrypted", "closed", False, FAILS,
                               (COUNTED, "If the server speaks TLS"), seconds=CLOSE_SECONDS),
    "never run": Ending("here", "never run", False, {"swift": 1},
                        (COUNTED, "run() was not called")),
}


@pytest.fixture(params=PROGRAMS)
def language(request) -> str:
    return built(request.param)


def run(language: str, target: str, ending: str, seconds: int, key: str = "",
        *spool: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*PROGRAMS[language], target, ending, str(EVENTS), str(seconds), key, *spool],
        capture_output=True, text=True, timeout=SECONDS, check=False)


def serve(kind: str, make_server, folder: pathlib.Path):
    """The server of a row, which is never the one of its target where that is away."""
    if kind == "keyed":
        KeysFile(folder / "keys.jsonl").new("shop")
        return make_server("--set=auth.mode=keys",
                           f"--set=auth.keys_file={folder / 'keys.jsonl'}").start()
    if kind == "encrypted":
        certificate, key = Authority().issue().write(folder, "server")
        return make_server("--set=tls.mode=tls", f"--set=tls.certificate={certificate}",
                           f"--set=tls.key={key}").start()
    return make_server().start()


@pytest.mark.parametrize("language, name", [
    (language, name) for name, row in ROWS.items() for language in row.codes],
    indirect=["language"])
def test_an_end_says_what_is_lost(language, make_server, tmp_path, name):
    row = ROWS[name]
    server = serve(row.server, make_server, tmp_path)
    target = NOBODY if row.server == "away" else server.target
    key = "sl_wrong" if row.server == "keyed" else ""
    done = run(language, target, row.ending, row.seconds, key)
    assert done.returncode == row.codes[language], done
    for words in row.says:
        assert words in done.stderr, done
    assert row.says or not done.stderr, done
    if row.is_stored:
        server.wait_for_hits(EVENTS)
    assert server.terminate() == 0
    assert server.hit_count() == (EVENTS if row.is_stored else 0)


def test_what_a_spool_keeps_is_no_loss(language, make_server, tmp_path):
    """Its end says that there are events, and the next client sends them."""
    away = run(language, NOBODY, "closed", CLOSE_SECONDS, "", tmp_path / "spool")
    assert away.returncode == 0 and "refused" in away.stderr, away
    server = make_server().start()
    assert run(language, server.target, "closed", 60, "", tmp_path / "spool").returncode == 0
    # The second client's events are the same facts.
    server.wait_for_hits(EVENTS)
    assert server.terminate() == 0 and server.hit_count() == EVENTS


def test_a_kill_loses_what_has_no_verdict_and_says_nothing(language):
    with subprocess.Popen([*PROGRAMS[language], NOBODY, "killed", str(EVENTS), "60", ""],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as killed:
        assert killed.stdout.readline() == "sent\n"
        killed.kill()
        assert "are lost" not in killed.stderr.read()
    assert killed.returncode == -9


def test_a_key_with_a_newline_is_the_key(language, make_server, tmp_path):
    """As it stands in a file."""
    key = KeysFile(tmp_path / "keys.jsonl").new("shop")
    server = make_server("--set=auth.mode=keys",
                         f"--set=auth.keys_file={tmp_path / 'keys.jsonl'}").start()
    done = run(language, server.target, "closed", 60, key + "\r\n")
    assert done.returncode == 0, done
    server.wait_for_hits(EVENTS)
