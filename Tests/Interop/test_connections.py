"""What a connection may do: a peer that does more, or nothing at all, loses it, and only it."""

import contextlib
import http.client
import itertools
import pathlib
import re
import resource
import ssl
import threading
import time
import urllib.request

import grpc
import pytest
from hyperframe.frame import DataFrame, GoAwayFrame, PingFrame, SettingsFrame

from certificates import Authority
from facts import Facts
from frame_peer import PREFACE, Peer, goaways
from protos import service as s
from server import wait_until

# Whether others are served at all: how fast, Benchmarks/attacks measures on a quiet machine.
SERVED_SECONDS = 20
# In which a connection is closed that is refused.
CLOSED_SECONDS = 5
ENHANCE_YOUR_CALM = 0xB


@pytest.fixture
def serve(make_server, monkeypatch):
    """Starts a server with these `connections.…` keys."""

    def start(*arguments, **keys):
        for key, value in keys.items():
            monkeypatch.setenv(f"SIGHTLINE_CONNECTIONS_{key.upper()}", str(value))
        return make_server(*arguments).start()

    return start


class Healthy:
    """A grpcio client on one connection, asked now and then whether it is served."""

    def __init__(self, server):
        self.channel = server.channel()
        self.stub = server.stub(self.channel)
        self.facts = Facts(1, int(time.time()), 11)

    def __enter__(self):
        self.check()
        return self

    def __exit__(self, *_):
        self.channel.close()

    def check(self, seconds: float = SERVED_SECONDS) -> None:
        """An event is durable in time, whatever its neighbours do."""
        answer = self.stub.RecordEvents(
            s.RecordEventsRequest(events=[self.facts.track_action().event]),
            timeout=seconds, wait_for_ready=True)
        assert answer.tally.accepted == 1


def request(sequence: int, facts: Facts) -> bytes:
    event = facts.track_action().event
    return s.StreamEventsRequest(sequence=sequence, events=[event]).SerializeToString()


def test_pings_up_to_the_limit_are_answered_and_one_beyond_ends_that_connection(serve):
    server = serve(pings_per_30_seconds=50)
    with Healthy(server) as healthy, Peer(server.target) as peer:
        peer.greet().open_stream()
        peer.wait_for(DataFrame)  # The limits: nothing more is sent to it, so no PING is earned.
        for number in range(50):
            peer.ping(number)
            peer.wait_for_answer(number)
        peer.ping(50)
        frame = peer.wait_for(GoAwayFrame)
        assert frame.error_code == ENHANCE_YOUR_CALM
        assert (frame.last_stream_id, frame.additional_data) == (1, b"too_many_pings")
        healthy.check()
        seconds, frames = peer.wait_for_close()
        assert not any(isinstance(f, PingFrame) for f in frames)
        assert seconds < 5
        healthy.check()


def test_a_flood_of_pings_harms_nobody_else(serve):
    server = serve()
    with Healthy(server) as healthy:
        flood = PingFrame(opaque_data=b"12345678").serialize() * 1000

        def send(peer):
            try:
                while True:
                    peer.send_bytes(flood)
            except OSError:
                pass  # It has been cut off.

        peers = [Peer(server.target).greet() for _ in range(8)]
        threads = [threading.Thread(target=send, args=(peer,)) for peer in peers]
        for thread in threads:
            thread.start()
        healthy.check()
        for thread in threads:
            thread.join(10)
            assert not thread.is_alive(), "a flood goes on"
        healthy.check()
        for peer in peers:
            peer.socket.close()


def test_a_ping_with_each_answer_is_never_too_many(serve):
    """As grpc-go does it with its defaults. The bare transport ends the connection at 200."""
    server = serve(pings_per_30_seconds=2)
    facts = Facts(2, int(time.time()), 12)
    durable, pings, answered = 0, 0, 0
    with Peer(server.target) as peer:
        peer.greet().open_stream()
        peer.send_message(request(1, facts))
        while durable < 400 or answered < pings:
            frame = peer.frame()
            assert frame is not None, f"cut off after {durable} acks and {answered} PINGs"
            if isinstance(frame, PingFrame):
                answered += 1
            if isinstance(frame, DataFrame):
                before = durable
                durable = s.StreamEventsResponse.FromString(frame.data[5:]).durable_sequence
                pings += 1
                peer.ping(pings)
                if before < durable < 400:
                    peer.send_message(request(durable + 1, facts))
    assert pings > 400


def test_a_ping_that_comes_in_pieces_is_answered(serve):
    server = serve()
    with Peer(server.target) as peer:
        peer.greet()
        for byte in PingFrame(opaque_data=b"\0\0\0\0\0\0\0\7").serialize():
            peer.send_bytes(bytes([byte]))
        peer.wait_for_answer(7)


GREETING = PREFACE + SettingsFrame(settings={SettingsFrame.INITIAL_WINDOW_SIZE: 1}).serialize()


