"""What inspecting a payload costs, and who waits for it."""

import concurrent.futures
import json
import statistics
import time

import pytest

from details import reason
from protos import event as e
from protos import service as s
from server import Server, wait_until

LIMIT = 64 << 10


def filled(part: str, opening: str = '{"data":{', closing: str = "}}") -> str:
    """A document of as many of these parts as fit; `#` in one is its number."""
    parts, size = [], len(opening) + len(closing)
    while True:
        text = part.replace("#", str(len(parts)))
        if size + len(text) + 1 > LIMIT:
            return opening + ",".join(parts) + closing
        parts.append(text)
        size += len(text) + 1


COSTLY = {
    "numbers in an array": filled("0", '{"a":[', "]}"),
    "deep arrays": filled("[[[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]]]", '{"a":[', "]}"),
    "deep objects": filled('"#":' + '{"a":' * 20 + "{}" + "}" * 20),
    "small members": filled('"#":#'),
    "ids that are nearly right": '{"data":{' + ",".join(
        f'"_m{"".join(".-"[number >> bit & 1] for bit in range(12))}Id":1'
        for number in range(3000)) + "}}",
    "flags that are nearly right": filled('"_acsDelvryTrackin#":1'),
    "ids in wrong places": filled('"#":{"_mId":{},"_dId":[]}'),
    "ids within ids": '{"data":' + '{"_mId":' * 20 + filled('"#":"#"', "{", "}")[:60_000 - 9]
                      .rsplit(",", 1)[0] + "}" + "}" * 21,
    "ids in texts": filled('"#":"{\\"_dId\\":1}"'),
    "texts in texts": filled('"#":"{\\"a\\":\\"{\\\\\\"_mId\\\\\\":1}\\"}"'),
    "escapes": '{"a":"' + "\\u00e9" * 10_000 + '"}',
    "long numbers": filled("0." + "1" * 1000, '{"a":[', "]}"),
}


def ticks(server: Server) -> int:
    """Hundredths of a second of CPU that the process has used."""
    with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def cost(server: Server, stub, text: str, platform: int) -> float:
    """Ticks of CPU that inspecting a document takes."""
    request = s.InspectPayloadRequest(json=text, platform=platform)
    calls, before = 0, ticks(server)
    # Long enough for the clock of the process, and no longer.
    while calls < 200 and ticks(server) - before < 40:
        stub.InspectPayload(request)
        calls += 1
    return (ticks(server) - before) / calls


def test_no_document_costs_much_more_than_the_plainest(running, stub, figure):
    plain = '{"a":"' + "x" * (LIMIT - 8) + '"}'
    base = max(cost(running, stub, plain, e.PLATFORM_ANDROID), 0.01)
    for name, text in COSTLY.items():
        json.loads(text)
        assert len(text) <= LIMIT
        ratio = max(cost(running, stub, text, platform) / base
                    for platform in (e.PLATFORM_ANDROID, e.PLATFORM_IOS))
        figure(f"inspection: {name}, {ratio:.0f} times the CPU of one long string")
        # Typos are looked for letter by letter, in each key that is about as long as a known one.
        assert ratio < (60 if name == "flags that are nearly right" else 16), name


def test_who_records_does_not_wait_for_those_who_inspect(running, stub, figure):
    request = s.InspectPayloadRequest(json=COSTLY["small members"], platform=e.PLATFORM_ANDROID)

    def median() -> float:
        times = []
        for _ in range(50):
            started = time.monotonic()
            stub.RecordEvents(s.RecordEventsRequest())
            times.append(time.monotonic() - started)
        return statistics.median(times)

    # Other work on the machine may begin after the first median.
    before = median()
    with concurrent.futures.ThreadPoolExecutor(max_workers=40) as pool:
        calls = [pool.submit(stub.InspectPayload, request) for _ in range(60)]
        busy = median()
        for call in calls:
            call.result(timeout=60)
    quiet = max(before, median())
    figure(f"inspection: a request takes {quiet * 1000:.1f} ms, and {busy * 1000:.1f} ms beside 40")
    # A share of two cores that the client itself uses too: what it must not be is their sum.
    assert busy < 30 * quiet + 0.05


def test_as_many_calls_wait_as_the_key_says(make_server):
    """With a place for one, of calls that come at once some find it taken."""
    server = make_server("--set=limits.waiting_calls=1").start()
    request = s.InspectPayloadRequest(json=COSTLY["small members"], platform=e.PLATFORM_ANDROID)
    with server.channel() as channel:
        inspect = server.stub(channel).InspectPayload

        def is_refused() -> bool:
            calls = [inspect.future(request, timeout=60) for _ in range(20)]
            reasons = {reason(error) for error in [call.exception() for call in calls] if error}
            assert reasons <= {"OVERLOADED"}
            return bool(reasons)

        wait_until(is_refused, "a call is refused")


@pytest.mark.parametrize("size, is_taken", [(LIMIT, True), (LIMIT + 1, False)])
def test_a_payload_is_inspected_at_the_limit_and_refused_one_beyond(stub, size, is_taken):
    text = '{"a":"' + "x" * (size - 8) + '"}'
    call = stub.InspectPayload.with_call
    try:
        answer, _ = call(s.InspectPayloadRequest(json=text, platform=e.PLATFORM_IOS))
        assert is_taken and not answer.tracked
    except Exception as error:  # pylint: disable=broad-except
        assert not is_taken and "json" in str(error), error
