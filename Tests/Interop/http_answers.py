"""Reads what the HTTP port answers with a reader of its own (h11), and holds each answer to what
its door may answer."""

import base64
import dataclasses
import json
import socket
import struct
import time

import h11

from http_grammar import INJECTED, SECRET, Door, Framing, Request

READ_BYTES = 1 << 16
ANSWER_SECONDS = 15
# What the port itself says of a request that it does not pass to a door.
PORT = {400, 404, 405, 408, 413, 414, 417, 426, 431, 501, 503, 505}
DOORS = {
    Door.EVENTS: PORT | {200, 204, 401, 403, 415, 429, 504},
    Door.CONNECT: PORT | {200, 204, 401, 403, 409, 415, 429, 499, 504},
    Door.GRPC_WEB: PORT | {200, 204, 401, 403, 415, 429},
    # An SDK takes 200 alone for success, and drops a hit for good after most others.
    Door.POSTBACK: PORT | {200, 204},
    Door.OTHER: PORT | {200, 204, 401, 403},
}
TALLY = ("accepted", "suppressed", "duplicate", "rejected")


class Finding(Exception):
    """What the server may not do."""


@dataclasses.dataclass
class Answer:
    """A whole answer."""

    status: int
    headers: dict[str, str]
    body: bytes
    ends: bool


class Reader:
    """The answers of one connection, one after the other."""

    def __init__(self, connection: socket.socket):
        self.connection = connection
        # What has been read of the answer that is read now, and what came behind the last one.
        self.begun = self.left = b""
        self.is_at_end = False

    def answer(self, method: str, seconds: float = ANSWER_SECONDS) -> Answer | None:
        """The next answer to a request of that method; None where the connection ends without one,
        or where none begins in time."""
        reader = asking(method)
        if self.left:
            # No bytes would be the end.
            reader.receive_data(self.left)
        self.begun, self.left = self.left, b""
        status, headers, body = 0, {}, b""
        start = time.monotonic()
        while True:
            try:
                event = reader.next_event()
            except h11.RemoteProtocolError as error:
                if self.is_at_end and not self.begun:
                    return None
                raise Finding(f"an answer that is not HTTP: {error}, {self.begun[:300]!r}") from None
            match event:
                case h11.NEED_DATA:
                    if not self._more(reader, start + (ANSWER_SECONDS if self.begun else seconds)):
                        if self.begun:
                            raise Finding(f"half an answer: {self.begun[:300]!r}")
                        return None
                case h11.InformationalResponse():
                    # 100 Continue is whole by itself: the server waits for the body.
                    self.begun, _ = reader.trailing_data
                case h11.Response():
                    status = event.status_code
                    headers = fields_of(event)
                case h11.Data():
                    body += bytes(event.data)
                case h11.EndOfMessage():
                    self.left, _ = reader.trailing_data
                    ends = "close" in headers.get("connection", "").lower() or (
                        reader.their_state is h11.MUST_CLOSE)
                    return Answer(status, headers, body, ends)
                case h11.ConnectionClosed():
                    return None

    def _more(self, reader: h11.Connection, deadline: float) -> bool:
        """Gives what comes to the reader; False when time is up."""
        self.connection.settimeout(max(0.001, deadline - time.monotonic()))
        try:
            data = self.connection.recv(READ_BYTES)
        except TimeoutError:
            return False
        except ConnectionError:
            data = b""
        self.is_at_end = not data
        self.begun += data
        reader.receive_data(data)
        return True


def asking(method: str) -> h11.Connection:
    """A reader that has asked, as the end of an answer depends on the method."""
    reader = h11.Connection(h11.CLIENT)
    known = method if method in ("HEAD", "CONNECT") else "GET"
    reader.send(h11.Request(method=known, target="/", headers=[("Host", "a")]))
    reader.send(h11.EndOfMessage())
    return reader


def fields_of(event: h11.Response) -> dict[str, str]:
    """The fields by name; fails where one says what must be said once twice, or is not ours."""
    headers: dict[str, str] = {}
    for name, value in event.headers:
        key = name.decode()
        if key in headers and key in ("content-length", "content-type", "transfer-encoding"):
            raise Finding(f"two fields {key}")
        headers[key] = value.decode("latin1")
    if INJECTED in headers:
        raise Finding(f"the field {INJECTED} of a request came back as one of the answer's")
    return headers


