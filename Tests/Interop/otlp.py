"""A receiver of spans: OTLP over gRPC, decoded by OpenTelemetry's own messages for Python."""

import concurrent.futures
import dataclasses
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


class Receiver(collector_grpc.TraceServiceServicer):
    """A server on a free port of 127.0.0.1, which keeps all that it gets."""

    def __init__(self, address: str = "127.0.0.1:0"):
        self.lock = threading.Lock()
        self.spans: list[Received] = []
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
            for part in request.resource_spans:
                resource = {pair.key: value_of(pair.value) for pair in part.resource.attributes}
                for scope in part.scope_spans:
                    urls = (part.schema_url, scope.schema_url)
                    self.spans += [Received(span, resource, urls) for span in scope.spans]
        return collector.ExportTraceServiceResponse()

    def all(self) -> list[Received]:
        with self.lock:
            return list(self.spans)

    def wait_for(self, condition, what: str) -> list[Received]:
        """The spans for which the condition holds, once there are any."""
        return wait_until(lambda: [span for span in self.all() if condition(span)], what, 30)

    def stop(self) -> None:
        self.server.stop(0).wait()
