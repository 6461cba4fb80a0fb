"""SIGTERM ends the server in time whatever a peer does, and what was acked stays."""

import multiprocessing
import os
import signal
import socket
import time

import pytest

from facts import Facts
from protos import service as s
from server import STOP_SECONDS

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"


def connect(server, sent: bytes) -> socket.socket:
    """A connection that the server has greeted, that sends these bytes, and is silent then."""
    host, port = server.target.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=10)
    assert peer.recv(9), "the server sends its SETTINGS first"
    peer.sendall(sent)
    return peer


def hold_a_stream(target: str, opened) -> None:
    """A client that opens a stream, tells of its first ack, and is silent from then on."""
    from server import Server  # In a process of its own.
    server = Server("unused")
    server.target = target
    with server.channel() as channel:
        facts = Facts(1, int(time.time()), 9)
        request = s.StreamEventsRequest(sequence=1, events=[facts.track_action().event])

        def requests():
            yield request
            time.sleep(600)

        for answer in server.stub(channel).StreamEvents(requests()):
            if answer.durable_sequence == 1:
                opened.set()


def end(server, figure, name: str) -> None:
    """SIGTERM; exit 0 within the promised time."""
    started = time.monotonic()
    assert server.terminate() == 0, server.log()
    seconds = time.monotonic() - started
    figure(f"drain: exit 0 after {seconds:.1f} s of {STOP_SECONDS} with {name}")


@pytest.mark.parametrize("name, sent", [
    ("a peer that sends nothing", b""),
    ("a peer that stops in the preface", PREFACE[:10]),
    ("a peer that never answers", PREFACE),
])
def test_a_silent_peer_does_not_hold_the_server(make_server, monkeypatch, figure, name, sent):
    """The transport alone would wait for its PING for ever."""
    monkeypatch.setenv("SIGHTLINE_DRAIN_SECONDS", "2")
    server = make_server().start()
    with connect(server, sent):
        end(server, figure, name)


def test_a_stopped_client_does_not_hold_the_server(make_server, monkeypatch, figure):
    """A client process that is stopped with an open stream reads no closing and answers no PING."""
    monkeypatch.setenv("SIGHTLINE_DRAIN_SECONDS", "2")
    server = make_server().start()
    context = multiprocessing.get_context("spawn")
    opened = context.Event()
    client = context.Process(target=hold_a_stream, args=(server.target, opened), daemon=True)
    client.start()
    try:
        assert opened.wait(60), "no ack"
        os.kill(client.pid, signal.SIGSTOP)
        end(server, figure, "a client that is stopped")
    finally:
        client.kill()
        client.join(10)
    assert server.start().wait_for_hits(1) is None
