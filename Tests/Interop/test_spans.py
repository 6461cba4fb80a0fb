"""Spans, from a client's over the server's to the sink's: one trace in an OTLP receiver."""

import os
import socket
import time

import grpc
import pytest
from opentelemetry import trace
from opentelemetry.propagate import inject
from opentelemetry.proto.trace.v1 import trace_pb2
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from facts import Facts
from otlp import HTTPReceiver, Receiver
from protos import service as s
from protos import verdict as v
from server import STOP_SECONDS, wait_until

Span = trace_pb2.Span
SCHEMA = "https://opentelemetry.io/schemas/1.45.0"
METHOD = "sightline.v1.TrackingService/RecordEvents"
STREAM = "sightline.v1.TrackingService/StreamEvents"
# Spans are sent at once, and not after the default delay.
PROMPT = ("--set", "telemetry.traces.delay_milliseconds=50")


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.stop()


@pytest.fixture
def client():
    """OpenTelemetry's SDK: a tracer, and where its spans end up."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider.get_tracer("test"), exporter
    provider.shutdown()


@pytest.fixture
def silent_address():
    """An address that takes connections, and never says anything."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def traceparent_of(span: trace.Span) -> str:
    carrier: dict[str, str] = {}
    inject(carrier, trace.set_span_in_context(span))
    return carrier["traceparent"]


def key_of(span: trace.Span) -> tuple[str, str]:
    context = span.get_span_context()
    return f"{context.trace_id:032x}", f"{context.span_id:016x}"


def fact(space: int):
    return Facts(1, int(time.time()), space).track_action().event


def one_server_span(receiver):
    return receiver.wait_for(lambda s: s.span.kind == Span.SPAN_KIND_SERVER, "a server span")[0]


def delivery_spans(receiver):
    return receiver.wait_for(lambda s: s.span.kind == Span.SPAN_KIND_CLIENT, "a delivery span")


def test_one_trace_from_the_client_to_the_sink(make_server, receiver, client):
    """Client span → server span → sink span, and hits.db holds what continues it."""
    tracer, finished = client
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={receiver.url}").start()
    event = fact(1)
    with server.channel() as channel, tracer.start_as_current_span("send") as span:
        metadata: dict[str, str] = {}
        inject(metadata)
        server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[event]), metadata=list(metadata.items()), timeout=30)
    server_span, delivery = one_server_span(receiver), delivery_spans(receiver)[0]

    # The client's span is the SDK's own.
    assert [key_of(ended) for ended in finished.get_finished_spans()] == [key_of(span)]
    trace_id, client_id = key_of(span)
    assert server_span.span.trace_id.hex() == trace_id
    assert server_span.span.parent_span_id.hex() == client_id
    assert server_span.span.flags & 0x301 == 0x301, "sampled, and its parent is remote"
    assert server_span.span.name == METHOD
    assert server_span.attributes | {"sightline.request.accepted": 1} == server_span.attributes
    assert server_span.attributes["rpc.system.name"] == "grpc"
    assert server_span.attributes["rpc.method"] == METHOD
    assert server_span.attributes["rpc.status_code"] == "OK"
    assert server_span.schema_urls == (SCHEMA, SCHEMA)
    assert server_span.resource["service.name"] == "sightline"
    assert server_span.span.start_time_unix_nano <= server_span.span.end_time_unix_nano

    assert delivery.span.trace_id.hex() == trace_id
    assert delivery.span.parent_span_id == server_span.span.span_id
    assert delivery.links == [server_span.key]
    assert delivery.span.name == "INSERT hits"
    told = {name: value for name, value in delivery.attributes.items() if name.startswith("db.")}
    assert told == {"db.system.name": "sqlite", "db.operation.name": "INSERT",
                    "db.collection.name": "hits"}
    assert delivery.attributes["sightline.delivery.sink"] == "sqlite"
    assert delivery.attributes["sightline.delivery.events"] == 1
    assert delivery.span.status.code == trace_pb2.Status.STATUS_CODE_UNSET

    server.wait_for_hits(1)
    stored = {row["traceparent"] for row in server.query("SELECT traceparent FROM hits")}
    assert stored == {f"00-{trace_id}-{server_span.span.span_id.hex()}-01"}
    assert server.terminate() == 0


@pytest.fixture
def http_receiver():
    made = []

    def make(*script, **options):
        made.append(HTTPReceiver(*script, **options))
        return made[-1]

    yield make
    for receiver in made:
        receiver.stop()


def record_one(server) -> None:
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[fact(5)]), timeout=30)


@pytest.mark.parametrize("compression", ["none", "gzip"])
@pytest.mark.parametrize("variables, path", [
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "{url}", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
     "/v1/traces"),
    ({"OTEL_EXPORTER_OTLP_ENDPOINT": "{url}/otlp/", "OTEL_EXPORTER_OTLP_HEADERS": "x-team=push"},
     "/otlp/v1/traces"),
    ({"SIGHTLINE_TELEMETRY_TRACES_ENDPOINT": "{url}/my/traces",
      "SIGHTLINE_TELEMETRY_TRACES_HEADERS": "x-team=push"}, "/my/traces")])
