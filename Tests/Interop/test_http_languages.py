"""Clients without any library of ours: the programs of Examples/http send events and read verdicts."""

import contextlib
import functools
import http.server
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid

import pytest

from browser import open_page
from protos import ROOT
from server import Server, wait_until

EXAMPLES = ROOT / "Examples/http"
# Each client's program, and the package that has it.
PROGRAMS = {
    "curl": (["bash", EXAMPLES / "send.sh"], "curl"),
    "Python": ([sys.executable, EXAMPLES / "send.py"], None),
    "PHP": (["php", EXAMPLES / "send.php"], "php-cli"),
    "Node": (["node", EXAMPLES / "send.mjs"], "nodejs"),
}
TOOLS = {"curl": "curl", "php-cli": "php", "nodejs": "node"}
# Two opened notifications and a click: what hits.db has of them.
HITS = ["click", "click", "in_app_click", "open", "open"]
PAGE_SECONDS = 30


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the page and its script; a module has to have the type of one."""

    extensions_map = {".html": "text/html", ".mjs": "text/javascript"}

    def log_message(self, *_) -> None:
        """Says nothing."""


@contextlib.contextmanager
def origin():
    """Serves the examples, and gives the origin of their page."""
    handler = functools.partial(Quiet, directory=str(EXAMPLES))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as pages:
        threading.Thread(target=pages.serve_forever, daemon=True).start()
        yield f"http://localhost:{pages.server_port}"
        pages.shutdown()


@pytest.fixture(scope="module")
def pages():
    with origin() as allowed:
        yield allowed


@pytest.fixture(scope="module")
def door(pages):
    """A server whose HTTP port the page's origin may call."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    server = Server(home / "data", "--http", "127.0.0.1:0", f"--set=http.cors_origins={pages}")
    try:
        yield server.start()
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


def verdicts(answer: dict) -> list[str]:
    """The verdicts of an answer in the order of the events, without their enum's name."""
    assert [result.get("index", 0) for result in answer["results"]] == [0, 1, 2], answer
    return [result["verdict"].upper().removeprefix("VERDICT_") for result in answer["results"]]


def check_hits(server: Server, number: str) -> None:
    """The sink has what was acknowledged, once."""
    def kinds() -> list[str]:
        return [row[0] for row in server.query(
            "SELECT kind FROM hits WHERE subject_id = ? ORDER BY kind", f"subject-{number}")]

    server.wait_for_hits(len(HITS))
    wait_until(lambda: len(kinds()) >= len(HITS), f"{len(HITS)} hits of {number}")
    assert kinds() == HITS


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_sends_events_and_reads_verdicts(name, door):
    """Typed, raw and in-app events are accepted, and sent again they are duplicates."""
    command, package = PROGRAMS[name]
    if package and not shutil.which(TOOLS[package]):
        pytest.skip(f"no {TOOLS[package]} on PATH: Scripts/bootstrap installs it")
    number = uuid.uuid4().hex[:12]
    for expected in ("ACCEPTED", "DUPLICATE"):
        run = subprocess.run([*command, door.http, number], capture_output=True, text=True, timeout=60,
                             check=False)
        assert run.returncode == 0, f"{run.stdout}{run.stderr}\n{door.log()}"
        answer = json.loads(run.stdout)
        assert verdicts(answer) == [expected] * 3
        assert int(answer["tally"][expected.lower()]) == 3
    check_hits(door, number)


def asked(page_url: str, server: Server, number: str) -> tuple[str, str]:
    """What the page shows: whether it has an answer, and which."""
    with open_page(f"{page_url}/page.html?url={server.http}&id={number}") as (page, _):
        place = page.locator("#answer[data-state]")
        place.wait_for(state="attached", timeout=PAGE_SECONDS * 1000)
        return place.get_attribute("data-state"), place.text_content()


def test_a_page_of_an_allowed_origin_reads_verdicts(door, pages):
    """A browser asks first (CORS), then sends, and lets the page read the answer."""
    number = uuid.uuid4().hex[:12]
    state, text = asked(pages, door, number)
    assert state == "answered", text
    assert verdicts(json.loads(text)) == ["ACCEPTED"] * 3
    check_hits(door, number)


def test_a_page_of_another_origin_can_send_nothing(door):
    """The browser does not even send what it has asked for in vain."""
    number = uuid.uuid4().hex[:12]
    with origin() as other:
        state, text = asked(other, door, number)
    assert state == "failed" and "fetch" in text, text
    # What comes after it is in the table, and it is not.
    last = uuid.uuid4().hex[:12]
    subprocess.run([*PROGRAMS["Python"][0], door.http, last], check=True, timeout=60)
    check_hits(door, last)
    assert not door.query("SELECT kind FROM hits WHERE subject_id = ?", f"subject-{number}")
