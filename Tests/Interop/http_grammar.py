"""Requests to the HTTP port by a grammar: what clients of all doors send, and what strangers may send
in its place. A request knows what it may be answered."""

import base64
import dataclasses
import enum
import random
import urllib.parse

from http_bodies import BAD_CHUNKS, MIB, Bodies, chunked, compressed
from metadata_forms import CREDENTIALS, SPANS, TIMEOUTS

SERVICE = "/sightline.v1.TrackingService/"
METHODS = ["RecordEvents", "ExplainEvents", "InspectPayload", "ExplainDelivery", "StreamEvents",
           "Nothing", ""]
# In values of ours that no answer may repeat: a token, and a header that was smuggled into a value.
SECRET = "canary-5f21"
INJECTED = "x-injected"
# What is sent by a name or port that nobody has; a form of each that is legal.
POSTBACK_HOST = "track.example.com"
SERVICE_PREFIX = "/sightline.v1."
KNOWN_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}
HOSTS = ["127.0.0.1", "localhost:8080", "TRACK.example.com", POSTBACK_HOST, "[::1]:80", "a" * 250, "xn--e1afmkfd.com"]
BAD_HOSTS = ["", "a b", "a/b", "a,b", "[::1", "a:99999999", "\x7f", "é"]
# Bounds of a head: within these every server takes it, beyond it may refuse it.
SAFE_HEAD_BYTES, SAFE_FIELDS, SAFE_BODY_BYTES = 6000, 60, MIB // 2
USER_AGENTS = [
    "Mozilla/5.0 (Linux; U; Android 14; en-US; Pixel 8 Build/AP2A.240805.005)",
    "Mozilla/5.0 (iPhone; CPU OS 17_5 like Mac OS X; en_US)", "curl/7.88.1", "", "(" * 200]


class Door(enum.Enum):
    """Which part of the port a request is for, by its path."""

    EVENTS = "/v1/events"
    CONNECT = "Connect"
    GRPC_WEB = "gRPC-Web"
    POSTBACK = "/r/"
    OTHER = "other"


class Framing(enum.Enum):
    """How a request may be read."""

    WHOLE = "one request, in one way"
    LARGE = "one request, beyond a limit: it may end the connection unread"
    BROKEN = "no request of HTTP, or one that a server need not take"
    SMUGGLING = "two readers may end it at two places: refused, and the connection ended"
    CUT = "the beginning of a request"


@dataclasses.dataclass
class Request:
    """A request's bytes, and what its answer has to be."""

    data: bytes
    door: Door
    framing: Framing = Framing.WHOLE
    method: str = "GET"
    # Whether the client ends the connection with it.
    is_last: bool = False
    # The events of a body that has to be taken; None where nothing is known.
    events: int | None = None


@dataclasses.dataclass
class Draft:
    """A request before its bytes are written."""

    door: Door
    method: str = "GET"
    target: str = "/"
    headers: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    body: bytes = b""
    events: int | None = None
    framing: Framing = Framing.WHOLE


