"""Verdicts as the server gives them: at the admin socket and at the gRPC port, masked and not."""

import contextlib
import http.client
import json
import pathlib
import queue
import socket
import subprocess
import threading
import time

import grpc
import pytest

from details import details, reason
from facts import CANARY, Facts
from protos import event as e
from protos import service as s
from protos import tap as t
from protos import tap_grpc
from protos import verdict as v
from server import binary, wait_until
from test_credentials import Issuer, KeysFile, bearer, jwt_flags
from test_terminal_commands import run

SECONDS = 30


@pytest.fixture
def facts(seed) -> Facts:
    # Ids of so many digits stand in no bytes by chance.
    return Facts(seed, int(time.time()), space=1)


@pytest.fixture
def keys(tmp_path) -> KeysFile:
    return KeysFile(tmp_path / "keys.jsonl")


def with_keys(make_server, keys: KeysFile, *flags: str):
    return make_server("--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}", *flags).start()


def send(server, events: list[e.TrackingEvent], metadata=()) -> s.RecordEventsResponse:
    with server.channel() as channel:
        return server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=events), metadata=metadata, timeout=SECONDS)


class Reader:
    """A call of Tap that has begun, read by a thread."""

    def __init__(self, channel, metadata=(), **request):
        self.call = tap_grpc.TapServiceStub(channel).Tap(
            t.TapRequest(**request), metadata=metadata, timeout=120)
        assert next(self.call) == t.TapResponse()
        self.events: list[t.TappedEvent] = []
        self.bytes = b""
        self.missed = 0
        self.error: grpc.RpcError | None = None
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            for response in self.call:
                self.bytes += response.SerializeToString()
                self.events += response.events
                self.missed += response.missed_events
        except grpc.RpcError as error:
            self.error = error

    def wait(self, count: int) -> list[t.TappedEvent]:
        wait_until(lambda: len(self.events) >= count or self.error, f"{count} events", SECONDS)
        assert len(self.events) == count, (self.error, len(self.events))
        return self.events


class Tail:
    """`sightline tail --follow --target`, with the lines that it prints."""

    def __init__(self, target: str, *options: str):
        self.process = subprocess.Popen(
            [str(binary()), "tail", "--follow", "--target", target, *options],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def take(self, count: int) -> list[str]:
        return [self.lines.get(timeout=SECONDS) for _ in range(count)]

    def end(self) -> tuple[int, str]:
        """Waits for its end; the exit code and what it says."""
        return self.process.wait(SECONDS), self.process.stderr.read()


@contextlib.contextmanager
def tail(target: str, *options: str):
    started = Tail(target, *options)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()


class SocketConnection(http.client.HTTPConnection):
    """HTTP over the admin socket."""

    def __init__(self, server):
        super().__init__("localhost", timeout=SECONDS)
        self.path = str(server.directory / "admin.sock")

    def connect(self) -> None:
        # The server listens at its port without waiting for its socket.
        wait_until(pathlib.Path(self.path).exists, "the admin socket", SECONDS)
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SECONDS)
        self.sock.connect(self.path)


def ask_socket(server, uri: str) -> http.client.HTTPResponse:
    connection = SocketConnection(server)
    connection.request("GET", uri)
    return connection.getresponse()


def one_of_each(facts: Facts) -> list[tuple[e.TrackingEvent, int]]:
    """An event of each verdict that a single request can give."""
    first = facts.push()
    return [(fact.event, fact.verdict) for fact in (
        first, facts.again(first), facts.flag_off(), facts.push(flag="maybe"), facts.opted_out(),
        facts.invalid())]


EXPECTED = {v.VERDICT_ACCEPTED: 1, v.VERDICT_DUPLICATE: 1, v.VERDICT_SUPPRESSED_FLAG_OFF: 1,
            v.VERDICT_SUPPRESSED_FLAG_UNKNOWN: 1, v.VERDICT_SUPPRESSED_CONSENT: 1,
            v.VERDICT_REJECTED: 1}


def verdicts(events) -> dict[int, int]:
    counts: dict[int, int] = {}
    for event in events:
        counts[event.verdict] = counts.get(event.verdict, 0) + 1
    return counts


