"""Messages over the stream's limit: kept with the stream's reason, and replayed once it is mended."""

import contextlib
import sqlite3

import pytest

from conftest import settings
from facts import Facts
from judge import STREAM, count, read, run as ask
from protos import service as s
from server import query, wait_until
from test_terminal_commands import run

EVENTS, HITS = 10, 20  # An opened notification gives two.


def limit(url: str, size: int) -> None:
    """Sets the stream's largest message, in bytes; -1 is none."""
    async def work(_, jetstream):
        config = (await jetstream.stream_info(STREAM)).config
        config.max_msg_size = size
        await jetstream.update_stream(config)
    ask(url, work)


def letters(server) -> list:
    with contextlib.suppress(sqlite3.OperationalError):  # Not made yet.
        return query(server.directory / "dead_letters.db", "SELECT reason, record FROM dead_letters")
    return []


@pytest.mark.parametrize("is_mended", [True, False])
def test_letters_go_back_to_the_stream(jetstream, make_server, is_mended):
    """Each is there once, as it was refused; or stays, where the limit still holds."""
    facts = Facts(1, 7)
    server = make_server(*settings(jetstream.url)).start()

    def send(number: int) -> None:
        events = [facts.push(kind=3).event for _ in range(number)]
        with server.channel() as channel:
            server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events), timeout=30)

    send(1)  # The first batch makes the stream.
    wait_until(lambda: count(jetstream.url) == 2, "2 hits in the stream")
    limit(jetstream.url, 100)
    send(EVENTS)
    wait_until(lambda: len(letters(server)) == HITS, f"{HITS} dead letters")
    refused = sorted(row["record"] for row in letters(server))
    server.terminate()

    arguments = ("replay", "--data-dir", server.directory, *settings(jetstream.url))
    if not is_mended:
        assert f"{HITS} refused again" in run(*arguments, code=1).stdout
        assert sorted(row["record"] for row in letters(server)) == refused
        return
    limit(jetstream.url, -1)
    assert f"{HITS} delivered" in run(*arguments).stdout
    assert not letters(server)
    assert sorted(message.data for message in read(jetstream.url)[2:]) == refused
