"""Postbacks as Campaign's SDKs send them: recorded once each, whatever ends between, also behind
nginx and Caddy, and with Adobe's own server behind the door."""

import collections
import concurrent.futures
import contextlib
import http.client
import http.server
import itertools
import json
import random
import socket
import threading
import time
import urllib.parse

import pytest

import proxies
from facts import CANARY
from protos import ROOT
from server import MANY_CONNECTIONS, wait_until
from test_terminal_commands import run
from vectors_of_received import ANDROID, IOS

STANDARD, CLASSIC = "track.example.com", "t.example.com"
APP = "com.example.shop"
HOSTS = [{"host": STANDARD, "tenant": "default", "app": APP, "product": "standard"},
         {"host": CLASSIC, "tenant": "other", "product": "classic"}]
POSTBACKS, WHOLE_POSTBACKS = 2000, 100_000
KILLS, WHOLE_KILLS = 2, 10
SENDERS = 8
SDK_SECONDS = 5
# What an SDK takes for a reason to send again.
AGAIN = {408, 503, 504}
EXPIRES = "Thu, 01 Jan 2099 00:00:00 GMT"


def headers(agent: str) -> dict[str, str]:
    """As Standard's SDK has them; Android's closes its connection after each hit."""
    fields = {"Content-Type": "application/json", "Accept": "*/*", "Accept-Language": "en-US",
              "User-Agent": agent}
    return fields | ({"connection": "close"} if agent == ANDROID else {})


class Answer:
    def __init__(self, response: http.client.HTTPResponse):
        self.status, self.body = response.status, response.read()
        self.fields = {name.lower(): value for name, value in response.getheaders()}


def ask(port: int, target: str, method: str = "GET", host: str = STANDARD, agent: str = IOS,
        body: str | None = None, seconds: float = SDK_SECONDS) -> Answer:
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    with contextlib.closing(connection):
        connection.request(method, target, body=body, headers=headers(agent) | {"Host": host})
        return Answer(connection.getresponse())


def open_door(make_server, *arguments: str, upstream: str = "", mirror: bool = False,
              rate: int = 0):
    """A server with the door, and its port, which it keeps over a kill."""
    server = make_server(f"--set=postback.hosts={json.dumps(HOSTS)}",
                         f"--set=postback.upstream={upstream}",
                         f"--set=postback.mirror={str(mirror).lower()}",
                         f"--set=postback.per_address_per_second={rate}", MANY_CONNECTIONS,
                         "--set=log.level=trace", *arguments, "--http", "127.0.0.1:0").start()
    _, port = server.http_address
    server.arguments = (*server.arguments[:-1], f"127.0.0.1:{port}")
    return server, port


class Adobe:
    """A Campaign server that keeps what it is asked, and answers as a test says."""

    def __init__(self):
        self.requests: list[tuple] = []
        # A status; or 0 for no answer until it closes.
        self.status = 200
        self.silence = threading.Event()
        self.down = False
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                outer.requests.append((self.command, self.path, self.headers["user-agent"],
                                       self.headers["content-type"], self.headers["host"], body))
                if outer.status == 0:
                    outer.silence.wait(60)
                # A connection that was open stays with its thread, which a server that is down
                # does not have.
                if outer.down:
                    self.close_connection = True
                    return
                self.send_response(outer.status or 200)
                if outer.status == 302:
                    self.send_header("Location", "https://shop.example/")
                self.send_header("Content-Length", "5")
                self.send_header("X-Adobe", "1")
                self.send_header("Expires", EXPIRES)
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(b"adobe")

            do_GET = do_POST = do_HEAD = do_PUT = handle_one

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def asked(self) -> collections.Counter:
        """What it was asked for, how often."""
        return collections.Counter((method, target) for method, target, *_ in self.requests)

    def close(self) -> None:
        self.down = True
        self.silence.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def adobe():
    server = Adobe()
    yield server
    server.close()


def stored(server) -> list[tuple]:
    """What hits.db has of each hit."""
    rows = server.query("SELECT tenant, app_id, platform, broadlog_id, delivery_id, "
                        "campaign_action, subject_id, occur_time, source FROM details")
    return [tuple(row) for row in rows]


def vectors() -> list[dict]:
    return json.loads((ROOT / "docs/vectors/postback-requests.json").read_text())


