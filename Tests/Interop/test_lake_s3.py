"""A lake in S3: a real SeaweedFS that is stopped and slow, a proxy that fails by plan, and two
lakes at one table; each hit is there once."""

import itertools
import random
import threading

import pytest

import lake
from drained import wait_until_drained
from lake import SINK, Peer
from object_store import BUCKET, Front, SeaweedFS, storage
from protos import ROOT
from server import wait_until
from test_kill_loses_no_ack import Client
from test_lake_once import COUNT, failures, make_lake, record, send  # noqa: F401  a fixture

TABLE = f"s3://{BUCKET}/lake"
ROUNDS, WHOLE = 6, 100
REQUESTS = 4
SLOW_SECONDS = 0.3
EX_CONFIG = 78


@pytest.fixture
def seaweedfs(tmp_path):
    made = SeaweedFS(tmp_path / "seaweedfs")
    try:
        yield made.start()
    finally:
        made.close()


@pytest.fixture
def front(seaweedfs):
    made = Front(seaweedfs.port).start()
    yield made
    made.stop()


def check(seaweedfs, clients, figure, what: str) -> None:
    """Read past the proxy, by deltalake and by ClickHouse's own reader."""
    stored = lake.hits(TABLE, storage(seaweedfs.url))
    owed = set().union(*(client.owed for client in clients))
    sent = set().union(*(client.sent for client in clients))
    twice = sum(stored.values()) - len(stored)
    figure(f"{what}: {len(owed):,} hits owed, {len(owed - stored.keys())} lost, {twice} twice")
    assert owed <= stored.keys() <= sent and not twice
    [count] = lake.asked(ROOT, "clickhouse", [f"""import chdb.session
clickhouse = chdb.session.Session()
clickhouse.query("CREATE VIEW hits AS SELECT * FROM "
                 "deltaLake('{seaweedfs.url}/{BUCKET}/lake', 'any', 'any')")"""], [COUNT])
    assert count == [[len(stored), len(stored)]]


def test_hits_are_there_once_while_s3_is_stopped_and_slow(make_server, make_lake,  # noqa: F811
                                                          seaweedfs, front, figure, seed):
    """Hits are taken meanwhile, into the stage, and are in the table once it is back."""
    own = make_lake("--publish-seconds=1", table=TABLE, environment=storage(front.url)).start()
    client = Client(0, seed)
    server = make_server(own.sinks()).start()
    send(server, client, REQUESTS)
    wait_until_drained(server, SINK)
    seaweedfs.stop()
    send(server, client, REQUESTS)
    # Acknowledged without the table: the server need not keep them.
    wait_until_drained(server, SINK)
    wait_until(lambda: failures(own), "a failed commit is told")
    assert own.process.poll() is None, own.log()
    seaweedfs.start()
    front.delay = SLOW_SECONDS
    send(server, client, REQUESTS)
    wait_until_drained(server, SINK)
    assert server.terminate() == 0, server.log()
    assert own.terminate() == 0, own.log()
    check(seaweedfs, [client], figure, "S3 stopped and slow")


def plans(chooser: random.Random) -> list:
    """What happens to requests, in turn."""
    def some(fault, *methods):
        return lambda method, path: (
            fault if method in methods and chooser.random() < 0.3 else None)

    def commits(fault):
        """The first time that each commit is put."""
        known = set()

        def plan(method, path):
            if method == "PUT" and "_delta_log" in path and path not in known:
                known.add(path)
                return fault
            return None
        return plan
    return [commits(Front.CUT), some(503, "PUT", "GET"), some(Front.CUT, "PUT"), commits(500),
            some(500, "PUT"), some(Front.CUT, "GET", "PUT")]


