"""What a soak's slow sink has got: a bit for each event, by the number in its broadlog id."""

import time

import grpc_backend
from grpc_backend import example, pb

# Where an event's number begins in `h<space><number>`: a space is two digits.
SPACE, NUMBER = slice(1, 3), slice(3, None)
# Bits come in pieces, so that the next event rarely needs a longer array.
PIECE = 1 << 16


class Oracle(example.Backend):
    """A backend that takes its time, stores nothing but bits, and has its positions in memory: so
    each hit has to come once, whatever ends in between."""

    def __init__(self, path: str, seconds: float):
        super().__init__(path)
        self.seconds = seconds
        self.bits: dict[str, bytearray] = {}
        self.hits = self.again = 0

    def take(self, batches, pair):
        for batch in batches:
            for record in batch.records:
                self.mark(record.broadlog_id)
        # A slow backend's time is its own: the sink has to make larger messages of what waits.
        time.sleep(self.seconds)
        ack = pb.Ack(durable=batches[-1].end)
        self.note(pair, ack)
        return ack

    def mark(self, broadlog_id: str) -> None:
        """Notes a hit, and whether it was there before."""
        number = int(broadlog_id[NUMBER], 16)
        bits = self.bits.setdefault(broadlog_id[SPACE], bytearray())
        if number >> 3 >= len(bits):
            bits.extend(bytes(PIECE * (1 + (number >> 3) // PIECE) - len(bits)))
        bit = 1 << (number & 7)
        self.again += bits[number >> 3] & bit != 0
        bits[number >> 3] |= bit
        self.hits += 1

    def unlike(self, sent: dict[str, int]) -> list[str]:
        """How what has come differs from so many events in each space, from number 0."""
        found = [f"{self.again} hits came again"] * (self.again > 0)
        for space, events in sent.items():
            value = int.from_bytes(self.bits.get(space, b""), "little")
            known = value & ((1 << events) - 1)
            if known.bit_count() != events:
                # The lowest bit that is not set.
                first = (~known & (known + 1)).bit_length() - 1
                found.append(f"{space}: {events - known.bit_count()} of {events} events are "
                             f"missing, the first is {first}")
            if value >> events:
                found.append(f"{space}: hits beyond the {events} events")
        unknown = self.bits.keys() - sent.keys()
        return found + [f"{space}: hits that nobody sent" for space in unknown]


def serve(path: str, seconds: float):
    """A running oracle on a free port, and its gRPC server; positions end with the process."""
    oracle = Oracle(path, seconds)
    server = grpc_backend.example.grpc.server(
        grpc_backend.example.concurrent.futures.ThreadPoolExecutor(8))
    grpc_backend.example.pb_grpc.add_SinkServiceServicer_to_server(oracle, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return oracle, server, port
