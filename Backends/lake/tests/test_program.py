"""The program as a process, against a server of the test's own."""

import contextlib
import datetime
import json
import os
import queue
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import grpc
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from deltalake import DeltaTable
from made import event, record, request

from sightline_lake.v1 import sink_service_pb2 as pb

HELLO = pb.DeliverRequest(hello=pb.Hello(versions=[1], journal_id="journal", sink="sink")
                          ).SerializeToString()


class Program:
    """A sightline-lake, and streams to it."""

    def __init__(self, folder, *options):
        self.folder = folder
        self.log = open(folder / "log", "a+")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sightline_lake", "--table", folder / "table", "--state",
             folder / "state", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", *options],
            stderr=subprocess.PIPE, text=True)
        self.ports = None
        for line in self.process.stderr:
            entry = json.loads(line)
            self.log.write(line)
            if entry["msg"] == "listening":
                self.ports = entry["port"], entry["metrics_port"]
                break

    def rest(self):
        return [json.loads(line) for line in self.process.communicate(timeout=30)[1].splitlines()]

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        lines = self.rest()
        return self.process.returncode, lines

    @contextlib.contextmanager
    def stream(self, hello=HELLO):
        requests = queue.SimpleQueue()
        with grpc.insecure_channel(f"127.0.0.1:{self.ports[0]}") as channel:
            call = channel.stream_stream(
                "/sightline.v1.SinkService/Deliver",
                response_deserializer=pb.DeliverResponse.FromString)(iter(requests.get, None))

            def ask(content):
                requests.put(content)
                return next(call)

            ask.end = lambda: (requests.put(None), list(call))[1]
            ask.next = lambda: next(call)
            ask.welcome = ask(hello).welcome if hello else None
            yield ask
            requests.put(None)

    def figures(self):
        address = f"http://127.0.0.1:{self.ports[1]}/metrics"
        with urllib.request.urlopen(address, timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        return {name: float(value) for name, value in
                (line.split() for line in lines if not line.startswith("#"))}

    def ids(self):
        return sorted(int.from_bytes(row["hit_id"], "big")
                      for row in DeltaTable(self.folder / "table").to_pyarrow_table().to_pylist())


@pytest.fixture
def start(tmp_path):
    programs = []

    def make(*options):
        programs.append(Program(tmp_path, *options))
        return programs[-1]

    yield make
    for program in programs:
        program.process.kill()
        program.process.communicate()


def test_what_is_acknowledged_survives_kills_and_is_there_once(start):
    sent = 0
    for turn in range(4):
        lake = start("--publish-seconds", "1" if turn % 2 else "3600")
        with lake.stream() as ask:
            assert ask.welcome.durable.sequence == sent
            for _ in range(3):
                sent += 1
                assert ask(request(sent, [record(sent)])).ack.durable.sequence == sent
            if turn == 3:
                break
        lake.stop(signal.SIGKILL)
    code, lines = lake.stop()
    assert (code, lines[-1]["msg"]) == (0, "stopped")
    assert lake.ids() == list(range(1, 13))
    assert not list((lake.folder / "state" / "staged").iterdir())


def test_a_stream_is_asked_to_end_and_ends(start):
    lake = start()
    with lake.stream() as ask:
        ask(request(1, [record(1)]))
        lake.process.terminate()
        assert ask.next().drain.reason
        assert ask(request(2, [record(2)])).ack.durable.sequence == 2
        assert ask.end() == []
    assert lake.stop()[0] == 0
    assert lake.ids() == [1, 2]


def test_a_recipient_is_erased_also_of_what_is_staged(start):
    lake = start("--publish-seconds", "3600", "--tidy-seconds", "60")
    with lake.stream() as ask:
        ask(request(1, [record(number, event(number % 2)) for number in range(6)]))
        erase = pb.DeliverRequest(erase=pb.Erase(tenant="acme", subject_ids=["subject-1"]))
        first, again = ask(erase.SerializeToString()).erased, ask(erase.SerializeToString()).erased
        assert (first.erased_count, again.erased_count, first.failure) == (3, 0, "")
        assert first.retained_until == again.retained_until
        days = (first.retained_until.seconds - os.stat(lake.folder).st_mtime) / 86_400
        assert 7 <= days < 7.01
    assert lake.ids() == [0, 2, 4]


def test_without_retention_nothing_is_left(start):
    lake = start("--retention-hours", "0")
    with lake.stream() as ask:
        ask(request(1, [record(1), record(2)]))
        erase = pb.DeliverRequest(erase=pb.Erase(tenant="acme", subject_ids=["subject-1"]))
        erased = ask(erase.SerializeToString()).erased
        assert (erased.erased_count, erased.HasField("retained_until")) == (1, False)
    assert len(list((lake.folder / "table").rglob("*.parquet"))) == 1


def test_figures(start):
    lake = start("--publish-seconds", "3600")
    with lake.stream() as ask:
        ask(request(1, [record(1), record(2)]))
        figures = lake.figures()
    assert figures["sightline_lake_hits_total"] == 2
    assert figures["sightline_lake_committed_hits_total"] == 0
    assert figures["sightline_lake_staged_bytes"] > 100
    assert 0 < figures["sightline_lake_lag_seconds"] < 60
    lake.stop()
    idle = start()
    assert idle.figures()["sightline_lake_lag_seconds"] == 0
    lake = idle
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"http://127.0.0.1:{lake.ports[1]}/other", timeout=10)