@pytest.mark.timeout(3600)
def test_hits_are_there_once_whatever_s3_answers(make_server, make_lake,  # noqa: F811
                                                 seaweedfs, front, figure, amount, seed):
    """Errors by plan, among them commits that are made and whose answer is lost; and kills."""
    chooser = random.Random(seed)
    # So that a request that failed is tried again within the test's time.
    fast = {"RETRY_TIMEOUT": "5s"}
    own = make_lake("--publish-seconds=1", "--tidy-seconds=3", table=TABLE,
                    environment=storage(front.url) | fast).start()
    client = Client(0, seed)
    server = make_server(own.sinks()).start()
    for number, plan in zip(range(amount(ROUNDS, WHOLE)), itertools.cycle(plans(chooser))):
        front.plan = plan
        commits = own.figures()["sightline_lake_commits_total"]
        send(server, client, REQUESTS)
        # Some commits, and failures of others.
        threading.Event().wait(chooser.uniform(1, 3))
        if number % 3 == 2:
            own.kill()
            front.plan = lambda *_: None
            own.start()
            continue
        assert own.process.poll() is None, own.log()
        front.plan = lambda *_: None
        wait_until(lambda: own.figures()["sightline_lake_commits_total"] > commits,
                   "a commit after the fault")
    wait_until_drained(server, SINK)
    assert server.terminate() == 0, server.log()
    assert own.terminate() == 0, own.log()
    faults = sum(bool(fault) for *_, fault in front.done)
    check(seaweedfs, [client], figure, f"{faults} faults of S3")
    assert faults


def is_commit(method: str, path: str) -> bool:
    return method == "PUT" and "_delta_log" in path and path.endswith(".json")


def test_an_end_waits_for_the_commit_that_is_under_way(make_lake, seaweedfs, front):  # noqa: F811
    """SIGTERM comes while the commit's own file is being put: its hits are there once, and it ends
    with 0."""
    own = make_lake("--publish-seconds=1", table=TABLE, environment=storage(front.url)).start()
    putting, going_on = threading.Event(), threading.Event()

    def plan(method, path):
        if is_commit(method, path):
            putting.set()
            assert going_on.wait(60)

    with Peer(own) as peer:
        front.plan = plan
        peer.deliver(1, [record(1)])
        assert putting.wait(60)
        peer.deliver(2, [record(2)])
        own.process.send_signal(lake.signal.SIGTERM)
        # The signal is taken while the commit waits.
        wait_until(lambda: is_draining(peer), "the lake says that it ends")
    threading.Timer(1, going_on.set).start()
    assert own.process.wait(60) == 0, own.log()
    stored = lake.hits(TABLE, storage(seaweedfs.url))
    assert stored == {record(number).hit_id: 1 for number in (1, 2)}


def is_draining(peer: Peer) -> bool:
    try:
        return next(peer.answers).HasField("drain")
    except StopIteration:
        return True


def test_a_commit_whose_answers_are_lost_is_made_once(make_server, make_lake,  # noqa: F811
                                                      seaweedfs, front, figure, seed):
    """Longer than the library tries: the table has the commit, and the lake learns it later."""
    own = make_lake("--publish-seconds=1", table=TABLE,
                    environment=storage(front.url) | {"RETRY_TIMEOUT": "3s"}).start()
    client = Client(0, seed)
    server = make_server(own.sinks()).start()
    front.plan = lambda method, path: Front.CUT if is_commit(method, path) else None
    send(server, client, REQUESTS)
    wait_until(lambda: failures(own) or own.process.poll() is not None, "a failed commit is told")
    send(server, client, REQUESTS)
    assert own.process.poll() is None, own.log()
    front.plan = lambda *_: None
    wait_until_drained(server, SINK)
    wait_until(lambda: own.figures()["sightline_lake_staged_bytes"] == 0, "all is in the table")
    assert server.terminate() == 0, server.log()
    assert own.terminate() == 0, own.log()
    check(seaweedfs, [client], figure, "commits whose answers are lost")


