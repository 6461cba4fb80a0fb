"""The ways into a server: gRPC, and through the HTTP port each protocol by clients that others have
made. One table of methods, one kind of failure; so a test asks the same of every door."""

import base64
import dataclasses
import json
import re
import subprocess
import typing
import urllib.parse

import grpc
import httpx
from connectrpc.client import ConnectClientSync
from connectrpc.code import Code
from connectrpc.compat import google_protobuf_binary_codec, google_protobuf_json_codec
from connectrpc.errors import ConnectError
from connectrpc.method import IdempotencyLevel, MethodInfo, StreamType
from connectrpc.protocol import ProtocolType
from google.protobuf import json_format, message_factory
from google.protobuf.message import Message
from google.rpc import status_pb2

import details
from protos import ROOT, delivery_service, erasure_service, service
from server import Server

BUF = ROOT / ".venv" / "bin" / "buf"
# Arguments of a server that listens for HTTP too.
LISTEN = ("--http", "127.0.0.1:0")
SECONDS = 30
CODES = {code.value[0]: code for code in grpc.StatusCode}


@dataclasses.dataclass(frozen=True)
class Method:
    """A unary method, from its descriptor."""
    service: str
    name: str
    request: type[Message]
    answer: type[Message]

    @property
    def path(self) -> str:
        return f"/{self.service}/{self.name}"


def _methods() -> dict[str, Method]:
    found = {}
    for file in (service, delivery_service, erasure_service):
        for one in file.DESCRIPTOR.services_by_name.values():
            for method in one.methods:
                if not (method.client_streaming or method.server_streaming):
                    found[method.name] = Method(
                        one.full_name, method.name,
                        message_factory.GetMessageClass(method.input_type),
                        message_factory.GetMessageClass(method.output_type))
    return found


METHODS = _methods()


class Failure(Exception):
    """A call that failed: the same, whichever door it came through."""

    def __init__(self, code: grpc.StatusCode, message: str, found: list[tuple[str, bytes]]):
        super().__init__(f"{code.name}: {message}")
        self.code = code
        self.message = message
        self.details = {}
        for kind in details.DETAILS:
            for name, value in found:
                if name == kind.DESCRIPTOR.full_name:
                    self.details[kind.DESCRIPTOR.name] = kind.FromString(value)
        assert len(self.details) == len(found), found

    @property
    def reason(self) -> str:
        return self.details["ErrorInfo"].reason


def packed(status: bytes) -> list[tuple[str, bytes]]:
    """The details of a google.rpc.Status."""
    return [(detail.type_url.rpartition("/")[2], detail.value)
            for detail in status_pb2.Status.FromString(status).details]


class Door(typing.Protocol):
    """A way to call a method."""

    def call(self, method: Method, request: Message, key: str = "") -> Message:
        """The answer, or a Failure. The key stands for a tenant's credentials."""


