"""`sightline sinks try`: each step in words, on real backends, beside a running server and without."""

import base64
import contextlib
import http.server
import json
import random
import socket
import ssl
import threading
import time

import pytest

from certificates import CLIENT, SERVER, Authority
from facts import Facts
from faults import library
from logs import SECRETS
from nats_server import NatsServer, free_port
from protos import service as s
from server import wait_until
from test_configuration import CONFIGURATION, run
from test_metrics import scrape, values
from test_webhook import Receiver, receiver  # noqa: F401  pylint: disable=unused-import

FAILED = 1
MARK = "sightline-try"


def steps(name: str, *arguments: str, **variables: str) -> tuple[int, dict[str, dict]]:
    """The exit code, and the steps by their names. None names a file of a library."""
    answer = run("sinks", "try", name, "--json", *arguments, **variables)
    assert not SECRETS["a file of a library"].search(answer.stdout + answer.stderr), answer
    lines = [json.loads(line) for line in answer.stdout.splitlines() if '"outcome"' in line]
    assert lines, answer
    return answer.returncode, {line["step"]: line for line in lines}


def outcomes(told: dict[str, dict]) -> dict[str, str]:
    return {name: line["outcome"] for name, line in told.items()}



# Files

@pytest.mark.parametrize("sink", ["sqlite", "jsonl"])
def test_a_sink_of_files_is_tried_beside_its_server(make_server, sink):
    """The running server's files are not touched, and nothing is left behind."""
    server = make_server("--sink", sink).start()
    event = Facts(1, int(time.time()), space=1).push(flag="on").event
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[event]), timeout=20)

    def files() -> dict[str, int]:
        return {str(path): path.stat().st_size for path in server.directory.rglob("hits*")
                if path.is_file()}

    wait_until(lambda: any(size for size in files().values()), "a hit in its file")
    before = files()
    code, told = steps(sink, "--sink", sink, "--data-dir", str(server.directory))
    assert (code, outcomes(told)) == (0, {"directory": "worked", "write": "worked"}), told
    assert files().keys() == before.keys()
    assert not list(server.directory.glob(f"{MARK}*"))
    assert server.terminate() == 0, server.log()
    kept = b"".join(path.read_bytes() for path in server.directory.rglob("*") if path.is_file())
    assert MARK.encode() not in kept


def test_a_data_directory_that_is_not_there_is_not_made(tmp_path):
    code, told = steps("sqlite", "--data-dir", str(tmp_path / "a" / "b"))
    assert code == 0 and told["directory"]["text"].startswith(str(tmp_path))
    assert not list(tmp_path.iterdir())


def test_stdout_has_the_hit_before_the_report(tmp_path):
    answer = run("sinks", "try", "stdout", "--sink", "stdout", "--data-dir", str(tmp_path))
    hit, report = answer.stdout.splitlines()
    assert json.loads(hit)["deliveryId"] == MARK
    assert answer.returncode == 0 and report.split()[:2] == ["ok", "write"]


def test_a_sink_that_is_not_configured_is_named(tmp_path):
    answer = run("sinks", "try", "nats", "--sink", "discard", "--data-dir", str(tmp_path))
    assert answer.returncode == CONFIGURATION
    assert answer.stderr == (
        "sightline: configuration: there is no sink nats; the configuration has discard\n")
    answer = run("sinks", "try", "webhook", "--sink", "webhook", "--data-dir", str(tmp_path))
    assert answer.returncode == CONFIGURATION and "webhook.url" in answer.stderr


# Campaign

class Campaign(http.server.ThreadingHTTPServer):
    """A Campaign server that answers everything with one status, and notes what it is asked."""

    daemon_threads = True

    def __init__(self, status: int = 200, identity: tuple[str, str] | None = None):
        super().__init__(("127.0.0.1", 0), CampaignHandler)
        self.status = status
        self.asked: list[str] = []
        self.scheme = "https" if identity else "http"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*identity)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that does not accept the certificate hangs up."""

    @property
    def options(self) -> list[str]:
        servers = [{"tenant": "acme", "classic": f"{self.scheme}://127.0.0.1:{self.server_port}"}]
        return ["--sink", "campaign", f"--set=campaign.servers={json.dumps(servers)}"]


class CampaignHandler(http.server.BaseHTTPRequestHandler):
    """Answers at once."""

    def do_GET(self):  # pylint: disable=invalid-name
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Prints nothing."""


@contextlib.contextmanager
def campaign(*arguments, **options):
    server = Campaign(*arguments, **options)
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("status, outcome", [(200, "worked"), (404, "worked"), (302, "failed"),
                                             (503, "failed")])
