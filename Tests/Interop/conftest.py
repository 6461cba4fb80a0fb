"""Fixtures: servers that end with their test, and figures that the summary prints."""

import pathlib
import random
import shutil
import tempfile

import pytest

from server import Server

FIGURES: list[str] = []


def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true",
                     help="search everything, as `make verify` does: hours, not minutes")
    parser.addoption("--amount", type=int,
                     help="how much of what a test repeats: kills, cuts, ends, seconds")
    parser.addoption("--seed", type=int, help="the seed of random tests, to run one again")


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
def figure():
    """Takes a measured figure, for the end of the output."""
    return FIGURES.append


def pytest_collection_modifyitems(items):
    """Tests that look back at the whole run come last, after the fixtures of all files."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def pytest_terminal_summary(terminalreporter):
    if FIGURES:
        terminalreporter.section("figures")
        for line in FIGURES:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def payloads() -> pathlib.Path:
    """The vendors' sample payloads and the flag's truth table."""
    return pathlib.Path(__file__).resolve().parent.parent / "Fixtures"


@pytest.fixture
def make_server():
    """Makes servers on folders of their own, or on one that is given; ends them after the test."""
    made: list[Server] = []
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