class Grammar:
    """Makes requests from one source of chance; `space` keeps its facts apart from all others."""

    def __init__(self, chance: random.Random, space: int):
        self.chance = chance
        self.bodies = Bodies(chance, space)

    def request(self) -> Request:
        """Some request."""
        draft = self.chance.choices(
            [self.good_events, self.events, self.connect, self.grpc_web, self.postback, self.other],
            [3, 4, 3, 2, 3, 1])[0]()
        return self.written(draft)

    # MARK: Doors

    def good_events(self) -> Draft:
        """Events that have to be taken: all of them are told of."""
        body, content_type, count = self.bodies.good_events()
        return Draft(Door.EVENTS, "POST", "/v1/events?results=all",
                     [("Content-Type", content_type)], body, count)

    def events(self) -> Draft:
        pick = self.chance.choice
        headers = [("Content-Type", pick(
            ["application/json", "application/x-ndjson", "application/json; charset=utf-8",
             "APPLICATION/JSON", "text/plain", "application/x-www-form-urlencoded", "*/*", ";",
             "application/json;charset=latin1", "multipart/form-data"]))] * pick([0, 1, 1, 1, 1])
        target = "/v1/events" + pick(
            ["", "", "?results=all", "?results=some", "?results=all&results=all", "?", "?%", "?a=" +
             "b" * 500, "/", "?results=%61ll"])
        method = pick(["POST"] * 12 + ["GET", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH"])
        body = self.bodies.events()
        if self.chance.random() < 0.05:
            headers, body = [("Content-Type", "application/x-protobuf")], self.bodies.message(False)
        if self.chance.random() < 0.02:
            body += b" " * pick([MIB, 9 * MIB])
        return Draft(Door.EVENTS, method, target, headers, body)

    def connect(self) -> Draft:
        pick = self.chance.choice
        is_json = self.chance.random() < 0.5
        codec = "json" if is_json else "proto"
        draft = Draft(Door.CONNECT, pick(["POST"] * 10 + ["GET", "OPTIONS", "HEAD", "PUT"]),
                      SERVICE + pick(METHODS[:1] * 6 + METHODS), [
                          ("Content-Type", pick([f"application/{codec}"] * 6 + [
                              f"application/connect+{codec}", "application/", "application/xml"]))])
        draft.headers += pick([[], [("Connect-Protocol-Version", pick(["1", "1", "2", "", "1,1"]))]])
        draft.headers += pick([[], [], [("Connect-Timeout-Ms", pick(
            ["1000", "1", "0", "-1", "9999999999", "99999999999", "1e3", "", "+1"]))]])
        if draft.method == "GET":
            message = self.bodies.message(is_json)[:2000]
            in_base64 = base64.urlsafe_b64encode(message).decode().rstrip("=")
            draft.target += "?" + pick([
                f"connect=v1&encoding={codec}&base64=1&message={in_base64}",
                f"encoding={codec}&message={urllib.parse.quote_from_bytes(message)}",
                f"message={in_base64}%zz&encoding=&compression=gzip", "message", "&&&="])
        elif draft.headers[0][1].startswith("application/connect"):
            draft.body = self.bodies.framed(is_json, is_text=False)
        else:
            draft.body = self.bodies.message(is_json)
        return draft

    def grpc_web(self) -> Draft:
        pick = self.chance.choice
        kind = pick(["grpc-web", "grpc-web+proto", "grpc-web-text", "grpc-web-text+proto",
                     "grpc-web+json", "grpc-web+thrift"])
        headers = [("Content-Type", f"application/{kind}"), ("X-Grpc-Web", pick(["1", "0", "é"[:0]]))]
        headers += pick([[], [], [("Grpc-Timeout", header_text(pick(TIMEOUTS)))]])
        headers += pick([[], [], [("Grpc-Encoding", pick(["gzip", "identity", "br"]))]])
        return Draft(Door.GRPC_WEB, pick(["POST"] * 9 + ["GET", "OPTIONS"]),
                     SERVICE + pick(METHODS[:1] * 6 + METHODS), headers,
                     self.bodies.framed("json" in kind, "text" in kind))

    def postback(self) -> Draft:
        pick, number = self.chance.choice, next(self.bodies.facts.numbers)
        ids = [pick([f"h{number:x}", f"{number:x}", f"h-{number & 0x7fffffff:x}", "h", "", "t1a2b",
                     "h" + "9" * 80, "%00", "%", "a%2", "56c4;drop", "00000000-0000-4000-8000-00000000"]),
               pick(["56c4", "d57fd6", "", "é", "%C3%A9", "a" * 300]),
               pick(["1", "2", "3", "4", "5", "7", "2", "2", "0", "6", "8", "-1", "1.0", "", "02", "%32"])]
        query = "id=" + pick([",", ",", "%2C", "%2c", ";", ",,"]).join(
            ids[:pick([3, 3, 3, 3, 3, 2, 1, 0])])
        query += pick(["", "&mcId=" + "7" * 38, "&mcid=" + "7" * 38, "&mcId=", f"&mcId={SECRET}",
                       "&mcId=" + "7" * 900, "&id=h1,56c4,2", "&p1=https://example.com", "&mcId=%zz"])
        path = urllib.parse.quote(pick(["/r/"] * 12 + ["/r", "/r/test", "/r//", "/R/", "/r/x9"]))
        method = pick(["GET"] * 8 + ["POST", "POST", "HEAD", "PUT", "OPTIONS"])
        body = pick([b"{}", b"{ }", b"", b"x" * 3000]) if method in ("POST", "PUT") else b""
        return Draft(Door.POSTBACK, method, path + pick(["?" + query] * 12 + ["", "?"]), [
            ("Content-Type", "application/json"), ("Accept", "*/*"), ("Accept-Language", "en-US"),
            ("User-Agent", pick(USER_AGENTS))], body)

    def other(self) -> Draft:
        pick = self.chance.choice
        target = pick(["/", "/v1/", "/v1", "/v1/openapi.json", "/v2/events", "/healthz", "/metrics",
                       "/v1/../v1/events", "//v1/events", "/v1/events%2f", "/%2e%2e/etc/passwd",
                       f"/%0d%0a{INJECTED}:1", "/" + "a" * 3000, "/.git/config", SERVICE_PREFIX,
                       "/grpc.health.v1.Health/Check", "/%ff%fe", "/a#b", "*", "http://a/v1/events"])
        method = pick(["GET", "GET", "POST", "HEAD", "OPTIONS", "TRACE", "PROPFIND", "get", "M" * 300])
        # What is no method of ours is answered in the form of those that are.
        door = Door.CONNECT if target.startswith(SERVICE_PREFIX) else Door.OTHER
        return Draft(door, method, target, body=pick([b"", b"x" * 100]) if method == "POST" else b"")

    # MARK: Writing

    def written(self, draft: Draft) -> Request:
        """The request's bytes: most are one request of HTTP, some are not quite."""
        chance = self.chance
        if draft.events is None and draft.method != "GET" and chance.random() < 0.4:
            draft.body, encoding = compressed(chance, draft.body)
            draft.headers.append(("Content-Encoding", encoding))
        self.add_fields(draft)
        pick = chance.random()
        if pick < 0.1:
            return self.smuggling(draft)
        if pick < 0.2:
            return self.broken(draft)
        request = self.plain(draft)
        if pick < 0.25:
            request.data = request.data[:chance.randrange(len(request.data))]
            request.framing = Framing.CUT
        return request

    def add_fields(self, draft: Draft) -> None:
        """Fields that any client may send with any request."""
        pick = self.chance.choice
        fields = [
            ("Accept", pick(["*/*", "application/json", "text/html;q=0.9", ""])),
            ("Accept-Encoding", pick(["gzip, br", "identity;q=0", "*", "zstd"])),
            ("Authorization", f"Bearer {SECRET}"), ("X-Api-Key", SECRET),
            ("Authorization", header_text(pick(CREDENTIALS))),
            ("Traceparent", header_text(pick(SPANS["traceparent"]))),
            ("Tracestate", header_text(pick(SPANS["tracestate"]))),
            ("Origin", pick(["https://shop.example", "null", "https://evil.example", ""])),
            ("Access-Control-Request-Method", pick(["POST", "DELETE", ""])),
            ("Access-Control-Request-Headers", pick(["content-type", "x-a, x-b", "*"])),
            ("Cookie", "a=b"), ("Expect", "100-continue"), ("Range", "bytes=0-1"),
            ("If-None-Match", "*"), ("X-Forwarded-For", pick(["1.2.3.4", "", "a, b", "::1"])),
            ("Sightline-Call", pick(["1", "0", "x"])), ("X-HTTP-Method-Override", "DELETE"),
            ("X-Long", "v" * 1500), ("TE", "trailers"), ("Via", "1.1 a"),
            ("Upgrade", pick(["h2c", "websocket", "TLS/1.0"])), ("X-Empty", ""),
        ]
        # A request that has to be taken brings nothing that asks for another answer.
        known = fields[:2] + fields[5:9] + fields[10:11] if draft.events is not None else fields
        draft.headers += self.chance.sample(known, pick([0, 0, 1, 2, 4]))
        if draft.events is None and self.chance.random() < 0.03:
            draft.headers += [(f"X-{at}", "v" * pick([1, 40])) for at in range(pick([70, 500]))]

    def plain(self, draft: Draft) -> Request:
        """One request of HTTP/1.1 or 1.0."""
        chance, headers = self.chance, list(draft.headers)
        is_old = draft.events is None and chance.random() < 0.04
        is_last = is_old or chance.random() < 0.1
        body = draft.body
        if body or draft.method in ("POST", "PUT", "PATCH"):
            if not is_old and chance.random() < 0.3:
                body = chunked(chance, body)
                headers.append(("Transfer-Encoding", chance.choice(["chunked", "Chunked"])))
            else:
                headers.append(("Content-Length", str(len(body))))
        if is_last and not is_old:
            headers.append(("Connection", "close"))
        # Nobody knows the tenant of another name.
        host = "127.0.0.1" if draft.events is not None else chance.choice(HOSTS)
        if draft.door is Door.POSTBACK and chance.random() < 0.7:
            host = POSTBACK_HOST
        head = head_of(draft, [("Host", host), *headers], "HTTP/1.0" if is_old else "HTTP/1.1")
        is_large = (len(head) > SAFE_HEAD_BYTES or len(headers) > SAFE_FIELDS
                    or len(body) > SAFE_BODY_BYTES)
        framing = draft.framing if not is_large else Framing.LARGE
        if (any(name in ("Upgrade", "Expect") for name, _ in headers) or "#" in draft.target
                or draft.method not in KNOWN_METHODS):
            # An upgrade may be taken or not, a body may be waited for or not, and a method that no
            # specification has may be read or not.
            framing = Framing.BROKEN
        return Request(head + body, draft.door, framing, draft.method, is_last,
                       draft.events if framing is Framing.WHOLE else None)

    def smuggling(self, draft: Draft) -> Request:
        """A request with another one in its body, whose end two readers find at two places."""
        inner = head_of(Draft(Door.OTHER, target="/v1/smuggled"), [("Host", "127.0.0.1")]) + b"0\r\n\r\n"
        chunks = b"0\r\n\r\n" + inner
        length, short = ("Content-Length", str(len(chunks))), ("Content-Length", "4")
        coded = ("Transfer-Encoding", "chunked")
        forms: list[tuple[list[tuple[str, str]], bytes]] = [
            ([length, coded], chunks), ([coded, length], chunks), ([short, length], chunks),
            ([length, short], chunks), ([("Content-Length", f"4, {len(chunks)}")], chunks),
            ([("Content-Length", f"+{len(chunks)}")], chunks), ([("Content-Length", "0x10")], chunks),
            ([("Content-Length", "-1")], chunks), ([("Content-Length", "1" * 30)], chunks),
            ([("Content-Length", "4 4")], chunks),
            ([("Content-Length ", str(len(chunks)))], chunks), ([("Transfer-Encoding ", "chunked")], chunks),
            ([("Transfer-Encoding", "chunked, identity")], chunks),
            ([("Transfer-Encoding", "xchunked")], chunks), ([("Transfer-Encoding", "chunked\x0b")], chunks),
            ([("Transfer-Encoding", "gzip, chunked")], chunks),
            ([("Transfer-Encoding", "gzip"), length], chunks), ([("X-A", "b\r\n c")], chunks[:0]),
            ([("X-A", "b\nTransfer-Encoding: chunked")], chunks), ([("X-A", "b\rc")], chunks[:0]),
            ([("X-A", "b\0c")], chunks[:0]), ([("X-A\0", "c")], chunks[:0]), ([("Ä", "c")], chunks[:0]),
            ([("Host", "other")], chunks[:0]), ([("", "c")], chunks[:0]),
            *(([coded], bad + inner) for bad in BAD_CHUNKS),
        ]
        fields, body = self.chance.choice(forms)
        headers = [("Host", "127.0.0.1"), *draft.headers[:4], *fields]
        if any(name in ("Upgrade", "Expect") for name, _ in headers):
            headers = [("Host", "127.0.0.1"), *fields]
        draft.method = "POST"
        return Request(head_of(draft, headers) + body, draft.door, Framing.SMUGGLING, "POST")

    def broken(self, draft: Draft) -> Request:
        """What is no request of HTTP/1.1, or asks for what no server need do."""
        if draft.method == "HEAD":
            # Nobody would know whether its answer has a body.
            draft.method = "POST"
        chance = self.chance
        headers = [*draft.headers, ("Content-Length", str(len(draft.body)))]
        head = head_of(draft, [("Host", "127.0.0.1"), *headers])
        line, _, rest = head.partition(b"\r\n")
        method, target, version = line.split(b" ", 2) if line.count(b" ") >= 2 else (line, b"", b"")
        forms = [
            head.replace(b"\r\n", b"\n"), b" " + head, b"\r\n\r\n" + head, line + b"\r\n" + b"\r\n" + rest,
            method + b"\t" + target + b" " + version + b"\r\n" + rest,
            method + b"  " + target + b" " + version + b"\r\n" + rest,
            *(method + b" " + target + b" " + other + b"\r\n" + rest
              for other in (b"HTTP/0.9", b"HTTP/2.0", b"HTTP/1.9", b"HTTP/9.9", b"http/1.1", b"HTTP/1.1 ",
                            b"HTTP/", b"")),
            b"CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + chance.randbytes(40), chance.randbytes(200),
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(100),
            method + b" " + target + b" HTTP/1.1\r\n" + rest.partition(b"\r\n")[2],
            method + b" " + target + b" HTTP/1.1\r\nHost: " + chance.choice(BAD_HOSTS).encode() + b"\r\n"
            + rest.partition(b"\r\n")[2],
            method + b" /" + b"a" * chance.choice([9_000, 70_000, MIB]) + b" HTTP/1.1\r\n" + rest,
            line + b"\r\nX-Long: " + b"v" * chance.choice([9_000, 70_000, MIB]) + b"\r\n" + rest,
            line + b"\r\n" + b"X-Many: v\r\n" * chance.choice([150, 2_000, 50_000]) + rest,
            b"A" * chance.choice([100, 70_000]), self.bodies.changed(head), line + b"\xff\xfe\r\n" + rest,
        ]
        data = chance.choice(forms) + draft.body
        if not data.strip():
            # Of nothing nobody would be answered, but of what stands behind it.
            data = b"?"
        # A server may speak HTTP/2 to who begins with its preface: its frames are read elsewhere.
        framing = Framing.CUT if data.startswith(b"PRI ") else Framing.BROKEN
        return Request(data, draft.door, framing, draft.method)


def header_text(value: str) -> str:
    """A value that a field may have: no control characters, no white space around."""
    return "".join(char for char in value if " " <= char <= "~").strip()


def head_of(draft: Draft, headers: list[tuple[str, str]], version: str = "HTTP/1.1") -> bytes:
    lines = [f"{draft.method} {draft.target} {version}", *(f"{name}: {value}" for name, value in headers)]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()