def test_campaign_is_asked_and_sent_nothing(tmp_path, status, outcome):
    with campaign(status) as server:
        code, told = steps("campaign", *server.options, "--data-dir", str(tmp_path))
    wanted = {"name": "worked", "connection": "worked", "request": outcome}
    if outcome == "worked":
        wanted["write"] = "skipped"
    assert outcomes(told) == wanted and code == (outcome == "failed")
    assert f"status {status}" in told["request"]["text"]
    assert "the classic server of the tenant acme" in told["request"]["text"]
    # No ids, so nothing that counts.
    assert server.asked == ["/r/"]


@pytest.mark.parametrize("roots", [None, "ca.pem", "other.pem"])
def test_campaigns_certificate_has_to_be_of_a_known_authority(tmp_path, roots):
    """Of the system's, or of those in the file that is named; not of another one."""
    authority = Authority()
    identity = authority.issue().write(tmp_path, "server")
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    (tmp_path / "other.pem").write_bytes(Authority("another").pem)
    named = [f"--set=campaign.tls.roots={tmp_path / roots}"] if roots else []
    with campaign(identity=identity) as server:
        code, told = steps("campaign", *server.options, *named, "--data-dir", str(tmp_path))
    if roots == "ca.pem":
        assert code == 0 and server.asked == ["/r/"], told
        assert outcomes(told) == {"name": "worked", "connection": "worked", "TLS": "worked",
                                  "request": "worked", "write": "skipped"}
        return
    assert code == FAILED and told["TLS"]["outcome"] == "failed"
    assert "CERTIFICATE_VERIFY_FAILED" in told["TLS"]["text"]
    assert "campaign.tls.roots" in told["TLS"]["fix"] and server.asked == []


def test_a_server_that_says_nothing_fails_in_time(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        servers = [{"tenant": "acme", "standard": f"http://127.0.0.1:{silent.getsockname()[1]}"}]
        code, told = steps(
            "campaign", "--sink", "campaign", f"--set=campaign.servers={json.dumps(servers)}",
            "--set=campaign.standard_timeout_seconds=1", "--data-dir", str(tmp_path))
    assert code == FAILED and outcomes(told)["connection"] == "worked"
    assert "no answer in time" in told["request"]["text"]


# Webhook

def test_a_webhook_gets_one_signed_test_hit(receiver, tmp_path):  # noqa: F811
    code, told = steps("webhook", *receiver.options, "--data-dir", str(tmp_path))
    names = ["name", "connection", "write"]
    got = receiver.noted("taken") + receiver.noted("refused")
    refused = any(receiver.noted("refused"))
    assert list(told) == names and len([line for line in got if line]) == 1
    assert code == int(refused) and not receiver.noted("faults")


@pytest.mark.parametrize("spoil, step, text", [
    ("allow", "name", "loopback"), ("port", "connection", "Connection refused"),
    ("host", "name", "not found"), ("secret", "write", "answered 401: are webhook.secret_file"),
    ("roots", "TLS", "CERTIFICATE_VERIFY_FAILED"), ("names", "TLS", "")])
def test_the_step_that_fails_is_named_with_its_fix(tmp_path, spoil, step, text):
    folder = tmp_path / "receiver"
    folder.mkdir()
    authority = Authority()
    (folder / "roots.pem").write_bytes((Authority("b") if spoil == "roots" else authority).pem)
    hosts = ("other.example",) if spoil == "names" else ("localhost",)
    identity = authority.issue(hosts=hosts).write(folder, "receiver")
    made = Receiver(folder, *identity, scheme="https").start()
    try:
        values = {"sink": "webhook", "webhook.secret_file": made.secret,
                  "webhook.url": f"https://localhost:{made.port}/hits",
                  "webhook.allow": "localhost", "webhook.tls.roots": folder / "roots.pem"}
        if spoil == "allow":
            values["webhook.allow"] = ""
        if spoil == "port":
            values["webhook.url"] = f"https://localhost:{free_port()}/hits"
        if spoil == "host":
            values["webhook.url"] = "https://nobody.invalid/hits"
        if spoil == "secret":
            values["webhook.secret_file"] = folder / "other"
            values["webhook.secret_file"].write_text(
                f"whsec_{base64.b64encode(random.randbytes(32)).decode()}\n")
        code, told = steps("webhook", *[f"--set={k}={v}" for k, v in values.items()],
                           "--data-dir", str(tmp_path / "data"))
    finally:
        made.kill()
    assert code == FAILED and list(told)[-1] == step, told
    assert told[step]["outcome"] == "failed" and text in told[step]["text"] and told[step]["fix"]
    assert all(line["outcome"] == "worked" for line in list(told.values())[:-1])
    assert "/hits" not in json.dumps(told)


# NATS

def test_nats_drops_the_test_hit_again(jetstream, tmp_path):
    options = ["--sink", "nats", f"--set=nats.servers={jetstream.url}",
               "--data-dir", str(tmp_path)]
    for _ in range(2):
        code, told = steps("nats", *options)
        assert code == 0 and outcomes(told) == dict.fromkeys(
            ["name", "connection", "write", "removal"], "worked"), told
    wait_until(lambda: MARK.encode() not in blocks(jetstream), "the end of the test hits")


def blocks(server) -> bytes:
    """What the stream keeps on disk."""
    return b"".join(path.read_bytes() for path in server.store.rglob("*.blk"))


def test_nats_beside_a_running_server_is_no_loss(jetstream, make_server):
    """The server goes on: what was deleted was none of its hits."""
    options = ["--sink", "nats", f"--set=nats.servers={jetstream.url}"]
    server = make_server(*options).start()
    facts = Facts(1, int(time.time()), space=1)
    lag = 'sightline_sink_lag_groups{sink="nats"}'
    with server.channel() as channel:
        for _ in range(2):
            event = facts.push(flag="on").event
            server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[event]), timeout=20)
            wait_until(lambda: values(scrape(server)[0]).get(lag) == 0, "the hit in the stream")
            code, told = steps("nats", *options, "--data-dir", str(server.directory))
            assert code == 0, told
    assert server.terminate() == 0
    assert "has lost hits" not in server.log(1 << 20)


