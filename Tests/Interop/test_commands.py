"""The commands of the documents: each is run, and prints what its page says that it prints."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import time
import typing

import pytest

from logs import scan
from not_run import NOT_RUN
from protos import ROOT, record
from server import STOP_SECONDS, binary, wait_until

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/*/*.md")),
         *sorted(ROOT.glob("Clients/*/README.md")), ROOT / "Backends/lake/README.md",
         ROOT / "Deploy/README.md",
         ROOT / "Benchmarks/README.md"]
PROGRAMS = ("sightline", "sqlite3", ".venv/bin/buf", "cat", "curl ", "gzip ", "printf ", "zstd",
            "(umask 077;",
            ".venv/bin/python Examples/consumer-python/", ".venv/bin/python -m grpc_tools.protoc ",
            ".venv/bin/python inspect_payload.py")
# Sections whose commands another test runs, where they can: a bare Debian.
ELSEWHERE = {"Install it": "test_packages.py"}
# Backends go on until they are ended; the example in Python stands in for that in Go.
BACKENDS = {"make clients && .build/clients/sink-go": ".venv/bin/python Examples/sink-python/backend.py"}
# The same for programs that say nothing: the port on which each listens.
DAEMONS = {"nats-server ": 4222, "INGEST_LISTEN=127.0.0.1:50050 ": 50050}
ENDS_WITH = {"sightline inspect Tests/Fixtures/apns-tester.json": 1}
# What a sink takes comes a moment after its ack.
FOLLOWS = ("sightline tail", "sightline report", "sightline export", "zstd",
           ".venv/bin/python Examples/consumer")
SINK_SECONDS = 10

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HERE_DOCUMENT = re.compile(r"<<'(\w+)'")
# What differs from run to run: times, ids, keys, ports, temporary folders, measured figures.
FIGURES = re.compile(r"\d{4}-\d\d-\d\d[ T][\d:.]+Z?|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
                     r"|\bslk_\S+|\bid [0-9a-f]{16}\b|(?<=127\.0\.0\.1:)\d+"
                     r"|(?<=sightline-demo\.)\w+|\d[\d,]*\.\d+|\d+,[\d,]+")


class Command(typing.NamedTuple):
    """One command, and the lines that its page prints below it."""
    words: str
    output: list[str]


def commands(page: str) -> list[Command]:
    """All commands of a page's consoles, in order; a command may go on behind a backslash, or up to
    the end of its here-document."""
    found: list[Command] = []
    for language, block in BLOCK.findall(page):
        lines = iter(block.splitlines() if language == "console" else [])
        for line in lines:
            if not line.startswith(("$ ", "# ")):
                found[-1].output.append(line)
                continue
            words = line[2:]
            while words.endswith("\\"):
                words += "\n" + next(lines)
            for end in HERE_DOCUMENT.findall(words):
                while not words.endswith("\n" + end):
                    words += "\n" + next(lines)
            found.append(Command(words, []))
    return found


def section(text: str, title: str) -> str:
    """A section of a page, with its title; nothing where the page has none."""
    found = re.search(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def run_here(page: pathlib.Path) -> list[Command]:
    """The commands of a page without those of the sections that another test runs."""
    text = page.read_text()
    for title in ELSEWHERE:
        text = text.replace(section(text, title), "")
    return commands(text)


def pattern(output: list[str]) -> re.Pattern:
    """What matches a page's lines: … alone stands for any lines, within a line for any text."""
    masked = "".join(mask(line) + "\n" for line in output)
    parts = re.split(r"(?m)^…\n", masked)
    return re.compile(r"(?:.*\n)*?".join(re.escape(part).replace("…", ".*") for part in parts))


def mask(text: str) -> str:
    """Without the figures, and without the width that they gave their columns."""
    return re.sub(r"[ \u2500-\u259f]+", " ", FIGURES.sub("#", text))


def targets(makefile: pathlib.Path) -> set[str]:
    return set(re.findall(r"^([\w-]+):", makefile.read_text(), re.MULTILINE))


def check_make(words: str) -> None:
    """Whether the Makefile has all targets of a command."""
    arguments = shlex.split(words, comments=True)[1:]
    folder = arguments.pop(1) if arguments[:1] == ["-C"] else ""
    names = {name for name in arguments if "=" not in name and name != "-C"}
    missing = names - targets(ROOT / folder / "Makefile")
    assert not missing, f"`{words}`: the Makefile has no {missing}"


