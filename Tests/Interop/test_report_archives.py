"""`sightline report --from`: archives of the sink jsonl give the figures that hits.db gives."""

import json
import os
import pathlib
import signal
import stat
import subprocess

import pytest

from protos import service as s
from server import Server, binary, wait_until
from test_report import HITS, events
from test_terminal_commands import run

SECONDS = 60


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The files of a server that has stopped, and what hits.db gives for the same events."""
    home = tmp_path_factory.mktemp("archives")
    answers, half = {}, len(events()) // 2
    for sink in ("jsonl", "sqlite"):
        server = Server(home / sink, f"--sink={sink}", "--set=jsonl.file_bytes=1000").start()
        try:
            with server.channel() as channel:
                # A file ends with a batch, so there are two.
                for part in (events()[:half], events()[half:]):
                    server.stub(channel).RecordEvents(s.RecordEventsRequest(events=part))
                    if sink == "jsonl":
                        wait_until(lambda: lines(home) > 0, "hits in a file")
            if sink == "jsonl":
                wait_until(lambda: lines(home) == HITS, "all hits in files")
            else:
                server.wait_for_hits(HITS)
                answers = figures(run("report", "--data-dir", server.directory, "--json",
                                      "--details").stdout)
            assert server.terminate() == 0
        finally:
            server.close()
    return sorted((home / "jsonl" / "hits").glob("*.jsonl")), answers


def lines(home) -> int:
    return sum(path.read_bytes().count(b"\n") for path in (home / "jsonl").glob("hits/*.jsonl"))


def figures(text: str):
    """A report without the times of receipt and the ledger's findings."""
    def timeless(value):
        if isinstance(value, dict):
            return {name: timeless(part) for name, part in value.items()
                    if name not in ("first_received", "last_received", "quality", "versions")}
        return [timeless(part) for part in value] if isinstance(value, list) else value
    return timeless(json.loads(text))


def test_archives_give_the_figures_of_hits_db(archive):
    """D14, D16, D20: and a file that is named twice changes nothing."""
    files, expected = archive
    assert len(files) > 1
    assert figures(run("report", "--json", "--details", "--from", *files).stdout) == expected
    assert figures(run("report", "--json", "--details", "--from", *files, files[0]).stdout
                   ) == expected


def test_a_compressed_archive_and_a_line_without_its_end_are_read(archive, tmp_path):
    """What a writer that was killed has left of a line is left out: it delivers that hit again."""
    files, expected = archive
    text = b"".join(path.read_bytes() for path in files)
    (tmp_path / "hits.jsonl").write_bytes(text + text.splitlines()[0][:40])
    subprocess.run(["zstd", "-q", "--rm", tmp_path / "hits.jsonl"], check=True, timeout=SECONDS)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = run("report", "--json", "--details", "--from", tmp_path / "hits.jsonl.zst",
               environment={"TMPDIR": str(temporary)})
    assert figures(done.stdout) == expected
    assert list(temporary.iterdir()) == [], "the temporary hits.db stays"


LINE_BYTES = 8 << 20


@pytest.mark.parametrize("text, words", [
    (b"{}\n", ["1 of its lines", "jsonl"]), (b"\x28\xb5\x2f\xfd\x00\n", ["1 of its lines", ".zst"]),
    (b"x" * LINE_BYTES + b"\n", ["1 of its lines"]),
    (b"x" * (LINE_BYTES + 1) + b"\n", [f"over {LINE_BYTES} bytes"])])
def test_what_is_no_archive_is_refused(tmp_path, text, words):
    """A line of at most 8 MiB is read; one beyond is refused."""
    path = tmp_path / "hits.jsonl"
    path.write_bytes(text)
    done = run("report", "--from", path, code=1)
    assert all(word in done.stderr for word in [str(path), *words]), done.stderr


def test_an_archive_that_is_cut_within_a_frame_is_refused(archive, tmp_path):
    files, _ = archive
    path = tmp_path / "hits.jsonl.zst"
    subprocess.run(["zstd", "-q", files[0], "-o", path], check=True, timeout=SECONDS)
    path.write_bytes(path.read_bytes()[:-5])
    done = run("report", "--from", path, code=1)
    assert f"{path}: it is cut" in done.stderr and done.stdout == "", done.stderr


def test_an_archive_that_is_missing_is_named(tmp_path):
    done = run("report", "--from", tmp_path / "none.jsonl", code=66)
    assert "none.jsonl" in done.stderr


@pytest.fixture
def waiting(archive, tmp_path):
    """A report of standard input, which has had a hit and does not end; and the folder in which it
    has its own. None of the signals is ignored, as a shell does for what it starts beside itself.
    """
    files, _ = archive
    folder = tmp_path / "temporary"
    folder.mkdir()

    def start(handling=signal.SIG_DFL) -> subprocess.Popen:
        process = subprocess.Popen(
            [str(binary()), "report", "--json", "--from", "-"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=os.environ | {"TMPDIR": str(folder)},
            preexec_fn=lambda: [signal.signal(number, handling) for number in SIGNALS])
        started.append(process)
        process.stdin.write(files[0].read_bytes().splitlines(keepends=True)[0])
        process.stdin.flush()
        wait_until(lambda: list(folder.glob("*/hits.db")), "the temporary hits.db")
        return process

    started: list[subprocess.Popen] = []
    yield start, folder
    for process in started:
        process.kill()
        process.communicate(timeout=SECONDS)


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_an_interrupted_report_leaves_no_copy_of_the_hits(waiting, number):
    """And ends by the signal, without a word of the folder that is gone."""
    start, folder = waiting
    process = start()
    own: pathlib.Path = next(folder.iterdir())
    assert stat.S_IMODE(own.stat().st_mode) == 0o700
    process.send_signal(number)
    # Its standard input stays open: the signal alone ends it.
    assert process.wait(timeout=SECONDS) == -number
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    assert list(folder.iterdir()) == []


def test_a_report_goes_on_where_its_signals_are_ignored(waiting):
    """As by nohup."""
    start, folder = waiting
    process = start(signal.SIG_IGN)
    for number in SIGNALS:
        process.send_signal(number)
    output, errors = process.communicate(timeout=SECONDS)
    assert (process.returncode, errors) == (0, b"")
    assert json.loads(output)["deliveries"]
    assert list(folder.iterdir()) == []


def test_standard_input_is_an_archive_too(archive):
    files, expected = archive
    text = b"".join(path.read_bytes() for path in files)
    done = subprocess.run([str(binary()), "report", "--json", "--details", "--from", "-"],
                          input=text, capture_output=True, timeout=SECONDS, check=True)
    assert figures(done.stdout.decode()) == expected
