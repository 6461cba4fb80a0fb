"""What docs/clients.md says of streams that no other test holds."""

import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_status import rpc_status

from details import details, failure, reason
from protos import event as e
from protos import service as s
from protos import verdict as v
from server import wait_until
from stream import METHOD
from test_credentials import REFUSED, KeysFile, bearer
from test_one_bad_event_fails_alone import exchange, facts, only_result, record, request, results_of  # noqa: F401
from test_terminal_commands import run

SECONDS = 30
GRACE_SECONDS = 2


class OpenStream:
    """A stream whose requests are sent, and whose answers are read, one by one."""

    def __init__(self, server, metadata=None, timeout: float = SECONDS):
        self.channel = server.channel()
        self.requests: list[bytes | None] = []
        self.is_there = threading.Condition()
        call = self.channel.stream_stream(METHOD, request_serializer=None,
                                          response_deserializer=s.StreamEventsResponse.FromString)
        self.call = call(self._sent(), metadata=metadata, timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.half_close()
        self.call.cancel()
        self.channel.close()

    def _sent(self):
        while True:
            with self.is_there:
                self.is_there.wait_for(lambda: self.requests)
                next_one = self.requests.pop(0)
            if next_one is None:
                return
            yield next_one

    def send(self, *requests: bytes | None) -> None:
        with self.is_there:
            self.requests += requests
            self.is_there.notify()

    def half_close(self) -> None:
        self.send(None)

    def answer(self) -> s.StreamEventsResponse:
        return next(self.call)

    def until(self, is_it) -> list[s.StreamEventsResponse]:
        """The answers up to the first of which this is true."""
        answers = [self.answer()]
        while not is_it(answers[-1]):
            answers.append(self.answer())
        return answers

    def rest(self) -> tuple[list[s.StreamEventsResponse], grpc.RpcError | None]:
        """All answers that are left, and what the stream ends with."""
        answers = []
        try:
            for answer in self.call:
                answers.append(answer)
        except grpc.RpcError as error:
            return answers, error
        return answers, None


# Opening


def test_limits_come_before_anything_is_sent(running):
    with OpenStream(running) as stream:
        first = stream.answer()
    assert first.HasField("limits") and first.limits.max_events == 2000
    assert first.durable_sequence == 0 and not first.results


def test_the_option_is_read_from_the_first_request_alone(running, facts):  # noqa: F811
    for first in (True, False):
        answers = exchange(running, request(1, facts.push().event, report=first),
                           request(2, facts.push().event, report=not first))
        told = [result.sequence for result in results_of(answers)]
        assert told == ([1, 2] if first else [])


# Sequences


def test_sequences_belong_to_their_stream(running, facts):  # noqa: F811
    """A later stream, and one beside it, may begin anywhere."""
    with OpenStream(running) as beside:
        beside.send(request(7, facts.push().event))
        beside.until(lambda answer: answer.durable_sequence == 7)
        for first in (5, 5, 1):
            answers = exchange(running, request(first, facts.push().event))
            assert answers[-1].durable_sequence == first
            assert sum(answer.tally.accepted for answer in answers) == 1
        beside.send(request(8, facts.push().event))
        beside.until(lambda answer: answer.durable_sequence == 8)


def test_what_came_before_a_wrong_sequence_is_answered(running, facts):  # noqa: F811
    with OpenStream(running) as stream:
        stream.send(*(request(sequence, facts.push().event) for sequence in (1, 2, 2, 3)))
        answers, error = stream.rest()
    assert reason(error) == "SEQUENCE_NOT_RISING"
    assert answers[-1].durable_sequence == 2
    assert sum(answer.tally.accepted for answer in answers) == 2


def test_a_request_that_cannot_be_parsed_has_no_sequence(running, facts):  # noqa: F811
    answers = exchange(running, request(1, facts.push().event), b"\xff\xff\xff\xff")
    (result,) = results_of(answers)
    assert result.sequence == 0 and not result.HasField("index")
    assert answers[-1].durable_sequence == 1


# Sending again


def test_what_is_sent_again_is_a_duplicate_and_settled(running, facts):  # noqa: F811
    """On another stream with the same sequence or another one, or by a unary call."""
    events = [facts.push().event, facts.in_app().event, facts.track_action().event]
    first = results_of(exchange(running, request(4, *events, report=True)))
    assert {result.verdict for result in first} == {v.VERDICT_ACCEPTED}
    for sequence in (4, 9):
        answers = exchange(running, request(sequence, *events, report=True))
        assert [result.verdict for result in results_of(answers)] == [v.VERDICT_DUPLICATE] * 3
        assert answers[-1].durable_sequence == sequence
    with running.channel() as channel:
        again = record(running.stub(channel), *events).results
    assert [(result.verdict, result.sequence) for result in again] == [
        (v.VERDICT_DUPLICATE, 0)] * 3


def test_what_was_acked_before_a_kill_is_a_duplicate_after_it(make_server, facts):  # noqa: F811
    server = make_server().start()
    events = [facts.push().event, facts.in_app().event, facts.track_action().event]
    for verdict in (v.VERDICT_ACCEPTED, v.VERDICT_DUPLICATE):
        results = results_of(exchange(server, request(1, *events, report=True)))
        assert [result.verdict for result in results] == [verdict] * 3
        server.kill()
        server.start()


def test_what_an_event_id_tells_apart(stub, facts):  # noqa: F811
    """With another id a push is the same fact still, and an in-app event is not."""
    push, in_app = facts.push().event, facts.in_app().event
    for event, verdict in ((push, v.VERDICT_DUPLICATE), (in_app, v.VERDICT_ACCEPTED)):
        event.event_id = "a"
        assert only_result(stub, event).verdict == v.VERDICT_ACCEPTED
        event.event_id = "b"
        assert only_result(stub, event).verdict == verdict


def test_retry_later_is_settled_and_taken_in_a_new_request(make_server, facts):  # noqa: F811
    """A full journal keeps nothing; once there is room, the same event is accepted."""
    server = make_server("--set=journal.max_bytes=20000").start()
    where = ("--data-dir", server.directory)
    run("sinks", "pause", "sqlite", *where)
    with OpenStream(server) as stream:
        answer, sequence, sent = stream.answer(), 0, None
        while not answer.tally.retry_later:
            sequence += 1
            sent = facts.push(kind=1).event
            stream.send(request(sequence, sent))
            answer = stream.until(lambda it: it.durable_sequence == sequence)[-1]
        assert [result.verdict for result in answer.results] == [v.VERDICT_RETRY_LATER]
        assert answer.retry_delay.ToMilliseconds() == 1000
        run("sinks", "resume", "sqlite", *where)

        def is_taken() -> bool:
            nonlocal sequence
            sequence += 1
            stream.send(request(sequence, sent))
            return stream.until(lambda it: it.durable_sequence == sequence)[-1].tally.accepted == 1

        wait_until(is_taken, "there is room again", every=answer.retry_delay.seconds)


@pytest.mark.parametrize("default, verdict", [
    ("opted_in", v.VERDICT_ACCEPTED), ("unknown", v.VERDICT_SUPPRESSED_CONSENT)])
def test_consent_that_is_left_out_is_what_the_server_says(make_server, facts,  # noqa: F811
                                                          default, verdict):
    server = make_server(*[] if default == "opted_in" else [
        f"--set=rules.default_consent={default}"]).start()
    event = facts.push().event
    event.ClearField("consent")
    with server.channel() as channel:
        assert only_result(server.stub(channel), event).verdict == verdict


def test_a_product_that_is_left_out_is_standard(stub, facts):  # noqa: F811
    """The same payload as one of Classic has other hits."""
    opened = e.PUSH_INTERACTION_KIND_OPENED
    standard = only_result(stub, facts.push(kind=opened).event)
    classic = only_result(stub, facts.push(kind=opened, classic=True).event)
    assert list(standard.hits) == [v.HIT_KIND_CLICK, v.HIT_KIND_OPEN]
    assert list(classic.hits) == [v.HIT_KIND_CLICK]


# Ends


def test_a_half_close_is_answered_in_full_and_with_ok(running, facts):  # noqa: F811
    with OpenStream(running) as stream:
        stream.send(*(request(sequence, facts.push().event) for sequence in range(1, 31)), None)
        answers, error = stream.rest()
        assert error is None and stream.call.code() == grpc.StatusCode.OK
    assert answers[-1].durable_sequence == 30
    assert sum(answer.tally.accepted for answer in answers) == 30


@pytest.fixture
def aging(make_server):
    """A server that ends each connection after a second."""
    return make_server("--set=connections.max_age_seconds=1").start()


def test_a_half_close_within_the_grace_ends_with_ok(aging, facts):  # noqa: F811
    with OpenStream(aging) as stream:
        stream.send(request(1, facts.push().event))
        closing = stream.until(lambda answer: answer.HasField("closing"))[-1].closing
        assert closing.grace.ToMilliseconds() == GRACE_SECONDS * 1000
        stream.send(request(2, facts.push().event), None)
        answers, error = stream.rest()
        assert error is None and stream.call.code() == grpc.StatusCode.OK
    assert answers[-1].durable_sequence == 2


def test_a_stream_that_is_not_half_closed_ends_after_its_grace(aging, facts):  # noqa: F811
    with OpenStream(aging) as stream:
        stream.send(request(1, facts.push().event))
        stream.until(lambda answer: answer.HasField("closing"))
        started = time.monotonic()
        _, error = stream.rest()
        assert time.monotonic() - started > GRACE_SECONDS / 2
    found = details(error)
    assert (error.code(), found["ErrorInfo"].reason) == (
        grpc.StatusCode.UNAVAILABLE, "SERVER_CLOSING")
    assert found["RetryInfo"].retry_delay.ToMilliseconds() == 0


def test_a_deadline_ends_a_stream_and_takes_nothing_back(running, facts):  # noqa: F811
    event = facts.push().event
    with OpenStream(running, timeout=5) as stream:
        stream.send(request(1, event))
        stream.until(lambda answer: answer.durable_sequence == 1)
        _, error = stream.rest()
    assert error.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    with running.channel() as channel:
        assert only_result(running.stub(channel), event).verdict == v.VERDICT_DUPLICATE


def test_a_broken_connection_is_unavailable_without_a_reason(make_server, facts):  # noqa: F811
    """The same while a stream is open and before it."""
    server = make_server().start()
    for _ in range(2):
        with OpenStream(server) as stream:
            if server.process.poll() is None:
                stream.send(request(1, facts.push().event))
                stream.until(lambda answer: answer.durable_sequence == 1)
                server.kill()
            _, error = stream.rest()
        assert error.code() == grpc.StatusCode.UNAVAILABLE
        assert rpc_status.from_call(error) is None


# Limits


def test_requests_beyond_the_limit_are_slowed_and_not_refused(make_server, facts):  # noqa: F811
    server = make_server("--set=stream.max_requests=2").start()
    with OpenStream(server) as stream:
        stream.send(*(request(sequence, facts.push().event) for sequence in range(1, 201)), None)
        answers, error = stream.rest()
    assert answers[0].limits.max_unacknowledged_requests == 2
    assert error is None and answers[-1].durable_sequence == 200
    assert sum(answer.tally.accepted for answer in answers) == 200


def test_a_quota_slows_a_stream_and_refuses_a_call(make_server, facts):  # noqa: F811
    """100 events per second: 300 take 2 s; of calls the second one is refused, with a delay."""
    server = make_server("--set=quotas.events_per_second=100").start()
    with OpenStream(server) as stream:
        started = time.monotonic()
        stream.send(*(request(sequence, *(facts.push(kind=1).event for _ in range(50)))
                      for sequence in range(1, 7)), None)
        answers, error = stream.rest()
        assert time.monotonic() - started > 1
    assert error is None and sum(answer.tally.accepted for answer in answers) == 300
    with server.channel() as channel:
        stub = server.stub(channel)
        error = failure(lambda: [record(stub, *(facts.push().event for _ in range(100)))
                                 for _ in range(3)])
    found = details(error)
    assert (error.code(), found["ErrorInfo"].reason) == (
        grpc.StatusCode.RESOURCE_EXHAUSTED, "QUOTA_EXCEEDED")
    assert found["RetryInfo"].retry_delay.ToMilliseconds() > 0


def test_a_stream_that_a_quota_would_slow_for_too_long_ends(make_server, facts):  # noqa: F811
    """What it had read by then is acked; the delay is in the status."""
    server = make_server("--set=quotas.events_per_second=10",
                         "--set=quotas.stream_wait_seconds=1").start()
    with OpenStream(server) as stream:
        stream.send(request(1, *(facts.push(kind=1).event for _ in range(100))),
                    request(2, facts.push(kind=1).event))
        answers, error = stream.rest()
    assert reason(error) == "QUOTA_EXCEEDED"
    assert details(error)["RetryInfo"].retry_delay.seconds > 1
    assert answers[-1].durable_sequence == 1 and answers[-1].tally.accepted == 100


# Credentials


def test_a_key_stands_in_either_header_and_once(make_server, tmp_path, facts):  # noqa: F811
    keys = KeysFile(tmp_path / "keys.jsonl")
    key = keys.new("shop")
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}").start()
    for metadata in ([("authorization", f"Bearer {key}")], [("authorization", f"bearer {key}")],
                     [("x-api-key", key)]):
        with OpenStream(server, metadata) as stream:
            stream.send(request(1, facts.push().event))
            stream.until(lambda answer: answer.tally.accepted == 1)
    for metadata in (bearer(key) + [("x-api-key", key)], bearer(key) * 2,
                     [("authorization", key)], [("authorization", f"Basic {key}")]):
        with OpenStream(server, metadata) as stream:
            _, error = stream.rest()
        assert (error.code(), reason(error)) == REFUSED, metadata


def test_health_is_told_without_credentials(make_server, tmp_path):
    keys = KeysFile(tmp_path / "keys.jsonl")
    keys.new("shop")
    server = make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}").start()
    with server.channel() as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
