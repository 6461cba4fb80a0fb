"""A backend for the grpc sink: takes hits into a file of JSON lines, each hit once.

Usage: backend.py FILE HOST:PORT. Messages are gathered until the server waits for an ack. Their
lines are followed by one with their Ack, and all of them are synced before it is sent. What stands
after the last such line was not acknowledged.
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
# Messages that are written together, also if the server could send more: what may be in memory.
MOST_MESSAGES = 16


class Backend(pb_grpc.SinkServiceServicer):
    """Keeps a position and the refusals of each pair of journal and sink."""

    def __init__(self, path):
        self.path, self.ends, self.streams = path, {}, {}
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
        pair, most, batches = None, 1, []
        for request in requests:
            if request.HasField("hello"):
                pair = f"{request.hello.journal_id} {request.hello.sink}"
                # A server from before awaits_ack does not name this either.
                if pb.SINK_CAPABILITY_ERASURE in request.hello.capabilities:
                    most = MOST_MESSAGES
            if request.HasField("batch"):
                batches.append(request.batch)
                if not request.batch.awaits_ack and len(batches) < most:
                    continue
            answer = self.writer.submit(self.answer, request, batches, pair, context)
            batches = []
            # Nothing comes before Welcome.
            seconds = None if request.HasField("hello") else BUSY_SECONDS
            while concurrent.futures.wait([answer], seconds).not_done:
                yield pb.DeliverResponse(busy=pb.Busy(delay={"seconds": BUSY_SECONDS}))
            yield answer.result()

    def answer(self, request, batches, pair, context):
        """The answer to a request, on the writer's thread: one after another."""
        if request.HasField("hello"):
            self.streams[pair] = context  # From here on, no earlier stream adds anything.
            return pb.DeliverResponse(welcome=self.welcome(request.hello, pair))
        if self.streams.get(pair) is not context:
            context.abort(grpc.StatusCode.ABORTED, "no hello, or a later stream")
        if request.HasField("erase"):
            return pb.DeliverResponse(erased=self.erase(request.erase))
        return pb.DeliverResponse(ack=self.take(batches, pair))

    def welcome(self, hello, pair):
        known = {"durable": self.ends[pair]} if pair in self.ends else {"nothing": {}}
        self.refused[pair] = [r for r in self.refused[pair] if r.sequence > hello.settled_sequence]
        capabilities = [pb.SINK_CAPABILITY_REFUSALS, pb.SINK_CAPABILITY_ERASURE]
        return pb.Welcome(version=1, capabilities=capabilities, journal_id=hello.journal_id,
                          refused=self.refused[pair], **known)

    def take(self, batches, pair):
        ack, lines = pb.Ack(durable=batches[-1].end), []
        places = [(part.sequence, part.first_index + number) for batch in batches
                  for part in batch.groups for number in range(part.count)]
        records = [record for batch in batches for record in batch.records]
        for (sequence, index), record in zip(places, records):
            if reason := self.refusal(record):
                ack.refused.add(sequence=sequence, index=index, code="INVALID", reason=reason)
            else:
                lines.append({"hit": record.hit_id.hex(), "delivery": record.delivery_id,
                              "tenant": record.tenant, "subject": record.event.subject_id})
        lines.append({"pair": pair, "ack": base64.b64encode(ack.SerializeToString()).decode()})
        self.file.write("".join(f"{json.dumps(line)}\n" for line in lines).encode())
        self.file.flush()
        os.fsync(self.file.fileno())
        self.note(pair, ack)
        return ack

    def erase(self, erase):
        """Writes the file anew, without the recipient's hits; the positions stay."""
        erased, subjects = pb.Erased(), set(erase.subject_ids)
        self.file.seek(0)
        with open(f"{self.path}.new", "wb") as new:
            for line in self.file:
                hit = json.loads(line)
                if hit.get("tenant") == erase.tenant and hit["subject"] in subjects:
                    erased.erased_count += 1
                else:
                    new.write(line)
            new.flush()
            os.fsync(new.fileno())
        os.replace(new.name, self.path)
        folder = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY)
        os.fsync(folder)  # Or a crash could bring the former file back.
        os.close(folder)
        self.file = open(self.path, "a+b")
        return erased

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