@pytest.mark.parametrize("name, sent", [
    ("nothing", b""), ("half a preface", PREFACE[:10]), ("a preface alone", PREFACE),
    ("half of its SETTINGS", GREETING[:-1]),
])
def test_who_does_not_greet_in_time_is_closed(serve, name, sent):
    server = serve(handshake_seconds=1)
    with Healthy(server) as healthy, Peer(server.target) as peer:
        peer.send_bytes(sent)
        seconds, _ = peer.wait_for_close()
        assert 0.5 < seconds < 5
        healthy.check()


def test_a_thousand_silent_connections_harm_nobody(serve, figure):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        silent_seconds = 12
        server = serve(handshake_seconds=silent_seconds, max_per_address=1100)
        with Healthy(server) as healthy:
            peers = [Peer(server.target, seconds=30) for _ in range(1000)]
            started = time.monotonic()
            # Beside them, and not once the last of them is closed.
            healthy.check(silent_seconds - 2)
            figure(f"connections: served in {time.monotonic() - started:.2f} s beside 1,000 silent")
            for peer in peers:
                peer.wait_for_close()
                peer.socket.close()
            assert time.monotonic() - started < silent_seconds + 17
            healthy.check()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_taken(server) -> bool:
    """Whether the server greets a new connection. One that it refuses may be closed before it has
    sent anything, or between its preface and its SETTINGS."""
    try:
        with Peer(server.target) as peer:
            return isinstance(peer.greet().frame(), SettingsFrame)
    except OSError:
        return False


@pytest.mark.parametrize("key", ["max", "max_per_address"])
def test_a_connection_beyond_the_cap_is_closed_at_once_and_no_other(serve, key):
    server = serve(**{key: 4})
    with Healthy(server) as healthy:
        peers = [Peer(server.target).greet() for _ in range(3)]
        for peer in peers:
            peer.wait_for(SettingsFrame)
        for _ in range(20):
            with Peer(server.target) as refused:
                seconds, frames = refused.wait_for_close()
                assert seconds < CLOSED_SECONDS and not frames
        healthy.check()
        for number, peer in enumerate(peers):
            peer.ping(number)
            peer.wait_for_answer(number)
        peers.pop().socket.close()
        wait_until(lambda: is_taken(server), "the place of one that has gone is free")
        for peer in peers:
            peer.socket.close()


def ends(server) -> dict[str, str]:
    """The connections that the server has ended, by their reasons, as its metrics say."""
    with urllib.request.urlopen(server.admin + "metrics") as answer:
        text = answer.read().decode()
    return dict(re.findall(r'^sightline_connections_ended_total\{reason="(\w+)"\} (\d+)$', text,
                           re.MULTILINE))


def test_new_connections_of_one_address_come_no_faster_than_their_rate(serve):
    server = serve(max_per_address=20, new_per_second=1)
    # On a slow machine more are taken, as a second goes by; but not all of so many.
    taken = list(itertools.takewhile(bool, (is_taken(server) for _ in range(200))))
    assert 20 <= len(taken) < 200
    assert ends(server)["too_many_new"] == "1"
    wait_until(lambda: is_taken(server), "one more is taken a second later")


@pytest.mark.parametrize("proxies, taken, reason", [
    ("10.0.0.0/8, fd00::/8", 2, "too_many_of_address"), ("", 2, "too_many_of_address"),
    ("fd00::/8,127.0.0.0/8", 5, "too_many")])
def test_a_trusted_proxy_has_all_connections_but_no_more(serve, proxies, taken, reason):
    server = serve(max=5, max_per_address=2, trusted_proxies=proxies)
    peers = [Peer(server.target).greet() for _ in range(taken)]
    for peer in peers:
        peer.wait_for(SettingsFrame)
    for _ in range(3):
        with Peer(server.target) as refused:
            seconds, frames = refused.wait_for_close()
            assert seconds < CLOSED_SECONDS and not frames
    ended = ends(server)
    assert len(ended) > 5 and {name for name, count in ended.items() if count != "0"} == {reason}
    assert ended[reason] == "3"
    for peer in peers:
        peer.socket.close()


def test_connections_that_have_gone_leave_no_memory_behind(serve, figure):
    server = serve("--sink", "discard", max_per_address=4)
    held = [Peer(server.target).greet() for _ in range(4)]

    def resident() -> int:
        status = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
        return next(int(line.split()[1]) for line in status.splitlines() if "VmRSS" in line)

    def connect(count: int) -> None:
        for _ in range(count):
            # One that is refused may be closed before it has said a word.
            with Peer(server.target) as peer, contextlib.suppress(ConnectionError):
                peer.greet().frame()

    connect(500)
    before = resident()
    connect(3000)  # Refused, every one.
    for peer in held:
        peer.socket.close()
    connect(3000)
    grown = resident() - before
    figure(f"connections: {grown} KiB after 6,000 that have gone")
    assert grown < 1280


