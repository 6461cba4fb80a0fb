"""A backend for the grpc sink: takes hits into a file of JSON lines, each hit once.

Usage: backend.py FILE HOST:PORT. The lines of a message are followed by one with its Ack, and all
of them are synced before it is sent. What stands after the last such line was not acknowledged.
"""

import base64
import collections
import concurrent.futures
import json
import os
import sys

import grpc
from sightline.v1 import sink_service_pb2 as pb
from sightline.v1 import sink_service_pb2_grpc as pb_grpc

# How long a write may take before the server is asked for more time: less than its grpc.ack_seconds, 10.
BUSY_SECONDS = 3


class Backend(pb_grpc.SinkServiceServicer):
    """Keeps a position and the refusals of each pair of journal and sink."""

    def __init__(self, path):
        self.ends, self.streams = {}, {}
        self.writer = concurrent.futures.ThreadPoolExecutor(1)
        self.refused = collections.defaultdict(list)
        self.file = open(path, "a+b")
        self.file.seek(0)
        read = whole = 0
        for line in self.file:
            read += len(line)
            entry = json.loads(line) if line.endswith(b"\n") else {}
            if "ack" in entry:
                self.note(entry["pair"], pb.Ack.FromString(base64.b64decode(entry["ack"])))
                whole = read
        self.file.truncate(whole)

    def note(self, pair, ack):
        self.ends[pair] = ack.durable
        self.refused[pair] += ack.refused

    def Deliver(self, requests, context):
        pair = None
        for request in requests:
            if request.HasField("hello"):
                pair = f"{request.hello.journal_id} {request.hello.sink}"
            answer = self.writer.submit(self.answer, request, pair, context)
            # Nothing comes before Welcome.
            seconds = BUSY_SECONDS if request.HasField("batch") else None
            while concurrent.futures.wait([answer], seconds).not_done:
                yield pb.DeliverResponse(busy=pb.Busy(delay={"seconds": BUSY_SECONDS}))
            yield answer.result()

    def answer(self, request, pair, context):
        """The answer to a request, on the writer's thread: one after another."""
        if request.HasField("hello"):
            self.streams[pair] = context  # From here on, no earlier stream adds anything.
            return pb.DeliverResponse(welcome=self.welcome(request.hello, pair))
        if self.streams.get(pair) is not context:
            context.abort(grpc.StatusCode.ABORTED, "no hello, or a later stream")
        return pb.DeliverResponse(ack=self.take(request.batch, pair))

    def welcome(self, hello, pair):
        known = {"durable": self.ends[pair]} if pair in self.ends else {"nothing": {}}
        self.refused[pair] = [r for r in self.refused[pair] if r.sequence > hello.settled_sequence]
        return pb.Welcome(version=1, capabilities=[pb.SINK_CAPABILITY_REFUSALS],
                          journal_id=hello.journal_id, refused=self.refused[pair], **known)

    def take(self, batch, pair):
        ack, lines = pb.Ack(durable=batch.end), []
        places = [(part.sequence, part.first_index + number)
                  for part in batch.groups for number in range(part.count)]
        for (sequence, index), record in zip(places, batch.records):
            if reason := self.refusal(record):
                ack.refused.add(sequence=sequence, index=index, code="INVALID", reason=reason)
            else:
                lines.append({"hit": record.hit_id.hex(), "delivery": record.delivery_id})
        lines.append({"pair": pair, "ack": base64.b64encode(ack.SerializeToString()).decode()})
        self.file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        self.file.flush()
        os.fsync(self.file.fileno())
        self.note(pair, ack)
        return ack

    def refusal(self, record):
        return "" if record.delivery_id else "no delivery id"


def serve(backend, address):
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(32))  # A thread for each stream.
    pb_grpc.add_SinkServiceServicer_to_server(backend, server)
    print(f"listening on port {server.add_insecure_port(address)}", flush=True)
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    serve(Backend(sys.argv[1]), sys.argv[2])
