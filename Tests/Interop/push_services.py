"""A fake APNs, which speaks HTTP/2 alone like Apple's, and a fake FCM. What a device's token is
answered is written beforehand; what was asked is kept."""

import collections
import contextlib
import http.server
import json
import socketserver
import threading
import typing

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection

# A device that nothing comes back for.
NOTHING = 0


class Answer(typing.NamedTuple):
    """A status with its headers and body; NOTHING has neither."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class Request(typing.NamedTuple):
    """What a sender asked: its headers, and the JSON of its body."""

    headers: dict[str, str]
    body: dict


class Script:
    """The answers to each token: one after the other, and the last one again and again."""

    def __init__(self, answers: dict[str, list[Answer]]):
        self.answers = {token: list(some) for token, some in answers.items()}
        self.requests: dict[str, list[Request]] = collections.defaultdict(list)
        self.lock = threading.Lock()

    def take(self, token: str, request: Request) -> Answer:
        """Notes a request, and gives its answer."""
        with self.lock:
            self.requests[token].append(request)
            left = self.answers[token]
            return left.pop(0) if len(left) > 1 else left[0]


class Apns(socketserver.BaseRequestHandler):
    """A connection of HTTP/2 without TLS, by prior knowledge."""

    script: Script

    def handle(self) -> None:
        connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        self.request.sendall(connection.data_to_send())
        headers: dict[int, dict[str, str]] = {}
        bodies: dict[int, bytes] = collections.defaultdict(bytes)
        with contextlib.suppress(ConnectionError):
            while data := self.request.recv(1 << 16):
                for event in connection.receive_data(data):
                    if isinstance(event, events.RequestReceived):
                        headers[event.stream_id] = dict(event.headers)
                    elif isinstance(event, events.DataReceived):
                        bodies[event.stream_id] += event.data
                        connection.acknowledge_received_data(
                            event.flow_controlled_length, event.stream_id)
                    elif isinstance(event, events.StreamEnded):
                        self.answer(connection, event.stream_id, headers.pop(event.stream_id),
                                    bodies.pop(event.stream_id))
                self.request.sendall(connection.data_to_send())

    def answer(self, connection: H2Connection, stream: int, headers: dict[str, str],
               body: bytes) -> None:
        token = headers[":path"].removeprefix("/3/device/")
        answer = self.script.take(token, Request(headers, json.loads(body)))
        if answer.status == NOTHING:
            connection.reset_stream(stream)
            return
        connection.send_headers(stream, [(":status", str(answer.status)), *answer.headers],
                                end_stream=not answer.body)
        if answer.body:
            connection.send_data(stream, answer.body, end_stream=True)


class Fcm(http.server.BaseHTTPRequestHandler):
    """A connection of HTTP/1.1, which FCM speaks too."""

    script: Script
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # pylint: disable=invalid-name
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        headers = {":path": self.path} | {name.lower(): value
                                          for name, value in self.headers.items()}
        answer = self.script.take(body["message"]["token"], Request(headers, body))
        if answer.status == NOTHING:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in (*answer.headers, ("content-length", str(len(answer.body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


class Threads(socketserver.ThreadingTCPServer):
    """A thread for each connection."""

    allow_reuse_address = daemon_threads = True
    # A sender opens its connections all at once.
    request_queue_size = 128


@contextlib.contextmanager
def serving(handler: type, script: Script):
    """Serves a script's answers; gives the URL."""
    scripted = type(handler.__name__, (handler,), {"script": script})
    with Threads(("127.0.0.1", 0), scripted) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
