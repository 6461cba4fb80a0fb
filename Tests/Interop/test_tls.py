"""TLS and mTLS: who comes in, who does not, and which certificates stop the start."""

import collections
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import types
import urllib.request

import grpc
import pytest
from cryptography import x509
from hpack import Decoder, Encoder
from hyperframe.frame import SettingsFrame

from certificates import CLIENT, SERVER, Authority, self_signed
from facts import Facts
from logs import SECRETS
from peer import PREFACE, Peer
from protos import service as s
from server import STOP_SECONDS, Server, binary, wait_until
from stream import Batch, Stream

EX_CONFIG = 78
UNAUTHENTICATED = "16"
SERVED = "served"


@pytest.fixture(scope="module")
def pki():
    """Authorities and good certificates, in a folder."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sightline-tls-"))
    made = types.SimpleNamespace(folder=folder, authority=Authority(), other=Authority("other"),
                                 rsa=Authority("rsa", rsa_bits=2048))
    made.server = made.authority.issue()
    made.client = made.authority.issue("shop", usage=CLIENT)
    made.roots = folder / "roots.pem"
    made.roots.write_bytes(made.authority.pem)
    # Clients of both authorities are taken, so that nothing but the row's own fault is refused.
    made.client_roots = folder / "clients.pem"
    made.client_roots.write_bytes(made.authority.pem + made.rsa.pem)
    yield made
    shutil.rmtree(folder, ignore_errors=True)


def settings(certificate: str, key: str, client_roots=None, **more) -> list[str]:
    """The command line of a server with TLS, or with mTLS where there are roots."""
    values = {"tls.mode": "mtls" if client_roots else "tls", "tls.certificate": certificate,
              "tls.key": key, **more}
    if client_roots:
        values["tls.client_roots"] = client_roots
    return [part for name, value in values.items() for part in ("--set", f"{name}={value}")]


@pytest.fixture(scope="module")
def serve():
    """Runs servers until the tests of this file have ended."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    made: list[Server] = []

    def start(*arguments: str) -> Server:
        made.append(Server(home / f"data{len(made)}", *arguments))
        return made[-1].start()

    yield start
    for server in made:
        server.close()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def tls(pki, serve) -> Server:
    return serve(*settings(*pki.server.write(pki.folder, "tls")))


def test_a_probe_beside_the_server_needs_no_tls(tls):
    """As a container's health check asks it: without the roots that clients trust."""
    answers = [subprocess.run([binary(), "health", *arguments], capture_output=True, text=True,
                              timeout=STOP_SECONDS, check=False)
               for arguments in (("--target", tls.target),
                                 ("--admin", tls.admin.split("/")[2]))]
    assert [answer.returncode for answer in answers] == [69, 0], answers
    assert answers[1].stdout == "SERVING\n"


