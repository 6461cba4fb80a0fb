"""Whoever waits in vain is told why, and the log says it once."""

import asyncio
import inspect
import logging
import pathlib
import re
import types

import pytest
from google.rpc import status_pb2
from grpc_status import rpc_status

import sightline
from fake import SECONDS, event
from sightline import client as client_module
from sightline.errors import ENDED, StreamFailure
from sightline.outbox import Outbox
from sightline.session import WARNING_SECONDS, Session
from sightline.streams import hint
from sightline.v1.verdict_pb2 import VERDICT_ACCEPTED

NOBODY = "127.0.0.1:1"
REFUSED = "Connection refused"


@pytest.fixture
def away(caplog):
    """A client with an event whose server is away, and which knows it."""
    caplog.set_level(logging.INFO, "sightline")
    client = sightline.Client(NOBODY, max_pending=1)
    ticket = client.send(event())
    with client._session.lock:
        assert client._session.ended.wait_for(lambda: client._session.failure, SECONDS)
    yield client, ticket
    try:
        client.close(0)
    except sightline.EventsLost:
        pass


@pytest.mark.parametrize("kind, wait", [
    (TimeoutError, lambda client, ticket: ticket.result(0.01)),
    (sightline.FlushTimeout, lambda client, ticket: client.flush(0.01)),
    (sightline.QueueFull, lambda client, ticket: client.try_send(event())),
    (sightline.EventsLost, lambda client, ticket: client.close(0.01)),
], ids=["result", "flush", "try_send", "close"])
def test_whoever_waits_in_vain_is_told_the_last_failure(away, kind, wait):
    with pytest.raises(kind, match=f"the last stream ended with UNAVAILABLE: .*{REFUSED}"):
        wait(*away)


def test_a_ticket_of_a_client_that_was_closed_has_the_last_failure(away):
    client, ticket = away
    with pytest.raises(sightline.EventsLost):
        client.close(0)
    with pytest.raises(sightline.ClientClosed, match=REFUSED):
        ticket.result()


def test_what_it_does_says_the_last_failure(away):
    assert REFUSED in away[0].stats().last_failure


def test_the_failure_is_gone_once_the_server_answers(fake, connect):
    fake.refusal = [rpc_status.to_status(status_pb2.Status(code=14, message="later"))]
    client = connect()
    assert client.send(event()).result(SECONDS)
    assert client.stats().last_failure == ""


AWAY = StreamFailure("UNAVAILABLE", "a")


@pytest.mark.parametrize("failures, levels", [
    ([(0, AWAY), (100, AWAY), (200, AWAY)], ["WARNING", "INFO", "INFO"]),
    ([(0, ENDED), (0, AWAY)], ["INFO", "WARNING"]),
    ([(0, AWAY), (1, None), (60, AWAY)], ["WARNING", "WARNING"]),
    ([(0, AWAY), (1, None), (2, AWAY), (3, None), (59, AWAY), (60, AWAY), (61, AWAY)],
     ["WARNING", "INFO", "INFO", "WARNING", "INFO"]),
])
def test_the_first_failure_of_an_outage_is_a_warning_and_once_a_minute(caplog, failures, levels):
    """Each with its second. None is an answer between two."""
    assert WARNING_SECONDS == 60
    caplog.set_level(logging.INFO, "sightline")
    session = Session(Outbox(), None, 10, 1 << 20, None)
    for second, failure in failures:
        with session.lock:
            if failure:
                session.fail(failure, "HOST is tried again", second)
            else:
                session.settle([(session.ticket(b""), None)])
    assert [record.levelname for record in caplog.records] == levels


def test_a_server_that_does_not_answer_in_time_is_named_as_such(fake, connect):
    fake.open.clear()
    client = connect(answer_timeout=0.05)
    client.send(event())
    with client._session.lock:
        assert client._session.ended.wait_for(lambda: client._session.failure, SECONDS)
    with pytest.raises(sightline.EventsLost, match="has not answered in time"):
        client.close(0)


@pytest.fixture
def put_off(fake, connect, caplog):
    """A client whose server answers, and takes nothing, and which knows it."""
    caplog.set_level(logging.INFO, "sightline")
    fake.later = True
    client = connect()
    ticket = client.send(event())
    with client._session.lock:
        assert client._session.work.wait_for(lambda: client._session.failure, SECONDS)
    return client, ticket


