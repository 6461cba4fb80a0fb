"""SIGTERM ends the server in time whatever a peer does, and what was acked stays."""

import base64
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import signal
import socket
import threading
import time

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from facts import Facts
from protos import event as e
from protos import service as s
from server import STOP_SECONDS, wait_until
from stream import Stream
from test_kill_loses_no_ack import Client, check_hits, resend_all
from test_sinks import listed
from test_terminal_commands import run

SAMPLE, WHOLE = 5, 20
STREAMS = 4
EVENTS_PER_SECOND = 5_000
REQUEST = 50
# The sink may take 5 s to flush after the drain.
DRAIN_SECONDS, FLUSH_SECONDS = 1, 5
ROUND_SECONDS = 30
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0"


def connect(server, sent: bytes) -> socket.socket:
    """A connection that sends these bytes, and is silent then. The server greets whom it has heard."""
    host, port = server.target.rsplit(":", 1)
    peer = socket.create_connection((host, int(port)), timeout=10)
    peer.sendall(sent)
    assert not sent or peer.recv(9), "the server sends its SETTINGS"
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


def test_a_stopped_reader_of_standard_output_does_not_hold_the_server(
        make_server, monkeypatch, figure, seed):
    """What it has got is whole lines, and the next start prints the rest."""
    server = make_server("--set=sink=stdout")
    unread = []

    def read_addresses(stdout, lines) -> None:
        for line in itertools.islice(stdout, 2):
            lines.put(line)
        unread.append(stdout)

    with monkeypatch.context() as patch:
        patch.setattr(server, "_read", read_addresses)
        server.start()
    facts = Facts(seed, int(time.time()))
    owed = set()
    with server.channel() as channel:
        for _ in range(10):
            sent = [facts.push(kind=e.PUSH_INTERACTION_KIND_OPENED) for _ in range(50)]
            owed.update(*(fact.hits for fact in sent))
            events = [fact.event for fact in sent]
            server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events))
    end(server, figure, "a reader of standard output that has stopped")
    printed = set(map(hit_id, unread[0]))
    assert 0 < len(printed) < len(owed), "the pipe has held none, or all of them"
    server.start()
    while printed < owed:
        printed.add(hit_id(server.lines.get(timeout=60)))
    assert printed == owed
    assert server.terminate() == 0


@pytest.mark.parametrize("signals", [1, 2])
def test_a_paused_sink_does_not_hold_a_server_without_a_journal(
        make_server, monkeypatch, seed, signals):
    """Its acks wait for the sink: once the drain is over, calls end with none."""
    monkeypatch.setenv("SIGHTLINE_DRAIN_SECONDS", "2" if signals == 1 else "20")
    server = make_server("--set=journal.mode=off").start()
    run("sinks", "pause", "sqlite", "--data-dir", server.directory)
    facts = Facts(seed, int(time.time()))
    first, second = (facts.push(kind=e.PUSH_INTERACTION_KIND_OPENED).event for _ in range(2))
    is_over = threading.Event()

    def requests():
        yield s.StreamEventsRequest(sequence=1, events=[second])
        is_over.wait()

    def is_waiting(groups: int) -> bool:
        return listed(server)["sqlite"]["lag_groups"] == groups

    with server.channel() as channel:
        stub = server.stub(channel)
        call = stub.RecordEvents.future(s.RecordEventsRequest(events=[first]), timeout=90)
        wait_until(lambda: is_waiting(1), "the call's group to wait for the sink")
        stream = stub.StreamEvents(requests(), timeout=90)
        try:
            wait_until(lambda: is_waiting(2), "the stream's group to wait for the sink")
            if signals == 2:
                server.process.send_signal(signal.SIGTERM)
                wait_until(lambda: "draining" in server.log(), "the drain has begun", 10)
            server.process.send_signal(signal.SIGTERM)
            assert server.wait(15, f"to end after signal {signals}") == 0, server.log()
        finally:
            is_over.set()
            stream.cancel()
        # The answer may be cut off with its connection.
        if call.exception() is None:
            assert call.result().tally.retry_later == 1
        else:
            assert call.code() == grpc.StatusCode.UNAVAILABLE


def hit_id(line: str) -> bytes:
    return base64.b64decode(json.loads(line)["hitId"])


def test_with_a_delay_it_is_not_ready_and_still_accepts(make_server, monkeypatch, figure):
    """Until the delay is over a balancer may send clients, on connections that are new too."""
    monkeypatch.setenv("SIGHTLINE_DRAIN_DELAY_SECONDS", "5")
    server = make_server().start()
    server.process.terminate()
    wait_until(lambda: not_serving(server), "NOT_SERVING")
    event = Facts(1, int(time.time()), 92).track_action().event
    with server.channel() as channel:
        answer = server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[event]), timeout=20)
    assert answer.tally.accepted == 1
    assert server.wait(5 + STOP_SECONDS, "to end after its delay") == 0
    assert server.start().wait_for_hits(1) is None
    assert "not ready, still accepting" in server.log(20_000)


