"""Hits as columns, straight from the bytes of messages: nothing is done for a single hit here."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ptars
import pyarrow as pa
import pyarrow.compute as pc

from .projection import project
from .schema import COLUMNS, SCHEMA, Column
from .v1 import event_pb2, sink_service_pb2
from .values import date

# Rows whose columns are made at a time, which bounds what that takes of memory.
SLICE = 32_768
EVENT = "event."
FIELDS = {field for column in COLUMNS for field in column.fields}


def _parser(name: str, message: Any, paths: Iterable[str]) -> Any:
    part = project(f"sightline.lake.{name}", message, paths)
    pool = ptars.HandlerPool([part.file], ptars.PtarsConfig(timestamp_unit="us"))
    return pool.get_for_message(part)


_REQUESTS = _parser(
    "request", sink_service_pb2.DeliverRequest.DESCRIPTOR,
    ("batch.records." + ("event" if path.startswith(EVENT) else path) for path in FIELDS))
_EVENTS = _parser("event", event_pb2.TrackingEvent.DESCRIPTOR,
                  (path.removeprefix(EVENT) for path in FIELDS if path.startswith(EVENT)))


def records(request: bytes) -> pa.StructArray:
    """The records of a DeliverRequest, whose events stay bytes; ValueError if it is malformed."""
    batch = _REQUESTS.list_to_record_batch([request]).column("batch")
    return pc.struct_field(batch, "records").flatten()


def rows(parts: Sequence[pa.StructArray], has_bytes: bool) -> Iterator[pa.RecordBatch]:
    """The rows of records, sorted by delivery within each partition."""
    whole = pa.concat_arrays(parts)
    order = _order(pc.struct_field(whole, "tenant"), date(pc.struct_field(whole, "receive_time")),
                   pc.struct_field(whole, "delivery_id"))
    made = (_columns(whole.take(order.slice(start, SLICE)), has_bytes)
            for start in range(0, len(order), SLICE))
    # The next ones are made while these are compressed and written, on another core.
    with ThreadPoolExecutor(1) as maker:
        coming = maker.submit(next, made, None)
        while (batch := coming.result()) is not None:
            coming = maker.submit(next, made, None)
            yield batch


def _order(*keys: pa.Array) -> pa.Array:
    """The indices of rows by several keys, as numbers: texts would be sorted ten times slower."""
    codes = 0
    for key in keys:
        encoded = key.dictionary_encode()
        ranks = pc.rank(encoded.dictionary).cast(pa.int64())
        codes = pc.add(pc.multiply(codes, len(ranks) + 1), ranks.take(encoded.indices))
    return pc.sort_indices(codes)


def _columns(part: pa.StructArray, has_bytes: bool) -> pa.RecordBatch:
    events = _events(pc.struct_field(part, "event"))

    def values(column: Column) -> pa.Array:
        arrays = [pc.struct_field(events if path.startswith(EVENT) else part,
                                  path.removeprefix(EVENT).split(".")) for path in column.fields]
        is_null = all(array.null_count == len(array) for array in arrays)
        if is_null or column.name == "event" and not has_bytes:
            return pa.nulls(len(part), column.type)
        return column.read(*arrays).cast(column.type)

    return pa.RecordBatch.from_arrays([values(column) for column in COLUMNS], schema=SCHEMA)


def _events(events: pa.BinaryArray) -> pa.StructArray:
    """The fields of events. One that is malformed has none: its column `event` alone has it."""
    try:
        return _EVENTS.array_to_record_batch(events).to_struct_array()
    except ValueError:
        if len(events) == 1:
            return _events(pa.array([b""]))
        half = len(events) // 2
        return pa.concat_arrays([_events(events[:half]), _events(events[half:])])
