"""What a column shows of the fields that it is read from: whole arrays at once, never a single hit.

An empty text and the number 0 mean that the event does not say it: they are null.
"""

from collections.abc import Callable, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

Read = Callable[..., pa.Array]


def plain(array: pa.Array) -> pa.Array:
    """The array as it is."""
    return array


def stated(array: pa.Array) -> pa.Array:
    """Texts and numbers that the event says; a time of 0 is none."""
    is_text = pa.types.is_string(array.type) or pa.types.is_binary(array.type)
    number = pc.binary_length(array) if is_text else array.cast(pa.int64())
    return pc.if_else(pc.equal(number, 0), None, array)


def text(array: pa.Array) -> pa.Array:
    """Texts of bytes in UTF-8."""
    try:
        return stated(array).cast(pa.string())
    except pa.ArrowInvalid:
        return pa.array([value and value.decode(errors="replace") for value in array.to_pylist()])


def date(array: pa.Array) -> pa.Array:
    """The days of times, in UTC."""
    return array.cast(pa.timestamp("us")).cast(pa.date32())


def first(*arrays: pa.Array) -> pa.Array:
    """The first text of each row."""
    return pc.coalesce(*map(stated, arrays))


def names(kinds: EnumTypeWrapper, prefix: str, shown: Mapping[int, str] = {}) -> Read:
    """Reads the names of numbers in lower case, without the prefix that they share.

    A number without a name, as of a newer client, stands as a number.
    """
    known = {value: shown.get(value, name.removeprefix(prefix).lower() if value else None)
             for name, value in kinds.items()}
    texts = pa.array([known.get(value) for value in range(max(known) + 1)], pa.string())

    def read(array: pa.Array) -> pa.Array:
        is_known = pc.and_(pc.greater_equal(array, 0), pc.less(array, len(texts)))
        named = texts.take(pc.if_else(is_known, array, None))
        if named.null_count == 0:
            return named
        return pc.coalesce(named, pc.if_else(pc.equal(array, 0), None, array.cast(pa.string())))

    return read


def joined(read: Read) -> Read:
    """Reads lists as texts with commas."""
    def join(lists: pa.Array) -> pa.Array:
        offsets = pc.subtract(lists.offsets, lists.offsets[0])
        return pc.binary_join(pa.ListArray.from_arrays(offsets, read(lists.flatten())), ",")

    return join


def either(first: Read, second: Read) -> Read:
    """Reads the first of two arrays, or else the second one."""
    return lambda one, other: pc.coalesce(first(one), second(other))


def platform(read: Read) -> Read:
    """Reads the platform: that of the payload, or else the event's."""
    def effective(apns: pa.Array, fcm: pa.Array, number: pa.Array) -> pa.Array:
        return pc.case_when(pc.make_struct(pc.is_valid(apns), pc.is_valid(fcm)),
                            "ios", "android", read(number))

    return effective


def product(read: Read) -> Read:
    """Reads the product of those messages that have one; in-app messages are Firebase's."""
    def of_event(in_app: pa.Array, *numbers: pa.Array) -> pa.Array:
        return pc.if_else(pc.is_valid(in_app), "firebase", pc.coalesce(*map(read, numbers)))

    return of_event


def interaction(read_kind: Read, read_push: Read) -> Read:
    """Reads what happened: of a push what the app reports, of all others what the hit is."""
    def read(kind: pa.Array, track_action: pa.Array, push: pa.Array) -> pa.Array:
        of_others = pc.replace_substring_regex(read_kind(kind), "^(in_app|send)_", "")
        return pc.case_when(pc.make_struct(pc.is_valid(push), pc.is_valid(track_action)),
                            read_push(push), "track_action", of_others)

    return read


def first_map(*arrays: pa.Array) -> pa.Array:
    """The first map of each row. Of a key that comes twice, which a client may send and some
    readers refuse, the last value counts."""
    maps = pc.coalesce(*arrays)
    keys = pa.ListArray.from_arrays(maps.offsets, maps.keys.dictionary_encode().indices)
    rows = pc.multiply(pc.list_parent_indices(keys), len(maps.keys))
    entries = pc.add(rows, keys.flatten().cast(pa.int64()))
    if len(entries.unique()) == len(entries):
        return maps
    return pa.array([row and list(dict(row).items()) for row in maps.to_pylist()], maps.type)