def failed_handshakes(server: Server) -> int:
    with urllib.request.urlopen(server.admin + "metrics", timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return next(int(line.split()[-1]) for line in lines
                if line.startswith('sightline_connections_ended_total{reason="tls"}'))


def test_failed_handshakes_are_counted_once_each(tls, pki):
    """A client without TLS, and one that does not trust the server."""
    before = failed_handshakes(tls)
    assert outcome(tls, context(pki)) == SERVED
    assert failed_handshakes(tls) == before
    address, port = tls.target.rsplit(":", 1)
    with socket.create_connection((address, int(port)), timeout=10) as plain:
        plain.sendall(PREFACE)
        while plain.recv(1 << 16):
            pass
    wait_until(lambda: failed_handshakes(tls) == before + 1, "the plain connection to count")
    strict = ssl.create_default_context()
    with socket.create_connection((address, int(port)), timeout=10) as plain:
        with pytest.raises(ssl.SSLCertVerificationError):
            strict.wrap_socket(plain, server_hostname="localhost")
    wait_until(lambda: failed_handshakes(tls) == before + 2, "the untrusting client to count")


@pytest.fixture(scope="module")
def mtls(pki, serve) -> Server:
    return serve(*settings(*pki.server.write(pki.folder, "mtls"), pki.client_roots))


def context(pki, version=None, alpn=("h2",)) -> ssl.SSLContext:
    """A client that takes everything that its own library could refuse."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.set_ciphers("ALL:@SECLEVEL=0")
    made.load_verify_locations(pki.roots)
    if version:
        made.minimum_version = made.maximum_version = version
    if alpn:
        made.set_alpn_protocols(list(alpn))
    return made


def outcome(server: Server, made: ssl.SSLContext, host: str = "localhost") -> str:
    """SERVED where the server sends its SETTINGS, which it does when the handshake is over."""
    address, port = server.target.rsplit(":", 1)
    try:
        with socket.create_connection((address, int(port)), timeout=10) as plain:
            with made.wrap_socket(plain, server_hostname=host) as secure:
                secure.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")
                data = secure.recv(9)
                # The fourth byte is the frame's type, and 4 is SETTINGS.
                return SERVED if len(data) > 3 and data[3] == 4 else f"closed after {data!r}"
    except (ssl.SSLError, ConnectionError) as error:
        return f"{type(error).__name__}: {error}"


def certificate_of(server: Server, made: ssl.SSLContext) -> bytes:
    """The certificate that a new handshake sees."""
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    address, port = server.target.rsplit(":", 1)
    with socket.create_connection((address, int(port)), timeout=10) as plain:
        with made.wrap_socket(plain) as secure:
            return secure.getpeercert(binary_form=True)


# Versions and ALPN

@pytest.mark.parametrize("name, version, alpn, expected", [
    ("TLS 1.3", ssl.TLSVersion.TLSv1_3, ("h2",), SERVED),
    ("TLS 1.2", ssl.TLSVersion.TLSv1_2, ("h2",), SERVED),
    ("TLS 1.1", ssl.TLSVersion.TLSv1_1, ("h2",), "PROTOCOL_VERSION"),
    ("TLS 1.0", ssl.TLSVersion.TLSv1, ("h2",), "PROTOCOL_VERSION"),
    ("no ALPN", None, (), "closed"),
    ("ALPN of HTTP/1.1", None, ("http/1.1",), "closed"),
])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_versions(pki, tls, name, version, alpn, expected):
    seen = outcome(tls, context(pki, version, alpn))
    assert expected in seen.upper() or expected in seen, seen
    assert outcome(tls, context(pki)) == SERVED, "and others are served as before"


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs the openssl program")
def test_renegotiation_is_refused(pki, tls):
    """A client that asks for a new handshake in TLS 1.2 loses its connection."""
    command = ["openssl", "s_client", "-connect", tls.target, "-tls1_2", "-alpn", "h2",
               "-CAfile", str(pki.roots)]
    # s_client renegotiates at a line that begins with R.
    done = subprocess.run(command, input="R\n", capture_output=True, text=True, timeout=60)
    before, _, after = done.stderr.partition("RENEGOTIATING")
    assert "verify return:1" in before and "error" in after, done.stderr
    assert "verify return" not in after, "a second handshake came to the certificate"


# Certificates of clients

CLIENTS = {
    "good": (SERVED, lambda pki: pki.client),
    "RSA of 2048 bits": (SERVED, lambda pki: pki.rsa.issue("shop", usage=CLIENT, rsa_bits=2048)),
    "none": ("refused", lambda pki: None),
    "expired": ("refused", lambda pki: pki.authority.issue("shop", -9, -0.01, CLIENT)),
    "not yet valid": ("refused", lambda pki: pki.authority.issue("shop", 0.01, 9, CLIENT)),
    "self-signed": ("refused", lambda pki: self_signed("shop", CLIENT)),
    "of an unknown authority": ("refused", lambda pki: pki.other.issue("shop", usage=CLIENT)),
    "of a namesake of the authority": (
        "refused", lambda pki: Authority().issue("shop", usage=CLIENT)),
    "signed by SHA-1": ("refused", lambda pki: pki.rsa.issue("shop", usage=CLIENT, sha1=True)),
    "RSA of 1024 bits": ("refused", lambda pki: pki.rsa.issue("shop", usage=CLIENT, rsa_bits=1024)),
    "meant for servers": ("refused", lambda pki: pki.authority.issue("shop", usage=SERVER)),
}


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("row", CLIENTS)
def test_client_certificates(pki, mtls, row, version):
    expected, make = CLIENTS[row]
    made = context(pki, version)
    identity = make(pki)
    if identity:
        made.load_cert_chain(*identity.write(pki.folder, "row"))
    seen = outcome(mtls, made)
    assert seen == SERVED if expected == SERVED else "alert" in seen.lower(), seen


# The server's own certificate

OWN = {
    "expired": (lambda pki: pki.authority.issue(start=-9, end=-0.01), "tls.certificate",
                "expired at"),
    "not yet valid": (lambda pki: pki.authority.issue(start=0.01), "tls.certificate",
                      "is not valid before"),
    "signed by SHA-1": (lambda pki: pki.rsa.issue(rsa_bits=2048, sha1=True), "tls.certificate",
                        "SHA-256 or better"),
    "meant for clients": (lambda pki: pki.authority.issue(usage=CLIENT), "tls.certificate",
                          "serverAuth"),
}


def refused(make_server, *arguments: str) -> str:
    """Starts a server that has to refuse; what it says."""
    server = make_server(*arguments)
    server.spawn()
    assert server.wait(60, "to refuse the start") == EX_CONFIG, server.log()
    assert server.lines.get(timeout=10) is None, "it listened"
    assert not server.directory.exists(), "it touched its data directory"
    return server.log()


@pytest.mark.parametrize("row", OWN)
def test_own_certificates_stop_the_start(pki, make_server, row):
    make, key, words = OWN[row]
    log = refused(make_server, *settings(*make(pki).write(pki.folder, "own")))
    assert f"configuration: {key}: " in log and words in log, log


@pytest.mark.parametrize("row, key, words", [
    ("RSA of 1024 bits", "tls.key", "2048 bits"), ("a key of another", "tls.key", "is not the key"),
    ("a key for all to read", "tls.key", "mode 0644"), ("no key", "tls.key", "cannot be opened"),
    ("no certificate", "tls.certificate", "holds no certificate"),
])
def test_own_files_stop_the_start(pki, make_server, row, key, words):
    good = pki.authority.issue()
    certificate, path = good.write(pki.folder, "own")
    if row == "RSA of 1024 bits":
        certificate, path = pki.rsa.issue(rsa_bits=1024).write(pki.folder, "own")
    elif row == "a key of another":
        _, path = pki.authority.issue().write(pki.folder, "another")
    elif row == "a key for all to read":
        certificate, path = good.write(pki.folder, "own", mode=0o644)
    elif row == "no key":
        pathlib.Path(path).unlink()
    else:
        pathlib.Path(certificate).write_text("nothing")
    log = refused(make_server, *settings(certificate, path))
    assert f"configuration: {key}: " in log and words in log, log


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]"])
def test_plaintext_is_for_this_machine_alone(tmp_path, host):
    """Without TLS, others are let in only where somebody says so."""
    command = [binary(), "serve", "--listen", f"{host}:0", "--admin", "off",
               "--data-dir", tmp_path / "data"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == EX_CONFIG, done.stderr
    assert "listen is" in done.stderr and "--allow-insecure" in done.stderr, done.stderr
    assert not (tmp_path / "data").exists()
    with subprocess.Popen([*command, "--allow-insecure"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout.readline().startswith("listening on ")
        finally:
            process.kill()


# Clients that verify the server

@pytest.mark.parametrize("roots, host, expected", [
    ("authority", "localhost", SERVED), ("authority", "127.0.0.1", SERVED),
    ("authority", "elsewhere.test", "CERTIFICATE_VERIFY_FAILED"),
    ("other", "localhost", "CERTIFICATE_VERIFY_FAILED"),
])
def test_a_client_refuses_a_wrong_host_or_authority(pki, tls, roots, host, expected):
    made = ssl.create_default_context(cadata=getattr(pki, roots).pem.decode())
    made.set_alpn_protocols(["h2"])
    seen = outcome(tls, made, host)
    assert expected in seen, seen


@pytest.mark.parametrize("hosts, roots, code", [
    (("localhost", "127.0.0.1"), "authority", 0), (("elsewhere.test",), "authority", 69),
    (("localhost", "127.0.0.1"), "other", 69),
])
def test_our_own_client_verifies_too(pki, serve, tmp_path, hosts, roots, code):
    server = serve(*settings(*pki.authority.issue(hosts=hosts).write(tmp_path, "server")))
    trusted = tmp_path / "roots.pem"
    trusted.write_bytes(getattr(pki, roots).pem)
    events = tmp_path / "events.ndjson"
    events.write_text('{"eventId": "1"}\n')
    done = subprocess.run([binary(), "explain", "--json", "--target", server.target, "--tls-roots",
                           trusted, events], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr


@pytest.fixture(scope="module")
def plain(serve) -> Server:
    return serve()


# What a person does wrong with TLS: the server, the options, what is said of it, and the fix.
WRONG_TLS = {
    "no TLS to a port of TLS": ("tls", "", "as a port that speaks TLS does",
                                "speaks TLS: --tls-roots FILE"),
    "TLS to a port without": ("plain", "--tls-roots roots.pem", "this port does not speak TLS",
                              "Leave out --tls"),
    "wrong roots": ("tls", "--tls-roots other-roots.pem",
                    "the server's certificate is not signed by these roots", "--tls-roots FILE"),
    "the system's roots": ("tls", "--tls", "is not signed by these roots", "--tls-roots FILE"),
    "no client certificate": ("mtls", "--tls-roots roots.pem", "asks for a client certificate",
                              "--client-certificate FILE"),
    "a stranger's certificate": (
        "mtls", "--tls-roots roots.pem --client-certificate stranger.pem --client-key stranger.key",
        "refuses the client certificate", "tls.client_roots"),
}
CALLS = {
    "health": "health", "explain": "explain events.ndjson", "bench": "bench --events 1",
    "send": "send events.ndjson --give-up-after 1",
}


@pytest.mark.parametrize("command", list(CALLS))
@pytest.mark.parametrize("mistake", list(WRONG_TLS))
def test_wrong_tls_is_told_with_its_fix(command, mistake, pki, request):
    """And without a file of the library that found it."""
    (pki.folder / "other-roots.pem").write_bytes(pki.other.pem)
    (pki.folder / "events.ndjson").write_text('{"eventId": "1"}\n')
    pki.other.issue("shop", usage=CLIENT).write(pki.folder, "stranger")
    name, options, words, fix = WRONG_TLS[mistake]
    port = request.getfixturevalue(name).target.rsplit(":", 1)[1]
    done = subprocess.run(
        [binary(), *CALLS[command].split(), *options.split(), "--target", f"localhost:{port}"],
        cwd=pki.folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 69, done.stderr
    assert words in done.stderr and fix in done.stderr, done.stderr
    assert not SECRETS["a file of a library"].search(done.stderr), done.stderr
    assert "preface.. " not in done.stderr, done.stderr


# Streams

def send(server: Server, credentials: grpc.ChannelCredentials, count: int = 200) -> None:
    """Sends requests on a stream until all are acked, and finds their hits."""
    facts = Facts(7, int(time.time()))
    batches = [Batch(number, [facts.accepted() for _ in range(10)])
               for number in range(1, count + 1)]
    acked: list[int] = []
    with grpc.secure_channel(server.target, credentials, options=[
            ("grpc.use_local_subchannel_pool", 1)]) as channel:
        Stream(channel, collections.deque()).run(
            iter(batches), lambda batch, _: acked.append(batch.sequence), 60)
    assert acked == [batch.sequence for batch in batches]
    server.wait_for_hits(len({i for b in batches for f in b.facts for i in f.hits}))


def test_grpcio_streams_over_tls(pki, serve):
    server = serve(*settings(*pki.server.write(pki.folder, "stream")))
    send(server, grpc.ssl_channel_credentials(pki.authority.pem))
    assert server.terminate() == 0, server.log()


def test_grpcio_streams_over_mtls(pki, serve):
    arguments = settings(*pki.server.write(pki.folder, "stream"), pki.client_roots)
    server = serve(*arguments)
    send(server, grpc.ssl_channel_credentials(
        pki.authority.pem, pki.client.key_pem, pki.client.pem))
    with grpc.secure_channel(server.target, grpc.ssl_channel_credentials(
            pki.authority.pem)) as channel:
        with pytest.raises(grpc.RpcError) as error:
            server.stub(channel).RecordEvents(s.RecordEventsRequest(), timeout=20)
    assert error.value.code() == grpc.StatusCode.UNAVAILABLE
    assert server.terminate() == 0, server.log()


# Reload

def test_reload_by_signal(pki, serve, tmp_path):
    """New handshakes see what SIGHUP has read; broken files change nothing."""
    first, second = pki.authority.issue(), pki.authority.issue()
    server = serve(*settings(*first.write(tmp_path, "server"), **{"tls.reload_seconds": 86400}))
    look = context(pki)
    assert certificate_of(server, look) == first.der
    second.write(tmp_path, "server")
    assert certificate_of(server, look) == first.der, "nobody asked for it yet"
    server.process.send_signal(signal.SIGHUP)
    wait_until(lambda: certificate_of(server, look) == second.der, "the second certificate")
    for broken in (b"broken", pki.authority.issue(start=-2, end=-1).pem, first.pem):
        size = len(server.log_path.read_text())
        (tmp_path / "server.pem").write_bytes(broken)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "not reloaded" in server.log_path.read_text()[size:], "a warning")
        assert certificate_of(server, look) == second.der
    assert "tls.certificate" in server.log()
    assert server.terminate() == 0


def test_reload_by_time(pki, serve, tmp_path):
    """A stream that is open stays so, while new handshakes see the new certificate."""
    first, second = pki.authority.issue(), pki.authority.issue(end=5.5)
    server = serve(*settings(*first.write(tmp_path, "server"), **{"tls.reload_seconds": 1}))
    credentials = grpc.ssl_channel_credentials(pki.authority.pem)
    with grpc.secure_channel(server.target, credentials) as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(), timeout=20)
        (tmp_path / "server.pem").write_text("broken")
        wait_until(lambda: "certificates not reloaded" in server.log(), "a warning")
        second.write(tmp_path, "server")
        wait_until(lambda: certificate_of(server, context(pki)) == second.der, "the second")
        server.stub(channel).RecordEvents(s.RecordEventsRequest(), timeout=20)
    assert server.log().count("certificates not reloaded") == 1, server.log()
    wait_until(lambda: "expires soon" in server.log(), "a warning of 5 days")
    assert server.terminate() == 0


class SecurePeer(Peer):
    """A peer that speaks by TLS, and can resume the session of another."""

    def __init__(self, server: Server, made: ssl.SSLContext, session=None):
        host, port = server.target.rsplit(":", 1)
        self.socket = made.wrap_socket(socket.create_connection((host, int(port)), timeout=10),
                                       server_hostname="localhost", session=session)
        self.encoder, self.decoder = Encoder(), Decoder()
        self.frames, self.ended, self._buffer = [], False, b""
        self.send(PREFACE, SettingsFrame(0))

    def call(self, stream: int) -> str:
        """Calls a method; the code of its status."""
        self.send(self.headers(stream, "ExplainEvents"), self.message(stream, b"", end=True))
        return self.wait_for_status(stream, 20)["grpc-status"]


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_removed_roots_end_sessions_too(pki, serve, tmp_path, version):
    """A session that is resumed shows no certificate, and an old connection has shown it long ago:
    both are refused once the authority is gone."""
    roots = tmp_path / "roots.pem"
    roots.write_bytes(pki.authority.pem)
    server = serve(*settings(*pki.server.write(tmp_path, "server"), roots))
    made = context(pki, version)
    made.load_cert_chain(*pki.client.write(tmp_path, "client"))
    with SecurePeer(server, made) as old:
        assert old.call(1) == "0"
        with SecurePeer(server, made, old.socket.session) as resumed:
            assert resumed.socket.session_reused
            assert resumed.call(1) == "0"
        size = len(server.log_path.read_text())
        roots.write_bytes(pki.other.pem)
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "certificate reloaded" in server.log_path.read_text()[size:], "a reload")
        assert old.call(3) == UNAUTHENTICATED
        with SecurePeer(server, made, old.socket.session) as resumed:
            assert resumed.socket.session_reused
            assert resumed.call(1) == UNAUTHENTICATED
    assert server.terminate() == 0, server.log()


def test_drain_during_a_handshake(pki, serve):
    """A handshake that never ends does not hold a server that stops."""
    server = serve(*settings(*pki.server.write(pki.folder, "drain")), "--set", "drain.seconds=2")
    address, port = server.target.rsplit(":", 1)
    with socket.create_connection((address, int(port)), timeout=10) as peer:
        # The first bytes of a ClientHello that never comes.
        peer.sendall(bytes.fromhex("16030100c8010000c40303"))
        started = time.monotonic()
        assert server.terminate() == 0, server.log()
        assert time.monotonic() - started < STOP_SECONDS


# dev-certs

def test_dev_certs(pki, serve, tmp_path):
    """What it makes serves streams by mTLS, is not overwritten, and cannot be read by others."""
    made = tmp_path / "made"
    command = [binary(), "dev-certs", "--out", made, "--name", "localhost", "--days", "3"]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 0
    modes = {path.name: path.stat().st_mode & 0o777 for path in made.iterdir()}
    assert set(modes) == {"ca.pem", "server.pem", "server.key", "client.pem", "client.key"}
    assert modes["server.key"] == modes["client.key"] == 0o600
    before = {path: path.read_bytes() for path in made.iterdir()}
    assert all(text.endswith(b"-----\n") for text in before.values())
    joined = before[made / "server.pem"] + before[made / "ca.pem"]
    assert len(x509.load_pem_x509_certificates(joined)) == 2, "joined, they are PEM too"
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 1
    assert before == {path: path.read_bytes() for path in made.iterdir()}
    server = serve(*settings(made / "server.pem", made / "server.key", made / "ca.pem"))
    send(server, grpc.ssl_channel_credentials(*(
        (made / file).read_bytes() for file in ("ca.pem", "client.key", "client.pem"))), 5)
    assert subprocess.run([*command, "--force"], capture_output=True, timeout=60).returncode == 0
    assert before.keys() == set(made.iterdir())
    assert all(before[path] != path.read_bytes() for path in made.iterdir())
