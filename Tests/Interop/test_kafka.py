"""The kafka sink before librdkafka's mock cluster, which fails in each way that it can, judged by a
reader of another client library."""

import itertools
import random
import subprocess
import threading
import time

import pytest

import kafka_mock
from drained import wait_until_drained
from kafka_mock import Mock, Reader, Tansu
from server import binary, query, wait_until
from test_kill_loses_no_ack import Client, kill_under_load, resend_all
from test_metrics import scrape, values

HITS, WHOLE_HITS = 6_000, 100_000
# Some 70 hits each.
HITS_IN_REQUEST = 70
KILLS, WHOLE_KILLS = 2, 5
STREAMS = 2
PASSWORD = "canary-of-kafka-5f1c"
# The mock cluster fails a request and takes those behind it, which brokers refuse by their numbers: the
# library believes then that all before them were taken too.
ONE_BY_ONE = "--set=kafka.max_in_flight=1"
# So that a fault is told of while the test waits for it.
HASTY = ["--set=kafka.request_seconds=1", "--set=kafka.delivery_seconds=3",
         "--set=kafka.connect_seconds=1", "--set=kafka.statistics_seconds=1"]


@pytest.fixture
def cluster(folder):
    """Three brokers."""
    with Mock(folder, brokers=3) as mock:
        yield mock


@pytest.fixture
def reader(cluster):
    """What reads all that comes to them."""
    with Reader(cluster) as reading:
        yield reading


def metric(server, name: str) -> float | None:
    return values(scrape(server)[0]).get(f'{name}{{sink="kafka"}}')


