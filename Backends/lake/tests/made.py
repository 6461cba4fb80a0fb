"""Requests, as a server would send them."""

from sightline_lake.v1 import event_pb2, record_pb2, sink_service_pb2
from sightline_lake.v1 import verdict_pb2 as verdict

# 2026-11-27 23:59:59.999999: a microsecond more is another day.
TIME = 1_795_823_999_999_999


def event(number=0, **fields):
    made = event_pb2.TrackingEvent(event_id=f"e{number}", subject_id=f"subject-{number}",
                                   app_id="com.example", **fields)
    if made.WhichOneof("interaction") is None:
        made.push.apns.uri = "app://offer"
        made.push.kind = event_pb2.PUSH_INTERACTION_KIND_OPENED
    return made


def record(number=0, made=None, micros=TIME, delivery="56c4", tenant="acme", **fields):
    """A record's bytes; its event may be bytes of any kind."""
    made = event(number) if made is None else made
    fields = {"kind": verdict.HIT_KIND_CLICK, "delivery_id": delivery, "tenant": tenant,
              "broadlog_id": f"h{number:x}", **fields}
    result = record_pb2.TrackingRecord(hit_id=number.to_bytes(16, "big"), **fields)
    result.receive_time.FromMicroseconds(micros)
    content = made if isinstance(made, bytes) else made.SerializeToString()
    return result.SerializeToString() + field(15, content)


def request(sequence, records):
    batch = sink_service_pb2.RecordBatch()
    batch.groups.add(sequence=sequence, count=len(records))
    batch.end.sequence, batch.end.index, batch.end.check = sequence, len(records) - 1, 0xFFFFFFFF
    return field(2, b"".join(field(1, each) for each in records) + batch.SerializeToString())


def field(number, content):
    length, varint = len(content), b""
    while length > 0x7F:
        varint += bytes([length & 0x7F | 0x80])
        length >>= 7
    return bytes([number << 3 | 2]) + varint + bytes([length]) + content