def of_vector(row: dict) -> tuple:
    """What hits.db has of a vector's event."""
    event, action = row["event"], row["event"]["trackAction"]
    number = {"ACTION_OPEN": 1, "ACTION_CLICK": 2, "ACTION_BUTTON_1": 3, "ACTION_BUTTON_2": 4,
              "ACTION_CLOSE": 5, "ACTION_IMPRESSION": 7}[action["action"]]
    platform = {"PLATFORM_IOS": "ios", "PLATFORM_ANDROID": "android"}.get(event.get("platform"))
    tenant, app = ("default", APP) if row["product"] == "standard" else ("other", None)
    return (tenant, app, platform, action["broadlogId"], action["deliveryId"], number,
            event.get("subjectId"), None, "postback")


def test_each_vector_is_recorded_once_or_not_found(make_server):
    """D66 to D70: the whole way, from the socket to hits.db."""
    server, port = open_door(make_server)
    wanted: dict[tuple, tuple] = {}
    for row in vectors():
        answer = ask(port, row["request"], agent=row["user_agent"],
                     host=CLASSIC if row["product"] == "classic" else STANDARD)
        assert answer.status == (200 if row["event"] else 404), row
        assert answer.body == b"" and answer.fields["cache-control"] == "no-store"
        assert answer.fields["content-length"] == "0"
        if row["event"]:
            hit = of_vector(row)
            # The platform and the subject are no part of a hit's identity (D17).
            wanted.setdefault((hit[0], *hit[3:6]), hit)
    server.wait_for_hits(len(wanted))
    assert sorted(stored(server), key=str) == sorted(wanted.values(), key=str)


@pytest.mark.parametrize("method, body", [("GET", None), ("POST", "{}"), ("POST", "{ }"),
                                          ("POST", None)])
@pytest.mark.parametrize("agent", [ANDROID, IOS])
def test_each_form_of_a_request_is_a_postback(make_server, method, body, agent):
    server, port = open_door(make_server)
    for parameter, comma in itertools.product(("mcId", "mcid"), (",", "%2C")):
        target = f"/r/?id=h1{comma}56c4{comma}2&{parameter}=4711"
        assert ask(port, target, method, agent=agent, body=body).status == 200
    server.wait_for_hits(1)
    [hit] = stored(server)
    assert hit[2] == ("android" if agent == ANDROID else "ios")


def test_what_is_none_is_not_recorded_and_no_query_is_logged(make_server):
    server, port = open_door(make_server)
    person = f"&mcId={CANARY}"
    for method, target, host, status in [
            ("HEAD", "/r/?id=h1,2,2" + person, STANDARD, 200),
            ("GET", "/r/?id=h1,2,2" + person, "else.example.com", 404),
            ("GET", "/r/?id=h1,2,d57ff6&p1=x" + person, STANDARD, 404),
            ("GET", "/r/?id=h1,2,2" + person, CLASSIC, 404),
            ("PUT", "/r/?id=h1,2,2" + person, STANDARD, 404),
            ("GET", "/r/?" + "x" * 3000 + person, STANDARD, 404),
            # Refused by a rule (D10): the SDK need not come again.
            ("GET", "/r/?id=h%20,2,2" + person, STANDARD, 200)]:
        assert ask(port, target, method, host).status == status, (method, target[:40], host)
    assert ask(port, "/r/?id=h1,2,2&mcId=4711").status == 200
    server.wait_for_hits(1)
    assert len(stored(server)) == 1
    log = server.log(1 << 20)
    assert "not a postback" in log and CANARY not in log and "id=h1" not in log


def test_over_a_quota_it_has_to_come_again(make_server):
    """D69: 503, and never 429."""
    server, port = open_door(make_server, "--set=quotas.events_per_second=1",
                             "--set=quotas.burst_seconds=1")
    statuses = {ask(port, f"/r/?id=h{number:x},2,2&mcId=1").status for number in range(20)}
    assert statuses == {200, 503}


def test_an_address_has_a_rate(make_server):
    server, port = open_door(make_server, rate=5)

    def status(number: int) -> int:
        return ask(port, f"/r/?id=h{number:x},2,2&mcId=1", seconds=60).status

    assert [status(number) for number in range(5)] == [200] * 5
    # At once: one after the other, on a slow machine, they might come no faster than the rate.
    with concurrent.futures.ThreadPoolExecutor(35) as pool:
        others = set(pool.map(status, range(5, 40)))
    assert 503 in others and others <= {200, 503}


def test_reports_leave_postbacks_out_and_show_them(make_server):
    server, port = open_door(make_server)
    for number in range(3):
        assert ask(port, f"/r/?id=h{number + 1:x},56c4,2&mcId=1").status == 200
    server.wait_for_hits(3)

    def report(*options: str) -> dict:
        return json.loads(run("report", "--data-dir", server.directory, "--json", *options).stdout)

    for source, hits in (("postback", 3), ("api", 0)):
        assert report("--source", source)["deliveries"]["hits"] == hits
    [detail] = report("--details")["push_details"]
    assert (detail["use"]["source"], detail["hits"]) == ("postback", 3)


