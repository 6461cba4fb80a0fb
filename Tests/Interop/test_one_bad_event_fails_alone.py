"""What the service answers: verdicts in order, one bad event apart from the others, limits."""

import collections
import csv
import itertools
import time

import grpc
import pytest

from facts import Facts, verdict_name
from protos import event as e
from protos import service as s
from protos import verdict as v
from stream import METHOD, Batch, Stream, count_events, total

SECONDS = 30
SPACES = itertools.count(1000)


@pytest.fixture
def facts() -> Facts:
    """Facts with ids that no other test of this server uses."""
    return Facts(7, int(time.time()), space=next(SPACES))


def record(stub, *events: e.TrackingEvent) -> s.RecordEventsResponse:
    return stub.RecordEvents(s.RecordEventsRequest(events=events), timeout=SECONDS)


def only_result(stub, event: e.TrackingEvent) -> v.EventResult:
    (result,) = record(stub, event).results
    return result


def codes(result: v.EventResult) -> list[tuple[str, str]]:
    """Field and code of each violation."""
    return [(violation.field, v.ViolationCode.Name(violation.code).removeprefix("VIOLATION_CODE_"))
            for violation in result.violations]


def exchange(running, *requests: bytes) -> list[s.StreamEventsResponse]:
    """Sends raw requests on one stream, ends it, and reads all answers, whose tallies are the
    events sent."""
    answers = answers_to(running, *requests)
    assert sum(total(answers).values()) == sum(map(count_events, requests)), answers
    return answers


def answers_to(running, *requests: bytes) -> list[s.StreamEventsResponse]:
    """The same for requests that cannot be parsed though they begin with events."""
    with running.channel() as channel:
        call = channel.stream_stream(METHOD, request_serializer=None, response_deserializer=None)
        return [s.StreamEventsResponse.FromString(answer)
                for answer in call(iter(requests), timeout=SECONDS)]


def results_of(answers) -> list[v.EventResult]:
    return [result for answer in answers for result in answer.results]


def fails_with(running, *requests: bytes) -> grpc.RpcError:
    with pytest.raises(grpc.RpcError) as failure:
        exchange(running, *requests)
    return failure.value


def request(sequence: int, *events: e.TrackingEvent, report: bool = False) -> bytes:
    message = s.StreamEventsRequest(sequence=sequence, events=events)
    message.options.report_accepted = report
    return message.SerializeToString()


# The tracking flag


def truth_table(payloads) -> list[dict[str, str]]:
    with (payloads / "flag-truth-table.csv").open(newline="", encoding="utf-8") as table:
        return list(csv.DictReader(table))


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_each_row_of_the_truth_table(stub, payloads, facts, kind):
    """D1-D7: the flag decides alike for received, dismissed and opened."""
    for line in truth_table(payloads):
        flag = {"<absent>": None, "<empty>": ""}.get(line["flag"], line["flag"])
        platform = e.PLATFORM_IOS if line["platform"] == "ios" else e.PLATFORM_ANDROID
        expected, _, warning = line["verdict"].partition("+")
        result = only_result(stub, facts.push(kind, platform, flag=flag).event)
        assert verdict_name(result.verdict) == expected, f"{line}: {result}"
        assumed = v.WARNING_FLAG_ASSUMED_ON in result.warnings
        assert assumed == (warning == "flag_assumed_on"), f"{line}: {result}"
        assert bool(result.hits) == (expected == "accepted"), f"{line}: {result}"


def test_each_row_for_a_track_action(stub, payloads, facts):
    """D7: a TrackAction goes by the event's platform, and never warns of an absent flag."""
    for line in truth_table(payloads):
        event = facts.track_action().event
        event.platform = e.PLATFORM_IOS if line["platform"] == "ios" else e.PLATFORM_ANDROID
        if line["flag"] != "<absent>":
            event.track_action.acs_delivery_tracking = line["flag"].replace("<empty>", "")
        result = only_result(stub, event)
        expected = line["verdict"].partition("+")[0]
        assert verdict_name(result.verdict) == expected, f"{line}: {result}"
        assert v.WARNING_FLAG_ASSUMED_ON not in result.warnings, f"{line}: {result}"


