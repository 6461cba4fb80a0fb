"""Receivers of spans: OTLP over gRPC and over HTTP, decoded by OpenTelemetry's own messages for
Python."""

import concurrent.futures
import dataclasses
import gzip
import http.server
import threading

import grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as collector
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as collector_grpc
from opentelemetry.proto.trace.v1 import trace_pb2

from server import wait_until


@dataclasses.dataclass
class Received:
    """A span, with the resource that it tells of and the schemas that both follow."""

    span: trace_pb2.Span
    resource: dict[str, str]
    schema_urls: tuple[str, str]

    @property
    def attributes(self) -> dict:
        return {pair.key: value_of(pair.value) for pair in self.span.attributes}

    @property
    def key(self) -> tuple[str, str]:
        return self.span.trace_id.hex(), self.span.span_id.hex()

    @property
    def links(self) -> list[tuple[str, str]]:
        return [(link.trace_id.hex(), link.span_id.hex()) for link in self.span.links]


def value_of(value):
    """What an AnyValue holds."""
    kind = value.WhichOneof("value")
    return getattr(value, kind) if kind else None


class Spans:
    """All spans that came."""

    def __init__(self):
        self.lock = threading.Lock()
        self.spans: list[Received] = []

    def take(self, request: collector.ExportTraceServiceRequest) -> None:
        with self.lock:
            for part in request.resource_spans:
                resource = {pair.key: value_of(pair.value) for pair in part.resource.attributes}
                for scope in part.scope_spans:
                    urls = (part.schema_url, scope.schema_url)
                    self.spans += [Received(span, resource, urls) for span in scope.spans]

    def all(self) -> list[Received]:
        with self.lock:
            return list(self.spans)

    def wait_for(self, condition, what: str) -> list[Received]:
        """The spans for which the condition holds, once there are any."""
        return wait_until(lambda: [span for span in self.all() if condition(span)], what, 30)


class Receiver(Spans, collector_grpc.TraceServiceServicer):
    """A gRPC server on a free port of 127.0.0.1, which keeps all that it gets."""

    def __init__(self, address: str = "127.0.0.1:0"):
        super().__init__()
        self.metadata: list[dict[str, str]] = []
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4),
                                  options=[("grpc.so_reuseport", 0)])
        collector_grpc.add_TraceServiceServicer_to_server(self, self.server)
        self.port = self.server.add_insecure_port(address)
        self.server.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def Export(self, request, context):
        with self.lock:
            self.metadata.append(dict(context.invocation_metadata()))
        self.take(request)
        return collector.ExportTraceServiceResponse()

    def stop(self) -> None:
        self.server.stop(0).wait()


class HTTPReceiver(Spans):
    """An HTTP server on a free port of 127.0.0.1; the first calls get the answers of a script: a
    status and headers."""

    def __init__(self, *script: tuple[int, dict[str, str]], answer_bytes: int = 0):
        super().__init__()
        # Answers have that many bytes of a field that nobody knows.
        self.answer_bytes = answer_bytes
        self.script = list(script)
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def _handler(self):
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                with receiver.lock:
                    receiver.calls.append((self.path, headers))
                    status, more = receiver.script.pop(0) if receiver.script else (200, {})
                if status == 200:
                    if headers.get("content-encoding") == "gzip":
                        body = gzip.decompress(body)
                    receiver.take(collector.ExportTraceServiceRequest.FromString(body))
                answer = collector.ExportTraceServiceResponse().SerializeToString()
                answer += b"\xf8\x01\x01" * (receiver.answer_bytes // 3)
                self.send_response(status)
                for name, value in more.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        return Handler

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