def test_at_its_age_a_connection_ends_with_every_request_acked(serve):
    server = serve(max_age_seconds=3)
    facts = Facts(3, int(time.time()), 13)
    is_closing, is_over = threading.Event(), threading.Event()
    sent = 0

    def requests():
        nonlocal sent
        while not is_closing.wait(0.01):
            sent += 1
            yield s.StreamEventsRequest(sequence=sent, events=[facts.track_action().event])
        is_over.wait(20)  # A client that does not end its side is ended by the server.

    with server.channel() as channel:
        durable, accepted = 0, 0
        with pytest.raises(grpc.RpcError) as ended:
            for answer in server.stub(channel).StreamEvents(requests(), timeout=20):
                durable, accepted = answer.durable_sequence, accepted + answer.tally.accepted
                if answer.HasField("closing"):
                    is_closing.set()
        is_over.set()
        assert ended.value.code() == grpc.StatusCode.UNAVAILABLE, ended.value
        assert is_closing.is_set(), "the stream was not told"
        assert (durable, accepted) == (sent, sent) and sent > 10
        # The next call finds a new connection.
        server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[facts.track_action().event]), timeout=SERVED_SECONDS,
            wait_for_ready=True)


@pytest.mark.parametrize("keys", [
    {"max_age_seconds": 1}, {"idle_seconds": 1},
    {"keepalive_seconds": 1, "keepalive_timeout_seconds": 1},
], ids=["age", "idle", "keepalive"])
def test_a_peer_that_never_answers_is_closed_hard_after_the_grace(serve, keys):
    """The transport alone would wait for the answer to its PING for ever."""
    server = serve(grace_seconds=3, **keys)
    has_stream = "idle_seconds" not in keys
    with Peer(server.target, seconds=20) as peer:
        peer.greet()
        if has_stream:
            peer.open_stream()
        assert peer.wait_for(GoAwayFrame).error_code == 0
        seconds, frames = peer.wait_for_close()
        assert 2 < seconds < 10
        assert has_stream == any(isinstance(f, DataFrame) for f in frames), "the stream is told"


def test_an_idle_peer_that_answers_is_let_go_at_once(serve):
    server = serve(idle_seconds=1, grace_seconds=60)
    with Peer(server.target) as peer:
        peer.greet()
        peer.wait_for(GoAwayFrame)
        peer.answer(peer.wait_for(PingFrame))
        seconds, frames = peer.wait_for_close()
        assert len(goaways(frames)) == 1 and seconds < 5


def test_a_peer_that_answers_keeps_its_stream(serve):
    server = serve(keepalive_seconds=1, keepalive_timeout_seconds=5, idle_seconds=1)
    with Peer(server.target) as peer:
        peer.greet().open_stream()
        # For longer than an answer may take: were the first not heard, the connection would end.
        for _ in range(8):
            peer.answer(peer.wait_for(PingFrame))
        facts = Facts(4, int(time.time()), 14)
        peer.send_message(request(1, facts))
        peer.wait_for(DataFrame, lambda f: s.StreamEventsResponse.FromString(
            f.data[5:]).durable_sequence == 1)


@pytest.fixture
def secured(serve, tmp_path, monkeypatch):
    """Starts a server with TLS, and gives the context for its peers."""

    def start(**keys):
        authority = Authority()
        certificate, key = authority.issue().write(tmp_path, "server")
        monkeypatch.setenv("SIGHTLINE_TLS_MODE", "tls")
        monkeypatch.setenv("SIGHTLINE_TLS_CERTIFICATE", certificate)
        monkeypatch.setenv("SIGHTLINE_TLS_KEY", key)
        context = ssl.create_default_context(cadata=authority.pem.decode())
        context.set_alpn_protocols(["h2"])
        return serve(**keys), context

    return start


def test_behind_tls_pings_are_answered_and_limited_too(secured):
    server, context = secured(pings_per_30_seconds=300)
    with Peer(server.target, context) as peer:
        peer.greet()
        for number in range(300):
            peer.ping(number)
            peer.wait_for_answer(number)
        peer.ping(300)
        assert peer.wait_for(GoAwayFrame).error_code == ENHANCE_YOUR_CALM
        assert peer.wait_for_close()[0] < 5


@pytest.mark.parametrize("is_encrypted", [True, False], ids=["after it", "within it"])
def test_the_tls_handshake_counts_in_the_time_for_greeting(secured, is_encrypted):
    server, context = secured(handshake_seconds=1)
    with Peer(server.target, context if is_encrypted else None) as peer:
        if is_encrypted:
            peer.send_bytes(PREFACE)
        else:
            peer.send_bytes(b"\x16\x03\x01")  # The beginning of a ClientHello.
        started = time.monotonic()
        try:
            peer.wait_for_close()
        except ssl.SSLError:
            pass  # Closed below TLS, as it has to be with a peer that does not answer.
        assert 0.5 < time.monotonic() - started < 5


@pytest.mark.parametrize("is_secured, words", [(False, "speaks gRPC"), (True, "speaks TLS")])
def test_a_request_of_http_1_is_told_what_the_port_is(serve, secured, is_secured, words):
    server = secured()[0] if is_secured else serve()
    client = http.client.HTTPConnection(*server.target.rsplit(":", 1), timeout=10)
    client.request("GET", "/")
    answer = client.getresponse()
    text = answer.read().decode()
    client.close()
    assert answer.status == 400 and words in text and len(text) < 300, text