def test_a_track_action_without_platform_compares_as_android(stub, facts):
    """D7: with no platform, Android's exact comparison."""
    event = facts.track_action().event
    event.platform = e.PLATFORM_UNSPECIFIED
    event.track_action.acs_delivery_tracking = "ON"
    assert only_result(stub, event).verdict == v.VERDICT_SUPPRESSED_FLAG_UNKNOWN


# Results


def test_results_stand_in_the_order_of_the_events(stub, facts):
    """D14, D47: one result for each event, with its place, its id and its hits in order."""
    kinds = [1, 2, 3] * 20
    sent = [facts.push(kind).event for kind in kinds]
    response = record(stub, *sent)
    assert [result.index for result in response.results] == list(range(len(sent)))
    assert [result.event_id for result in response.results] == [event.event_id for event in sent]
    hits = {1: [v.HIT_KIND_IMPRESSION], 2: [v.HIT_KIND_CLICK],
            3: [v.HIT_KIND_CLICK, v.HIT_KIND_OPEN]}
    assert [list(result.hits) for result in response.results] == [hits[kind] for kind in kinds]
    assert response.tally.accepted == len(sent)


def test_an_open_after_its_click_gives_the_open_alone(stub, facts):
    """D47: of an opened notification whose click is known, only the open is new."""
    dismissed = facts.push(kind=2).event
    opened = e.TrackingEvent()
    opened.CopyFrom(dismissed)
    opened.push.kind = e.PUSH_INTERACTION_KIND_OPENED
    first, second, third = record(stub, dismissed, opened, opened).results
    assert list(first.hits) == [v.HIT_KIND_CLICK]
    assert (second.verdict, list(second.hits)) == (v.VERDICT_ACCEPTED, [v.HIT_KIND_OPEN])
    assert third.verdict == v.VERDICT_DUPLICATE


def test_one_bad_event_harms_no_other(running, facts):
    """D39, D41: in one request, bad events are refused in their places, the others accepted."""
    events = [facts.push().event for _ in range(7)]
    events[1].ClearField("push")
    events[3].occur_time.nanos = -1
    events[5].push.kind = 99
    results = results_of(exchange(running, request(1, *events, report=True)))
    verdicts = {result.index: verdict_name(result.verdict) for result in results}
    assert verdicts == {index: "rejected" if index % 2 else "accepted" for index in range(7)}
    bad = {result.index: codes(result) for result in results if result.violations}
    assert bad[1] == [("interaction", "REQUIRED")]
    assert [code for _, code in bad[3]] == ["RANGE"] and bad[3][0][0].startswith("occur_time")
    assert bad[5] == [("push.kind", "RANGE")]


def test_a_malformed_event_harms_no_other(running, facts):
    """Bytes that are no event, inside a request that is one, are that event's alone."""
    batch = Batch(1, [facts.push() for _ in range(3)])
    batch.facts[1].bytes = b"\x0a\xff\xff"
    answers = exchange(running, Batch(1, batch.facts).bytes)
    assert [(result.index, codes(result)[0][1]) for result in results_of(answers)] == [
        (1, "MALFORMED")]
    assert answers[-1].durable_sequence == 1
    assert sum(answer.tally.accepted for answer in answers) == 2


@pytest.mark.parametrize("junk", [b"\xff\xff\xff\xff", b"\x12\x7f", b"\x0b", b"\x00"])
def test_a_request_that_is_no_protobuf_ends_nothing(running, facts, junk):
    """Its result stands for the whole request, and the stream goes on."""
    answers = exchange(running, request(1, facts.push().event), junk,
                       request(2, facts.push().event))
    (result,) = results_of(answers)
    assert not result.HasField("index"), result
    assert result.verdict == v.VERDICT_REJECTED
    assert [code for _, code in codes(result)] == ["MALFORMED"], result
    assert answers[-1].durable_sequence == 2
    assert sum(answer.tally.accepted for answer in answers) == 2


def test_an_empty_request_is_settled(running):
    """A request without events moves the watermark."""
    assert exchange(running, request(1), request(9))[-1].durable_sequence == 9


# ExplainEvents and InspectPayload


