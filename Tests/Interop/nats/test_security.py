"""A stream behind TLS and a password: who shows neither gets nothing through, and is told why."""

import pytest

from certificates import CLIENT, SERVER, Authority
from conftest import settings
from judge import count
from load import Load
from nats_server import NatsServer
from scenario import under_load
from server import wait_until

PASSWORD = "correct horse"


@pytest.fixture
def secured(folder):
    """A server that asks for TLS, a certificate and a password."""
    authority = Authority()
    certificate, key = authority.issue("localhost", usage=SERVER).write(folder, "server")
    (folder / "ca.pem").write_bytes(authority.pem)
    authority.issue("node", usage=CLIENT).write(folder, "node")
    Authority("another").issue("node", usage=CLIENT).write(folder, "stranger")
    (folder / "other.pem").write_bytes(Authority("other").pem)
    (folder / "password").write_text(PASSWORD + "\n")
    (folder / "wrong").write_text("battery staple\n")
    server = NatsServer(folder / "nats", "--tlsverify", "--tlscert", certificate, "--tlskey", key,
                        "--tlscacert", str(folder / "ca.pem"), "--user", "node", "--pass", PASSWORD,
                        tls=True)
    try:
        yield server.start()
    finally:
        server.close()


def secrets(folder, **changes) -> dict[str, str]:
    """Settings by which a node is let in, but for what a test changes."""
    values = {"tls__roots": "ca.pem", "tls__certificate": "node.pem", "tls__key": "node.key",
              "password_file": "password"} | changes
    return {"user": "node"} | {name: folder / value for name, value in values.items()}


def test_hits_get_through(secured, make_server, folder):
    """With all of it the stream is made and filled; it is counted by a judge without any."""
    server = make_server(*settings(secured.url, **secrets(folder))).start()
    with Load([server]) as load:
        under_load(load, 20)
    wait_until(lambda: server.terminate() == 0, "the end of the node", 1)
    secured.terminate()
    plain = NatsServer(folder / "nats").start()
    try:
        assert count(plain.url) == len(load.owed)
    finally:
        plain.close()


@pytest.mark.parametrize(("changes", "told"), [
    ({"password_file": "wrong"}, "Authentication Violation"),
    ({"tls__roots": "other.pem"}, "SSL"),
    ({"tls__certificate": "stranger.pem", "tls__key": "stranger.key"}, "cannot connect to tls://"),
])
def test_whoever_is_not_let_in(secured, make_server, folder, changes, told):
    """Ingest goes on, nothing gets to the stream, and the log says why, without the password."""
    server = make_server(*settings(secured.url, **secrets(folder, **changes))).start()
    with Load([server]) as load:
        under_load(load, 5)
    wait_until(lambda: "the sink is unavailable" in server.log(), "a word of it in the log")
    assert told in server.log(), server.log()
    assert "battery staple" not in server.log() and PASSWORD not in server.log()


def test_a_server_without_tls(jetstream, make_server):
    """tls:// is enough to ask for it, without roots: a server that has none gets nothing."""
    url = jetstream.url.replace("nats://", "tls://")
    server = make_server(*settings(url)).start()
    with Load([server]) as load:
        under_load(load, 5)
    wait_until(lambda: "the sink is unavailable" in server.log(), "a word of it in the log")
    assert "Secure Connection not available" in server.log(), server.log()
    assert count(jetstream.url) == 0