def test_a_second_lake_is_refused_in_words(start):
    start()
    second = start()
    assert second.ports is None
    second.rest()
    assert second.process.returncode == 78
    second.log.seek(0)
    reason = json.loads(second.log.readlines()[-1])["reason"]
    assert reason.startswith("Another sightline-lake uses ") and "one writer" in reason


def test_the_newest_stream_alone_adds_hits(start):
    lake = start()
    with lake.stream() as earlier, lake.stream() as later:
        assert later(request(1, [record(1)])).ack.durable.sequence == 1
        with pytest.raises(grpc.RpcError) as raised:
            earlier(request(1, [record(1)]))
        assert raised.value.code() is grpc.StatusCode.ABORTED
    lake.stop()
    assert lake.ids() == [1]


@pytest.mark.parametrize("hello, first", [
    (None, request(1, [record(1)])),
    (None, b""),
    (None, b"\xff"),
    (None, pb.DeliverRequest(hello=pb.Hello(versions=[2], journal_id="j", sink="s")
                             ).SerializeToString()),
    (HELLO, HELLO),
    (HELLO, request(1, [b"\xff"])),
])
def test_what_breaks_the_protocol_ends_the_stream(start, hello, first):
    lake = start()
    with lake.stream(hello) as ask:
        with pytest.raises(grpc.RpcError) as raised:
            ask(first)
        assert raised.value.code() is grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize("options, words", [
    (["--publish-seconds", "0"], "--publish-seconds: '0' is no whole number from 1 to 3600"),
    (["--publish-seconds", "3601"], "'3601' is no whole number from 1 to 3600"),
    (["--event-bytes", "yes"], "'yes' is no whole number from 0 to 1"),
    (["--tabel", "x"], "unrecognized arguments: --tabel x"),
])
def test_a_wrong_option_is_told(tmp_path, options, words):
    ended = subprocess.run(
        [sys.executable, "-m", "sightline_lake", "--table", tmp_path, "--state", tmp_path,
         *options],
        capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2 and words in ended.stderr


def certificate(folder, name, issuer=None):
    """Writes NAME.pem and NAME.key, signed by an issuer or by themselves; returns what signs."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    signer, by = issuer or (key, subject)
    now = datetime.datetime.now(datetime.UTC)
    made = (x509.CertificateBuilder().subject_name(subject).issuer_name(by)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), False)
            .sign(signer, hashes.SHA256()))
    (folder / f"{name}.pem").write_bytes(made.public_bytes(Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return key, subject


def test_by_tls_only_known_servers_are_served(tmp_path, start):
    issuer = certificate(tmp_path, "authority")
    for name in ("lake", "server"):
        certificate(tmp_path, name, issuer)
    lake = start("--tls-certificate", tmp_path / "lake.pem", "--tls-key", tmp_path / "lake.key",
                 "--tls-clients", tmp_path / "authority.pem")
    read = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    for own, code in (((read["server.key"], read["server.pem"]), None),
                      ((None, None), grpc.StatusCode.UNAVAILABLE)):
        credentials = grpc.ssl_channel_credentials(read["authority.pem"], *own)
        with grpc.secure_channel(f"localhost:{lake.ports[0]}", credentials) as channel:
            call = channel.stream_stream(
                "/sightline.v1.SinkService/Deliver",
                response_deserializer=pb.DeliverResponse.FromString)(iter([HELLO]), timeout=20)
            try:
                assert next(call).welcome.version == 1 and code is None
            except grpc.RpcError as error:
                assert error.code() is code


def test_options_may_stand_in_a_file(tmp_path, start):
    (tmp_path / "options").write_text("--publish-seconds=7\n--retention-hours=1\n")
    assert start(f"@{tmp_path / 'options'}").ports
