"""Inputs that cost the HTTP port most for what they have of bytes, in requests and in connections."""

import gzip
import socket
from collections.abc import Callable

from costs import Site
from http_answers import Reader
from http_attacks import BODY_BYTES
from http_bodies import zstd

Run = Callable[[Site], None]
# Requests in a row before their answers are read.
BURST = 10
# As many as limits.request_events, and none of them an event.
REFUSED = b"[" + b"{}," * 1999 + b"{}]"
# Each name is to be told from all that are known, and the nearest one looked for.
NEAR = b"[" + b",".join(b'{"evemtId%x":1}' % number for number in range(2000)) + b"]"
EVENT = (b'{"eventId":"e","platform":"PLATFORM_IOS","trackAction":{"deliveryId":"56c4",'
         b'"broadlogId":"h1","action":"ACTION_CLICK"}}')
WHITE = b" " * (BODY_BYTES - 2) + b"[]"


def request(line: str, body: bytes = b"", *fields: str) -> Callable[[Site], bytes]:
    """A whole request, with the site's credentials."""
    def made(site: Site) -> bytes:
        head = [f"{line} HTTP/1.1", "Host: a", *fields,
                *(f"{name}: {value}" for name, value in site.credentials)]
        if body:
            head.append(f"Content-Length: {len(body)}")
        return ("\r\n".join(head) + "\r\n\r\n").encode() + body
    return made


def post(body: bytes, *fields: str) -> Callable[[Site], bytes]:
    return request("POST /v1/events", body, "Content-Type: application/json", *fields)


def asks(made: Callable[[Site], bytes]) -> Run:
    """The same request again and again, on one connection, each answer read."""
    def run(site: Site) -> None:
        data = made(site)
        while site.goes_on:
            with socket.create_connection(site.http, timeout=20) as connection:
                reader = Reader(connection)
                is_open = True
                while is_open and site.goes_on:
                    connection.sendall(data * BURST)
                    site.others += len(data) * BURST
                    for _ in range(BURST):
                        answer = reader.answer("GET")
                        if answer is None or answer.ends:
                            is_open = False
                            break
    return run


def closes(data: bytes) -> Run:
    """Connections that say this, and close once they are answered."""
    def run(site: Site) -> None:
        while site.goes_on:
            with socket.create_connection(site.http, timeout=5) as connection:
                connection.sendall(data)
                Reader(connection).answer("GET", 5)
                site.others += len(data)
    return run


# Each with who sends it.
HTTP_RUNS: dict[str, tuple[Run, str]] = {
    "HTTP: a request for each connection": (closes(
        b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"), "stranger"),
    "HTTP: what is no request": (closes(b"\0\r\n\r\n"), "stranger"),
    "HTTP: nothing at the path": (asks(request("GET /")), "stranger"),
    "HTTP: the description": (asks(request("GET /v1/openapi.json")), "stranger"),
    "HTTP: no credentials": (asks(post(b"[]")), "stranger"),
    "HTTP: a forged token": (asks(post(b"[]")), "forger"),
    "HTTP: a postback of a host that is not ours": (
        asks(request("GET /r/?id=h1,56c4,2&mcId=7")), "stranger"),
    "HTTP: one event, sent again": (asks(post(EVENT)), "tenant"),
    "HTTP: empty events": (asks(post(REFUSED)), "tenant"),
    "HTTP: empty events, gzip": (
        asks(post(gzip.compress(REFUSED, 9, mtime=0), "Content-Encoding: gzip")), "tenant"),
    "HTTP: empty events, zstd": (asks(post(zstd(REFUSED), "Content-Encoding: zstd")), "tenant"),
    "HTTP: nearly known fields": (asks(post(NEAR)), "tenant"),
    "HTTP: nearly known fields, gzip": (
        asks(post(gzip.compress(NEAR, 9, mtime=0), "Content-Encoding: gzip")), "tenant"),
    "HTTP: white space": (asks(post(WHITE)), "tenant"),
    "HTTP: white space, gzip": (
        asks(post(gzip.compress(WHITE, 9, mtime=0), "Content-Encoding: gzip")), "tenant"),
    "HTTP: Connect, RecordEvents without events": (asks(request(
        "POST /sightline.v1.TrackingService/RecordEvents", b"{}", "Content-Type: application/json")),
        "tenant"),
}