def nats_steps(tmp_path, changes: dict[str, str], **variables: str) -> tuple[int, dict]:
    """Tries the nats sink with TLS and a password."""
    authority = Authority()
    certificate, key = authority.issue("localhost", usage=SERVER).write(tmp_path, "server")
    (tmp_path / "ca.pem").write_bytes(authority.pem)
    authority.issue("node", usage=CLIENT).write(tmp_path, "node")
    (tmp_path / "other.pem").write_bytes(Authority("another").pem)
    (tmp_path / "password").write_text("correct horse\n")
    (tmp_path / "wrong").write_text("battery staple\n")
    server = NatsServer(tmp_path / "nats", "--tls", "--tlscert", certificate, "--tlskey", key,
                        "--user", "node", "--pass", "correct horse", tls=True)
    values = {"sink": "nats", "nats.servers": server.url, "nats.user": "node",
              "nats.password_file": "password", "nats.tls.roots": "ca.pem"} | changes
    for name in ("nats.password_file", "nats.tls.roots"):
        values[name] = str(tmp_path / values[name])
    try:
        server.start()
        return steps("nats", *[f"--set={k}={v}" for k, v in values.items()],
                     "--data-dir", str(tmp_path / "data"), **variables)
    finally:
        server.close()


@pytest.mark.parametrize("changes, step, words", [
    ({}, "removal", ""), ({"nats.password_file": "wrong"}, "write", "cannot connect"),
    ({"nats.tls.roots": "other.pem"}, "TLS", "SSL"),
    # The server's word for replicas that one server alone cannot keep.
    ({"nats.replicas": "3"}, "write",
     "JetStream error 10074, replicas > 1 not supported in non-clustered mode")])
def test_nats_says_what_fails(tmp_path, changes, step, words):
    code, told = nats_steps(tmp_path, changes)
    assert list(told)[-1] == step and words in told[step]["text"], told
    assert code == (0 if step == "removal" else FAILED)
    assert "correct horse" not in json.dumps(told) and "battery" not in json.dumps(told)


def test_libraries_may_use_openssl_until_the_process_is_gone(tmp_path):
    """By default OpenSSL frees what it has as a process exits. A thread that still closed a
    connection then has ended a run with SIGSEGV."""
    if not library("exit_probe"):
        pytest.skip("no C compiler here, and exit_probe.c has to be compiled")
    probe = tmp_path / "probe"
    code, told = nats_steps(tmp_path, {}, LD_PRELOAD=str(library("exit_probe")),
                            EXIT_PROBE=str(probe))
    assert (code, list(told)[-1], probe.read_text()) == (0, "removal", "1"), told


def test_nats_without_tls_at_the_server(jetstream, tmp_path):
    """tls:// alone asks for it, and nothing is said to have worked in plain text."""
    url = jetstream.url.replace("nats://", "tls://")
    code, told = steps("nats", "--sink", "nats", f"--set=nats.servers={url}",
                       "--data-dir", str(tmp_path))
    assert code == FAILED and outcomes(told) == {
        "name": "worked", "connection": "worked", "TLS": "failed"}, told
    assert "Secure Connection not available" in told["TLS"]["text"]
    assert "nats.tls.roots" in told["TLS"]["fix"]


def test_nats_without_a_server(tmp_path):
    code, told = steps("nats", "--sink", "nats", f"--set=nats.servers=nats://127.0.0.1:{free_port()}",
                       "--data-dir", str(tmp_path))
    assert code == FAILED and outcomes(told) == {"name": "worked", "connection": "failed"}
    assert "nats.servers" in told["connection"]["fix"]
