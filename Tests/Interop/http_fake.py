"""A small server that does what the fuzzer asks of the HTTP port, and with a fault planted one thing
that it must not: so that the fuzzer is seen to find it."""

import gzip
import json
import re
import socketserver
import threading
import urllib.parse
import zlib

HEAD_BYTES, BODY_BYTES = 16_384, 1 << 20
LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}) ([!-~]{1,8192}) HTTP/1\.([01])\Z")
FIELD = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t -~\x80-\xff]*?)[ \t]*\Z")
CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})(;[\t -~]*)?\Z")
# Each a fault that somebody could make, and what the fuzzer says of it.
FAULTS = {
    "both-lengths": "can be read in two ways|was read as a request",
    "first-length": "can be read in two ways|was read as a request",
    "bare-lf-in-chunks": "can be read in two ways|was read as a request",
    "crash-500": "no status of",
    "secret": "repeats a secret",
    "short-length": "not HTTP|half an answer|good events|no JSON",
    "lost-second": "no answer",
    "injection": "came back as one of the answer's",
    "counts-twice": "good events came to",
    "redirects": "no status of",
    "plain-errors": "an error as",
    "no-words": "without a body",
}


class Refused(Exception):
    """What is answered to a request that is refused, after which the connection ends."""

    def __init__(self, status: int):
        super().__init__(status)
        self.status = status


class FakeServer(socketserver.ThreadingTCPServer):
    """The server, on a free port; `fault` is one of FAULTS, or nothing."""

    daemon_threads, request_queue_size = True, 256

    def __init__(self, fault: str = ""):
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request, client_address) -> None:
        """A client that has gone is no error."""


class Handler(socketserver.StreamRequestHandler):
    """One connection."""

    def handle(self) -> None:
        number = 0
        while True:
            try:
                request = self.read()
            except Refused as refusal:
                self.write(refusal.status, problem(refusal.status), True)
                return
            if request is None:
                return
            number += 1
            if number == 2 and self.server.fault == "lost-second":
                continue
            if self.respond(*request):
                return

    def read(self):
        """The next request; None at the end."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline(HEAD_BYTES + 1)
            if not line:
                return None
            head += line
            if not line.endswith(b"\r\n"):
                raise Refused(400)
            if len(head) > HEAD_BYTES:
                raise Refused(431)
        first, *lines = head[:-4].split(b"\r\n")
        found, fields = LINE.match(first), [FIELD.match(line) for line in lines]
        if not found or not all(fields):
            raise Refused(400)
        headers = [(field[1].lower(), field[2]) for field in fields]
        if found[3] == b"1" and [name for name, _ in headers].count(b"host") != 1:
            raise Refused(400)
        method, target = found[1].decode(), found[2].decode()
        ends = found[3] == b"0" or (b"connection", b"close") in headers
        return method, target, dict(headers), self.body(headers), ends

    def body(self, headers) -> bytes:
        lengths = [value for name, value in headers if name == b"content-length"]
        codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
        fault = self.server.fault
        if lengths and codings and fault != "both-lengths" or codings not in ([], [b"chunked"]):
            raise Refused(400)
        if codings:
            return self.chunks()
        if len(lengths) > 1 and fault != "first-length":
            raise Refused(400)
        if lengths and not re.fullmatch(rb"\d{1,10}", lengths[0]):
            raise Refused(400)
        size = int(lengths[0]) if lengths else 0
        if size > BODY_BYTES:
            raise Refused(413)
        return self.rfile.read(size)

    def chunks(self) -> bytes:
        body = b""
        while True:
            line = self.line()
            found = CHUNK.match(line)
            if not found:
                raise Refused(400)
            size = int(found[1], 16)
            if len(body) + size > BODY_BYTES:
                raise Refused(413)
            if size == 0:
                while self.line():
                    pass
                return body
            body += self.rfile.read(size)
            if self.line():
                raise Refused(400)

    def line(self) -> bytes:
        line = self.rfile.readline(HEAD_BYTES)
        if line.endswith(b"\r\n"):
            return line[:-2]
        if line.endswith(b"\n") and self.server.fault == "bare-lf-in-chunks":
            return line[:-1]
        raise Refused(400)

    def respond(self, method: str, target: str, headers: dict, body: bytes, ends: bool) -> bool:
        fault, path = self.server.fault, target.split("?")[0]
        status, answer, extra = 404, problem(404), ""
        if path == "/v1/events" and method == "POST":
            status, answer = self.record(headers, body)
        elif path == "/r/":
            status, answer = 200, ""
        elif target == "/v1/" and method == "GET":
            status, answer = (302, "") if fault == "redirects" else (200, '{"doors": []}')
        if status >= 400 and fault == "secret" and b"authorization" in headers:
            answer = problem(status, headers[b"authorization"].decode("latin1"))
        if fault == "injection" and "%0d%0a" in path:
            extra = f"Location: {urllib.parse.unquote(path)}\r\n"
        self.write(status, answer, ends, extra, method == "HEAD")
        return ends

    def record(self, headers: dict, body: bytes) -> tuple[int, str]:
        encoding = headers.get(b"content-encoding", b"identity").lower()
        if encoding not in (b"identity", b"gzip"):
            return 415, problem(415)
        try:
            if encoding == b"gzip" and body:
                body = gzip.decompress(body)[:BODY_BYTES]
            text = body.decode().strip()
            events = json.loads(text) if text.startswith("[") else [
                json.loads(line) for line in text.splitlines() if line]
        except (ValueError, OSError, EOFError, RecursionError, zlib.error):
            return (500, "") if self.server.fault == "crash-500" else (400, problem(400))
        count = len(events) + (self.server.fault == "counts-twice" and len(events) > 20)
        return 200, json.dumps({"tally": {"accepted": str(count)}, "results": [
            {"index": index, "verdict": "VERDICT_ACCEPTED"} for index in range(count)]})

    def write(self, status: int, answer: str, ends: bool, extra: str = "", is_head: bool = False) -> None:
        kind = "application/json"
        if status >= 400:
            kind = "text/plain" if self.server.fault == "plain-errors" else "application/problem+json"
            answer = "" if self.server.fault == "no-words" else answer
        length = len(answer.encode()) - (self.server.fault == "short-length" and len(answer) > 100)
        head = (f"HTTP/1.1 {status} Told\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n"
                f"{extra}{'Connection: close' if ends else 'X-Open: 1'}\r\n\r\n")
        self.wfile.write(head.encode("latin1") + (b"" if is_head else answer.encode()))


def problem(status: int, detail: str = "") -> str:
    return json.dumps({"status": status, "title": "Refused", "detail": detail})