def test_explaining_claims_nothing(running, stub, facts):
    """D52: explaining twice is accepted twice; what is known is explained as a duplicate."""
    event = facts.push(kind=3).event

    def explain():
        (result,) = stub.ExplainEvents(s.ExplainEventsRequest(events=[event]),
                                       timeout=SECONDS).results
        assert result.explanation, "no steps"
        return result.verdict

    assert [explain(), explain()] == [v.VERDICT_ACCEPTED] * 2
    stored = running.query("SELECT count(*) FROM hits WHERE broadlog_id = ?", broadlog(event))
    assert stored[0][0] == 0
    assert only_result(stub, event).verdict == v.VERDICT_ACCEPTED
    assert explain() == v.VERDICT_DUPLICATE


def broadlog(event: e.TrackingEvent) -> str:
    push = event.push
    return (push.apns if push.HasField("apns") else push.fcm.data).message_id


def inspect(stub, json: str, platform: int) -> s.InspectPayloadResponse:
    return stub.InspectPayload(s.InspectPayloadRequest(json=json, platform=platform),
                               timeout=SECONDS)


@pytest.mark.parametrize("name, platform, tracked", [
    ("apns-alert", e.PLATFORM_IOS, True), ("apns-tester", e.PLATFORM_IOS, False),
    ("fcm-sent", e.PLATFORM_ANDROID, True), ("fcm-tester", e.PLATFORM_ANDROID, True)])
def test_inspecting_the_samples(stub, payloads, name, platform, tracked):
    """D31-D35: a payload without ids is a valid push that cannot be tracked."""
    response = inspect(stub, (payloads / f"{name}.json").read_text(encoding="utf-8"), platform)
    assert response.tracked == tracked, response
    errors = {f.key for f in response.findings if f.severity == s.SEVERITY_ERROR}
    assert errors >= (set() if tracked else {"_dId", "_mId"}), response
    severities = [finding.severity for finding in response.findings]
    assert severities == sorted(severities), "the worst is not first"


@pytest.mark.parametrize("json, platform, key", [
    ('{"aps":{"alert":{"_dId":"56c4","_mId":"h138a"}}}', e.PLATFORM_IOS, "_dId"),
    ('{"_dId":"56c4","_mid":"h138a"}', e.PLATFORM_IOS, "_mid"),
    ('{"data":{"_dId":"56c4","_mId":138}}', e.PLATFORM_ANDROID, "_mId"),
    ('{"data":{"_dId":"56c4","_mId":"h1","_acsDeliveryTracking":true}}', e.PLATFORM_ANDROID,
     "_acsDeliveryTracking")])
def test_inspecting_mistakes(stub, json, platform, key):
    """D13, D55: mistakes seen in the wild are named, and are not tracked."""
    response = inspect(stub, json, platform)
    assert not response.tracked, response
    named = " ".join(f"{f.key} {f.description}" for f in response.findings)
    assert key in named, response


# Sequences


@pytest.mark.parametrize("sequences", [[0], [1, 0], [5, 5], [5, 4]])
def test_a_sequence_that_does_not_rise_ends_the_stream(running, sequences):
    """D53: INVALID_ARGUMENT, and it names the field."""
    error = fails_with(running, *(request(sequence) for sequence in sequences))
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
    assert "sequence" in error.details(), error


# Limits


def padded(facts: Facts, size: int) -> e.TrackingEvent:
    """An event of exactly this many bytes. Its alert's text takes what is left."""
    event = facts.push(kind=1, platform=e.PLATFORM_IOS).event
    alert = event.push.apns.aps.alert
    # Lengths are varints of one to three bytes at each level; a second text takes an odd byte.
    for title, cost in itertools.product(range(1, 5), range(16)):
        alert.title, alert.body = "t" * title, ""
        alert.body = "b" * max(0, size - event.ByteSize() - cost)
        if event.ByteSize() == size:
            return event
    raise AssertionError(f"no event of {size} bytes")


