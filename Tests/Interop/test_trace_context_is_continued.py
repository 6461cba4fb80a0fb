"""Trace context goes through: continued where it is sound, begun anew where it is not."""

import re
import time

import pytest

from facts import Facts
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import wait_until

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
OTHER_TRACE = "0af7651916cd43dd8448eb211c80319c"
SOUND = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
MALFORMED = [
    "", "00", "nonsense", f"00-{TRACE}-{SPAN}", f"00-{'0' * 32}-{SPAN}-01",
    f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{SPAN}-01", f"00-{TRACE.upper()}-{SPAN}-01",
    f"00-{TRACE}-{SPAN}-01-extra", f"00-{TRACE[:-1]}g-{SPAN}-01", "00-" + "a" * 5000,
]


def stored(running, event: e.TrackingEvent):
    """The event's hit in hits.db."""
    broadlog = event.track_action.broadlog_id

    def rows():
        return running.query("SELECT traceparent, tracestate FROM hits WHERE broadlog_id = ?",
                             broadlog)

    running.wait_for_hits(1)
    return wait_until(rows, f"a hit of {broadlog} in hits.db")[0]


def send(running, stub, space: int, metadata=(), traceparent: str = "", tracestate: str = ""):
    """Records one event, which must be accepted, and gives its row."""
    event = Facts(1, int(time.time()), space).track_action().event
    if traceparent or tracestate:
        event.trace_context.traceparent = traceparent
        event.trace_context.tracestate = tracestate
    response = stub.RecordEvents(s.RecordEventsRequest(events=[event]), metadata=metadata,
                                 timeout=30)
    assert response.results[0].verdict == v.VERDICT_ACCEPTED, response
    return stored(running, event)


def parts(row) -> tuple[str, str]:
    """Trace id and span id of a row."""
    match = SOUND.fullmatch(row["traceparent"] or "")
    assert match, f"no sound traceparent: {row['traceparent']!r}"
    assert set(match[1]) != {"0"} and set(match[2]) != {"0"}
    return match[1], match[2]


def test_the_trace_of_the_call_is_continued(running, stub):
    """The same trace, a span of the server's own, the state carried."""
    row = send(running, stub, 1, metadata=[("traceparent", f"00-{TRACE}-{SPAN}-01"),
                                           ("tracestate", "vendor=value,other=1")])
    trace, span = parts(row)
    assert trace == TRACE and span != SPAN
    assert row["tracestate"] == "vendor=value,other=1"


def test_the_trace_of_the_event_comes_first(running, stub):
    """An event's own trace is continued, not its call's."""
    row = send(running, stub, 2, metadata=[("traceparent", f"00-{OTHER_TRACE}-{SPAN}-01")],
               traceparent=f"00-{TRACE}-{SPAN}-01", tracestate="mine=1")
    trace, span = parts(row)
    assert trace == TRACE and span != SPAN
    assert row["tracestate"] == "mine=1"


def test_the_first_event_s_trace_is_the_request_s(running, stub):
    """A request is one span: it continues the first event's own trace, else the call's."""
    facts = Facts(1, int(time.time()), 3)
    events = [facts.track_action().event for _ in range(3)]
    events[0].trace_context.traceparent = f"00-{TRACE}-{SPAN}-01"
    events[1].trace_context.traceparent = f"00-{OTHER_TRACE}-{SPAN}-01"
    call = "c" * 32
    stub.RecordEvents(s.RecordEventsRequest(events=events), timeout=30,
                      metadata=[("traceparent", f"00-{call}-{SPAN}-01")])
    assert [parts(stored(running, event))[0] for event in events] == [TRACE, TRACE, TRACE]


@pytest.mark.parametrize("where", ["call", "event"])
@pytest.mark.parametrize("number", range(len(MALFORMED)))
def test_a_malformed_trace_is_begun_anew(running, stub, where, number):
    """It never fails the call, and nothing of it is kept."""
    malformed = MALFORMED[number]
    if where == "call":
        row = send(running, stub, 100 + number, metadata=[("traceparent", malformed)])
    else:
        row = send(running, stub, 200 + number, traceparent=malformed)
    assert parts(row)[0] not in (TRACE, "0" * 32)


def test_without_a_trace_one_is_begun(running, stub):
    """Each call begins a trace of its own."""
    first, second = (parts(send(running, stub, space)) for space in (301, 302))
    assert first[0] != second[0]
