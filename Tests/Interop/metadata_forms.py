"""Heads of calls as a stranger may send them: some 190 forms, for each method."""

import base64
from collections.abc import Iterator

Fields = list[tuple[bytes, bytes]]

METHODS = [
    "/sightline.v1.TrackingService/StreamEvents", "/sightline.v1.TrackingService/RecordEvents",
    "/sightline.v1.TrackingService/ExplainEvents", "/sightline.v1.TrackingService/InspectPayload",
    "/sightline.v1.TrackingService/ExplainDelivery",
    "/grpc.health.v1.Health/Check", "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "/nowhere.Nothing/AtAll",
]
ODD = [b"", b"\0", b"\x01\x02", b"a\nb", b"a\r\nx-b: c", b"\x7f", b"\x80\xff", b" lead", b"trail ",
       b"\t", "ü€😀".encode(), b"%00%zz", b",", b",,,,", b"-1", b"18446744073709551616", b"a" * 4000]
GRPC_NAMES = [
    "grpc-message-type", "grpc-status", "grpc-message", "grpc-status-details-bin", "grpc-trace-bin",
    "grpc-tags-bin", "grpc-previous-rpc-attempts", "grpc-retry-pushback-ms",
    "grpc-server-stats-bin", "grpc-internal-encoding-request", "grpc-internal-stream-id", "grpc-",
    "grpc-unknown",
]
TIMEOUTS = (
    [f"{amount}{unit}" for unit in "numSMH" for amount in ("0", "1", "99999999", "100000000", "-1")]
    + ["", "S", "1", "1s", "1h", "+1S", " 1S", "1S ", "1 S", "1.5S", "1e3S", "0x1S", "-0n", "--1S",
       "00000001S", "000000001S", "9" * 19 + "n", "9" * 20 + "H", "-" + "9" * 19 + "n", "1SS",
       "S1", "1S1S", "1S,1S", "n", "-", "-S", "99999999999999999999999999H", "1\0S"])
# Names that a test does not say in ASCII.
STRANGE_TIMEOUTS = ["１S".encode(), "1Ｓ".encode(), b"\xff1S", b"1\xff", b"\x00"]
ENCODINGS = ["identity", "gzip", "deflate", "snappy", "GZIP", "gzip,identity", "gzip, gzip", " gzip",
             "br;q=1", "*", "identity;q=0"]
CONTENT_TYPES = [
    "application/grpc+proto", "application/grpc+json", "application/grpc;charset=utf-8",
    "application/grpc-web", "application/grpc-web-text", "application/grpcx", "APPLICATION/GRPC",
    "application/json", "text/plain", "application/", "application/grpc+", ";"]
BINARY = ["AAAA", "AAA=", "AA==", "AA", "A", "A===", "====", "AAAA,AAAA", ",", "!!!!", "AA A",
          "-_-_", "+/+/", "AAAA" * 1000]
LENGTHS = ["0", "4", "5", "6", "-1", "+5", "5,5", "5 ", "five", "9223372036854775807",
           "9223372036854775808", "18446744073709551616", "1e1"]
NAMES = [b"", b"\0", b"X-Upper", b"a b", b"a:b", b"a\nb", b"\x7f", b"\x80", b"\xff" * 3, b"-bin",
         b"a" * 5000, b"a\tb", b"(),/", b"grpc-\0", "ü".encode(), b"connection", b"keep-alive",
         b"transfer-encoding", b"upgrade", b"proxy-connection", b"host", b"http2-settings",
         b"expect", b"cookie", b"set-cookie", b"trailer", b":status", b":protocol", b":", b":x",
         b"early-data", b"date", b"server"]
SPANS = {"traceparent": ["00", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "ff-" + "1" * 32 + "-"
                         + "1" * 16 + "-01", "00-" + "g" * 32 + "-" + "1" * 16 + "-01", "-" * 55],
         "tracestate": ["a=b", "=", "a=b," * 500, "a", "a=" + "b" * 600],
         "baggage": ["a=b", "a", "=", ";", "a=b;c;d=e,", "a=%zz", "a=b," * 300]}