def test_a_tenant_sees_its_own_verdicts_and_no_others(make_server, keys, facts):
    reader_key, other_key = (keys.new(tenant, "--scopes", "tap") for tenant in ("a", "b"))
    sender = keys.new("a")
    server = with_keys(make_server, keys)
    with server.channel() as channel, server.channel() as other_channel:
        own, other = Reader(channel, bearer(reader_key)), Reader(other_channel, bearer(other_key))
        answer = send(server, [event for event, _ in one_of_each(facts)], bearer(sender))
        assert verdicts(answer.results) == EXPECTED
        seen = own.wait(6)
        assert verdicts(seen) == EXPECTED
        assert {event.tenant for event in seen} == {"a"}
        send(server, [facts.push().event], bearer(other_key))
        assert [event.tenant for event in other.wait(1)] == ["b"]
        assert len(own.events) == 6


def refusal(channel, metadata=(), **request) -> tuple[grpc.StatusCode, str]:
    call = tap_grpc.TapServiceStub(channel).Tap(
        t.TapRequest(**request), metadata=metadata, timeout=SECONDS)
    with pytest.raises(grpc.RpcError) as error:
        next(call)
    return error.value.code(), reason(error.value)


DENIED = (grpc.StatusCode.PERMISSION_DENIED, "SCOPE_MISSING")