@pytest.mark.parametrize("kind, wait", [
    (TimeoutError, lambda client, ticket: ticket.result(0.01)),
    (sightline.FlushTimeout, lambda client, ticket: client.flush(0.01)),
    (sightline.EventsLost, lambda client, ticket: client.close(0.01)),
], ids=["result", "flush", "close"])
def test_a_server_that_puts_all_events_off_is_named_as_such(put_off, caplog, kind, wait):
    said = "RETRY_LATER: the server takes no events now"
    with pytest.raises(kind, match=f"the last answer was {said}"):
        wait(*put_off)
    # It is said as soon as the event is put off, once.
    records = caplog.get_records("setup") + caplog.get_records("call")
    warnings = [record.message for record in records if record.levelname == "WARNING"]
    assert len(warnings) == 1 and warnings[0].startswith("1 event has no verdict, and 127.0.0.1:")
    assert warnings[0].endswith(f" gets them again: {said}")


def test_events_that_were_put_off_are_taken_later_and_nothing_is_said_any_more(fake, put_off):
    client, ticket = put_off
    assert client.stats().last_failure == "RETRY_LATER: the server takes no events now"
    fake.later = False
    assert ticket.result(SECONDS).verdict == VERDICT_ACCEPTED
    assert client.stats().last_failure == ""


def test_who_has_been_told_of_a_loss_is_not_told_again(away):
    client, _ = away
    with pytest.raises(sightline.EventsLost):
        client.close(0)
    assert client.close(0).pending == 1


@pytest.mark.parametrize("leave, raised, is_logged", [
    (None, sightline.EventsLost, False), (SystemExit, sightline.EventsLost, False),
    (SystemExit(0), sightline.EventsLost, False), (SystemExit(3), SystemExit, True),
    (SystemExit("why"), SystemExit, True), (ValueError, ValueError, True),
    (KeyboardInterrupt, KeyboardInterrupt, True),
    (asyncio.CancelledError, asyncio.CancelledError, True)])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_block_that_loses_events_raises_or_logs_it(caplog, leave, raised, is_logged, is_async):
    """What the block itself raises is not hidden; `sys.exit(0)` is no failure."""

    def block():
        with sightline.Client(NOBODY, close_timeout=0) as client:
            client.send(event())
            if leave:
                raise leave

    async def async_block():
        async with sightline.AsyncClient(NOBODY, close_timeout=0) as client:
            await client.send(event())
            if leave:
                raise leave

    with pytest.raises(raised):
        asyncio.run(async_block()) if is_async else block()
    assert ("1 event has no verdict, and no spool keeps them" in caplog.text) == is_logged


@pytest.mark.parametrize("is_async", [False, True])
def test_a_spool_that_fails_at_the_end_does_not_hide_what_a_block_raises(
        fake, tmp_path, monkeypatch, caplog, is_async):
    spool = sightline.Spool(tmp_path)

    def fail():
        raise OSError("the disk")

    def block():
        with sightline.Client(fake.target, spool=spool):
            raise ValueError("of the block")

    async def async_block():
        async with sightline.AsyncClient(fake.target, spool=spool):
            raise ValueError("of the block")

    with monkeypatch.context() as patch:
        patch.setattr(spool, "close", fail)
        with pytest.raises(ValueError, match="of the block"):
            asyncio.run(async_block()) if is_async else block()
    assert "the close of the client has failed: the disk" in caplog.text
    spool.close()


def test_a_spool_keeps_what_a_block_has_not_sent(fake, tmp_path, caplog):
    with sightline.Client(NOBODY, close_timeout=0, spool=sightline.Spool(tmp_path)) as client:
        client.send(event("kept"))
    assert f"1 event has no verdict, and the next client sends them from {tmp_path}" in caplog.text
    with sightline.Client(fake.target, spool=sightline.Spool(tmp_path)):
        pass
    assert [e.event_id for e in fake.events] == ["kept"]