def not_serving(server) -> bool:
    with server.channel() as channel:
        answer = health_pb2_grpc.HealthStub(channel).Check(
            health_pb2.HealthCheckRequest(), timeout=20)
    return answer.status == health_pb2.HealthCheckResponse.NOT_SERVING


class PacedClient(Client):
    """Sends at a rate, and keeps how its stream has ended."""

    def __init__(self, number: int, seed: int):
        super().__init__(number, seed)
        self.code: grpc.StatusCode | None = None
        self.has_seen_closing = False

    def batches(self):
        """New requests at this client's share of the rate."""
        pause = REQUEST * STREAMS / EVENTS_PER_SECOND
        due = time.monotonic()
        for batch in super().batches():
            due += pause
            time.sleep(max(0.0, due - time.monotonic()))
            yield batch

    def run(self, server, batches, first_ack, seconds) -> None:
        """Streams until the server ends it, or all is acked."""
        self.code, stream = None, None
        try:
            with server.channel() as channel:
                stream = Stream(channel, self.pending)
                stream.run(batches, lambda *ack: self.take(first_ack, *ack), seconds)
        except grpc.RpcError as error:
            self.code = error.code()
        except BaseException as error:  # pylint: disable=broad-except
            self.failure = error
        self.has_seen_closing = any(a.HasField("closing") for a in stream.answers)


def load(server, clients, stop) -> None:
    """Runs `stop` at a random moment while all clients send, and waits for their end."""
    acked = [threading.Event() for _ in clients]
    threads = [threading.Thread(target=client.run,
                                args=(server, client.batches(), event, ROUND_SECONDS))
               for client, event in zip(clients, acked)]
    for thread in threads:
        thread.start()
    try:
        for event in acked:
            assert event.wait(ROUND_SECONDS), f"nothing was acked\n{server.log()}"
        # The random moment is the test, so this wait is for nothing else.
        threading.Event().wait(random.uniform(0, 0.5))
        stop()
    finally:
        server.close()
        for thread in threads:
            thread.join(ROUND_SECONDS)
            assert not thread.is_alive(), "a client hangs after the drain"
    for client in clients:
        assert client.failure is None, f"{client.failure!r}\n{server.log()}"


@pytest.mark.timeout(300)
def test_drains_under_load(make_server, monkeypatch, amount, figure):
    """5,000 events/s: each drain exits with 0 in time, tells its clients, and loses nothing; every
    fifth with a peer that never answers the PING that follows GOAWAY."""
    monkeypatch.setenv("SIGHTLINE_DRAIN_SECONDS", f"{DRAIN_SECONDS}")
    rounds = amount(SAMPLE, WHOLE)
    clients = [PacedClient(number, random.SystemRandom().randrange(1 << 32))
               for number in range(STREAMS)]
    server = make_server()
    times = []

    def stop() -> None:
        started = time.monotonic()
        assert server.terminate() == 0, server.log()
        times.append(time.monotonic() - started)

    for number in range(rounds):
        server.start()
        with contextlib.ExitStack() as stack:
            if number % 5 == 4:
                stack.enter_context(connect(server, PREFACE))
            load(server, clients, stop)
        assert times[-1] < DRAIN_SECONDS + FLUSH_SECONDS, f"round {number} took {times[-1]:.1f} s"
        for client in clients:
            assert client.has_seen_closing, f"no closing in round {number}\n{server.log()}"
            assert client.code == grpc.StatusCode.UNAVAILABLE, f"{client.code} in round {number}"
    figure(f"drain: {rounds} of {rounds} under load exit 0, {min(times):.1f} to {max(times):.1f} s")
    resend_all(server, clients)
    check_hits(server, clients, figure, f"{rounds} drains")


def test_a_second_signal_ends_at_once(make_server, monkeypatch, figure):
    """It cuts the drain short; what was acked is on disk, and the rest is sent again."""
    monkeypatch.setenv("SIGHTLINE_DRAIN_SECONDS", "20")
    clients = [PacedClient(number, random.SystemRandom().randrange(1 << 32))
               for number in range(STREAMS)]
    server = make_server().start()

    def stop() -> None:
        server.process.send_signal(signal.SIGTERM)
        # Its log says that the first one has come; two at once would be one.
        wait_until(lambda: "draining" in server.log(), "the drain has begun", 10)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert server.wait(10, "to end after the second SIGTERM") == 0, server.log()
        figure(f"drain: exit 0 {time.monotonic() - started:.1f} s after a second signal")

    with connect(server, PREFACE):
        load(server, clients, stop)
    resend_all(server, clients)
    check_hits(server, clients, figure, "a second signal")