def judge(request: Request, answer: Answer) -> None:
    """Raises what is wrong with an answer."""
    text = f"{answer.status} {answer.headers} {answer.body[:300]!r}"
    if answer.status not in DOORS[request.door]:
        raise Finding(f"no status of {request.door.value}: {text}")
    if request.framing is Framing.SMUGGLING and answer.status < 400:
        raise Finding(f"taken, though it can be read in two ways: {text}")
    if SECRET.encode() in answer.body or SECRET in str(answer.headers):
        raise Finding(f"the answer repeats a secret: {text}")
    if request.events is not None:
        judge_verdicts(request.events, answer)
    elif answer.body:
        (judge_error if answer.status >= 400 else judge_success)(request, answer)
    elif not may_be_empty(request, answer):
        raise Finding(f"an answer without a body: {text}")


def may_be_empty(request: Request, answer: Answer) -> bool:
    """An SDK needs no words, HEAD and 204 have none, and a message of protobuf may have no bytes."""
    return (request.door is Door.POSTBACK or request.method == "HEAD" or answer.status == 204
            or answer.status == 200 and answer.headers.get("content-type") == "application/proto")


def judge_verdicts(count: int, answer: Answer) -> None:
    """Good events: each is told of, and all are accepted."""
    if answer.status != 200:
        raise Finding(f"good events were answered {answer.status} {answer.body[:500]!r}")
    told = parsed(answer)
    tally = told.get("tally", {})
    if int(tally.get("accepted", 0)) != count or sum(int(tally.get(name, 0)) for name in TALLY) != count:
        raise Finding(f"{count} good events came to {answer.body[:500]!r}")
    indices = [result.get("index", 0) for result in told.get("results", [])]
    if indices != list(range(count)):
        raise Finding(f"results=all of {count} events told of {indices}")


def judge_error(request: Request, answer: Answer) -> None:
    """An error has the form of its door."""
    kind = answer.headers.get("content-type", "").split(";")[0]
    if kind == "application/problem+json":
        problem = parsed(answer)
        if problem.get("status") != answer.status or not problem.get("title"):
            raise Finding(f"a problem of {answer.status} says {answer.body[:300]!r}")
    elif request.door in (Door.CONNECT, Door.GRPC_WEB) and kind == "application/json":
        if not isinstance(parsed(answer).get("code"), str):
            raise Finding(f"an error of Connect without its code: {answer.body[:300]!r}")
    # In words: what is no call of Connect, and what a page may not ask.
    elif kind != "text/plain" or not (
            request.door in (Door.CONNECT, Door.GRPC_WEB) or request.method == "OPTIONS"):
        raise Finding(f"an error as {kind!r}: {answer.status} {answer.body[:300]!r}")


def judge_success(request: Request, answer: Answer) -> None:
    """What is taken is answered in the door's form."""
    kind = answer.headers.get("content-type", "")
    if request.door is Door.EVENTS:
        if not isinstance(parsed(answer), dict):
            raise Finding(f"no verdicts: {answer.body[:300]!r}")
    elif request.door is Door.POSTBACK:
        raise Finding(f"a postback's answer has a body: {answer.body[:300]!r}")
    elif request.door is Door.GRPC_WEB and kind.startswith("application/grpc-web"):
        is_text = kind.startswith("application/grpc-web-text")
        flags, trailers = frames(base64.b64decode(answer.body) if is_text else answer.body)[-1]
        if flags & 0x80 == 0 or b"grpc-status:" not in trailers.lower():
            raise Finding(f"no trailers with grpc-status at the end: {flags} {trailers[:200]!r}")
    elif kind.startswith("application/connect+"):
        flags, end = frames(answer.body)[-1]
        if flags & 2 == 0 or not isinstance(json.loads(end), dict):
            raise Finding(f"no end of the stream: {flags} {end[:200]!r}")
    elif kind.startswith("application/json"):
        parsed(answer)


def frames(body: bytes) -> list[tuple[int, bytes]]:
    """Frames of gRPC-Web, or envelopes of Connect: flags and a message each; at least one."""
    found = []
    while body or not found:
        if len(body) < 5:
            raise Finding(f"{len(body)} bytes behind frame {len(found)}")
        flags, length = struct.unpack_from(">BI", body)
        if len(body) < 5 + length:
            raise Finding(f"a frame of {length} bytes has {len(body) - 5}")
        found.append((flags, body[5:5 + length]))
        body = body[5 + length:]
    return found


def parsed(answer: Answer):
    try:
        return json.loads(answer.body)
    except ValueError as error:
        raise Finding(f"no JSON: {error}: {answer.body[:300]!r}") from None
