"""Fixtures: servers, ours and nats-servers, that end with their test; figures for the summary."""

import collections
import os
import pathlib
import random
import shutil
import tempfile

import pytest

import logs
from nats_server import NatsServer
from server import Server

FIGURE = "figure"
# The files that take longest, longest first. They begin first: what takes a minute is not to run
# alone in the end, with three processes and a core that have nothing left to do.
LONGEST = [f"test_{name}.py" for name in (
    "client_libraries", "worst_tenant", "forget_everywhere", "lake_s3", "lake_table", "http_fuzz",
    "lake_once", "kafka", "postgresql", "code_blocks",
    "ends_leave_nothing", "java_and_swift_endings", "marks_cost_no_more_than_letters",
    "generated_code", "soak", "webhook", "attacks_are_survived", "failed_calls_lose_no_ack",
    "conformance", "grpc_sink", "connections", "memory_stays_bounded", "campaign", "inspection",
    "admin", "client_endings", "metrics", "power_cut_loses_no_ack", "drain_keeps_acks",
    "changed_files_are_found", "ends_free_memory", "sbom", "quarantine", "gap_is_told",
    "own_sink")]
# The servers that a test has made.
SERVERS = pytest.StashKey[list[Server]]()
# A server that crashes tells its log where it was.
os.environ.setdefault("SWIFT_BACKTRACE", "enable=yes,interactive=no,color=no,images=none,"
                      "registers=none,threads=crashed")


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true",
                     help="search everything, as `make verify` does: hours, not minutes")
    parser.addoption("--amount", type=int,
                     help="how much of what a test repeats: kills, cuts, ends, seconds")
    parser.addoption("--seed", type=int, help="the seed of random tests, to run one again")
    parser.addoption("--case", help="the one run of test_forget_everywhere.py, as in "
                     "\"sqlite, plain, after\"")


def pytest_collection_modifyitems(items):
    """Puts the longest files first, and keeps the order within a file and of all others."""
    ranks = {name: rank for rank, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path.name, len(ranks)))


@pytest.fixture
def amount(request):
    """How much a test does: what --amount says, or else a sample, or with --whole all of it."""

    def choose(sample, whole):
        option = request.config.getoption
        return option("--amount") or (whole if option("--whole") else sample)

    return choose


@pytest.fixture
def seed(request, figure) -> int:
    """The test's seed, told in the end."""
    value = request.config.getoption("--seed")
    value = random.SystemRandom().randrange(1 << 32) if value is None else value
    figure(f"{request.node.name}: seed {value}")
    return value


@pytest.fixture
def figure(record_property):
    """Takes a measured figure, for the end of the output."""
    return lambda line: record_property(FIGURE, line)


def pytest_terminal_summary(terminalreporter):
    skipped = collections.Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", []))
    if skipped:
        reasons = "; ".join(f"{count} × {reason}" for reason, count in skipped.items())
        terminalreporter.write_line(
            f"skipped: {reasons}. As root `make test-interop` runs what needs root, and "
            "`make verify` what needs --whole.")
    lines = [line for reports in terminalreporter.stats.values() for report in reports
             if getattr(report, "when", "") == "call"
             for name, line in report.user_properties if name == FIGURE]
    if lines:
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session", autouse=True)
def silent_logs():
    """No log of any server of this run tells of a person or a secret: each is looked through as
    its server ends, and this ends after all of them."""
    yield
    assert logs.found == []


@pytest.fixture(scope="session")
def payloads() -> pathlib.Path:
    """The vendors' sample payloads and the flag's truth table."""
    return pathlib.Path(__file__).resolve().parent.parent / "Fixtures"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows with a failure what the servers of its test logged."""
    report = yield
    if call.when == "call" and report.failed:
        for server in item.stash.get(SERVERS, []):
            # A test may fail before it has started one.
            if server.log_path.exists():
                report.sections.append((f"log of {server.directory.name}", server.log()))
    return report


@pytest.fixture
def make_server(request):
    """Makes servers on folders of their own, or on one that is given; ends them after the test."""
    made = request.node.stash[SERVERS] = []
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))

    def make(*arguments: str, directory: pathlib.Path | None = None, **options) -> Server:
        server = Server(directory or home / f"data{len(made)}", *arguments, **options)
        made.append(server)
        return server

    yield make
    for server in made:
        server.close()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def running():
    """One server for all tests of a file, each of which brings ids of its own."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-test-"))
    # At the lowest level, so that whatever is ever told of an event is looked at in the end.
    server = Server(home / "data", "--set=log.level=trace")
    try:
        yield server.start()
    finally:
        server.close()
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def stub(running):
    """A stub on that server."""
    with running.channel() as channel:
        yield running.stub(channel)


@pytest.fixture
def folder():
    """A folder of the test's own."""
    path = pathlib.Path(tempfile.mkdtemp(prefix="sightline-nats-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def jetstream(folder):
    """A nats-server, running."""
    server = NatsServer(folder / "nats")
    try:
        yield server.start()
    finally:
        server.close()