def test_spans_over_http(make_server, http_receiver, variables, path, compression):
    """As OpenTelemetry's variables say it, or our keys: the same spans, whatever carries them."""
    receiver = http_receiver()
    environment = {name: value.format(url=receiver.url) for name, value in variables.items()}
    server = make_server(*PROMPT, "--set", f"telemetry.traces.compression={compression}",
                         environment=os.environ | environment).start()
    record_one(server)
    span = one_server_span(receiver)
    assert span.span.name == METHOD and span.resource["service.name"] == "sightline"
    assert delivery_spans(receiver)[0].links == [span.key]
    called, headers = receiver.calls[0]
    assert called == path and headers["content-type"] == "application/x-protobuf"
    assert headers.get("content-encoding", "none") == compression
    if any("HEADERS" in name for name in variables):
        assert headers["x-team"] == "push"
    assert server.terminate() == 0


def test_a_busy_receiver_gets_the_spans_again_over_http(make_server, http_receiver):
    """After the time that it asks for; what it refuses for good is lost, counted and told."""
    receiver = http_receiver((503, {"Retry-After": "1"}), (200, {}), (400, {}))
    server = make_server(*PROMPT, "--sink", "discard", "--set", "telemetry.traces.batch_spans=1",
                         "--set", f"telemetry.traces.endpoint={receiver.url}/v1/traces").start()
    record_one(server)
    # The request's span or the delivery's, whichever ended first.
    wait_until(lambda: len(receiver.calls) >= 3, "the refused call")
    assert len(receiver.all()) == 1
    assert server.terminate() == 0
    assert "HTTP 400" in server.log(20_000) and '"failed":1' in server.log(20_000)


@pytest.mark.parametrize("size, exported, milliseconds", [
    (60 << 10, 2, 5000), (66 << 10, 0, 500)])
def test_an_answer_beyond_its_limit_is_a_failed_call(make_server, http_receiver, size, exported,
                                                     milliseconds):
    """What a receiver answers is read up to 64 KiB."""
    receiver = http_receiver(answer_bytes=size)
    server = make_server(
        *PROMPT, "--sink", "discard",
        "--set", f"telemetry.traces.export_milliseconds={milliseconds}",
        "--set", f"telemetry.traces.endpoint={receiver.url}/v1/traces").start()
    record_one(server)
    delivery_spans(receiver)
    assert server.terminate() == 0
    ends = [line for line in server.log(20_000).splitlines() if '"msg":"spans end"' in line]
    assert len(ends) == 1 and f'"exported":{exported},' in ends[0], ends


def test_an_http_receiver_that_is_silent_holds_nothing_up(make_server, silent_address):
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={silent_address}/v1/traces")
    server.start()
    record_one(server)
    started = time.monotonic()
    assert server.terminate() == 0
    assert time.monotonic() - started < STOP_SECONDS


def test_a_request_is_linked_to_its_events_own_traces(make_server, receiver, client):
    """It continues the first event's trace; the others, and the call's, are links. No event is
    changed."""
    tracer, _ = client
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={receiver.url}").start()
    facts = Facts(1, int(time.time()), 2)
    events = [facts.track_action().event for _ in range(4)]
    spans = [tracer.start_span(f"fact {n}") for n in range(3)]
    for event, span in zip(events, spans):
        event.trace_context.traceparent = traceparent_of(span)
    # The same trace once more is no second link.
    events[3].trace_context.traceparent = events[1].trace_context.traceparent
    call = tracer.start_span("call")
    with server.channel() as channel:
        server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=events), timeout=30,
            metadata=[("traceparent", traceparent_of(call))])
    span = one_server_span(receiver)
    assert (span.span.trace_id.hex(), span.span.parent_span_id.hex()) == key_of(spans[0])
    assert span.links == [key_of(call), key_of(spans[1]), key_of(spans[2])]
    assert all(link.flags & 1 for link in span.span.links)
    server.wait_for_hits(4)
    stored = [row["event"] for row in server.query("SELECT event FROM hits ORDER BY rowid")]
    assert stored == [event.SerializeToString() for event in events]


def test_links_have_a_limit(make_server, receiver, client):
    """The parent, and the first two of the other nine."""
    tracer, _ = client
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={receiver.url}",
                         "--set", "telemetry.traces.max_links=2").start()
    facts = Facts(1, int(time.time()), 3)
    events = [facts.track_action().event for _ in range(10)]
    spans = [tracer.start_span("fact") for _ in events]
    for event, span in zip(events, spans):
        event.trace_context.traceparent = traceparent_of(span)
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=events), timeout=30)
    assert one_server_span(receiver).links == [key_of(spans[1]), key_of(spans[2])]


