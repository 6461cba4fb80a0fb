"""The numbers of a topic's batches, read by the protocol itself. Brokers drop a batch whose number
they have; librdkafka's mock cluster does so only within transactions, so the judge does it."""

import collections
import socket
import struct

FETCH, VERSION = 1, 4
NO_ERROR, NOT_LEADER = 0, 6
PARTITION_BYTES = 16 << 20
# Of a batch before its records: length, magic, attributes, producer and count.
HEAD = struct.Struct(">qiibIhiqqqhii")


def text(value: str) -> bytes:
    return struct.pack(">h", len(value)) + value.encode()


def request(topic: str, partition: int, offset: int, wait: int) -> bytes:
    """A Fetch of one partition: answered at once, or when there is something, after so many ms at
    most."""
    body = (struct.pack(">hhi", FETCH, VERSION, 1) + text("judge")
            + struct.pack(">iiiib", -1, wait, 1 if wait else 0, PARTITION_BYTES, 0)
            + struct.pack(">i", 1) + text(topic)
            + struct.pack(">iiqi", 1, partition, offset, PARTITION_BYTES))
    return struct.pack(">i", len(body)) + body


def receive(connection: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            raise ConnectionError("a broker closed the connection")
        parts += part
    return bytes(parts)


def fetch(
        connection, topic: str, partition: int, offset: int, wait: int = 0
) -> tuple[int, int, bytes]:
    """The error, the end of the partition, and whole batches from an offset on."""
    connection.sendall(request(topic, partition, offset, wait))
    answer = receive(connection, struct.unpack(">i", receive(connection, 4))[0])
    # Correlation, throttle, one topic with its name, one partition with its number.
    place = 4 + 4 + 4 + 2 + len(topic) + 4 + 4
    error, end, _, aborted = struct.unpack_from(">hqqi", answer, place)
    place += 2 + 8 + 8 + 4 + max(0, aborted) * 16
    size = struct.unpack_from(">i", answer, place)[0]
    return error, end, answer[place + 4:place + 4 + max(0, size)]


def batches(connection, topic: str, partition: int, wait: int = 0):
    """Of each batch: its first offset, how many messages it has, and its number. None at all where
    this broker is not the partition's leader. Up to an empty answer, whatever end the broker tells:
    Tansu's lags behind what it has confirmed."""
    offset = 0
    while True:
        error, _, data = fetch(connection, topic, partition, offset, wait)
        if error == NOT_LEADER:
            return
        assert error == NO_ERROR, f"error {error} of partition {partition}"
        place = 0
        while place + HEAD.size <= len(data):
            head = HEAD.unpack_from(data, place)
            first, length, producer, epoch, sequence, count = (
                head[0], head[1], head[9], head[10], head[11], head[12])
            yield first, count, (producer, epoch, sequence)
            offset = first + count
            place += 12 + length
        if place == 0:
            return


def connections(bootstrap: str):
    """A connection to each broker, one after the other."""
    for address in bootstrap.split(","):
        host, port = address.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=30) as connection:
            yield connection


def ends(bootstrap: str, topic: str, partitions: int) -> dict[int, int]:
    """The end of each partition."""
    result = {}
    for connection in connections(bootstrap):
        for partition in range(partitions):
            error, end, _ = fetch(connection, topic, partition, 0)
            if error != NOT_LEADER:
                result[partition] = end
    return result


def last_offsets(bootstrap: str, topic: str, partitions: int, wait: int) -> dict[int, int]:
    """The end of each partition by its batches."""
    result = {}
    for connection in connections(bootstrap):
        for partition in range(partitions):
            result[partition] = 0
            for first, count, _ in batches(connection, topic, partition, wait):
                result[partition] = first + count
    return result


def dropped(bootstrap: str, topic: str, partitions: int) -> set[tuple[int, int]]:
    """Partition and offset of each message that a broker would have dropped by its number."""
    seen: dict[int, set] = collections.defaultdict(set)
    result: set[tuple[int, int]] = set()
    for connection in connections(bootstrap):
        for partition in range(partitions):
            for first, count, number in batches(connection, topic, partition):
                if number in seen[partition]:
                    result.update((partition, first + index) for index in range(count))
                seen[partition].add(number)
    return result


def gaps(bootstrap: str, topic: str, partitions: int, wait: int) -> list[str]:
    """Where a broker took a batch whose number does not follow the one before of its producer: it
    has to refuse such a one (OUT_OF_ORDER_SEQUENCE_NUMBER), for what is between is missing."""
    found: list[str] = []
    for connection in connections(bootstrap):
        for partition in range(partitions):
            following: dict[tuple[int, int], int] = collections.defaultdict(int)
            for first, count, (producer, epoch, sequence) in batches(
                    connection, topic, partition, wait):
                wanted = following[producer, epoch]
                if sequence != wanted:
                    found.append(f"partition {partition}, offset {first}: the number {sequence} "
                                 f"where {wanted} of the producer {producer} was due")
                following[producer, epoch] = sequence + count
    return found
