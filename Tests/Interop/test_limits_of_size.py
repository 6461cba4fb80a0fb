"""Requests at each limit of their size and one byte beyond: what the client is told, and what the
server's memory says to it."""

import re
import struct
import time

import grpc
import pytest
from hyperframe.frame import DataFrame

from details import details, failure, reason
from facts import Facts
from peer import Peer
from protos import service as s
from protos import verdict as v
from stream import METHOD, field, total

KIB, MIB = 1 << 10, 1 << 20
RECORD = "/sightline.v1.TrackingService/RecordEvents"
SECONDS = 30


def sized(request: bytes, size: int) -> bytes:
    """The request with an unknown field that brings it to exactly this size."""
    for header in range(3, 9):
        padded = request + field(100, bytes(size - len(request) - header))
        if len(padded) == size:
            return padded
    raise AssertionError(f"no padding makes {len(request)} bytes {size}")


def event(space: int):
    return Facts(7, int(time.time()), space=space).accepted().event


def peak_kib(server) -> int:
    """The most memory that the server has had."""
    status = open(f"/proc/{server.process.pid}/status", encoding="ascii").read()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


def record(channel, request: bytes) -> s.RecordEventsResponse:
    call = channel.unary_unary(RECORD, request_serializer=None,
                               response_deserializer=s.RecordEventsResponse.FromString)
    return call(request, timeout=SECONDS)


def check_too_large(error: grpc.RpcError) -> None:
    """Said once and for all: no client may take it for worth another try."""
    assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED, error
    assert reason(error) == "REQUEST_TOO_LARGE"
    found = details(error)
    assert "RetryInfo" not in found
    assert [violation.field for violation in found["BadRequest"].field_violations] == ["request"]


def test_a_unary_request_of_512_kib_is_taken(running):
    request = s.RecordEventsRequest(events=[event(9001)]).SerializeToString()
    with running.channel() as channel:
        answer = record(channel, sized(request, 512 * KIB))
    assert [result.verdict for result in answer.results] == [v.VERDICT_ACCEPTED]


@pytest.mark.parametrize("size", [512 * KIB + 1, MIB, MIB + 1, 2 * MIB, 16 * MIB])
def test_a_larger_unary_request_is_resource_exhausted(running, size):
    request = s.RecordEventsRequest(events=[event(9002)]).SerializeToString()
    with running.channel() as channel:
        check_too_large(failure(lambda: record(channel, sized(request, size))))
        # The connection is as good as before.
        small = s.RecordEventsRequest(events=[event(9003)]).SerializeToString()
        assert len(record(channel, small).results) == 1


@pytest.mark.parametrize("size", [512 * KIB + 1, MIB])
def test_a_stream_outlives_a_request_up_to_1_mib(running, size):
    requests = [
        sized(s.StreamEventsRequest(sequence=1, events=[event(9004)]).SerializeToString(), size),
        s.StreamEventsRequest(sequence=2, events=[event(9005 + size % 2)]).SerializeToString()]
    with running.channel() as channel:
        call = channel.stream_stream(METHOD, request_serializer=None,
                                     response_deserializer=s.StreamEventsResponse.FromString)
        answers = list(call(iter(requests), timeout=SECONDS))
    sums = total(answers)
    assert (sums["accepted"], sums["rejected"], sum(sums.values())) == (1, 1, 2)
    refused = [r for a in answers for r in a.results if r.verdict == v.VERDICT_REJECTED]
    assert [(r.sequence, r.HasField("index")) for r in refused] == [(1, False)]
    assert [violation.code for violation in refused[0].violations] == [
        v.VIOLATION_CODE_TOO_LARGE]
    assert answers[-1].durable_sequence == 2


def test_a_stream_ends_at_a_request_over_1_mib_and_says_why(running):
    requests = [
        s.StreamEventsRequest(sequence=1, events=[event(9010)]).SerializeToString(),
        sized(s.StreamEventsRequest(sequence=2).SerializeToString(), MIB + 1)]
    with running.channel() as channel:
        call = channel.stream_stream(METHOD, request_serializer=None,
                                     response_deserializer=s.StreamEventsResponse.FromString)
        answers = []

        def read() -> None:
            for answer in call(iter(requests), timeout=SECONDS):
                answers.append(answer)

        check_too_large(failure(read))
    assert total(answers)["accepted"] == 1 and answers[-1].durable_sequence == 1


@pytest.mark.parametrize("method", ["RecordEvents", "StreamEvents"])
def test_a_length_of_4_gib_is_refused_at_once(running, method):
    before = peak_kib(running)
    with Peer(running.target) as peer:
        peer.send(peer.headers(1, method), DataFrame(1, struct.pack(">BI", 0, 0xFFFF_FFFF)))
        trailers = peer.wait_for_status(1)
    assert trailers["grpc-status"] == f"{grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}"
    assert "grpc-status-details-bin" in trailers
    assert peak_kib(running) - before < 16 * KIB


def test_a_call_is_refused_for_its_metadata_with_its_messages_in_the_same_burst(running):
    request = s.StreamEventsRequest(sequence=1, events=[event(9015)]).SerializeToString()
    with Peer(running.target) as peer:
        for stream in range(1, 41, 2):
            peer.send(peer.headers(stream, "StreamEvents", ("x-large", "x" * (9 << 10))),
                      peer.message(stream, request), peer.message(stream, request, end=True))
            trailers = peer.wait_for_status(stream)
            assert trailers["grpc-status"] == f"{grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]}"
            assert "grpc-status-details-bin" in trailers
        # The connection is as good as before.
        peer.send(peer.headers(41), peer.message(41, request, end=True))
        assert peer.wait_for_status(41)["grpc-status"] == "0"


def test_many_requests_over_the_limit_leave_memory_bounded(make_server, figure):
    server = make_server().start()
    request = sized(b"", 16 * MIB)
    with server.channel() as channel:
        record(channel, s.RecordEventsRequest(events=[event(9020)]).SerializeToString())
        before = peak_kib(server)
        call = channel.unary_unary(RECORD, request_serializer=None, response_deserializer=None)
        calls = [call.future(request, timeout=SECONDS) for _ in range(50)]
        assert {c.exception().code() for c in calls} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    grown = (peak_kib(server) - before) // KIB
    figure(f"50 requests of 16 MiB at once: the server's peak grew by {grown} MiB")
    # Each is refused by its length, before its bytes are there.
    assert grown < 100