@pytest.mark.parametrize("reason, uses_tls, said", [
    ("Socket closed", False, "give tls=Tls"), ("Connection reset by peer", False, "give tls=Tls"),
    ("Socket closed", True, ""), ("Connection refused", False, ""),
    ("SSL_ERROR_SSL: WRONG_VERSION_NUMBER", True, "leave tls out"),
    ("SSL_ERROR_SSL: CERTIFICATE_VERIFY_FAILED", True, "roots has to have its authority"),
    ("SSL_ERROR_SSL: BAD_SIGNATURE", True, "roots has to have its authority"),
])
def test_a_connection_that_does_not_come_about_has_a_hint(reason, uses_tls, said):
    assert said in hint(reason, uses_tls)
    assert bool(hint(reason, uses_tls)) == bool(said)


@pytest.mark.parametrize("target", ["http://127.0.0.1:50051", "https://shop.example"])
def test_a_target_that_is_a_url_is_refused_at_once(target):
    with pytest.raises(ValueError, match="has to be HOST:PORT.*tls=Tls"):
        sightline.Client(target)


PEM = b"-----BEGIN CERTIFICATE-----\n"


@pytest.mark.parametrize("options, kind, said", [
    ({"roots": "ca.pem"}, TypeError, r"roots is str, and has to be the bytes of a PEM file: "
                                     r"roots=pathlib.Path\(…\).read_bytes"),
    ({"roots": pathlib.Path("ca.pem")}, TypeError, "roots is PosixPath"),
    ({"roots": b"ca.pem"}, ValueError, "roots has no line -----BEGIN"),
    ({"certificate": PEM}, ValueError, "a certificate without its key"),
    ({"key": PEM}, ValueError, "a key without its certificate"),
    ({"certificate": PEM, "key": "key.pem"}, TypeError, "key is str"),
])
def test_tls_says_what_it_wants(options, kind, said):
    with pytest.raises(kind, match=said):
        sightline.Tls(**options)


@pytest.fixture
def trusted(monkeypatch, tmp_path):
    """What a client gives grpcio as roots, where the system has such files."""

    def trusted(files, tls=sightline.Tls(), **paths):
        for name, text in files.items():
            (tmp_path / name).write_bytes(text)
        found = {"cafile": None, "capath": None} | {
            key: str(tmp_path / name) for key, name in paths.items()}
        given = []
        monkeypatch.setattr(client_module.ssl, "get_default_verify_paths",
                            lambda: types.SimpleNamespace(**found))
        with monkeypatch.context() as patch:
            patch.setattr(client_module.grpc, "ssl_channel_credentials",
                          lambda *options: given.append(options[0]))
            sightline.Client(NOBODY, tls=tls).close()
        return given

    monkeypatch.delenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", raising=False)
    return trusted


def test_without_roots_the_systems_are_trusted(trusted, monkeypatch):
    """Where there are none, or a variable of grpcio's names others, it decides."""
    bundle = {"cert.pem": b"one", "02.0": b"two", "03.1": b"three", "README": b"words"}
    assert trusted(bundle, cafile="cert.pem", capath="") == [b"one"]
    assert trusted(bundle, capath="") == [b"two\nthree"]
    assert trusted({}) == [None]
    assert trusted(bundle, sightline.Tls(roots=PEM), cafile="cert.pem") == [PEM]
    monkeypatch.setenv("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "/etc/others.pem")
    assert trusted(bundle, cafile="cert.pem") == [None]


def test_each_option_is_in_the_docstring_and_in_the_page():
    options = list(inspect.signature(sightline.Client).parameters)
    assert list(inspect.signature(sightline.AsyncClient).parameters) == options
    page = (pathlib.Path(__file__).parent.parent / "README.md").read_text()
    table = page.partition("## Options of `Client`")[2].partition("\n## ")[0]
    for option in options[1:]:
        assert re.search(rf"^    (\w+, )*{option}[,:]", sightline.Client.__doc__, re.M), option
        assert f"`{option}`" in table, option


def test_a_close_that_is_interrupted_is_over(away, monkeypatch):
    """Who presses Ctrl-C does not wait again at the interpreter's end."""
    client, _ = away

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(client._session.settled, "wait_for", interrupt)
        with pytest.raises(KeyboardInterrupt):
            client.close()
    with pytest.raises(sightline.EventsLost):
        client.close(None)