def full_request(facts: Facts, size: int) -> bytes:
    """A request of exactly this many bytes, in events of at most 16 KiB."""
    message = s.StreamEventsRequest(sequence=1)
    while size - message.ByteSize() > 32_000:
        message.events.append(padded(facts, 15_000))
    # Each event costs its tag and a length of two bytes beside itself.
    left = size - message.ByteSize() - 6
    message.events.append(padded(facts, left // 2))
    message.events.append(padded(facts, left - left // 2))
    assert message.ByteSize() == size
    return message.SerializeToString()


@pytest.mark.parametrize("beyond", [0, 1])
def test_events_in_a_request(running, stub, facts, beyond):
    """2,000 events are taken; one more refuses the request, and the stream goes on."""
    events = [facts.push(kind=1).event for _ in range(2000 + beyond)]
    check_whole_request(running, facts, request(1, *events), beyond, len(events))
    if beyond:
        with pytest.raises(grpc.RpcError) as failure:
            record(stub, *events)
        assert failure.value.code() in (grpc.StatusCode.INVALID_ARGUMENT,
                                        grpc.StatusCode.RESOURCE_EXHAUSTED)


@pytest.mark.parametrize("beyond", [0, 1])
def test_bytes_of_a_request(running, facts, beyond):
    """512 KiB are taken; one byte more refuses the request, and the stream goes on."""
    data = full_request(facts, (512 << 10) + beyond)
    count = len(s.StreamEventsRequest.FromString(data).events)
    check_whole_request(running, facts, data, beyond, count)


def check_whole_request(running, facts, data: bytes, beyond: int, count: int) -> None:
    answers = exchange(running, data, request(2, facts.push().event))
    assert answers[-1].durable_sequence == 2
    accepted = sum(answer.tally.accepted for answer in answers)
    if not beyond:
        assert (results_of(answers), accepted) == ([], count + 1)
        return
    (result,) = results_of(answers)
    assert result.sequence == 1 and not result.HasField("index"), result
    assert [code for _, code in codes(result)] == ["TOO_LARGE"], result
    assert accepted == 1


@pytest.mark.parametrize("beyond", [0, 1])
def test_bytes_of_an_event(stub, facts, beyond):
    """D42: an event of 16 KiB is taken, one byte more is refused; its neighbours are not."""
    events = [facts.push().event, padded(facts, (16 << 10) + beyond), facts.push().event]
    results = record(stub, *events).results
    expected = [v.VERDICT_ACCEPTED] * 3
    if beyond:
        expected[1] = v.VERDICT_REJECTED
        assert [code for _, code in codes(results[1])] == ["TOO_LARGE"], results[1]
    assert [result.verdict for result in results] == expected


@pytest.mark.parametrize("path, limit", [
    ("event_id", 64), ("app_id", 256), ("subject_id", 256), ("push.action_identifier", 256)])
def test_sizes_of_fields(stub, facts, path, limit):
    """D42: each field is taken at its limit, and refused one byte beyond, with its path."""
    *parents, name = path.split(".")
    for size in (limit, limit + 1):
        event = facts.push().event
        owner = event
        for parent in parents:
            owner = getattr(owner, parent)
        setattr(owner, name, "x" * size)
        violations = codes(only_result(stub, event))
        assert violations == ([] if size == limit else [(path, "TOO_LARGE")])


@pytest.mark.parametrize("entries, key, value, accepted", [
    (64, 60, 10, True), (65, 60, 10, False), (1, 64, 10, True), (1, 65, 10, False),
    (1, 10, 1024, True), (1, 10, 1025, False)])
def test_sizes_of_custom_fields(stub, facts, entries, key, value, accepted):
    """D42: 64 custom fields, keys of 64 bytes, values of 1 KiB."""
    event = facts.push(platform=e.PLATFORM_IOS).event
    for number in range(entries):
        event.push.apns.custom_fields[f"{number:0{key}}"] = "v" * value
    result = only_result(stub, event)
    assert (result.verdict == v.VERDICT_ACCEPTED) == accepted, result
    assert accepted or codes(result)[0][1] == "TOO_LARGE", result


def test_accepted_results_come_when_asked_for(running, facts):
    """D51: with report_accepted every event has its result, under its own id."""
    with running.channel() as channel:
        sent = [facts.accepted() for _ in range(20)]
        stream = Stream(channel, collections.deque())
        first = Batch(1, sent)
        first.bytes = request(1, *(fact.event for fact in sent), report=True)
        told = {}
        stream.run(iter([first]), lambda _, results: told.update(
            {result.index: result.event_id for result in results}), SECONDS)
    assert told == {index: fact.event.event_id for index, fact in enumerate(sent)}
