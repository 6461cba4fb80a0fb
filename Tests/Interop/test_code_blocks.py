"""The code blocks of the pages: each is run here or by the test of its page's commands, or stands in
not_run.py with its reason."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import typing

import pytest

import test_client_libraries as libraries
import test_commands
import test_generated_code
from certificates import Authority
from not_run import NOT_RUN, reason_not_to_run
from protos import ROOT
from server import wait_until
from test_commands import terminal  # noqa: F401  a fixture

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("Clients/*/README.md"),
                ROOT / "Backends/lake/README.md", ROOT / "Deploy/README.md",
                ROOT / "Benchmarks/README.md", test_generated_code.PAGE])
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
# Pages whose programs a test of their own runs, each block or a row of not_run.py.
ELSEWHERE = {"docs/lake.md": "test_lake_queries.py"}
PROGRAM_SECONDS = 240
TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Block(typing.NamedTuple):
    page: str
    line: int
    language: str
    text: str


def blocks(page: str, text: str) -> list[Block]:
    return [Block(page, text[:found.start()].count("\n") + 1, found[2], textwrap.dedent(found[3]))
            for found in FENCE.finditer(text)]


def all_blocks() -> list[Block]:
    return [block for page in PAGES
            for block in blocks(page.relative_to(ROOT).as_posix(), page.read_text())]


class Frame(typing.NamedTuple):
    """What a reader has around a part of a program."""
    language: str
    # What such a part has in it; a program of its own has not.
    mark: str
    text: str


def of_a_payload(language: str) -> str:
    """A client and a payload that it was given."""
    return libraries.FRAMES[language].format(
        path="Tests/Fixtures/fcm-map.json", target="127.0.0.1:50051", lines="@")


FRAMES = [
    Frame("go", r"^event\.SubjectId", of_a_payload("go").replace("@", 'subject := "s-1"\n\t@')),
    *(Frame(language, r"payload(?s:.*)\.send\(|\.Send\(", of_a_payload(language))
      for language in libraries.FRAMES),
    Frame("python", r"^def traceparent\(", """
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        @
        with TracerProvider().get_tracer("test").start_as_current_span("test"):
            assert traceparent().startswith("00-")
        """),
    Frame("python", r"extract\(message\.headers\)", f"""
        import types
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.trace import SpanKind, get_current_span
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
        tracer = TracerProvider().get_tracer("test")
        message = types.SimpleNamespace(headers={{"traceparent": "{TRACEPARENT}"}})
        @
        assert get_current_span(context).get_span_context().trace_id == 0x{TRACEPARENT[3:35]}
        """),
]
# What makes a block a program of its own.
WHOLE = {"go": "package main", "java": "class ", "python": "import "}


def framed(block: Block) -> str:
    """A block as a whole program."""
    if WHOLE[block.language] in block.text:
        return block.text
    for frame in FRAMES:
        if frame.language == block.language and re.search(frame.mark, block.text, re.MULTILINE):
            text = textwrap.dedent(frame.text)
            indent = re.search(r"^([ \t]*)@$", text, re.MULTILINE)[1]
            return text.replace(f"{indent}@", textwrap.indent(block.text.strip(), indent))
    raise AssertionError(f"{block.page}:{block.line} is no program, and has no frame in FRAMES and "
                         "no row in not_run.py")


def run_program(block: Block, terminal) -> None:  # noqa: F811
    """With a server at the address that pages name."""
    program = framed(block)
    if ":8080/v1/" in program:
        return run_script(block, terminal)
    if "webhook-secret" in program:
        return receive(program, terminal)
    if "sightline" in program:
        libraries.built(block.language)
        terminal.serve("sightline serve --admin off")
    name, words = {"python": ("main.py", f"{sys.executable} main.py"),
                   "go": ("main.go", "go run main.go"),
                   "java": ("First.java", f"java -cp '{libraries.BUILT}/java/*' First.java"),
                   }[block.language]
    (terminal.home / name).write_text(program)
    (terminal.home / "payload.json").write_text('{"_mId": "h1", "_dId": "1f"}')
    paths = os.pathsep.join([libraries.environment()["PYTHONPATH"],
                             terminal.variables["PYTHONPATH"]])
    terminal.variables |= {name: value for name, value in libraries.environment().items()
                           if name.startswith("GO")} | {
        "PYTHONPATH": paths, "GOCACHE": str(libraries.BUILT / "go" / "cache")}
    terminal.seconds = PROGRAM_SECONDS
    code, printed = terminal.run(words)
    assert code == 0, f"{block.page}:{block.line}\n{printed}"


def receive(program: str, terminal) -> None:  # noqa: F811
    """A receiver of webhooks: it gets one event of a server, and prints it."""
    (terminal.home / "webhook-secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqr")
    (terminal.home / "main.py").write_text(program)
    printed = terminal.home / "printed"
    with printed.open("w") as out:
        receiver = subprocess.Popen([*terminal.enter, sys.executable, "-u", "main.py"],
                                    cwd=terminal.home, stdout=out, stderr=subprocess.STDOUT)
    try:
        terminal.serve("sightline serve --admin off --sink webhook --set webhook.allow=127.0.0.1 "
                       "--set webhook.url=http://127.0.0.1:8080/hits "
                       "--set webhook.secret_file=webhook-secret")
        code, said = terminal.run("sightline send Tests/Fixtures/apns-alert.json --platform ios "
                                  "--interaction received")
        assert code == 0, said
        wait_until(lambda: "56c4" in printed.read_text() or receiver.poll() is not None,
                   "the receiver has the hit")
        assert receiver.poll() is None, printed.read_text()
    finally:
        receiver.kill()
        receiver.wait()


def run_javascript(block: Block, terminal) -> None:  # noqa: F811
    """As a page would, with a server whose HTTP port is the one that pages name."""
    terminal.serve("sightline serve --admin off --set http.listen=127.0.0.1:8080")
    (terminal.home / "main.mjs").write_text(block.text)
    code, printed = terminal.run("node main.mjs")
    assert code == 0 and printed.strip(), f"{block.page}:{block.line}\n{printed}"


def run_swift(block: Block, _) -> None:
    """Its lines are those of a program that is compiled with the package, and run by another test."""
    sources = [*ROOT.glob("Examples/*/Sources/*/*.swift"),
               *ROOT.glob("Tests/Interop/clients/library-swift/*.swift")]
    assert any(lines_of(block.text) <= lines_of(path.read_text()) for path in sources), (
        f"{block.page}:{block.line}: no program that is compiled has these lines")


def lines_of(text: str) -> set[str]:
    """A test gives the platform of its payload, and returns what is sent."""
    return {line.strip().removeprefix("return ").replace(".android", "platform")
            for line in f"{text}\n\n".splitlines()}


# The program of each language that sends events over HTTP, and the end of its files' names.
SCRIPTS = {"python": (sys.executable, "py"), "php": ("php", "php")}


def run_script(block: Block, terminal) -> None:  # noqa: F811
    """With a server at the address that docs/http.md names."""
    program, ending = SCRIPTS[block.language]
    if not shutil.which(program):
        pytest.skip(f"there is no {program}")
    assert ":8080/v1/" in block.text, f"{block.page}:{block.line} sends no events over HTTP"
    terminal.serve("sightline serve --http 127.0.0.1:8080 --admin off")
    (terminal.home / f"main.{ending}").write_text(block.text)
    code, printed = terminal.run(f"{program} main.{ending}")
    assert code == 0, f"{block.page}:{block.line}\n{printed}"


def check_configuration(block: Block, terminal) -> None:  # noqa: F811
    """It is valid where the files are that it names."""
    text = block.text
    for path in set(re.findall(r"/etc/sightline/([\w.-]+)", text)):
        (terminal.home / path).write_bytes(Authority().pem)
        text = text.replace(f"/etc/sightline/{path}", path)
    (terminal.home / "page.yaml").write_text(text)
    code, printed = terminal.run("sightline validate page.yaml")
    assert code == 0, f"{block.page}:{block.line}\n{printed}"


def read_json(block: Block, _) -> None:
    for line in block.text.splitlines():
        assert isinstance(json.loads(line), dict)


RUNNERS = {"python": run_program, "go": run_program, "java": run_program, "swift": run_swift,
           "js": run_javascript, "php": run_script, "yaml": check_configuration, "json": read_json}


def neither_run_nor_listed(block: Block) -> bool:
    """Commands are listed one by one, by test_commands.py."""
    if block.language == "console":
        return ROOT / block.page not in [*test_commands.PAGES, test_generated_code.PAGE]
    if block.page in ELSEWHERE:
        return False
    return block.language not in RUNNERS and reason_not_to_run(block.text) is None


def test_each_block_is_run_or_stands_in_the_list():
    found = all_blocks()
    assert len(found) > 60
    assert not [f"{block.page}:{block.line}" for block in found if neither_run_nor_listed(block)]


def test_no_fence_is_overlooked():
    for page in PAGES:
        text = page.read_text()
        fences = len(re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE))
        assert fences == 2 * len(FENCE.findall(text)), page


def test_each_row_of_the_list_is_needed():
    texts = [block.text for block in all_blocks() if block.language != "console"] + [
        command.words for page in test_commands.PAGES
        for command in test_commands.commands(page.read_text())]
    assert not [beginning for beginning in NOT_RUN
                if not any(text.startswith(beginning) for text in texts)]


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "block", [block for block in all_blocks()
              if block.language in RUNNERS and block.page not in ELSEWHERE
              and reason_not_to_run(block.text) is None],
    ids=lambda block: f"{block.page}:{block.line}")
def test_a_block_of_a_page_works(block, terminal):  # noqa: F811
    RUNNERS[block.language](block, terminal)


@pytest.mark.parametrize("text, is_found", [
    ("```\nsomething new\n```\n", True), ("```ruby\nputs 1\n```\n", True),
    ("```console\n$ sightline health\n```\n", True), ("```json\n{}\n```\n", False),
    ("  ```yaml\n  sink: jsonl\n  ```\n", False),
])
def test_a_planted_block_is_found(text, is_found):
    planted, = blocks("docs/no-such-page.md", text)
    assert neither_run_nor_listed(planted) == is_found


def test_a_planted_part_of_a_program_is_found():
    with pytest.raises(AssertionError, match="no frame"):
        framed(Block("page", 1, "go", "client.Flush(ctx)\n"))
