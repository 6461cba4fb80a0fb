"""API keys, tokens and client certificates, as foreign clients bring them; and that nothing of them
or of the people that events are about is ever told."""

import json
import pathlib
import re
import subprocess
import threading
import time

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from certificates import CLIENT, Authority
from details import reason
from facts import Facts
from protos import service as s
from protos import verdict as v
from server import binary, query

ISSUER, AUDIENCE = "https://issuer.example", "sightline"
KEY = re.compile(r"slk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}")


class KeysFile:
    """The keys file of a server, changed by `sightline keys` alone."""

    def __init__(self, path: pathlib.Path):
        self.path = path

    def run(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run(
            [str(binary()), "keys", *arguments, "--keys-file", str(self.path)],
            capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code, done
        return done

    def new(self, tenant: str, *arguments: str) -> str:
        """A new key, of which the output is the key alone."""
        key = self.run("new", "--tenant", tenant, *arguments).stdout.strip()
        assert KEY.fullmatch(key)
        return key

    def list(self) -> dict[str, dict]:
        lines = self.run("list", "--json").stdout.splitlines()
        return {row["id"]: row for row in map(json.loads, lines)}


class Issuer:
    """Signs tokens with keys of every accepted kind."""

    def __init__(self):
        self.keys = {
            "RS256": rsa.generate_private_key(65537, 2048),
            "ES256": ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate(),
        }
        self.keys["PS256"] = self.keys["RS256"]

    def write(self, path: pathlib.Path) -> None:
        """The public keys, as the file holds them."""
        keys = [
            json.loads(self.algorithm(name).to_jwk(self.keys[name].public_key())) | {"kid": name}
            for name in ("RS256", "ES256", "EdDSA")]
        for key in keys:
            key.pop("key_ops", None)
        path.write_text(json.dumps({"keys": keys}))

    @staticmethod
    def algorithm(name: str):
        return jwt.get_algorithm_by_name(name)

    def token(self, name: str = "ES256", **changes) -> str:
        claims = {"iss": ISSUER, "aud": AUDIENCE, "tenant": "token-tenant",
                  "exp": int(time.time()) + 600} | changes
        kid = "RS256" if name == "PS256" else name
        return jwt.encode({k: c for k, c in claims.items() if c is not None}, self.keys[name],
                          algorithm=name, headers={"kid": kid})


@pytest.fixture
def keys(tmp_path) -> KeysFile:
    return KeysFile(tmp_path / "keys.jsonl")


@pytest.fixture
def issuer(tmp_path) -> Issuer:
    made = Issuer()
    made.write(tmp_path / "jwks.json")
    return made


def bearer(text: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {text}")]


def jwt_flags(folder: pathlib.Path, leeway: int = 30) -> list[str]:
    return [f"--set=auth.jwks_file={folder / 'jwks.json'}", f"--set=auth.jwt_issuer={ISSUER}",
            f"--set=auth.jwt_audience={AUDIENCE}", f"--set=auth.jwt_leeway_seconds={leeway}"]


def record(server, metadata, space: int = 1) -> s.RecordEventsResponse:
    """Records one event, on a connection of its own."""
    request = s.RecordEventsRequest(events=[Facts(1, int(time.time()), space).track_action().event])
    with server.channel() as channel:
        return server.stub(channel).RecordEvents(request, metadata=metadata, timeout=30)


def refused(server, metadata) -> tuple[grpc.StatusCode, str]:
    """Status and reason of a call that has to be refused."""
    with pytest.raises(grpc.RpcError) as error:
        record(server, metadata)
    return error.value.code(), reason(error.value)


def tenants(server) -> set[str]:
    return {row[0] for row in server.query("SELECT DISTINCT tenant FROM hits")}


REFUSED = (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_REFUSED")
MISSING = (grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_MISSING")


def test_scopes_are_words_between_commas(keys):
    keys.new("shop-a", "--scopes", "tap, unmask")
    assert [row["scopes"] for row in keys.list().values()] == [["tap", "unmask"]]
    for scopes in ("tap,,unmask", "tap unmask", ",", " "):
        wrong = keys.run("new", "--tenant", "shop-a", "--scopes", scopes, code=64)
        assert "such as tap,unmask" in wrong.stderr
    assert len(keys.list()) == 1


def test_a_key_gives_its_tenant_and_a_revoked_one_nothing(make_server, keys, tmp_path):
    """A key of `sightline keys new` is taken; after `revoke` and a restart it is refused."""
    first, second = keys.new("shop-a", "--name", "web"), keys.new("shop-b", "--expires", "1")
    assert keys.path.stat().st_mode & 0o777 == 0o600
    assert first[-43:] not in keys.path.read_text()
    flags = ["--set=auth.mode=keys", f"--set=auth.keys_file={keys.path}"]
    server = make_server(*flags).start()
    for number, metadata in enumerate([bearer(first), [("x-api-key", second)]]):
        answer = record(server, metadata, number + 1)
        assert answer.results[0].verdict == v.VERDICT_ACCEPTED
    server.wait_for_hits(2)
    assert tenants(server) == {"shop-a", "shop-b"}
    assert refused(server, []) == MISSING
    assert refused(server, bearer(first[:-1] + ("A" if first[-1] != "A" else "E"))) == REFUSED
    assert refused(server, bearer(first) + bearer(second)) == REFUSED
    identifier = first[4:20]
    keys.run("revoke", identifier)
    keys.run("revoke", "0" * 16, code=1)
    listed = keys.list()
    assert [listed[key[4:20]]["state"] for key in (first, second)] == ["revoked", "active"]
    assert server.terminate() == 0
    server.start()
    assert refused(server, bearer(first)) == REFUSED
    assert record(server, bearer(second), 3).results[0].verdict == v.VERDICT_ACCEPTED


@pytest.mark.parametrize("name", ["RS256", "PS256", "ES256", "EdDSA"])
def test_a_token_of_another_library_gives_its_tenant(make_server, issuer, tmp_path, name):
    server = make_server("--set=auth.mode=jwt", *jwt_flags(tmp_path)).start()
    assert record(server, bearer(issuer.token(name))).results[0].verdict == v.VERDICT_ACCEPTED
    server.wait_for_hits(1)
    assert tenants(server) == {"token-tenant"}
    now = int(time.time())
    for bad in [issuer.token(name, exp=now - 60), issuer.token(name, exp=None),
                issuer.token(name, aud="other"), issuer.token(name, iss="other"),
                issuer.token(name, nbf=now + 60), issuer.token(name, tenant=None),
                Issuer().token(name), jwt.encode({"exp": now + 60}, None, algorithm="none"),
                issuer.token(name) + "A", "nonsense"]:
        assert refused(server, bearer(bad)) == REFUSED


def test_a_stream_ends_as_its_token_does(make_server, issuer, tmp_path, figure):
    """Closing is told, what was sent is acked, and then the stream is UNAUTHENTICATED."""
    server = make_server("--set=auth.mode=jwt", *jwt_flags(tmp_path, leeway=0)).start()
    expiry = int(time.time()) + 5
    facts = Facts(1, int(time.time()), 5)
    closing, durable = False, 0

    answered = threading.Semaphore(1)

    def requests():
        sequence = 0
        while answered.acquire(timeout=20):  # One at a time, until the call ends.
            sequence += 1
            yield s.StreamEventsRequest(sequence=sequence, events=[facts.track_action().event])

    with server.channel() as channel:
        call = server.stub(channel).StreamEvents(
            requests(), metadata=bearer(issuer.token(exp=expiry)), timeout=60)
        with pytest.raises(grpc.RpcError) as error:
            for answer in call:
                closing = closing or answer.HasField("closing")
                durable = max(durable, answer.durable_sequence)
                answered.release()
    late = time.time() - expiry
    assert (error.value.code(), reason(error.value)) == (
        grpc.StatusCode.UNAUTHENTICATED, "CREDENTIALS_EXPIRED")
    assert closing and durable > 0
    assert 0 <= late < 10, f"{late} s after the expiry"
    figure(f"credentials: a stream ended {late:.2f} s after its token, {durable} requests acked")
    assert server.terminate() == 0
    rows = query(server.directory / "hits.db", "SELECT count(DISTINCT broadlog_id) FROM hits")
    assert rows[0][0] >= durable


def test_a_client_certificate_gives_its_tenant(make_server, tmp_path):
    """The map's tenant for a name in the certificate; none for another certificate."""
    authority = Authority()
    certificate, key = authority.issue().write(tmp_path, "server")
    (tmp_path / "roots.pem").write_bytes(authority.pem)
    (tmp_path / "tenants.yaml").write_text("push.shop.example: shop-c\n")
    server = make_server(
        "--set=tls.mode=mtls", f"--set=tls.certificate={certificate}", f"--set=tls.key={key}",
        f"--set=tls.client_roots={tmp_path / 'roots.pem'}", "--set=auth.mode=mtls",
        f"--set=auth.mtls_tenants_file={tmp_path / 'tenants.yaml'}").start()
    request = s.RecordEventsRequest(events=[Facts(1, int(time.time()), 6).track_action().event])

    def call(host: str):
        client = authority.issue(host, usage=CLIENT, hosts=(host,))
        credentials = grpc.ssl_channel_credentials(authority.pem, client.key_pem, client.pem)
        with grpc.secure_channel(server.target, credentials) as channel:
            return server.stub(channel).RecordEvents(request, timeout=30)

    with pytest.raises(grpc.RpcError) as error:
        call("other.shop.example")
    assert (error.value.code(), reason(error.value)) == REFUSED
    assert call("push.shop.example").results[0].verdict == v.VERDICT_ACCEPTED
    server.wait_for_hits(1)
    assert tenants(server) == {"shop-c"}


@pytest.mark.parametrize("flags, key", [
    (["auth.mode=keys"], "auth.keys_file"),
    (["auth.mode=keys", "auth.keys_file=/nowhere/keys"], "auth.keys_file"),
    (["auth.mode=keys", "auth.keys_file={folder}/nonsense"], "auth.keys_file"),
    (["auth.mode=jwt", "auth.jwt_issuer=i", "auth.jwt_audience=a",
      "auth.jwks_file={folder}/nonsense"], "auth.jwks_file"),
    (["auth.mode=jwt", "auth.jwks_file={folder}/nonsense", "auth.jwt_audience=a"],
     "auth.jwt_issuer"),
    (["auth.mode=mtls", "auth.mtls_tenants_file={folder}/nonsense"], "tls.mode"),
    (["auth.mode=password"], "auth.mode"),
])
def test_wrong_files_stop_the_start(make_server, tmp_path, flags, key):
    """Exit 78, the key named, and nothing of the file's content told."""
    (tmp_path / "nonsense").write_text("canary-of-a-file\n")
    server = make_server(*[f"--set={flag.format(folder=tmp_path)}" for flag in flags])
    server.spawn()
    assert server.wait(30, "to refuse its configuration") == 78
    assert key in server.log()
    assert "canary-of-a-file" not in server.log()


def test_nothing_secret_is_told(make_server, issuer, keys, tmp_path):
    """Keys, tokens and subject ids stand in no log, error or answer, whatever goes wrong."""
    good, revoked = keys.new("shop-a"), keys.new("shop-a")
    unknown = KeysFile(tmp_path / "other.jsonl").new("shop-a")
    keys.run("revoke", revoked[4:20])
    tokens = [issuer.token(sub="canary-subject"), issuer.token(exp=1, sub="canary-subject"),
              issuer.token(tenant="Canary Tenant"), Issuer().token(), "canary.token.malformed"]
    subject = "canary-subject-id-5f1e"
    server = make_server(
        "--set=log.level=trace", "--set=auth.mode=keys,jwt", f"--set=auth.keys_file={keys.path}",
        *jwt_flags(tmp_path)).start()
    told: list[str] = []
    events = [Facts(1, int(time.time()), 7).track_action().event for _ in range(3)]
    for event in events:
        event.subject_id = subject
    events[1].track_action.broadlog_id = ""  # Rejected.
    events[2].subject_id = subject * 20  # Rejected too: longer than an id may be.
    secrets = [good, revoked, unknown, good[:-1], "slk_canary", *tokens]
    with server.channel() as channel:
        stub = server.stub(channel)
        for secret in secrets:
            for metadata in (bearer(secret), [("x-api-key", secret)],
                             [("authorization", f"Basic {secret}")], bearer(secret) * 2):
                for method, request in [
                    (stub.RecordEvents, s.RecordEventsRequest(events=events)),
                    (stub.ExplainEvents, s.ExplainEventsRequest(events=events)),
                    (stub.RecordEvents, s.RecordEventsRequest(events=events * 1000)),
                ]:
                    try:
                        told.append(str(method(request, metadata=metadata, timeout=30).results))
                    except grpc.RpcError as error:
                        told.append(f"{error.details()} {error.trailing_metadata()}")
                stream = stub.StreamEvents(
                    iter([s.StreamEventsRequest(sequence=2, events=events),
                          s.StreamEventsRequest(sequence=1, events=events)]),
                    metadata=metadata, timeout=30)
                try:
                    told += [str(answer) for answer in stream]
                except grpc.RpcError as error:
                    told.append(f"{error.details()} {error.trailing_metadata()}")
    assert server.terminate() == 0
    told.append(server.log_path.read_text(errors="replace"))
    told.append(keys.run("list").stdout + keys.run("list", "--json").stdout)
    assert "credentials refused" in told[-2], "the log is not at its lowest level"
    everything = "\n".join(told)
    # The parts that matter: a secret's last 43 characters, and each part of a token.
    canaries = [key[-42:] for key in (good, revoked, unknown)] + [subject, "canary"]
    canaries += [part for token in tokens[:4] for part in token.split(".") if len(part) > 8]
    for canary in canaries:
        assert canary not in everything, f"{canary[:6]}… was told"