def stand_in(words: str) -> str | None:
    """What is run for a command, or None where it is one that no test runs. A server is started as
    `make run` would, the demo shows the program under test, and no load lasts minutes."""
    for beginning, other in BACKENDS.items():
        if words.startswith(beginning):
            check_make(beginning.split(" && ", maxsplit=1)[0])
            return words.replace(beginning, other)
    if words.startswith(tuple(DAEMONS)):
        return words
    if words.startswith("make"):
        check_make(words)
        target = (shlex.split(words, comments=True) + [""])[1]
        if target == "run":
            recipe = re.search(r"^run:.*\n\t\S+/(sightline serve .*)$",
                               (ROOT / "Makefile").read_text(), re.MULTILINE)
            return recipe[1]
        return words if target == "demo" else None
    if any(words.startswith(beginning) for beginning in NOT_RUN):
        return None
    assert words.startswith(PROGRAMS), f"`{words}` is neither run nor listed in NOT_RUN"
    return re.sub(r"--seconds \d+", "--seconds 1", words)


class Terminal:
    """A folder with the sources in it, in a network of its own, so that default ports are free."""

    def __init__(self, folder: pathlib.Path):
        self.home = folder / "home"
        self.home.mkdir()
        for name in ("Makefile", "Scripts", "Tests", "Examples", "Protos", ".venv"):
            (self.home / name).symlink_to(ROOT / name)
        # How long a command may take.
        self.seconds = 120
        self.variables = os.environ | {"PROGRAM": str(binary()),
                                       "PYTHONPATH": str(pathlib.Path(record.__file__).parents[2]),
                                       "PATH": f"{binary().parent}:{os.environ['PATH']}"}
        self.log = folder / "serve.stderr"
        # By their addresses, where a page starts more than one.
        self.servers: dict[str, subprocess.Popen] = {}
        self.backends: list[subprocess.Popen] = []
        is_root = os.geteuid() == 0
        self.network = subprocess.Popen(
            ["unshare", "--net", *([] if is_root else ["--map-root-user"]), "sh", "-c",
             "ip link set lo up && echo up && exec sleep infinity"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.network.stdout.readline() != "up\n":
            pytest.skip(f"no network of its own: {self.network.stderr.read().strip()}")
        self.enter = ["nsenter", "--target", str(self.network.pid), "--net",
                      *([] if is_root else ["--user", "--preserve-credentials"]), "--"]

    def run(self, words: str) -> tuple[int, str]:
        """A command's exit code, and all that it prints."""
        run = subprocess.run([*self.enter, "bash", "-c", words], cwd=self.home, text=True,
                             env=self.variables, stdin=subprocess.DEVNULL, timeout=self.seconds,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return run.returncode, run.stdout

    def serve(self, words: str) -> str:
        """Starts a server in the place of the ones before, and waits until it listens. One with an
        address and a directory of its own is a further node."""
        node = re.search(r"--listen (\S+) --data-dir", words)
        self.stop(*([node[1], ""] if node else self.servers))
        output = self.home.parent / "serve.stdout"
        with output.open("wb") as stdout, self.log.open("ab") as stderr:
            server = self.servers[node[1] if node else ""] = subprocess.Popen(
                [*self.enter, *shlex.split(words.replace("\\\n", ""), comments=True)],
                cwd=self.home,
                env=self.variables, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        wait_until(lambda: "listening on " in output.read_text() or server.poll() is not None,
                   f"`{words}` listens")
        assert server.poll() is None, f"`{words}` ended\n{self.log.read_text()[-2000:]}"
        return output.read_text()

    def begin(self, words: str) -> str:
        """Starts a backend, and waits for the line that says where it listens."""
        self.backends.append(subprocess.Popen(
            [*self.enter, *shlex.split(words)], cwd=self.home, env=self.variables, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE))
        return self.backends[-1].stdout.readline()

    def begin_daemon(self, words: str, port: int) -> None:
        """Starts a program, and waits until its port takes connections."""
        program = re.search(r"(?:^|\s)([a-z-]+) ", words)[1]
        if not shutil.which(program):
            pytest.skip(f"there is no {program}")
        self.backends.append(subprocess.Popen(
            [*self.enter, "bash", "-c", words.replace(f"{program} ", f"exec {program} ", 1)],
            cwd=self.home, env=self.variables, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        wait_until(lambda: self.run(f"exec 3<>/dev/tcp/127.0.0.1/{port}")[0] == 0
                   or self.backends[-1].poll() is not None, f"`{words}` listens")
        assert self.backends[-1].poll() is None, f"`{words}` ended"

    def stop(self, *nodes: str) -> None:
        """Ends servers as Ctrl-C does: those of these addresses, or all."""
        for node in nodes or tuple(self.servers):
            server = self.servers.pop(node, None)
            if server and server.poll() is None:
                server.terminate()
                assert server.wait(STOP_SECONDS) == 0

    def close(self) -> None:
        try:
            self.stop()
        finally:
            for backend in self.backends:
                backend.kill()
                backend.wait()
            self.network.kill()
            self.network.wait()
            scan(self.log)


@pytest.fixture
def terminal(tmp_path):
    made = Terminal(tmp_path)
    yield made
    made.close()


def difference(terminal: Terminal, command: Command, words: str) -> str:
    """What a command does otherwise than its page says; nothing where it does the same."""
    if words.startswith("sightline serve"):
        code, printed = 0, terminal.serve(words)
    elif words.startswith(tuple(DAEMONS)):
        port = next(port for beginning, port in DAEMONS.items() if words.startswith(beginning))
        code, printed = 0, terminal.begin_daemon(words, port) or ""
    elif words.startswith(tuple(BACKENDS.values())):
        code, printed = 0, terminal.begin(words)
        assert printed.startswith("listening on "), printed
    else:
        code, printed = terminal.run(words)
    is_same = not command.output or pattern(command.output).fullmatch(mask(printed))
    if is_same and code == ENDS_WITH.get(command.words, 0):
        return ""
    return "\n".join([f"$ {command.words}", "the page:", *command.output,
                      f"ends with {code}, and prints:", printed])


@pytest.mark.parametrize("page", [page for page in PAGES if run_here(page)],
                         ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_command_does_what_its_page_says(page, terminal):
    for command in run_here(page):
        words = stand_in(command.words)
        if words is None:
            continue
        deadline = time.monotonic() + (SINK_SECONDS if words.startswith(FOLLOWS) else 0)
        while found := difference(terminal, command, words):
            assert time.monotonic() < deadline, found
            time.sleep(0.5)


def test_commands_stand_in_consoles():
    for page in PAGES:
        others = {language for language, block in BLOCK.findall(page.read_text())
                  if language in ("sh", "bash", "shell") or language != "console"
                  and re.search(r"^(\$ |make |sightline |\./)", block, re.MULTILINE)}
        assert not others, f"{page} has commands in a block of {others}"


def test_what_is_run_otherwise_stands_on_some_page():
    all_words = [command.words for page in PAGES for command in commands(page.read_text())]
    for beginning in [*ENDS_WITH, *BACKENDS, *DAEMONS]:
        assert any(words.startswith(beginning) for words in all_words), beginning
    for title in ELSEWHERE:
        assert any(section(page.read_text(), title) for page in PAGES), title


@pytest.mark.parametrize("words", ["grpcurl health", "make no-target", "make -C Benchmarks x"])
def test_a_planted_command_is_found(words):
    with pytest.raises(AssertionError):
        stand_in(words)


@pytest.mark.parametrize("told, prints, is_same", [
    (["ACCEPTED       3"], "ACCEPTED  3\n", True),
    (["ACCEPTED       3"], "ACCEPTED  2\n", False),
    (["2026-11-20 20:01:25.939  click  56c4"], "2027-01-02 03:04:05.678  click  56c4\n", True),
    (["2026-11-20 20:01:25.939  click  56c4"], "2027-01-02 03:04:05.678  open  56c4\n", False),
    (["…", "total  6", "…"], "verdict\nACCEPTED 6\ntotal 6\n", True),
    (["…", "total  6"], "verdict\ntotal 6\nmore\n", False),
    (["error  _dId  …"], "error  _dId  it is missing\n", True),
])
def test_output_is_compared_without_its_figures(told, prints, is_same):
    assert bool(pattern(told).fullmatch(mask(prints))) == is_same
