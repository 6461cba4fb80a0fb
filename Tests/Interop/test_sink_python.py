"""The backend of Examples/sink-python without a network: what it says while it writes."""

import importlib.util
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


def requests(hits: int):
    yield pb.DeliverRequest(hello=pb.Hello(journal_id="j", sink="grpc"))
    batch = pb.RecordBatch(end=pb.Position(sequence=1, index=hits))
    batch.groups.add(sequence=1, first_index=0, count=hits)
    for number in range(hits):
        batch.records.append(record.TrackingRecord(hit_id=bytes(16), delivery_id=f"{number}"))
    yield pb.DeliverRequest(batch=batch)


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
