"""The campaign sink against a server that fails by dice: each hit is counted as the rules say, and
twice only where a kill came between."""

import bisect
import collections
import itertools
import json
import random
import socket
import threading
import time

import pytest

import test_kill_loses_no_ack
from campaign import WORSE, CampaignFacts, Receiver, classic_id, postback, refusal
from certificates import Authority
from drained import wait_until_drained
from facts import CANARY
from server import query as rows
from server import wait_until
from test_kill_loses_no_hit_of_a_sink import product
from tls_front import TlsFront

ROUNDS, WHOLE = 4, 50
REQUESTS = 10
# Of a round Campaign counts about 391 requests, with a standard deviation of 16: never fewer than
# these.
SURELY_COUNTED = REQUESTS * 30
MAX_IN_FLIGHT = 32
# A request of the client is about 48 hits, and Campaign is asked for 39 of them: 100,000 hits with
# --whole.
FAULTY_ROUNDS, WHOLE_FAULTY_ROUNDS = 4, 225
# No answer is later, but for those that never come.
STALL_SECONDS = 5
# What a kill may send again: the group under way, and those since the last checkpoint. A group is
# one request here, of about 70 hits.
MOST_REPEATED = 300


class Client(test_kill_loses_no_ack.Client):
    """A client that knows what Campaign is to be asked for each of its hits."""

    def __init__(self, number: int, seed: int):
        super().__init__(number, seed)
        self.facts = CampaignFacts(seed + number, int(time.time()), space=number + 1)
        self.postbacks: dict[bytes, str | None] = {}

    def batches(self):
        for batch in super().batches():
            for fact in batch.facts:
                for identity, hit in fact.hits.items():
                    self.postbacks[identity] = postback(product(fact.event), hit)
            yield batch

    def wanted(self, identities) -> collections.Counter:
        """What is asked for these hits."""
        return collections.Counter(filter(None, map(self.postbacks.get, identities)))

    def send(self, server) -> None:
        """Sends some requests, and waits until all are acked."""
        self.run(server, itertools.islice(self.batches(), REQUESTS), threading.Event(), 60)
        assert self.failure is None, f"{self.failure!r}\n{server.log()}"


@pytest.fixture
def receiver(seed):
    """A Campaign server, running."""
    server = Receiver(seed)
    yield server
    server.close()


def campaign(make_server, url: str, *arguments: str, seconds: int = 300, **options):
    """A server whose only sink is campaign, for both products."""
    servers = json.dumps([{"tenant": "default", "standard": url, "classic": url}])
    return make_server("--sink", "campaign", f"--set=campaign.servers={servers}",
                       "--set=journal.group_bytes=1", "--set=journal.checkpoint_milliseconds=1",
                       f"--set=campaign.standard_timeout_seconds={seconds}",
                       f"--set=campaign.classic_timeout_seconds={seconds}",
                       f"--set=campaign.max_in_flight={MAX_IN_FLIGHT}",
                       "--set=log.level=trace", *arguments, **options)


@pytest.fixture
def campaign_server(make_server, receiver):
    """A server that sends to the receiver."""
    return campaign(make_server, receiver.url)


def wait_until_counted(server, receiver=None) -> None:
    """Waits for the sink; with a receiver, nothing may be counted twice on the way."""
    def check():
        counted = list(receiver.counted) if receiver else []
        assert len(set(counted)) == len(counted), "a request came again after its 200"

    wait_until_drained(server, "campaign", check=check)


def check_letters(server, client, receiver) -> int:
    """Each hit that is refused or not sent has a letter, and none of them holds a URL."""
    letters = rows(server.directory / "dead_letters.db",
                   "SELECT reason FROM dead_letters WHERE sink = 'campaign'")
    unsent = [identity for identity in client.owed if client.postbacks[identity] is None]
    refused = [query for query in client.wanted(client.owed).elements() if refusal(query)]
    wanted = len(unsent) + len(refused)
    assert len(letters) == wanted
    for letter in letters:
        assert any(text in letter["reason"]
                   for text in ("status 404", "status 302", "neither a UUID nor"))
    for text in [server.log_path.read_text(), *(letter["reason"] for letter in letters)]:
        assert CANARY not in text and "id=h" not in text and "mcId" not in text
    assert receiver.most_in_flight <= MAX_IN_FLIGHT
    assert not receiver.strayed, "a redirect was followed"
    return wanted


