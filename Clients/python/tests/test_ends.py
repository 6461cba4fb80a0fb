"""What ends a client, and after what it connects again."""

import asyncio
import logging

import grpc
import pytest
from google.protobuf import duration_pb2
from google.rpc import error_details_pb2, status_pb2
from grpc_status import rpc_status

import sightline
from fake import SECONDS, event
from sightline.errors import duration
from sightline.streams import backoff
from sightline.v1.verdict_pb2 import VERDICT_ACCEPTED

RETRY_INFO = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(nanos=50_000_000))
EXPIRED, UNKNOWN_METHOD, UNKNOWN_SERVICE, OF_A_PROXY = (
    error_details_pb2.ErrorInfo(reason=reason, domain=domain) for reason, domain in [
        ("CREDENTIALS_EXPIRED", "sightline.v1"), ("UNIMPLEMENTED", "sightline.v1"),
        ("SERVICE_UNKNOWN", "sightline.v1"), ("NO_ROUTE", "proxy.example")])
OURS = UNKNOWN_METHOD


def test_a_refused_client_ends_and_keeps_its_events(fake, connect):
    refusal = status_pb2.Status(code=16, message="who are you")
    refusal.details.add().Pack(OURS)
    fake.refusal = [rpc_status.to_status(refusal)]
    client = connect()
    ticket = client.send(event("kept"))
    with pytest.raises(sightline.ClientFailed, match="UNAUTHENTICATED: who are you"):
        ticket.result(SECONDS)
    with pytest.raises(sightline.ClientFailed):
        client.flush(SECONDS)
    assert [e.event_id for e in client.unacknowledged()] == ["kept"]


def test_a_server_that_is_away_is_tried_again(fake, connect):
    fake.refusal = [rpc_status.to_status(status_pb2.Status(code=14, message="later"))] * 2
    client = connect()
    assert client.send(event()).result(SECONDS).verdict == VERDICT_ACCEPTED
    assert client.stats().streams == 3


@pytest.mark.parametrize("code, detail, is_tried_again", [
    (grpc.StatusCode.UNAVAILABLE, RETRY_INFO, True),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, RETRY_INFO, True),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, OURS, False),
    (grpc.StatusCode.RESOURCE_EXHAUSTED, None, True),
    (grpc.StatusCode.UNAUTHENTICATED, EXPIRED, True),
    (grpc.StatusCode.UNAUTHENTICATED, OURS, False),
    (grpc.StatusCode.UNAUTHENTICATED, OF_A_PROXY, True),
    (grpc.StatusCode.PERMISSION_DENIED, OURS, False),
    (grpc.StatusCode.INVALID_ARGUMENT, OURS, False),
    (grpc.StatusCode.INVALID_ARGUMENT, None, True),
    (grpc.StatusCode.INTERNAL, None, True),
    (grpc.StatusCode.UNIMPLEMENTED, None, True),
    (grpc.StatusCode.UNIMPLEMENTED, OF_A_PROXY, True),
    (grpc.StatusCode.UNIMPLEMENTED, UNKNOWN_METHOD, False),
    (grpc.StatusCode.NOT_FOUND, None, True),
    (grpc.StatusCode.NOT_FOUND, UNKNOWN_SERVICE, False),
])
def test_a_status_is_tried_again_or_ends_the_client(fake, connect, code, detail, is_tried_again):
    """As docs/errors.md says of each reason, and docs/clients.md of a status without one."""
    status = status_pb2.Status(code=code.value[0], message="no")
    if detail:
        status.details.add().Pack(detail)
    fake.refusal = [rpc_status.to_status(status)]
    ticket = connect().send(event())
    if is_tried_again:
        assert ticket.result(SECONDS).verdict == VERDICT_ACCEPTED
    else:
        with pytest.raises(sightline.ClientFailed, match=code.name):
            ticket.result(SECONDS)


@pytest.mark.parametrize("asked, waits", [
    (0.0, 0.0), (5.0, 5.0), (90.0, 90.0), (3600.0, 3600.0), (3601.0, 3600.0), (-5.0, 0.0),
])
def test_a_client_waits_as_long_as_the_server_asks_and_an_hour_at_most(asked, waits):
    assert backoff(0, asked, jitter=0) == waits
    assert backoff(0, asked, jitter=1) == waits + 0.1


@pytest.mark.parametrize("seconds", [-(1 << 60), 90, 1 << 60])
def test_any_delay_that_a_server_may_name_is_read(seconds):
    """A timedelta has room for fewer."""
    info = error_details_pb2.RetryInfo(retry_delay=duration_pb2.Duration(seconds=seconds))
    assert duration(info.SerializeToString()) == seconds


@pytest.mark.parametrize("token", ["key", "key\n", "key\r\n"])
def test_a_token_may_end_its_line(fake, connect, token):
    assert connect(token=token).send(event()).result(SECONDS)
    assert fake.metadata[0]["authorization"] == "Bearer key"


@pytest.mark.parametrize("token", ["SECRET\n\n", "SEC RET", "SECRET\x01", "SECRÉT", "\n",
                                   "S" * 16385])
def test_a_token_that_cannot_be_sent_ends_the_client_and_is_told_to_nobody(connect, caplog, token):
    caplog.set_level(logging.DEBUG)
    with pytest.raises(sightline.ClientFailed, match="UNAUTHENTICATED: .* one line") as failed:
        connect(token=token).send(event()).result(SECONDS)
    assert "SEC" not in f"{failed.value} {caplog.text}"
    assert "SSS" not in f"{failed.value} {caplog.text}"


@pytest.mark.parametrize("error", [ValueError, SystemExit, asyncio.CancelledError])
def test_a_function_for_tokens_that_fails_is_asked_again(fake, connect, error):
    """Also where what it raises would end a thread."""
    outcomes = [error("of the user")]

    def token():
        if outcomes:
            raise outcomes.pop()
        return "key"

    assert connect(token=token).send(event()).result(SECONDS).verdict == VERDICT_ACCEPTED
    assert [metadata["authorization"] for metadata in fake.metadata] == ["Bearer key"]


def test_a_function_may_give_a_better_token_the_next_time(fake, connect, caplog):
    caplog.set_level(logging.DEBUG)
    tokens = iter(["SECRET\n\n", "key"])
    assert connect(token=lambda: next(tokens)).send(event()).result(SECONDS)
    assert fake.metadata[0]["authorization"] == "Bearer key"
    assert "one line" in caplog.text and "SECRET" not in caplog.text