# MARK: Ends


class Sender(threading.Thread):
    """An SDK with a queue: each postback is sent again until its answer is 200."""

    def __init__(self, port: int, targets: list[str], seed: int):
        super().__init__(daemon=True)
        self.port, self.targets, self.dice = port, targets, random.Random(seed)
        self.taken: list[str] = []
        self.strange: list[str] = []

    def run(self) -> None:
        for target in self.targets:
            deadline = time.monotonic() + 120
            while time.monotonic() < deadline:
                status = self.send(target)
                if status == 200:
                    self.taken.append(target)
                    # An SDK whose answer was lost on the way sends it once more.
                    if self.dice.random() < 0.02:
                        self.send(target)
                    break
                if status not in AGAIN | {0}:
                    self.strange.append(f"{status} {target}")
                    break
                time.sleep(0.02)

    def send(self, target: str) -> int:
        """The status; 0 for none."""
        agent = self.dice.choice([ANDROID, IOS])
        method, body = self.dice.choice([("GET", None), ("GET", None), ("POST", "{}")])
        try:
            return ask(self.port, target, method, agent=agent, body=body).status
        except (OSError, http.client.HTTPException):
            return 0


def triples(count: int) -> list[tuple[str, str, int]]:
    """Different ones, of 40 deliveries."""
    return [(f"h{number // 3 + 1:x}", f"{number % 40 + 1:x}", (1, 2, 7)[number % 3])
            for number in range(count)]


def targets_of(wanted: list[tuple[str, str, int]]) -> list[str]:
    forms = itertools.cycle([",", "%2C"])
    return [f"/r/?id={comma.join(map(str, triple))}&mcId={CANARY}-{number:x}"
            for number, (triple, comma) in enumerate(zip(wanted, forms))]


def send_all(server, port: int, wanted, kills: int, seed: int) -> None:
    """Sends them by several senders, with kills between."""
    targets = targets_of(wanted)
    senders = [Sender(port, targets[number::SENDERS], seed + number) for number in range(SENDERS)]
    for sender in senders:
        sender.start()
    for kill in range(kills):
        share = len(targets) * (kill + 1) // (kills + 1)
        wait_until(lambda: sum(len(sender.taken) for sender in senders) >= share,
                   f"{share} postbacks", 600)
        server.kill()
        server.start()
    for sender in senders:
        sender.join(timeout=600)
    assert [strange for sender in senders for strange in sender.strange] == []
    assert sum(len(sender.taken) for sender in senders) == len(targets)


def check_once(server, wanted) -> None:
    """Each triple is a hit, once: nothing that had 200 is lost, and nothing counts twice."""
    server.wait_for_hits(len(wanted), 300)
    found = collections.Counter(
        (broadlog, delivery, action) for _, _, _, broadlog, delivery, action, *_ in stored(server))
    assert found == collections.Counter(wanted)


@pytest.mark.timeout(3600)
def test_kills_lose_no_postback_and_count_none_twice(make_server, amount, seed):
    server, port = open_door(make_server)
    wanted = triples(amount(POSTBACKS, WHOLE_POSTBACKS))
    send_all(server, port, wanted, amount(KILLS, WHOLE_KILLS), seed)
    check_once(server, wanted)


# MARK: Proxies


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_a_proxy_chooses_by_the_pages_configuration(make_server, adobe, tmp_path, seed, name):
    """The snippets of docs/postback.md: postbacks come here, everything else goes to Adobe."""
    server, port = open_door(make_server)
    with proxies.proxy(name, tmp_path / name, f"127.0.0.1:{port}", adobe.address) as front:
        wanted = triples(200)
        send_all(server, front, wanted, 1, seed)
        check_once(server, wanted)
        assert not adobe.requests
        adobe.status = 302
        others = [("GET", "/r/?id=h1,2,d57ff6&p1=x"), ("GET", "/r/?id=h1,2,2"), ("GET", "/r/test"),
                  ("POST", "/rest/head/mobileAppV5/k/subscriptions/1"), ("GET", "/locations/")]
        for method, target in others:
            answer = ask(front, target, method, body="{}" if method == "POST" else None)
            assert (answer.status, answer.fields["location"]) == (302, "https://shop.example/")
        assert adobe.asked() == collections.Counter(others)
    assert len(stored(server)) == len(wanted)


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_behind_a_proxy_a_server_that_is_down_gives_503(tmp_path, name):
    with (proxies.held_port() as nowhere,
          proxies.proxy(name, tmp_path / name, *[f"127.0.0.1:{nowhere}"] * 2) as front):
        for target in ("/r/?id=h1,2,2&mcId=4711", "/locations/"):
            assert ask(front, target, seconds=30).status == 503


