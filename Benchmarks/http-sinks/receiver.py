"""A receiver for both sinks over HTTP: one asyncio loop, which answers every request with 200 after a
delay. It reads what a receiver has to read: Campaign's query, a webhook's signature and its JSON.

Usage: receiver.py FOLDER DELAY_MILLISECONDS; FOLDER has `secret`, and gets `port`. GET /count tells what
has come, and the CPU that it took; GET /dump writes the first requests into FOLDER/requests.
"""

import asyncio
import base64
import collections
import hmac
import json
import pathlib
import re
import struct
import sys
import time
import urllib.parse

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
HEADER = re.compile(rb"\r\n(content-length|webhook-id|webhook-timestamp|webhook-signature): *([^\r]*)",
                    re.IGNORECASE)
MAX_DUMPED_BYTES = 64 << 20


class Receiver:
    """What all connections share."""

    def __init__(self, folder: pathlib.Path, delay: float):
        self.folder = folder
        self.delay = delay
        self.key = base64.b64decode((folder / "secret").read_text().strip().removeprefix("whsec_"))
        self.requests = self.hits = self.dumped_bytes = 0
        self.dumped: list[bytes] = []
        self.counts: collections.Counter = collections.Counter()

    def take(self, request: bytes, end: int) -> bytes:
        """The answer to a request, whose head ends at `end`."""
        if request.startswith(b"GET /count "):
            return told(json.dumps({"requests": self.requests, "hits": self.hits,
                                    "cpu": time.process_time()}).encode())
        if request.startswith(b"GET /dump "):
            (self.folder / "requests").write_bytes(
                b"".join(struct.pack("<I", len(data)) + data for data in self.dumped))
            return told(b"{}")
        if self.dumped_bytes < MAX_DUMPED_BYTES:
            self.dumped.append(request)
            self.dumped_bytes += len(request)
        self.requests += 1
        if request.startswith(b"GET "):
            query = urllib.parse.parse_qs(request[4:request.index(b" HTTP")].partition(b"?")[2])
            _, delivery, action = query[b"id"][0].split(b",")
            self.counts[delivery, action] += 1
            self.hits += 1
            return ANSWER
        headers = {name.lower(): value for name, value in HEADER.findall(request, 0, end)}
        body = request[end:]
        signed = hmac.digest(self.key, b".".join(
            (headers[b"webhook-id"], headers[b"webhook-timestamp"], body)), "sha256")
        if b"v1," + base64.b64encode(signed) != headers[b"webhook-signature"]:
            return ANSWER.replace(b"200 OK", b"401 No")
        events = json.loads(body)
        self.counts.update(event["type"] for event in events)
        self.hits += len(events)
        return ANSWER


def told(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


class Connection(asyncio.Protocol):
    """One connection, kept; one request at a time."""

    def __init__(self, receiver: Receiver):
        self.receiver = receiver
        self.buffer = bytearray()
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data: bytes):
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        size = end
        if self.buffer.startswith(b"POST"):
            lengths = [value for name, value in HEADER.findall(self.buffer, 0, end)
                       if name.lower() == b"content-length"]
            size += int(lengths[0])
        if len(self.buffer) < size:
            return
        request = bytes(self.buffer[:size])
        del self.buffer[:size]
        answer = self.receiver.take(request, end)
        if self.receiver.delay:
            asyncio.get_running_loop().call_later(self.receiver.delay, self.transport.write, answer)
        else:
            self.transport.write(answer)


async def serve(folder: pathlib.Path, delay: float) -> None:
    receiver = Receiver(folder, delay)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(receiver), "127.0.0.1", 0, backlog=128)
    made = folder / "port.new"
    made.write_text(str(server.sockets[0].getsockname()[1]))
    made.rename(folder / "port")
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(pathlib.Path(sys.argv[1]), float(sys.argv[2]) / 1000))
