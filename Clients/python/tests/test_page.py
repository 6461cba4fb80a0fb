"""The programs of README.md run as they stand there."""

import pathlib
import re

import pytest

import sightline
from fake import event

PAGE = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_all_programs_of_the_page_are_found():
    assert len(PROGRAMS) == PAGE.count("```") / 2 >= 4


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_page_runs(fake, tmp_path, monkeypatch, number):
    """Against a server of this test's own address, in a folder with a payload."""
    (tmp_path / "payload.json").write_text('{"_mId": "h1", "_dId": "1f"}')
    monkeypatch.chdir(tmp_path)
    program = PROGRAMS[number].replace("127.0.0.1:50051", fake.target)
    names: dict = {}
    exec(compile(program.replace("/var/lib/shop", str(tmp_path)), "README.md", "exec"), names)
    if "traceparent" in names:
        from opentelemetry import trace
        context = trace.SpanContext(0x0af7651916cd43dd8448eb211c80319c, 0xb7ad6b7169203331, False,
                                    trace.TraceFlags(1))
        with trace.use_span(trace.NonRecordingSpan(context)):
            with sightline.Client(fake.target, traceparent=names["traceparent"]) as client:
                client.send(event())
        assert fake.events[-1].trace_context.traceparent == TRACE
    assert fake.events
