"""The backend of Examples/sink-python without a network: what it says while it writes."""

import importlib.util
import json
import threading

from protos import ROOT, record

from sightline.v1 import sink_service_pb2 as pb


CONTEXT = object()


def example(monkeypatch, sync):
    """The example's module, whose writes end when `sync` returns."""
    path = ROOT / "Examples/sink-python/backend.py"
    spec = importlib.util.spec_from_file_location("sink_python", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module.os, "fsync", sync)
    return module


HELLO = pb.DeliverRequest(hello=pb.Hello(
    journal_id="j", sink="grpc", capabilities=[pb.SINK_CAPABILITY_ERASURE]))


def message(sequence: int, hits: int, awaits_ack: bool = True) -> pb.DeliverRequest:
    """A group, with a hit of each of so many recipients."""
    batch = pb.RecordBatch(end=pb.Position(sequence=sequence, index=hits - 1),
                           awaits_ack=awaits_ack)
    batch.groups.add(sequence=sequence, first_index=0, count=hits)
    for number in range(hits):
        hit = record.TrackingRecord(hit_id=bytes([sequence, number]), tenant="t",
                                    delivery_id=f"{number}")
        hit.event.subject_id = f"subject-{number}"
        batch.records.append(hit)
    return pb.DeliverRequest(batch=batch)


def erase(*subjects: str, tenant: str = "t") -> pb.DeliverRequest:
    return pb.DeliverRequest(erase=pb.Erase(tenant=tenant, subject_ids=subjects))


def requests(hits: int):
    yield HELLO
    yield message(1, hits)


def lines(path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_slow_write_asks_for_time_until_it_is_done(monkeypatch, tmp_path):
    done = threading.Event()
    module = example(monkeypatch, lambda _: done.wait(60))
    monkeypatch.setattr(module, "BUSY_SECONDS", 0)
    answers = module.Backend(tmp_path / "hits.jsonl").Deliver(requests(2), CONTEXT)
    assert next(answers).HasField("welcome")
    for _ in range(3):
        assert next(answers).HasField("busy")
    done.set()
    rest = [answer for answer in answers if not answer.HasField("busy")]
    assert [answer.ack.durable.sequence for answer in rest] == [1]


def test_a_fast_write_asks_for_nothing(monkeypatch, tmp_path):
    module = example(monkeypatch, lambda _: None)
    answers = list(module.Backend(tmp_path / "hits.jsonl").Deliver(requests(1), CONTEXT))
    assert [answer.WhichOneof("message") for answer in answers] == ["welcome", "ack"], answers


def test_messages_are_gathered_until_the_server_waits(monkeypatch, tmp_path):
    """One sync and one ack for all of them, with the refusals of each."""
    syncs = []
    module = example(monkeypatch, syncs.append)
    refused = message(2, 2, awaits_ack=False)
    refused.batch.records[1].delivery_id = ""
    backend = module.Backend(tmp_path / "hits.jsonl")
    answers = list(backend.Deliver(
        iter([HELLO, message(1, 3, awaits_ack=False), refused, message(3, 1)]), CONTEXT))
    assert [answer.WhichOneof("message") for answer in answers] == ["welcome", "ack"]
    assert answers[1].ack.durable == pb.Position(sequence=3)
    assert [(hit.sequence, hit.index) for hit in answers[1].ack.refused] == [(2, 1)]
    assert len(syncs) == 1
    assert [line.get("hit") for line in lines(tmp_path / "hits.jsonl")] == [
        "0100", "0101", "0102", "0200", "0300", None]


def test_no_more_messages_are_gathered_than_may_be_in_memory(monkeypatch, tmp_path):
    module = example(monkeypatch, lambda _: None)
    for more in (-1, 0, 1):
        sent = [message(number + 1, 1, awaits_ack=False)
                for number in range(module.MOST_MESSAGES + more)]
        answers = list(module.Backend(tmp_path / f"{more}").Deliver(iter([HELLO, *sent]), CONTEXT))
        acks = [answer.ack.durable.sequence for answer in answers[1:]]
        assert acks == ([] if more < 0 else [module.MOST_MESSAGES])
        # What waits as the stream ends was not acknowledged, and is not there.
        hits = [line for line in lines(tmp_path / f"{more}") if "hit" in line]
        assert len(hits) == sum(acks)


def test_each_message_of_an_earlier_server_is_acknowledged(monkeypatch, tmp_path):
    """It never says that it awaits an ack."""
    module = example(monkeypatch, lambda _: None)
    hello = pb.DeliverRequest(hello=pb.Hello(
        journal_id="j", sink="grpc", capabilities=[pb.SINK_CAPABILITY_REFUSALS]))
    sent = [message(number, 1, awaits_ack=False) for number in (1, 2, 3)]
    answers = list(module.Backend(tmp_path / "hits").Deliver(iter([hello, *sent]), CONTEXT))
    assert [answer.ack.durable.sequence for answer in answers[1:]] == [1, 2, 3]


def test_a_recipient_is_deleted_and_nobody_else(monkeypatch, tmp_path):
    module = example(monkeypatch, lambda _: None)
    path = tmp_path / "hits.jsonl"
    answers = list(module.Backend(path).Deliver(iter([
        HELLO, message(1, 3), erase("subject-1", tenant="other"), erase("nobody"),
        erase("5ec7", "subject-1"), erase("subject-1"), message(2, 2)]), CONTEXT))
    assert pb.SINK_CAPABILITY_ERASURE in answers[0].welcome.capabilities
    counts = [answer.erased.erased_count for answer in answers if answer.HasField("erased")]
    assert counts == [0, 0, 1, 0]
    assert not any(answer.erased.HasField("retained_until") or answer.erased.failure
                   for answer in answers if answer.HasField("erased"))
    assert [line.get("subject") for line in lines(path)] == [
        "subject-0", "subject-2", None, "subject-0", "subject-1", None]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["hits.jsonl"]
    # The position is there still.
    welcome = next(module.Backend(path).Deliver(iter([HELLO]), CONTEXT)).welcome
    assert welcome.durable == pb.Position(sequence=2, index=1)


def test_a_slow_erasure_asks_for_time_until_it_is_done(monkeypatch, tmp_path):
    done = threading.Event()
    module = example(monkeypatch, lambda _: done.wait(60))
    monkeypatch.setattr(module, "BUSY_SECONDS", 0)
    answers = module.Backend(tmp_path / "hits.jsonl").Deliver(iter([HELLO, erase("s")]), CONTEXT)
    assert next(answers).HasField("welcome")
    for _ in range(3):
        assert next(answers).HasField("busy")
    done.set()
    assert [answer.WhichOneof("message") for answer in answers
            if not answer.HasField("busy")] == ["erased"]