def send(server, client: Client, hits: int) -> None:
    """Sends about so many hits, and waits until all are acked."""
    batches = itertools.islice(client.batches(), max(1, hits // HITS_IN_REQUEST))
    client.run(server, batches, threading.Event(), 600)
    assert client.failure is None, f"{client.failure!r}\n{server.log()}"


def letters(server) -> set[bytes]:
    """Hits that brokers found too large alone, as the mock cluster says of any."""
    rows = query(server.directory / "dead_letters.db", "SELECT hit_id, reason FROM dead_letters")
    assert all("Message size too large" in row["reason"] for row in rows)
    return {bytes(row["hit_id"]) for row in rows}


def check(server, reader: Reader, clients: list[Client], figure, what: str) -> int:
    """Nothing is lost and nothing is strange; the number of repeats."""
    assert server.terminate() == 0, server.log()
    reader.finish()
    owed = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    kept, dropped = reader.judge()
    refused = letters(server)
    lost, strange = owed - kept.keys() - refused, kept.keys() - sent
    assert not refused & kept.keys(), "a dead letter was delivered"
    repeats = sum(kept.values()) - len(kept)
    figure(f"kafka, {what}: {len(owed):,} hits owed, {len(lost)} lost, {repeats:,} repeats"
           f" and {dropped:,} that a broker drops by their numbers, {len(refused)} dead letters,"
           f" {reader.opens:,} opens after their clicks")
    assert not reader.faults, reader.faults[:3]
    # A click may be a dead letter; its open comes without it.
    without = {identity[:-1] for identity in refused}
    early = [identity.hex() for identity in reader.early if identity[:-1] not in without]
    assert not early, f"opens that came before their clicks: {early[:3]}"
    assert not lost, (f"{len(lost)} hits are lost, e.g. {next(iter(lost)).hex()}; "
                      f"the brokers' numbers: {reader.mock.gaps()[:3]}\n{server.log()[-3000:]}")
    assert not strange, f"{len(strange)} hits that nobody sent"
    assert reader.opens > len(owed) / 100
    return repeats


def errors(cluster: Mock, pause) -> None:
    """Each error that the library sends again by itself."""
    for code in itertools.islice(itertools.cycle(
            [kafka_mock.NOT_LEADER, kafka_mock.TIMED_OUT, kafka_mock.NOT_ENOUGH_REPLICAS,
             kafka_mock.DISCONNECT]), 12):
        cluster.fail(code, 2)
        pause(0.3)


def fatal(cluster: Mock, pause) -> None:
    """The broker has lost count: the producer can do no more."""
    for _ in range(4):
        cluster.fail(kafka_mock.OUT_OF_ORDER)
        pause(1)


def refusing(cluster: Mock, pause) -> None:
    """What is an operator's matter, and batches that are too large."""
    for code in (kafka_mock.UNAUTHORIZED, kafka_mock.TOO_LARGE) * 2:
        cluster.fail(code, 3)
        pause(1)


def down(cluster: Mock, pause) -> None:
    """Each broker goes and comes back; then all at once."""
    for brokers in ([1], [2], [3], [1, 2, 3]):
        for broker in brokers:
            cluster.tell(f"down {broker}")
        pause(3)
        for broker in brokers:
            cluster.tell(f"up {broker}")
        pause(1)


def hanging(cluster: Mock, pause) -> None:
    """Brokers that accept and say nothing, for longer than the keys allow."""
    for _ in range(2):
        cluster.hang()
        pause(6)
        cluster.go_on()
        pause(2)


def slow(cluster: Mock, pause) -> None:
    """Answers that take a while."""
    for broker in (1, 2, 3):
        cluster.tell(f"delay {broker} 200")
    pause(5)
    for broker in (1, 2, 3):
        cluster.tell(f"delay {broker} 0")


def load_through(fault, server, client: Client, cluster: Mock, reader: Reader, hits: int) -> None:
    """Sends so many hits, and some 5,000 a second for as long as the fault takes: at full speed the
    load and its reader take both cores."""
    is_over = threading.Event()

    def load() -> None:
        send(server, client, hits)
        while not is_over.wait(0.1):
            send(server, client, 500)

    sender = threading.Thread(target=load)
    sender.start()
    wait_until(lambda: reader.places, "a first hit")
    fault(cluster, threading.Event().wait)
    is_over.set()
    sender.join(600)
    assert not sender.is_alive() and client.failure is None, f"{client.failure!r}\n{server.log()}"


INJECTED = {errors, fatal, refusing}
# Whether the sink's design allows repeats.
FAULTS = {errors: False, down: False, hanging: False, slow: False, refusing: True, fatal: True}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_nothing_is_lost_through_faults(
        make_server, cluster, reader, figure, amount, seed, fault):
    """Hits flow all the while; each comes, and none twice but where a producer was replaced."""
    server = make_server(*cluster.options, *HASTY, *([ONE_BY_ONE] if fault in INJECTED else []))
    server.start()
    client = Client(0, seed)
    hits = amount(HITS, WHOLE_HITS)
    load_through(fault, server, client, cluster, reader, hits)
    wait_until_drained(server, "kafka")
    repeats = check(server, reader, [client], figure, f"{fault.__name__} brokers")
    assert FAULTS[fault] or repeats == 0


@pytest.mark.timeout(1800)
def test_a_full_queue_loses_nothing(make_server, cluster, reader, figure, amount, seed):
    """A queue of 50 hits in front of slow brokers: full from the first request on."""
    server = make_server(*cluster.options, "--set=kafka.max_queued_hits=50").start()
    client = Client(0, seed)
    for broker in (1, 2, 3):
        cluster.tell(f"delay {broker} 20")
    send(server, client, amount(HITS // 4, WHOLE_HITS))
    wait_until_drained(server, "kafka")
    # Else each of many thousand small batches would be read as slowly.
    for broker in (1, 2, 3):
        cluster.tell(f"delay {broker} 0")
    assert check(server, reader, [client], figure, "a full queue") == 0


@pytest.mark.timeout(1800)
def test_a_broker_that_drops_by_numbers_has_each_hit_once(
        make_server, folder, figure, amount, seed):
    """Tansu, another broker than the mock cluster, which hangs twice under load."""
    with Tansu(folder) as broker, Reader(broker) as reader:
        server = make_server(*broker.options, *HASTY, environment=broker.environment).start()
        client = Client(0, seed)
        load_through(hanging, server, client, broker, reader, amount(HITS, WHOLE_HITS))
        wait_until_drained(server, "kafka")
        assert check(server, reader, [client], figure, "Tansu that hangs") == 0


@pytest.mark.timeout(3600)
def test_nothing_is_lost_through_kills(make_server, cluster, reader, figure, amount, seed):
    """kill -9 under load: what a killed server had sent without a saved cursor comes again."""
    rounds = amount(KILLS, WHOLE_KILLS)
    moments = random.Random(seed)
    clients = [Client(number, seed) for number in range(STREAMS)]
    server = make_server(*cluster.options)
    hits = amount(HITS, WHOLE_HITS)
    for number in range(rounds):
        while sum(len(client.owed) for client in clients) < hits * (number + 1) / rounds:
            kill_under_load(server, clients, moments, f"round {number}, seed {seed}")
    resend_all(server, clients)
    wait_until_drained(server, "kafka")
    check(server, reader, clients, figure, f"{rounds} kills at least")


def test_a_stop_does_not_wait_for_brokers(make_server, cluster, reader, figure, seed):
    """Brokers that hang keep no server from stopping; the next start delivers the rest."""
    server = make_server(*cluster.options).start()
    client = Client(0, seed)
    send(server, client, 500)
    wait_until_drained(server, "kafka")
    cluster.hang()
    send(server, client, 500)
    began = time.monotonic()
    assert server.terminate() == 0, server.log()
    seconds = time.monotonic() - began
    cluster.go_on()
    server.start()
    wait_until_drained(server, "kafka")
    check(server, reader, [client], figure, f"a stop of {seconds:.1f} s while brokers hang")
    assert seconds < 15


def test_the_metrics_and_the_log_tell_what_is_wrong(make_server, cluster, seed):
    """A broker that is gone, and a user who may not write, are told of; then it goes on."""
    server = make_server(*cluster.options, *HASTY).start()
    client = Client(0, seed)
    send(server, client, 500)
    wait_until_drained(server, "kafka")
    wait_until(lambda: metric(server, "sightline_sink_connected_brokers") == 3, "three brokers")
    # The time of answers is that of the last second.
    wait_until(lambda: send(server, client, 70)
               or metric(server, "sightline_sink_broker_round_trip_seconds") > 0, "an answer")
    for broker in (1, 2, 3):
        cluster.tell(f"down {broker}")
    send(server, client, 100)
    wait_until(lambda: "hits are delivered" in server.log_path.read_text(), "a reason")
    wait_until(lambda: metric(server, "sightline_sink_connected_brokers") == 0, "no broker")
    for broker in (1, 2, 3):
        cluster.tell(f"up {broker}")
    cluster.fail(kafka_mock.UNAUTHORIZED, 3)
    send(server, client, 100)
    wait_until_drained(server, "kafka")
    assert "allow the user of kafka.sasl.user to WRITE" in server.log_path.read_text()


def test_a_password_is_in_no_log(make_server, cluster, folder, seed):
    """The mock cluster knows no SASL: what the sink tells of that has no secret in it."""
    (folder / "password").write_text(PASSWORD + "\n")
    server = make_server(
        *cluster.options, *HASTY, "--set=log.level=trace", "--set=kafka.sasl.mechanism=plain",
        "--set=kafka.sasl.user=sightline", f"--set=kafka.sasl.password_file={folder}/password")
    server.start()
    client = Client(0, seed)
    send(server, client, 100)
    wait_until(lambda: "the sink is unavailable" in server.log_path.read_text(), "a reason")
    server.kill()
    log = server.log_path.read_text()
    assert "SASL" in log and PASSWORD not in log


@pytest.mark.parametrize("options, problem", [
    (["kafka.sasl.password_file={}/none"], "but has to be a file that this user can read"),
    (["kafka.sasl.password_file={}/empty"], "but has to have the password in one line"),
    (["kafka.sasl.password_file={}/two"], "but has to have the password in one line"),
    (["kafka.sasl.password_file={}/one", "kafka.tls.enabled=true", "kafka.tls.roots={}/none"],
     "but has to be a PEM file"),
    (["kafka.sasl.password_file={}/one", "kafka.tls.enabled=true", "kafka.tls.certificate={}/one",
      "kafka.tls.key={}/one"], "but has to be a PEM file"),
])
def test_a_file_that_cannot_be_used_stops_the_start(folder, options, problem):
    """78 before anything listens, with the place and without the password."""
    for name, text in {"empty": "\n", "one": f"{PASSWORD}\n", "two": f"{PASSWORD}\nb\n"}.items():
        (folder / name).write_text(text)
    settings = ["sink=kafka", "kafka.sasl.mechanism=plain", "kafka.sasl.user=u",
                *(option.format(folder) for option in options)]
    answer = subprocess.run(
        [str(binary()), "serve", "--listen", "127.0.0.1:0", "--admin", "off", "--data-dir",
         str(folder / "data"), *(f"--set={setting}" for setting in settings)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert answer.returncode == 78 and answer.stdout == "", answer
    assert problem in answer.stderr and PASSWORD not in answer.stderr, answer.stderr