def check_order(receiver) -> None:
    """D14: a click was counted before its open came."""
    counted = {}
    for place, query in enumerate(receiver.counted):
        counted.setdefault(query, place)
    opens = 0
    for query, known in receiver.came:
        identity, comma, subject = query.partition(",1&mcId=")
        click = f"{identity},2&mcId={subject}"
        if comma and click in counted:
            opens += 1
            assert counted[click] < known, query
    assert opens > 50


@pytest.mark.timeout(900)
def test_each_hit_is_counted_once(campaign_server, receiver, figure, seed):
    """Through 503, 408, 429 and connections that end: exactly what the rules say, nothing twice."""
    client = Client(0, seed)
    server = campaign_server.start()
    for _ in range(ROUNDS):
        client.send(server)
    wait_until_counted(server, receiver)
    assert server.terminate() == 0, server.log()
    wanted = client.wanted(client.owed)
    sent = collections.Counter({query: n for query, n in wanted.items() if not refusal(query)})
    letters = check_letters(server, client, receiver)
    figure(f"{sum(sent.values()):,} requests counted once after {sum(receiver.failures.values())}"
           f" failures; {letters} dead letters")
    assert len(sent) > 1000 and sum(receiver.failures.values()) > 20
    assert collections.Counter(receiver.counted) == sent
    check_order(receiver)


@pytest.mark.parametrize("is_known", [True, False])
def test_requests_go_over_tls_to_a_known_server(make_server, receiver, folder, seed, is_known):
    """By a CA of the test's own; with another one, nothing is sent and everything waits."""
    authority = Authority()
    (folder / "roots.pem").write_bytes((authority if is_known else Authority("another")).pem)
    with TlsFront(*authority.issue(hosts=("localhost",)).write(folder, "server")) as front:
        front.before(f"127.0.0.1:{receiver.server_port}")
        server = campaign(make_server, f"https://localhost:{front.port}",
                          f"--set=campaign.tls.roots={folder}/roots.pem").start()
        client = Client(0, seed)
        client.send(server)
        if is_known:
            wait_until_counted(server, receiver)
        else:
            wait_until(lambda: "the sink is unavailable" in server.log_path.read_text(), "a reason")
        assert server.terminate() == 0, server.log()
    wanted = client.wanted(client.owed)
    sent = collections.Counter({query: n for query, n in wanted.items() if not refusal(query)})
    assert collections.Counter(receiver.counted) == (sent if is_known else {}) and sent


@pytest.mark.timeout(3600)
def test_only_a_kill_sends_again(campaign_server, receiver, figure, amount, seed):
    """Killed again and again: nothing acked is missing, and only what was under way comes twice."""
    moments = random.Random(seed)
    client = Client(0, seed)
    server = campaign_server
    kills = []
    for _ in range(amount(ROUNDS, WHOLE)):
        server.start()
        # Else a kill may come while what is there was delivered long ago.
        known = len(receiver.counted) + moments.randrange(1, SURELY_COUNTED)
        client.send(server)
        wait_until(lambda known=known: len(receiver.counted) >= known, "deliveries", 120,
                   every=0.001)
        server.kill()
        receiver.wait_for_ends()
        kills.append(len(receiver.counted))
    server.start()
    client.send(server)
    wait_until_counted(server)
    assert server.terminate() == 0, server.log()
    check_letters(server, client, receiver)
    check_repeats(client, receiver, kills, figure)