@pytest.mark.parametrize("fault, is_made", [(Front.CUT, True), (503, False)])
def test_a_kill_around_a_commit_leaves_each_hit_once(make_lake, seaweedfs, front,  # noqa: F811
                                                     fault, is_made):
    """Between the commit and the end of its staged file; and between the files of the table and the
    commit that names them."""
    own = make_lake("--publish-seconds=1", table=TABLE, environment=storage(front.url)).start()
    front.plan = lambda method, path: fault if is_commit(method, path) else None
    with Peer(own) as peer:
        peer.deliver(1, [record(1), record(2)])
        wait_until(lambda: any(row[-1] == fault for row in front.done), "the commit meets it")
    if is_made:
        lake.wait_for_rows(TABLE, 2, storage(seaweedfs.url))
    own.kill()
    assert list(own.state.rglob("*.staged"))
    front.plan = lambda *_: None
    own.start()
    with Peer(own) as peer:
        assert peer.welcome.durable.sequence == 1
        peer.deliver(2, [record(3)])
    assert own.terminate() == 0, own.log()
    stored = lake.hits(TABLE, storage(seaweedfs.url))
    assert stored == {record(number).hit_id: 1 for number in (1, 2, 3)}


def test_an_erasure_that_fails_says_so_and_is_done_when_it_is_asked_again(  # noqa: F811
        make_lake, seaweedfs, front):
    """And nothing of it is lost: what was staged with the recipient's hits is there, or erased."""
    own = make_lake("--publish-seconds=1", table=TABLE,
                    environment=storage(front.url) | {"RETRY_TIMEOUT": "2s"}).start()
    with Peer(own) as peer:
        peer.deliver(1, [record(1, subject="gone"), record(2)])
        front.plan = lambda method, path: 503
        erased = peer.erase("elsewhere", "gone")
        assert erased.failure and "gone" not in erased.failure and not erased.erased_count
        front.plan = lambda *_: None
        erased = peer.erase("elsewhere", "gone")
        assert (erased.failure, erased.erased_count) == ("", 1)
        peer.deliver(2, [record(3)])
    assert own.terminate() == 0, own.log()
    stored = lake.hits(TABLE, storage(seaweedfs.url))
    assert stored == {record(number).hit_id: 1 for number in (2, 3)}


def test_a_second_lake_is_refused_in_words(make_lake, seaweedfs):  # noqa: F811
    """At S3 no lock holds it: it finds the other's commits."""
    first = make_lake("--publish-seconds=1", table=TABLE,
                      environment=storage(seaweedfs.url)).start()
    with Peer(first) as peer:
        peer.deliver(1, [record(1)])
        second = make_lake("--publish-seconds=1", table=TABLE, environment=storage(seaweedfs.url))
        code, log = second.fails()
        assert code == EX_CONFIG and "one writer" in log
        peer.deliver(2, [record(2)])
    assert first.terminate() == 0, first.log()
    assert set(lake.hits(TABLE, storage(seaweedfs.url)).values()) == {1}


def test_a_lake_that_was_taken_over_writes_nothing_more(make_lake, seaweedfs):  # noqa: F811
    """One that hung for longer than a second one waits: its hits come to neither by it."""
    first = make_lake("--publish-seconds=1", table=TABLE,
                      environment=storage(seaweedfs.url)).start()
    with Peer(first) as peer:
        peer.deliver(1, [record(1)])
        lake.wait_for_rows(TABLE, 1, storage(seaweedfs.url))
        first.process.send_signal(lake.signal.SIGSTOP)
        second = make_lake("--publish-seconds=1", table=TABLE, environment=storage(seaweedfs.url))
        wait_until(lambda: takes_over(second), "the second one takes over", 60, every=2)
        first.process.send_signal(lake.signal.SIGCONT)
        with Peer(second) as other:
            assert other.welcome.durable.sequence == 1
            other.deliver(2, [record(2)])
            # The first one may stage a batch, but it never gets into the table.
            peer.send(2, [record(2)])
            assert first.process.wait(60) == EX_CONFIG, first.log()
        assert second.terminate() == 0, second.log()
    stored = lake.hits(TABLE, storage(seaweedfs.url))
    assert stored == {record(number).hit_id: 1 for number in (1, 2)}


def takes_over(second) -> bool:
    try:
        second.start()
    except AssertionError:
        assert second.process.returncode == EX_CONFIG and "one writer" in second.log()
        return False
    return True