CREDENTIALS = ["Bearer", "Bearer ", "Bearer a.b.c", "Bearer slk_x", "bearer x", "Basic eDp5",
               "Bearer " + "e" * 7000, "Bearer \0"]
# Bytes of metadata: at the limits of the calls' metadata and of the transport's header list.
SIZES = [8191 - 200, 8192 - 200, 8192, 8193, 14335, 14336, 14337, 16000, 16383, 16384, 17000, 40000]


def head(path: str) -> Fields:
    """What a client library sends."""
    return [(b":method", b"POST"), (b":scheme", b"http"), (b":path", path.encode()),
            (b":authority", b"test"), (b"content-type", b"application/grpc"), (b"te", b"trailers")]


def changed(fields: Fields, name: str, *values: bytes) -> Fields:
    """With a field of other values, or of several, or of none, at the place where it was."""
    key = name.encode()
    at = next((i for i, field in enumerate(fields) if field[0] == key), len(fields))
    rest = [field for field in fields if field[0] != key]
    return rest[:at] + [(key, value) for value in values] + rest[at:]


def encoded(values) -> list[bytes]:
    return [value if isinstance(value, bytes) else value.encode() for value in values]


def forms(path: str) -> Iterator[tuple[str, Fields]]:
    """Each form's name and fields."""
    base = head(path)
    yield "as it should be", base
    yield "nothing at all", []
    yield from pseudo(base)
    for name, values in [
        ("grpc-timeout", TIMEOUTS + STRANGE_TIMEOUTS), ("grpc-encoding", ENCODINGS),
        ("grpc-accept-encoding", ENCODINGS), ("content-type", CONTENT_TYPES),
        ("te", ["trailers, deflate", "deflate", "TRAILERS"]), ("content-length", LENGTHS),
        ("authorization", CREDENTIALS), ("x-custom-bin", BINARY), *SPANS.items(),
        *((name, ["", "0", "-1", "ü", "A"]) for name in GRPC_NAMES),
    ]:
        for value in encoded(values):
            yield f"{name}: {value[:40]!r}", changed(base, name, value)
    for name in ("content-type", "te"):
        yield f"no {name}", changed(base, name)
    for name in ("content-type", "te", "grpc-timeout", "grpc-encoding", "content-length",
                 "authorization", "traceparent"):
        for value in (b"1S", b"application/grpc"):
            yield f"two of {name}: {value!r}", changed(base, name, value, value)
    for name in NAMES:
        yield f"the name {name[:40]!r}", base + [(name, b"x")]
    yield from sizes(base)


def pseudo(base: Fields) -> Iterator[tuple[str, Fields]]:
    for name, value in base[:4]:
        text = name.decode()
        yield f"no {text}", changed(base, text)
        yield f"two of {text}", changed(base, text, value, value)
        yield f"{text} last", changed(base, text) + [(name, value)]
    for name, value in [(":method", b"GET"), (":method", b"post"), (":method", b"CONNECT"),
                        (":scheme", b"https"), (":scheme", b"ftp"), (":path", b"*"),
                        (":path", b"//"), (":path", b"/"), (":path", b"/a"), (":path", b"/a/b/c"),
                        (":path", b"/" * 5000), (":authority", b"a:99999999"),
                        (":authority", b"[::1")]:
        yield f"{name}: {value[:20]!r}", changed(base, name, value)


def odd(path: str) -> Iterator[tuple[str, Fields]]:
    """Odd bytes in every value that is looked at."""
    for name in (":method", ":scheme", ":path", ":authority", "content-type", "te", "grpc-timeout",
                 "grpc-encoding", "authorization", "traceparent", "x-custom", "x-custom-bin"):
        for value in ODD:
            yield f"{name}: {value[:20]!r}", changed(head(path), name, value)


def sizes(base: Fields) -> Iterator[tuple[str, Fields]]:
    for size in SIZES:
        yield f"one value of {size} bytes", base + [(b"x-large", b"x" * size)]
        yield f"{size} bytes in small values", base + [
            (b"x-%d" % number, b"v" * 10) for number in range(size // 48)]
    yield "one name, 400 times", base + [(b"x-same", b"v")] * 400
    yield "a value of 3,000 bytes in base64", base + [
        (b"x-custom-bin", base64.b64encode(bytes(3000)))]