def test_a_stream_has_a_span_for_each_request(make_server, receiver, client):
    """All of one trace: the deliveries continue it, and are linked to every request."""
    tracer, _ = client
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={receiver.url}").start()
    facts = Facts(1, int(time.time()), 4)
    call = tracer.start_span("call")
    requests = [s.StreamEventsRequest(sequence=n, events=[facts.track_action().event])
                for n in range(1, 6)]
    with server.channel() as channel:
        answers = server.stub(channel).StreamEvents(
            iter(requests), timeout=30, metadata=[("traceparent", traceparent_of(call))])
        assert max(answer.durable_sequence for answer in answers) == 5

    def all_there():
        spans = [x for x in receiver.all() if x.span.kind == Span.SPAN_KIND_SERVER]
        return spans if len(spans) == 5 else None

    spans = wait_until(all_there, "five server spans")
    assert {span.span.parent_span_id.hex() for span in spans} == {key_of(call)[1]}
    assert sorted(span.attributes["sightline.request.sequence"] for span in spans) == [
        1, 2, 3, 4, 5]
    assert {span.span.name for span in spans} == {STREAM}
    linked = wait_until(
        lambda: (links := {link for d in delivery_spans(receiver) for link in d.links})
        and len(links) == 5 and links, "links to five requests")
    assert linked == {span.key for span in spans}
    assert {d.span.trace_id.hex() for d in delivery_spans(receiver)} == {key_of(call)[0]}


def test_an_unsampled_call_makes_no_span(make_server, receiver):
    """Its trace goes on all the same, unsampled."""
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={receiver.url}").start()
    parent = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
    with server.channel() as channel:
        for number, flags in ((5, "00"), (6, "01")):
            server.stub(channel).RecordEvents(
                s.RecordEventsRequest(events=[fact(number)]), timeout=30,
                metadata=[("traceparent", f"00-{parent}-{flags}")])
            server.wait_for_hits(number - 4)
    assert server.terminate() == 0
    spans = receiver.all()
    assert len(spans) == 2, "the sampled request and its delivery alone"
    rows = server.query("SELECT traceparent FROM hits ORDER BY rowid")
    assert [row["traceparent"][-2:] for row in rows] == ["00", "01"]
    assert {row["traceparent"][3:35] for row in rows} == {parent[:32]}


def test_the_standard_variables_configure_it(make_server, receiver, monkeypatch):
    """OTEL_… names the service and the receiver, and sets headers; a malformed one is told of."""
    for name, value in {
        "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_SERVICE_NAME": "pushes",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,service.name=other",
        "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=a%20b", "OTEL_BSP_SCHEDULE_DELAY": "50",
        "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_BSP_MAX_QUEUE_SIZE": "many",
    }.items():
        monkeypatch.setenv(name, value)
    server = make_server().start()
    with server.channel() as channel:
        server.stub(channel).RecordEvents(s.RecordEventsRequest(events=[fact(7)]), timeout=30)
    span = one_server_span(receiver)
    assert span.resource["service.name"] == "pushes"
    assert span.resource["deployment.environment.name"] == "test"
    assert receiver.metadata[0]["x-tenant"] == "a b"
    assert "OTEL_BSP_MAX_QUEUE_SIZE" in server.log()


def test_a_refused_call_has_its_status(make_server, receiver):
    """RESOURCE_EXHAUSTED is the client's fault, and no error of the server's."""
    server = make_server(*PROMPT, "--set", f"telemetry.traces.endpoint={receiver.url}",
                         "--set", "limits.request_events=1").start()
    with server.channel() as channel, pytest.raises(grpc.RpcError) as failure:
        server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[fact(8), fact(9)]), timeout=30)
    assert failure.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
    span = one_server_span(receiver)
    assert span.attributes["rpc.status_code"] == "RESOURCE_EXHAUSTED"
    assert span.span.status.code == trace_pb2.Status.STATUS_CODE_UNSET


@pytest.mark.parametrize("outage", ["never there", "killed", "silent"])
def test_a_lost_receiver_costs_nothing_but_spans(make_server, receiver, silent_address, outage):
    """Acks and delivery go on, and the stop stays within its bound."""
    url = {"never there": "http://127.0.0.1:1", "killed": receiver.url,
           "silent": silent_address}[outage]
    server = make_server(
        *PROMPT, "--set", f"telemetry.traces.endpoint={url}",
        "--set", "telemetry.traces.queue_spans=20", "--set", "telemetry.traces.batch_spans=5",
        "--set", "telemetry.traces.flush_milliseconds=1000").start()
    facts = Facts(1, int(time.time()), 10)
    with socket.socket() as held:
        with server.channel() as channel:
            stub = server.stub(channel)

            def send(count: int) -> None:
                for _ in range(count):
                    answer = stub.RecordEvents(
                        s.RecordEventsRequest(events=[facts.track_action().event]), timeout=10)
                    assert answer.results[0].verdict == v.VERDICT_ACCEPTED

            send(5)
            if outage == "killed":
                one_server_span(receiver)
                receiver.stop()
                # Refusing: no other server takes the port meanwhile.
                held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                held.bind(("127.0.0.1", receiver.port))
            send(100)
        server.wait_for_hits(105)
        begin = time.monotonic()
        assert server.terminate() == 0
        assert time.monotonic() - begin < STOP_SECONDS
        assert "spans cannot be exported" in server.log() or outage == "silent"
        assert "spans end" in server.log() and '"dropped":' in server.log(), server.log()