def credentials(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


class GRPC:
    """The gRPC port, by grpcio."""

    def __init__(self, server: Server):
        self.channel = server.channel()

    def call(self, method: Method, request: Message, key: str = "") -> Message:
        called = self.channel.unary_unary(
            method.path, request_serializer=method.request.SerializeToString,
            response_deserializer=method.answer.FromString)
        try:
            return called(request, metadata=list(credentials(key).items()), timeout=SECONDS)
        except grpc.RpcError as error:
            status = dict(error.trailing_metadata())["grpc-status-details-bin"]
            raise Failure(error.code(), error.details(), packed(status)) from None


class ConnectPython:
    """The HTTP port, by connectrpc's client for Python."""

    def __init__(self, server: Server, codec=google_protobuf_binary_codec,
                 protocol: ProtocolType = ProtocolType.CONNECT, **options):
        self.client = ConnectClientSync(
            server.http, codec=codec(), protocol=protocol, timeout_ms=SECONDS * 1000,
            **options)

    def call(self, method: Method, request: Message, key: str = "",
             use_get: bool = False) -> Message:
        told = MethodInfo(
            name=method.name, service_name=method.service, input=method.request,
            output=method.answer, stream_type=StreamType.UNARY,
            idempotency_level=IdempotencyLevel.NO_SIDE_EFFECTS)
        try:
            return self.client.execute_unary(
                request=request, method=told, headers=credentials(key), use_get=use_get)
        except ConnectError as error:
            raise Failure(
                code_of(error.code.value if isinstance(error.code, Code) else error.code),
                error.message,
                [(detail.type_name, detail.message_bytes) for detail in error.details]) from None


class BufCurl:
    """The HTTP port, by `buf curl`: the client of connect-go."""

    def __init__(self, server: Server, protocol: str):
        self.address = server.http
        self.protocol = protocol

    def call(self, method: Method, request: Message, key: str = "") -> Message:
        headers = [f"--header={name}: {value}" for name, value in credentials(key).items()]
        done = subprocess.run(
            [str(BUF), "curl", "--schema", "Protos", "--protocol", self.protocol, *headers,
             "--data", "@-", self.address + method.path],
            input=json_format.MessageToJson(request), capture_output=True, text=True,
            timeout=SECONDS, check=False, cwd=ROOT)
        if done.returncode == 0:
            return json_format.Parse(done.stdout, method.answer())
        assert done.stderr.startswith("{"), done
        error = json.loads(done.stderr)
        raise Failure(code_of(error["code"]), error.get("message", ""), [
            (detail["type"], unpadded(detail["value"])) for detail in error.get("details", [])])


class WebText:
    """The HTTP port, by gRPC-Web in text, as pages have it that read text alone. Ours: of clients
    that others have made, those of browsers alone speak it."""

    def __init__(self, server: Server):
        self.address = server.http

    def call(self, method: Method, request: Message, key: str = "") -> Message:
        bytes_ = request.SerializeToString()
        frames = b"\0" + len(bytes_).to_bytes(4, "big") + bytes_
        answer = httpx.post(self.address + method.path, content=base64.b64encode(frames), headers={
            "content-type": "application/grpc-web-text", "x-grpc-web": "1",
            "grpc-timeout": f"{SECONDS}S"} | credentials(key), timeout=SECONDS)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/grpc-web-text"
        message, trailers = in_frames(base64.b64decode(answer.text, validate=True))
        code = CODES[int(trailers["grpc-status"])]
        if code == grpc.StatusCode.OK:
            return method.answer.FromString(message)
        # An error stands in both places.
        assert all(answer.headers[name] == value for name, value in trailers.items())
        raise Failure(code, urllib.parse.unquote(trailers["grpc-message"]),
                      packed(unpadded(trailers["grpc-status-details-bin"])))


def in_frames(body: bytes) -> tuple[bytes | None, dict[str, str]]:
    """The message of an answer of gRPC-Web, if it has one, and its trailers."""
    found = {}
    while body:
        length = int.from_bytes(body[1:5], "big")
        assert len(body) >= 5 + length and body[0] not in found, body
        found[body[0]] = body[5:5 + length]
        body = body[5 + length:]
    lines = found.pop(0x80).decode("ascii").split("\r\n")
    assert lines.pop() == "" and set(found) <= {0}
    return found.get(0), dict(line.split(": ", 1) for line in lines)


class PostedEvents:
    """`POST /v1/events` of the HTTP port: events in JSON, RecordEvents alone."""

    def __init__(self, server: Server):
        self.address = server.http

    def call(self, method: Method, request: Message, key: str = "") -> Message:
        assert method.name == "RecordEvents", f"{method.name} is not behind /v1/events"
        events = [json_format.MessageToDict(event) for event in request.events]
        answer = httpx.post(f"{self.address}/v1/events?results=all", json=events,
                            headers=credentials(key), timeout=SECONDS)
        assert answer.status_code == 200, answer.text
        return json_format.ParseDict(answer.json(), method.answer())


def unpadded(text: str) -> bytes:
    """Base64, padded or not."""
    return base64.b64decode(text + "=" * (-len(text) % 4))


def code_of(name: str) -> grpc.StatusCode:
    """A code by its name in Connect."""
    return grpc.StatusCode[{"canceled": "cancelled"}.get(name, name).upper()]


def doors(server: Server) -> dict[str, Door]:
    """Each door to each method of METHODS, by its name."""
    json_codec = google_protobuf_json_codec
    return {
        "grpc": GRPC(server),
        "connect, proto": ConnectPython(server),
        "connect, json": ConnectPython(server, json_codec, send_compression=None),
        "connect-web": ConnectPython(server, protocol=ProtocolType.GRPC_WEB),
        "buf curl, connect": BufCurl(server, "connect"),
        "buf curl, grpcweb": BufCurl(server, "grpcweb"),
        "grpc-web-text": WebText(server),
    }
