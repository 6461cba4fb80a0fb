"""`sightline report --from`: archives of the sink jsonl give the figures that hits.db gives."""

import json
import subprocess

import pytest

from protos import service as s
from server import Server, wait_until
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
                    if name not in ("first_received", "last_received", "quality")}
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
