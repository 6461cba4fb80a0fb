"""What each command says to a person's mistake: an exit code, one short message, and the fix in it.

`python Tests/Interop/test_command_mistakes.py` prints the table of all of them.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import typing

import pytest

from protos import ROOT
from server import binary

USAGE, NO_INPUT, UNAVAILABLE, IO_ERROR, CONFIGURATION = 64, 66, 69, 74, 78
FAILURE = 1
# A reserved port on which nobody listens.
NOBODY = "127.0.0.1:1"
IOS, ANDROID, FLAT = (str(ROOT / "Tests/Fixtures" / name)
                      for name in ("apns-alert.json", "fcm-sent.json", "fcm-map.json"))
# argument-parser adds the usage and a hint to what is wrong.
MAX_LINES = 4
MAX_CHARACTERS = 900
SECONDS = 20


class Mistake(typing.NamedTuple):
    """A command line, its exit code, and words of the fix."""
    what: str
    words: list[str]
    code: int
    fix: str


FILES = [
    Mistake("missing file", ["send", "none.json", "--platform", "ios", "--interaction", "opened"],
            NO_INPUT, "check the path"),
    Mistake("missing file", ["send", "none.ndjson"], NO_INPUT, "check the path"),
    Mistake("missing file", ["explain", "none.ndjson"], NO_INPUT, "check the path"),
    Mistake("missing file", ["inspect", "none.json"], NO_INPUT, "check the path"),
    Mistake("missing file", ["send", IOS, "--platform", "ios", "--interaction", "opened",
                             "--api-key-file", "none"], NO_INPUT, "check the path"),
    Mistake("missing file", ["health", "--tls-roots", "none.pem"], NO_INPUT, "check the path"),
    Mistake("missing file", ["serve", "--config", "none.yaml"], CONFIGURATION, "check that it is there"),
    Mistake("missing file", ["validate", "none.yaml"], CONFIGURATION, "check that it is there"),
    Mistake("missing file", ["report", "--deliveries", "none.csv"], NO_INPUT, "check the path"),
    Mistake("missing file", ["keys", "list", "--keys-file", "none.jsonl"], IO_ERROR,
            "see that it is there"),
    Mistake("missing file", ["keys", "revoke", "--keys-file", "none.jsonl", "0011223344556677"],
            IO_ERROR, "see that it is there"),
    Mistake("missing file", ["keys", "list", "--config", "none.yaml"], CONFIGURATION,
            "check that it is there"),
    Mistake("missing file", ["why", "56c4", "--target", NOBODY, "--api-key-file", "none"],
            NO_INPUT, "check the path"),
    Mistake("folder for a file", ["inspect", "."], NO_INPUT, "it is a directory, not a file"),
    Mistake("missing folder", ["tail", "--data-dir", "none"], UNAVAILABLE, "--data-dir"),
    Mistake("missing folder", ["report", "--data-dir", "none"], UNAVAILABLE, "--data-dir"),
    Mistake("missing folder", ["replay", "--data-dir", "none"], UNAVAILABLE, "--data-dir"),
    Mistake("missing folder", ["sinks", "sql", "--data-dir", "none"], USAGE, "--help"),
]
# A payload as text, which an event has in base64. As an object it is a payload.
LINES = [
    Mistake("payload as text in a line",
            ["explain", str(ROOT / "Tests/Fixtures/reported/c36-plain.ndjson")], FAILURE,
            "bytes in base64")]
SERVERS = [
    Mistake("absent server", ["send", IOS, "--platform", "ios", "--interaction", "opened",
                              "--target", NOBODY], UNAVAILABLE, "--wait SECONDS"),
    Mistake("absent server", ["explain", IOS, "--platform", "ios", "--interaction", "opened",
                              "--target", NOBODY], UNAVAILABLE, "--wait SECONDS"),
    Mistake("absent server", ["health", "--target", NOBODY], UNAVAILABLE, "--wait SECONDS"),
    Mistake("absent server", ["health", "--admin", NOBODY], UNAVAILABLE, "--admin HOST:PORT"),
    Mistake("absent server", ["bench", "--target", NOBODY], UNAVAILABLE, "--wait SECONDS"),
    Mistake("absent server", ["top", "--admin", NOBODY, "--once"], UNAVAILABLE, "--admin HOST:PORT"),
    Mistake("absent server", ["send", IOS, "--platform", "ios", "--interaction", "opened",
                              "--target", NOBODY, "--wait", "1"], UNAVAILABLE, "after 1 s"),
    Mistake("absent server", ["sinks", "list", "--data-dir", "none"], UNAVAILABLE, "--data-dir"),
    Mistake("absent server", ["sinks", "pause", "sqlite", "--data-dir", "none"], UNAVAILABLE,
            "--data-dir"),
    Mistake("unknown host", ["health", "--target", "no.such.host.invalid:50051"], UNAVAILABLE,
            "--target HOST:PORT"),
    Mistake("no port", ["send", IOS, "--platform", "ios", "--interaction", "opened", "--target",
                        "localhost"], USAGE, "127.0.0.1:50051"),
]
PLATFORMS = [
    Mistake("forgotten platform", ["send", IOS], USAGE, "--platform ios"),
    Mistake("forgotten platform", ["send", ANDROID, "--target", NOBODY], USAGE, "--platform android"),
    Mistake("forgotten platform", ["explain", ANDROID], USAGE, "--platform android"),
    Mistake("forgotten platform", ["send", FLAT], USAGE, "is a payload of android"),
    Mistake("forgotten platform", ["explain", FLAT], USAGE, "--platform android"),
    Mistake("forgotten platform", ["send", IOS, "--interaction", "opened"], USAGE,
            "needs --platform"),
    Mistake("wrong platform", ["send", ANDROID, "--platform", "ios", "--interaction", "opened"],
            USAGE, "--platform android"),
    Mistake("wrong platform", ["send", IOS, "--platform", "android", "--interaction", "opened"],
            USAGE, "--platform ios"),
    Mistake("unknown platform", ["send", IOS, "--platform", "apple", "--interaction", "opened"],
            USAGE, "ios"),
    Mistake("unknown platform", ["inspect", IOS, "--platform", "apple"], USAGE, "ios"),
    Mistake("unknown interaction", ["send", IOS, "--platform", "ios", "--interaction", "clicked"],
            USAGE, "received, dismissed or opened"),
    Mistake("forgotten interaction", ["send", IOS, "--platform", "ios"], USAGE,
            "needs --interaction"),
    Mistake("option of payloads", ["send", "none.ndjson", "--app", "com.example"], USAGE,
            "--app needs --platform"),
]
NAMES = [
    Mistake("misspelt command", ["sned", IOS], USAGE, "did you mean send?"),
    Mistake("misspelt command", ["reprot"], USAGE, "did you mean report?"),
    Mistake("misspelt command", ["sinks", "pasue", "sqlite"], USAGE, "did you mean pause?"),
    Mistake("misspelt command", ["keys", "lst"], USAGE, "did you mean list?"),
    Mistake("unknown command", ["frobnicate"], USAGE, "`sightline --help` lists them"),
    Mistake("no file", ["send"], USAGE, "name at least one file"),
    Mistake("no file", ["explain"], USAGE, "name at least one file"),
    Mistake("misspelt key", ["serve", "--set", "journal.max_byte=1"], CONFIGURATION,
            "did you mean journal.max_bytes?"),
    Mistake("out of range", ["tail", "--lines", "100001"], USAGE, "0 to 100000"),
    Mistake("out of range", ["send", IOS, "--batch", "0"], USAGE, "1 to 2000"),
    Mistake("out of range", ["top", "--interval", "0"], USAGE, "0.1 to 3600"),
    Mistake("unknown unit", ["health", "--wait", "5 weeks"], USAGE, "15m"),
    Mistake("unknown unit", ["serve", "--set", "journal.max_bytes=4XB"], CONFIGURATION, "4GB"),
    Mistake("unknown unit", ["serve", "--set", "drain.seconds=1500ms"], CONFIGURATION, "90s"),
    Mistake("too much", ["serve", "--set", "journal.max_bytes=99999999999TB"], CONFIGURATION, "4GB"),
    Mistake("too much", ["bench", "--seconds", "999999999999999999d"], USAGE, "12h"),
    Mistake("unknown rule", ["explain", "--rule", "D99"], USAGE, "D1 to D"),
    Mistake("wrong time", ["report", "--since", "last-week"], USAGE, "2026-11-20T10:00:00Z"),
    Mistake("empty range", ["report", "--since", "1h", "--until", "2h"], USAGE, "is not before"),
    Mistake("empty range", ["export", "--format", "csv", "--since", "1h", "--until", "1h"], USAGE,
            "is not before"),
    Mistake("unwritable folder", ["dev-certs", "--out", "/proc/none"], IO_ERROR, "/proc/none"),
]
# Without these words the commands tell of them first.
FURTHER = {"send": [IOS], "explain": [IOS], "inspect": [IOS]}
MISTAKES = FILES + LINES + SERVERS + PLATFORMS + NAMES


def say(words: list[str], folder: pathlib.Path) -> subprocess.CompletedProcess:
    return subprocess.run([str(binary()), *words], cwd=folder, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)


def misspelt() -> list[Mistake]:
    """An option of each command, with a letter missing."""
    help_text = subprocess.run([str(binary()), "--experimental-dump-help"], check=True,
                               capture_output=True).stdout
    found = []

    def visit(command: dict, path: list[str]) -> None:
        below = [inner for inner in command.get("subcommands", [])
                 if inner["commandName"] != "help"]
        for inner in below:
            visit(inner, [*path, inner["commandName"]])
        if below:
            return
        names = [name["name"] for argument in command.get("arguments", [])
                 for name in argument.get("names", [])
                 if name["kind"] == "long" and argument["isOptional"]]
        name = next(name for name in names if len(name) > 3 and name not in ("version", "help"))
        typo = name[:-2] + name[-1]
        words = [*path, f"--{typo}", *FURTHER.get(path[0], []), *required(command)]
        found.append(Mistake("misspelt option", words, USAGE, f"Did you mean '--{name}'?"))

    visit(json.loads(help_text)["command"], [])
    return found


def required(command: dict) -> list[str]:
    """What a command needs: argument-parser tells of a missing value before an unknown option."""
    words = []
    for argument in command.get("arguments", []):
        names = [name["name"] for name in argument.get("names", []) if name["kind"] == "long"]
        if not argument["isOptional"]:
            words += [f"--{name}" for name in names[:1]] + argument.get("allValues", ["x"])[:1]
    return words


def check(mistake: Mistake, folder: pathlib.Path) -> str:
    """Holds a command to what it has to say, and returns its message."""
    done = say(mistake.words, folder)
    text = f"$ sightline {' '.join(mistake.words)}\n{done.stdout}{done.stderr}"
    assert done.returncode == mistake.code, f"{text}\nended with {done.returncode}"
    assert done.stdout == "", text
    assert mistake.fix in done.stderr, f"{text}\ndoes not say: {mistake.fix}"
    assert len(done.stderr.splitlines()) <= MAX_LINES, text
    assert len(done.stderr) <= MAX_CHARACTERS, text
    for word in ("Fatal error", "Stack dump", "Backtrace", "Optional(", "Error Domain", "errno:",
                 "/checkouts/", "OPENSSL_internal", ".cc:", "(file: ", "preface.. "):
        assert word not in done.stderr, text
    assert list(folder.iterdir()) == [], "a mistake leaves nothing behind"
    return done.stderr.splitlines()[0]


PASSWORD = "user:pass-word@host.invalid"
ENDPOINT = f"http://{PASSWORD}:x"


@pytest.mark.parametrize("code, words", [
    *[(USAGE, [*command, option, f"{PASSWORD}:50051"]) for command, option in [
        (["send", IOS, "--platform", "ios", "--interaction", "opened"], "--target"),
        (["explain", IOS, "--platform", "ios", "--interaction", "opened"], "--target"),
        (["why", "56c4"], "--target"), (["bench"], "--target"),
        (["health"], "--target"), (["health"], "--admin"), (["top", "--once"], "--admin")]],
    (FAILURE, ["tail", "--follow", "--target", f"{PASSWORD}:50051"]),
    *[(CONFIGURATION, ["serve", "--set", f"{key}={value}", *sink]) for key, value, *sink in [
        ("listen", f"{PASSWORD}:50051"), ("telemetry.traces.endpoint", ENDPOINT),
        ("grpc.target", f"{PASSWORD}:443", "--sink", "grpc"),
        ("kafka.brokers", PASSWORD, "--sink", "kafka"),
        ("webhook.url", f"https://{PASSWORD}/hits", "--sink", "webhook"),
        ("postgresql.url", f"postgresql://{PASSWORD}/hits", "--sink", "postgresql"),
        ("campaign.servers", f"[{{tenant: a, standard: '{PASSWORD}'}}]", "--sink", "campaign"),
        ("sinks", f"[{{type: grpc, target: '{PASSWORD}'}}]"),
        ("sinks", f"[{{type: kafka, brokers: {PASSWORD}}}]")]],
], ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else str(value))
def test_a_password_in_an_address_is_not_told(code, words, tmp_path):
    done = say(words, tmp_path)
    assert done.returncode == code, done.stderr
    assert "pass-word" not in done.stdout + done.stderr, done.stderr


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: " ".join(mistake.words[:3]))
def test_a_mistake_names_its_fix(mistake, tmp_path):
    check(mistake, tmp_path)


def test_a_misspelt_option_of_each_command_names_the_nearest(tmp_path):
    found = misspelt()
    assert len(found) > 20
    for mistake in found:
        check(mistake, tmp_path)


def print_table() -> None:
    """The mistakes and the first line of each answer, as a table in Markdown."""
    print("| mistake | command | exit | what it says |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for mistake in MISTAKES + misspelt():
            words = " ".join(mistake.words).replace(f"{ROOT}/", "")
            line = check(mistake, pathlib.Path(folder)).replace(f"{ROOT}/", "").replace("|", "\\|")
            print(f"| {mistake.what} | `{words}` | {mistake.code} | {line} |")


if __name__ == "__main__":
    sys.exit(print_table())