# MARK: Adobe behind the door


def test_with_a_mirror_adobe_gets_what_it_would_have_got(make_server, adobe, seed):
    server, port = open_door(make_server, upstream=f"http://{adobe.address}", mirror=True)
    dice = random.Random(seed)
    sent = []
    wanted = triples(100)
    for target in targets_of(wanted):
        method, body = dice.choice([("GET", b""), ("POST", b"{}")])
        agent = dice.choice([ANDROID, IOS])
        adobe.status = dice.choice([200, 200, 404, 500, 302])
        answer = ask(port, target, method, agent=agent, body=body.decode() or None)
        assert (answer.status, answer.body) == (adobe.status, b"adobe")
        assert answer.fields["x-adobe"] == "1"
        # D69: as it is, so that a browser keeps what Adobe lets it keep.
        assert answer.fields["expires"] == EXPIRES
        assert not {"cache-control", "x-content-type-options"} & answer.fields.keys()
        sent.append((method, target, agent, "application/json", adobe.address, body))
    for method, target in [("POST", "/rest/head/mobileAppV5/k/subscriptions/1"),
                           ("GET", "/r/?id=h1,2,d57ff6&p1=a%20b"), ("HEAD", "/r/test")]:
        body = b"{\"a\": 1}" if method == "POST" else b""
        adobe.status = 200
        answer = ask(port, target, method, body=body.decode() or None)
        # Of the body that Adobe has, also where HEAD leaves it out.
        assert (answer.status, answer.fields["content-length"]) == (200, "5")
        sent.append((method, target, IOS, "application/json", adobe.address, body))
    assert adobe.requests == sent
    check_once(server, wanted)


def test_without_a_mirror_adobe_gets_everything_but_postbacks(make_server, adobe):
    server, port = open_door(make_server, upstream=f"http://{adobe.address}")
    adobe.status = 302
    assert ask(port, "/r/?id=h1,2,2&mcId=4711").status == 200
    tracked = ask(port, "/r/?id=h1,2,d57ff6&p1=x")
    assert (tracked.status, tracked.fields["location"]) == (302, "https://shop.example/")
    assert adobe.asked() == {("GET", "/r/?id=h1,2,d57ff6&p1=x"): 1}
    assert ask(port, "/locations/", host="else.example.com").status == 404
    server.wait_for_hits(1)


@pytest.mark.parametrize("mirror", [True, False])
def test_adobe_down_or_slow_gives_503_in_the_sdks_time(make_server, adobe, mirror):
    """D69: what is recorded is recorded, and what Adobe has to answer comes again."""
    server, port = open_door(make_server, "--set=postback.upstream_timeout_seconds=1",
                             upstream=f"http://{adobe.address}", mirror=mirror)
    postback = 503 if mirror else 200
    adobe.status = 0
    for target, status in (("/r/?id=h1,2,2&mcId=1", postback), ("/locations/", 503)):
        assert ask(port, target).status == status
    adobe.close()
    # Held, and refusing: no other server takes the port meanwhile.
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", int(adobe.address.rpartition(":")[2])))
        for target, status in (("/r/?id=h2,2,2&mcId=1", postback), ("/locations/", 503)):
            assert ask(port, target).status == status
    server.wait_for_hits(2)


def test_the_sink_campaign_sends_each_triple_once(make_server, adobe, seed):
    """Standard's, behind the door: what apps send twice, Adobe gets once."""
    servers = json.dumps([{"tenant": "default", "standard": f"http://{adobe.address}"}])
    sinks = json.dumps([{"type": "sqlite"}, {"type": "campaign"}])
    server, port = open_door(make_server, f"--set=campaign.servers={servers}",
                             f"--set=sinks={sinks}")
    wanted = triples(100)
    send_all(server, port, wanted, 0, seed)
    for target in targets_of(wanted)[:50]:
        assert ask(port, target).status == 200
    check_once(server, wanted)
    wait_until(lambda: len(adobe.requests) >= len(wanted), "all hits at Adobe")
    asked = collections.Counter(
        urllib.parse.unquote(target.partition("&")[0]) for _, target, *_ in adobe.requests)
    assert asked == collections.Counter(
        f"/r/?id={','.join(map(str, triple))}" for triple in wanted)
