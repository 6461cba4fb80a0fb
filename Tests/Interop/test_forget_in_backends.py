"""A recipient is forgotten in a backend of the grpc sink, which is told over the stream of its hits:
judged by the backend's own file."""

import json
from concurrent import futures

import pytest

from drained import wait_until_drained
from server import wait_until
from test_forget import facts, forget, mixed, reports, send_all, subject  # pylint: disable=unused-import
from test_grpc_sink import go, make_backend, python  # pylint: disable=unused-import

HITS = 300


def file_of(backend) -> str:
    return (backend.folder / "hits").read_text()


def subjects(backend) -> set[str]:
    lines = [json.loads(line) for line in file_of(backend).splitlines()]
    return {line["subject"] for line in lines if line.get("subject")}


def test_a_recipient_is_deleted_in_the_backend(make_server, make_backend, facts):
    """Between deliveries, again, after a restart of either side, and whoever else is there stays."""
    backend = make_backend(python())
    server = make_server(*backend.options).start()
    gone, other = subject(), subject()
    send_all(server, mixed(reports(facts, HITS, gone), reports(facts, HITS, other)))
    wait_until_drained(server, "grpc")
    assert subjects(backend) == {gone, other}
    assert forget(server, gone)["grpc"] == {"outcome": "erased", "count": HITS, "reason": ""}
    assert gone not in file_of(backend)
    send_all(server, mixed(reports(facts, 10, gone), reports(facts, 10, other)))
    wait_until_drained(server, "grpc")
    assert forget(server, gone)["grpc"]["count"] == 0
    assert subjects(backend) == {other} and sum(backend.hits.values()) == HITS + 20
    # Without a stream: the server says Hello for this alone.
    backend.kill()
    backend.start()
    assert forget(server, other)["grpc"]["count"] == HITS + 10
    assert server.terminate() == 0, server.log()
    server.start()
    assert forget(server, other)["grpc"] == {"outcome": "erased", "count": 0, "reason": ""}
    send_all(server, reports(facts, 10, subject()))
    wait_until_drained(server, "grpc")
    assert sum(backend.hits.values()) == 20 and set(backend.hits.values()) == {1}
    assert gone not in server.log(1_000_000) and other not in server.log(1_000_000)
    assert server.terminate() == 0, server.log()


@pytest.mark.parametrize(("mode", "words"), [
    ("cannot", "the disk is read-only"), ("names", "no row of *"), ("silent", "no Erased within")])
def test_a_backend_that_fails_is_told_of_and_asked_again(make_server, make_backend, facts, mode,
                                                         words):
    backend = make_backend(python(mode))
    server = make_server(*backend.options).start()
    gone = subject()
    send_all(server, reports(facts, 10, gone))
    wait_until_drained(server, "grpc")
    erasure = forget(server, gone, code=69)["grpc"]
    assert erasure["outcome"] == "failed" and words in erasure["reason"], erasure
    assert gone not in erasure["reason"]
    backend.kill()
    erasure = forget(server, gone, code=69)["grpc"]
    assert erasure["outcome"] == "failed" and "unavailable" in erasure["reason"], erasure
    backend.command = python()
    backend.start()
    assert forget(server, gone)["grpc"]["outcome"] == "erased"
    assert gone not in file_of(backend)
    assert server.terminate() == 0, server.log()


def test_a_stop_does_not_wait_for_a_backend_that_is_silent(make_server, make_backend, facts):
    backend = make_backend(python("silent"))
    options = [option for option in backend.options if "ack_seconds" not in option]
    server = make_server(*options, "--set=grpc.ack_seconds=600").start()
    gone = subject()
    send_all(server, reports(facts, 10, gone))
    wait_until_drained(server, "grpc")
    with futures.ThreadPoolExecutor(1) as pool:
        forgetting = pool.submit(forget, server, gone, code=None)
        wait_until((backend.folder / "asked").exists, "the backend to be asked")
        assert server.terminate() == 0, server.log()
        # The answer may be cut off with the connection; it never says that it is done.
        try:
            assert forgetting.result(60)["grpc"]["outcome"] == "failed"
        except json.JSONDecodeError:
            pass


def test_a_backend_that_cannot_forget_is_not_asked(make_server, make_backend, facts, go):
    """The example in Go does not name the capability, and gets no message that it cannot read."""
    backend = make_backend(go)
    server = make_server(*backend.options).start()
    gone = subject()
    send_all(server, reports(facts, 10, gone))
    wait_until_drained(server, "grpc")
    for _ in range(2):
        erasure = forget(server, gone)["grpc"]
        assert erasure["outcome"] == "impossible", erasure
        assert "SINK_CAPABILITY_ERASURE" in erasure["reason"] and erasure["count"] == 0
    send_all(server, reports(facts, 10, subject()))
    wait_until_drained(server, "grpc")
    assert sum(backend.hits.values()) == 20
    assert "the sink is unavailable" not in server.log_path.read_text()
    assert server.terminate() == 0, server.log()