@pytest.mark.timeout(3600)
def test_faults_of_both(make_server, figure, amount, seed):
    """Storms of 503, stalled sockets, redirects, late answers; the receiver is killed and comes back,
    and so is the server: nothing is missing, and what comes twice was under way at a kill."""
    rounds = amount(FAULTY_ROUNDS, WHOLE_FAULTY_ROUNDS)
    receiver = Receiver(seed, WORSE)
    moments = random.Random(seed)
    client = Client(0, seed)
    server = campaign(make_server, receiver.url, seconds=STALL_SECONDS).start()
    kills = []
    # Five kills of the server, and as many of the receiver.
    every = max(1, rounds // 10)
    try:
        for number in range(rounds):
            known = len(receiver.counted) + moments.randrange(1, SURELY_COUNTED)
            client.send(server)
            if number % every:
                continue
            wait_until(lambda known=known: len(receiver.counted) >= known, "deliveries", 120,
                       every=0.001)
            if number // every % 2:
                server.kill()
                receiver.wait_for_ends()
                kills.append(len(receiver.counted))
                server.start()
            else:
                kills.append(receiver.kill())
        wait_until_counted(server)
        assert server.terminate() == 0, server.log()
        letters = check_letters(server, client, receiver)
        figure(f"{dict(receiver.failures)} failures, {len(receiver.refused)} refused,"
               f" {letters} dead letters")
        check_repeats(client, receiver, kills, figure)
        check_order(receiver)
    finally:
        receiver.close()


def check_repeats(client, receiver, kills, figure) -> None:
    counted = collections.Counter(receiver.counted)
    wanted = {query for query in client.wanted(client.owed) if not refusal(query)}
    missing = wanted - counted.keys()
    strange = counted.keys() - client.wanted(client.sent).keys()
    places = collections.defaultdict(list)
    for place, query in enumerate(receiver.counted):
        places[query].append(place)
    repeats = [pair for found in places.values() for pair in itertools.pairwise(found)]
    distances = []
    for first, second in repeats:
        number = bisect.bisect_right(kills, first)
        assert number < len(kills) and kills[number] <= second, (
            f"sent again after its 200 without a kill: {first} and {second}, kills {kills}")
        distances.append(kills[number] - first)
    figure(f"after {len(kills)} kills: {len(wanted):,} requests owed, {len(missing)} missing,"
           f" {len(strange)} never asked for, {len(repeats)} twice, the farthest of them"
           f" {max(distances, default=0)} before its kill")
    assert not missing and not strange
    assert max(distances, default=0) <= MOST_REPEATED


def test_a_silent_server_does_not_keep_the_process(make_server, receiver, figure):
    """A Campaign server accepts and says nothing: a stop ends in time, and the next start sends."""
    client = Client(0, 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = campaign(make_server, f"http://127.0.0.1:{silent.getsockname()[1]}").start()
        client.send(server)
        begin = time.monotonic()
        assert server.terminate() == 0, server.log()
        figure(f"stopped after {time.monotonic() - begin:.1f} s beside a silent server")
    again = campaign(make_server, receiver.url, directory=server.directory).start()
    wait_until_counted(again)
    assert again.terminate() == 0, again.log()
    assert set(receiver.counted) == {query for query in client.wanted(client.owed)
                                     if not refusal(query)}


@pytest.mark.parametrize("identity, sent", [
    ("55336", "d828"), ("12345", "3039"), ("-673096100", "d7e15e5c"), ("5", "5"),
    ("57904851586134", "34aa061c0c56"), ("9223372036854775807", "7fffffffffffffff"),
    ("-2147483649", "ffffffff7fffffff"), ("9223372036854775808", None), ("1-1-1-1-1", None),
    ("6b6499a8-9d43-4bc5-acf0-b6aeb96846f6", "6b6499a8-9d43-4bc5-acf0-b6aeb96846f6")])
def test_the_oracle_of_classic_ids(identity, sent):
    """D37: what Android's current client does."""
    assert classic_id(identity) == sent
