"""A stream's messages, against a lake that takes its time."""

import asyncio

import grpc
import pytest
from made import record, request

from sightline_lake import service as module
from sightline_lake.position import Position
from sightline_lake.service import Service
from sightline_lake.v1 import sink_service_pb2 as pb

HELLO = pb.DeliverRequest(hello=pb.Hello(versions=[1, 9], journal_id="j", sink="s")
                          ).SerializeToString()
ERASE = pb.DeliverRequest(erase=pb.Erase(tenant="t", subject_ids=["a", "b"])).SerializeToString()


class FakeLake:
    """Waits before each answer, and fails if it is to."""

    def __init__(self, error=None, turns=0):
        self.error, self.turns, self.asked, self.ended = error, turns, [], []

    async def answer(self, asked, value):
        self.asked.append(asked)
        for _ in range(self.turns):
            await asyncio.sleep(0.02)
        if self.error:
            raise self.error
        return value

    async def begin(self, app, stream):
        return Position(3, 4, 5) if app == "j/s" else None

    def end(self, app, stream):
        self.ended.append(app)

    async def add(self, app, stream, content, end):
        await self.answer((app, end), None)

    async def erase(self, tenant, subjects):
        return await self.answer((tenant, subjects), (2, 1_800_000_000))


class Context:
    """Keeps the status of a stream."""

    async def abort(self, code, reason):
        raise grpc.RpcError(code, reason)


def answers(lake, *requests):
    async def come():
        for each in requests:
            yield each

    async def run():
        return [answer async for answer in Service(lake).deliver(come(), Context())]

    return asyncio.run(run())


def test_welcome_has_the_position_and_the_capability():
    [answer] = answers(FakeLake(), HELLO)
    assert answer.welcome == pb.Welcome(
        version=1, journal_id="j", capabilities=[pb.SINK_CAPABILITY_ERASURE],
        durable=pb.Position(sequence=3, index=4, check=5))


def test_a_journal_that_is_not_known_has_nothing():
    other = pb.DeliverRequest(hello=pb.Hello(versions=[1], journal_id="other", sink="s"))
    [answer] = answers(FakeLake(), other.SerializeToString())
    assert answer.welcome.WhichOneof("progress") == "nothing"


@pytest.mark.parametrize("content, kind", [(request(9, [record(1)]), "ack"), (ERASE, "erased")])
def test_what_takes_long_asks_for_time(monkeypatch, content, kind):
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.01)
    kinds = [answer.WhichOneof("message") for answer in answers(FakeLake(turns=3), HELLO, content)]
    assert kinds[:2] == ["welcome", "busy"] and kinds[-1] == kind
    assert set(kinds[1:-1]) == {"busy"}


def test_a_stream_that_is_over_is_told_to_the_lake():
    lake = FakeLake()
    answers(lake, HELLO)
    assert lake.ended == ["j/s"]


def test_an_erasure_tells_what_it_did():
    lake = FakeLake()
    erased = answers(lake, HELLO, ERASE)[1].erased
    assert lake.asked == [("t", ["a", "b"])]
    assert (erased.erased_count, erased.failure) == (2, "")
    assert erased.retained_until.seconds == 1_800_000_000


def test_a_failed_erasure_says_so_in_words_of_its_own(capsys):
    erased = answers(FakeLake(RuntimeError("quotes someone")), HELLO, ERASE)[1].erased
    assert erased.failure == "the table cannot be changed: RuntimeError"
    assert "someone" not in capsys.readouterr().err


@pytest.mark.parametrize("error, code", [
    (ValueError("malformed"), grpc.StatusCode.INVALID_ARGUMENT),
    (OSError(28, "No space left on device"), grpc.StatusCode.RESOURCE_EXHAUSTED),
    (module.Superseded("later"), grpc.StatusCode.ABORTED),
    (module.DeltaError("no network"), grpc.StatusCode.UNAVAILABLE),
    (module.Refused("another"), grpc.StatusCode.UNAVAILABLE),
])
def test_a_failed_batch_ends_the_stream(error, code):
    with pytest.raises(grpc.RpcError) as raised:
        answers(FakeLake(error), HELLO, request(1, [record(1)]))
    assert raised.value.args == (code, str(error))