def test_a_credential_without_the_scope_reads_nothing(make_server, keys, tmp_path, facts):
    """Keys and tokens; and auth.required_scope is for those who send."""
    issuer = Issuer()
    issuer.write(tmp_path / "jwks.json")
    reading, showing = keys.new("a", "--scopes", "tap"), keys.new("a", "--scopes", "tap,unmask")
    without = [keys.new("a"), keys.new("a", "--scopes", "send"), keys.new("a", "--scopes", "unmask"),
               issuer.token(), issuer.token(scope="send"), issuer.token(scope=7)]
    server = make_server("--set=auth.mode=keys,jwt", f"--set=auth.keys_file={keys.path}",
                         *jwt_flags(tmp_path), "--set=auth.required_scope=send").start()
    with server.channel() as channel:
        assert [refusal(channel, bearer(key)) for key in without] == [DENIED] * len(without)
        assert refusal(channel) == (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_MISSING")
        assert refusal(channel, bearer(reading), unmasked=True) == DENIED
        Reader(channel, bearer(showing), unmasked=True).call.cancel()
        Reader(channel, bearer(issuer.token(scope="send tap"))).call.cancel()
        with pytest.raises(grpc.RpcError) as error:
            send(server, [facts.push().event], bearer(reading))
        assert (error.value.code(), reason(error.value)) == DENIED


def can_read(channel, metadata) -> bool:
    try:
        Reader(channel, metadata).call.cancel()
    except grpc.RpcError:
        return False
    return True


def test_a_server_without_credentials_shows_verdicts_at_its_socket_alone(running):
    with running.channel() as channel:
        assert refusal(channel) == DENIED
    response = ask_socket(running, "/tap")
    assert response.status == 200 and response.readline() == b"{}\n"


@pytest.mark.parametrize("query, field", [
    ("verdicts=rejected,none", "verdicts"), ("sampling_ratio=2", "sampling_ratio"),
    ("sampling_ratio=much", "sampling_ratio"), (f"app_id={'a' * 257}", "app_id")])
def test_a_wrong_query_is_refused_with_its_field(running, query, field):
    response = ask_socket(running, f"/tap?{query}")
    assert response.status == 400
    assert response.read().decode().startswith(f"{field}: ")


def test_the_socket_is_closed_to_methods_and_the_page_has_no_tap(running):
    host, port = running.admin.removeprefix("http://").rstrip("/").split(":")
    page = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
    page.request("GET", "/tap")
    assert page.getresponse().status == 404


def test_no_byte_of_a_person_is_shown_unless_asked_for(make_server, keys, facts):
    masked_key = keys.new("a", "--scopes", "tap")
    unmasked_key = keys.new("a", "--scopes", "tap,unmask")
    server = with_keys(make_server, keys)
    events = [facts.accepted().event for _ in range(100)]
    events += [facts.invalid().event for _ in range(20)]
    events += [facts.flag_off().event for _ in range(20)]
    opted_out = [facts.opted_out().event for _ in range(20)]
    with server.channel() as channel:
        masked = Reader(channel, bearer(masked_key))
        unmasked = Reader(channel, bearer(unmasked_key), unmasked=True)
        for number, event in enumerate(opted_out):
            event.subject_id = f"nobody-{number}"
            event.event_id = f"nobody-event-{number}"
            if number % 2:
                event.push.kind = 0
        send(server, events + opted_out, bearer(masked_key))
        shown = unmasked.wait(160)
        masked.wait(160)
    assert CANARY.encode() not in masked.bytes
    ids = [event.event_id for event in events if event.event_id]
    assert not [i for i in ids if i.encode() in masked.bytes]
    assert CANARY.encode() in unmasked.bytes
    assert sum(event.HasField("event") for event in shown) == 140
    for data in (masked.bytes, unmasked.bytes):
        assert b"nobody" not in data
    nobody = [event for event in shown if not event.HasField("event")]
    assert not [event for event in nobody if event.delivery_id or event.app_id]


def test_tail_prints_the_same_at_the_socket_and_at_the_port(make_server, keys, tmp_path, facts):
    (tmp_path / "key.txt").write_text(keys.new("a", "--scopes", "tap,unmask") + "\n")
    sender = keys.new("a")
    server = with_keys(make_server, keys)
    socket_target = f"unix:{server.directory}/admin.sock"
    options = ["--json", "--verdict", "rejected", "--verdict", "accepted", "--unmasked"]
    with tail(socket_target, *options) as at_socket, tail(
            server.target, "--api-key-file", str(tmp_path / "key.txt"), *options) as at_port, tail(
            socket_target, "--tenant", "a") as table:
        wait_until(lambda: tap_readers(server, facts, sender, at_socket, at_port, table),
                   "all to read")
        send(server, [event for event, _ in one_of_each(facts)], bearer(sender))
        lines = [reader.take(2) for reader in (at_socket, at_port)]
        rows = [json.loads(line) for line in lines[0]]
        assert lines[0] == lines[1]
        assert {row["verdict"] for row in rows} == {"VERDICT_REJECTED", "VERDICT_ACCEPTED"}
        assert all(CANARY in json.dumps(row["event"]) for row in rows)
        text = "\n".join(table.take(6))
        # JSON has no form for its time; the reading goes on.
        late = facts.push().event
        late.occur_time.nanos = 1_000_000_000
        send(server, [late], bearer(sender))
        for reader in (at_socket, at_port):
            assert json.loads(reader.take(1)[0])["violations"][0]["field"] == "occur_time"
        assert "SUPPRESSED_FLAG_UNKNOWN" in text and CANARY not in text
        assert server.terminate() == 0
        for reader in (at_socket, at_port, table):
            code, said = reader.end()
            assert code == 69, said
            assert "clos" in said or "stopped" in said, said


def test_of_a_forgotten_recipient_unmask_shows_no_id_at_all(make_server, facts):
    gone, other = "forgotten-7f3a91", "remembered-7f3a91"
    server = make_server().start()
    run("forget", "--data-dir", server.directory, "--tenant", "default", "--subject", gone)
    response = ask_socket(server, "/tap?unmasked=true")
    assert response.readline() == b"{}\n"
    events = [facts.push().event, facts.push(flag="off").event, facts.invalid().event]
    for subject in (gone, other):
        for event in events:
            event.subject_id = subject
        send(server, events)
    shown, text = [], b""
    while len(shown) < 6:
        line = response.readline()
        text += line
        shown += json.loads(line).get("events", [])
    assert gone.encode() not in text
    # The search sees an id where there is one: in the events of somebody else.
    assert text.count(other.encode()) >= 3


def tap_readers(server, facts, sender, *readers) -> bool:
    """Sends an event, and says whether every reader has shown one; all of it is taken."""
    send(server, [facts.push().event], bearer(sender))
    time.sleep(0.2)
    if any(reader.lines.empty() for reader in readers):
        return False
    for reader in readers:
        while not reader.lines.empty():
            reader.lines.get()
    return True


def test_what_tail_is_told_of_mistakes(running):
    for options, words in [
            (["--target", running.target], "--follow"),
            (["--follow", "--target", running.target, "--tenant", "a"], "unix:"),
            (["--follow", "--verdict", "rejected"], "--target"),
            (["--follow", "--target", running.target, "--verdict", "nice"], "suppressed_flag_off"),
            (["--follow", "--target", running.target, "--sampling-ratio", "0"], "above 0")]:
        done = subprocess.run([str(binary()), "tail", *options], text=True, capture_output=True,
                              timeout=SECONDS, check=False)
        assert done.returncode == 64 and words in done.stderr, (options, done.stderr)
    for target, code, words in [(running.target, 1, "PERMISSION_DENIED"), ("127.0.0.1:1", 69, ""),
                                ("unix:/nowhere/admin.sock", 69, "/nowhere/admin.sock")]:
        done = subprocess.run([str(binary()), "tail", "--follow", "--target", target], text=True,
                              capture_output=True, timeout=SECONDS, check=False)
        assert done.returncode == code and words in done.stderr, done.stderr


def test_a_reader_that_does_not_read_costs_a_bounded_queue(make_server, facts, figure):
    """At the socket, which no time limit ends: events are missed, ingest goes on, and the reader is
    told how many are missing."""
    server = make_server("--set=tap.queue_bytes=65536",
                         "--set=tap.events_per_second=1000000").start()
    response = ask_socket(server, "/tap?unmasked=true")
    assert response.readline() == b"{}\n"
    count, batch = 60_000, 1000
    with server.channel() as channel:
        stub = server.stub(channel)
        for _ in range(count // batch):
            answer = stub.RecordEvents(s.RecordEventsRequest(
                events=[facts.push().event for _ in range(batch)]), timeout=SECONDS)
            assert answer.tally.accepted == batch
    shown = missed = 0
    while shown + missed < count:
        line = json.loads(response.readline())
        shown += len(line.get("events", []))
        missed += int(line.get("missedEvents", 0))
    assert shown + missed == count and missed > 0
    figure(f"a reader that does not read: {shown} of {count} events shown, {missed} missed")
    # Room is there again.
    send(server, [facts.push().event])
    while not (line := json.loads(response.readline())).get("events"):
        continue
    assert len(line["events"]) == 1


def test_readers_are_bounded_and_leave_their_place(make_server, keys):
    key = keys.new("a", "--scopes", "tap")
    server = with_keys(make_server, keys, "--set=tap.max_readers_per_tenant=1",
                       "--set=tap.max_readers=2")
    with server.channel() as channel:
        first = Reader(channel, bearer(key))
        call = tap_grpc.TapServiceStub(channel).Tap(
            t.TapRequest(), metadata=bearer(key), timeout=SECONDS)
        with pytest.raises(grpc.RpcError) as error:
            next(call)
        assert error.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert details(error.value).keys() == {"ErrorInfo", "QuotaFailure", "RetryInfo"}
        assert reason(error.value) == "TAPS_EXCEEDED"
        first.call.cancel()
        wait_until(lambda: can_read(channel, bearer(key)), "the place to be free")
    sockets = [ask_socket(server, "/tap") for _ in range(2)]
    assert [response.status for response in sockets] == [200, 200]
    assert ask_socket(server, "/tap").status == 503
    # Only a failed write tells that nobody reads at a socket.
    sockets[0].close()
    wait_until(lambda: ask_socket(server, "/tap").status == 200, "the place to be free", 30, 0.5)


def test_a_drain_ends_readers_as_it_ends_other_streams(make_server, keys, facts):
    key = keys.new("a", "--scopes", "tap")
    server = with_keys(make_server, keys)
    with server.channel() as channel:
        reader = Reader(channel, bearer(key))
        response = ask_socket(server, "/tap")
        send(server, [facts.push().event], bearer(key))
        reader.wait(1)
        started = time.monotonic()
        assert server.terminate() == 0
        reader.thread.join(SECONDS)
        assert reader.error.code() == grpc.StatusCode.UNAVAILABLE
        assert reason(reader.error) == "SERVER_CLOSING"
        lines = response.read().decode().splitlines()
        assert sum(len(json.loads(line).get("events", [])) for line in lines) == 1
        assert time.monotonic() - started < 10


def test_a_reader_ends_with_its_token(make_server, tmp_path):
    issuer = Issuer()
    issuer.write(tmp_path / "jwks.json")
    server = make_server("--set=auth.mode=jwt", *jwt_flags(tmp_path, leeway=0)).start()
    with server.channel() as channel:
        expiry = int(time.time()) + 3
        reader = Reader(channel, bearer(issuer.token(scope="tap", exp=expiry)))
        reader.thread.join(SECONDS)
        assert (reader.error.code(), reason(reader.error)) == (
            grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_EXPIRED")
        assert time.time() >= expiry
