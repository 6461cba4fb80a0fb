"""Health and reflection, as their own clients and tools see them."""

import json
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import proto_reflection_descriptor_database as database
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from hyperframe.frame import DataFrame

from details import details, failure, reason
from facts import Facts
from peer import Peer
from protos import service as s
from server import binary, wait_until
from stream import METHOD

SECONDS = 20
SERVICE = "sightline.v1.TrackingService"
SERVICES = ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection", "sightline.v1.DeliveryService",
            "sightline.v1.ErasureService", "sightline.v1.TapService", SERVICE]
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN_SERVICE = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN
BUF = pathlib.Path(sys.executable).parent / "buf"


def configured(make_server, tmp_path, text: str):
    path = tmp_path / "sightline.yaml"
    path.write_text(text)
    return make_server("--config", str(path)).start()


def check(channel, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(channel)
    request = health_pb2.HealthCheckRequest(service=service)
    return stub.Check(request, timeout=SECONDS).status


def watch(channel, service: str = "", seconds: float = SECONDS):
    stub = health_pb2_grpc.HealthStub(channel)
    return stub.Watch(health_pb2.HealthCheckRequest(service=service), timeout=seconds)


def event(space: int):
    return Facts(7, int(time.time()), space=space).accepted().event


# Health


@pytest.mark.parametrize("service", ["", SERVICE])
def test_a_running_server_is_serving(running, service):
    with running.channel() as channel:
        assert check(channel, service) == SERVING
        assert next(watch(channel, service)).status == SERVING


def test_list_names_every_service(running):
    with running.channel() as channel:
        answer = health_pb2_grpc.HealthStub(channel).List(
            health_pb2.HealthListRequest(), timeout=SECONDS)
    assert {name: status.status for name, status in answer.statuses.items()} == {
        "": SERVING, SERVICE: SERVING}


def test_an_unknown_service_is_not_found_and_may_be_watched(running):
    with running.channel() as channel:
        error = failure(lambda: check(channel, "no.such.Service"))
        assert error.code() == grpc.StatusCode.NOT_FOUND
        assert reason(error) == "SERVICE_UNKNOWN"
        assert next(watch(channel, "no.such.Service")).status == UNKNOWN_SERVICE


def test_a_watch_tells_of_changes_alone(make_server, tmp_path):
    # A journal of one byte refuses the first event; 5 s later it is worth another try.
    server = configured(make_server, tmp_path, "journal:\n  max_bytes: 1\n")
    with server.channel() as channel:
        seen = watch(channel)
        assert next(seen).status == SERVING
        answer = server.stub(channel).RecordEvents(
            s.RecordEventsRequest(events=[event(1)]), timeout=SECONDS)
        assert answer.tally.retry_later == 1
        assert check(channel) == check(channel, SERVICE) == NOT_SERVING
        assert next(seen).status == NOT_SERVING
        assert next(seen).status == SERVING


def test_watches_are_bounded(make_server, tmp_path):
    server = configured(make_server, tmp_path, "health:\n  max_watchers: 2\n")
    with server.channel() as channel:
        watches = [watch(channel) for _ in range(2)]
        assert [next(w).status for w in watches] == [SERVING, SERVING]
        error = failure(lambda: next(watch(channel)))
        assert error.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert reason(error) == "WATCHERS_EXCEEDED"
        assert details(error).keys() == {"ErrorInfo", "QuotaFailure", "RetryInfo"}
        assert check(channel) == SERVING
        watches[0].cancel()
        wait_until(lambda: is_open(watch(channel)), "a place for the next watch")


def is_open(call) -> bool:
    try:
        return next(call).status == SERVING
    except grpc.RpcError:
        return False


def test_a_drain_is_told_to_watches_before_any_stream(make_server):
    """On one connection, whose frames come in the order in which the server has sent them."""
    server = make_server().start()
    with Peer(server.target) as peer:
        for stream, service in ((1, ""), (3, SERVICE)):
            head = peer.headers(stream, "Watch", service="grpc.health.v1.Health")
            request = health_pb2.HealthCheckRequest(service=service).SerializeToString()
            peer.send(head, peer.message(stream, request, end=True))
        request = s.StreamEventsRequest(sequence=1, events=[event(3)]).SerializeToString()
        peer.send(peer.headers(5), peer.message(5, request))

        def statuses() -> list[int]:
            return [health_pb2.HealthCheckResponse.FromString(frame.data[5:]).status
                    for frame in peer.frames if data(frame) and frame.stream_id != 5]

        def is_closing(frame) -> bool:
            return (data(frame) and frame.stream_id == 5
                    and s.StreamEventsResponse.FromString(frame.data[5:]).HasField("closing"))

        def data(frame) -> bool:
            return isinstance(frame, DataFrame) and bool(frame.data)

        peer.wait(lambda frame: data(frame) and frame.stream_id == 5)
        peer.wait(lambda _: statuses() == [SERVING, SERVING])
        server.process.send_signal(signal.SIGTERM)
        closing = peer.wait(is_closing)
        del peer.frames[peer.frames.index(closing):]
        assert statuses() == [SERVING, SERVING, NOT_SERVING, NOT_SERVING]
    assert server.wait(SECONDS, "to end after SIGTERM") == 0


def test_a_drain_ends_watches_streams_and_reflection(make_server):
    server = make_server().start()
    seen = queue.Queue()
    with server.channel() as health, server.channel() as events:
        end = threading.Event()
        first = s.StreamEventsRequest(sequence=1, events=[event(2)]).SerializeToString()

        def requests():
            yield first
            end.wait(SECONDS)

        stream = events.stream_stream(METHOD, request_serializer=None,
                                      response_deserializer=s.StreamEventsResponse.FromString)(
            requests(), timeout=SECONDS)
        while next(stream).durable_sequence != 1:
            continue
        watches = [watch(health, service) for service in ("", SERVICE)]
        assert [next(w).status for w in watches] == [SERVING, SERVING]
        reflection = reflection_pb2_grpc.ServerReflectionStub(health).ServerReflectionInfo(
            iter_until(end), timeout=SECONDS)
        assert next(reflection).HasField("list_services_response")

        def read(name, call):
            try:
                for answer in call:
                    seen.put((name, answer))
            except grpc.RpcError as error:
                seen.put((name, error))

        readers = [threading.Thread(target=read, args=pair)
                   for pair in [("watch", watches[0]), ("watch", watches[1]), ("stream", stream),
                                ("reflection", reflection)]]
        for reader in readers:
            reader.start()
        started = time.monotonic()
        assert server.terminate() == 0
        took = time.monotonic() - started
        end.set()
        for reader in readers:
            reader.join()
    told = list(seen.queue)
    assert [a.status for _, a in told if hasattr(a, "status")] == [NOT_SERVING, NOT_SERVING]
    assert len([a for name, a in told if name == "stream" and getattr(a, "closing", None)
                and a.HasField("closing")]) == 1
    errors = {name: a for name, a in told if isinstance(a, grpc.RpcError)}
    assert {name: e.code() for name, e in errors.items()} == {
        name: grpc.StatusCode.UNAVAILABLE for name in ("watch", "stream", "reflection")}
    assert {reason(error) for error in errors.values()} == {"SERVER_CLOSING"}
    # The stream has its grace of 2 s; nothing else may hold the drain.
    assert took < 10


def iter_until(end: threading.Event):
    yield reflection_pb2.ServerReflectionRequest(list_services="")
    end.wait(SECONDS)


@pytest.mark.parametrize("arguments, code, output", [
    ((), 0, "SERVING"), (("--service", SERVICE), 0, "SERVING"),
    (("--service", "no.such.Service"), 69, ""),
])
def test_the_command_asks_for_health(running, arguments, code, output):
    done = subprocess.run([str(binary()), "health", "--target", running.target, *arguments],
                          capture_output=True, text=True, timeout=SECONDS)
    assert (done.returncode, done.stdout.strip()) == (code, output), done.stderr


def test_the_command_says_when_nobody_answers():
    done = subprocess.run([str(binary()), "health", "--target", "127.0.0.1:1"],
                          capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 69
    assert "127.0.0.1:1" in done.stderr


# Reflection


@pytest.fixture(scope="module")
def pool(running):
    """What a client knows that has asked the server alone."""
    with running.channel() as channel:
        yield descriptor_pool.DescriptorPool(
            database.ProtoReflectionDescriptorDatabase(channel))


def ask(channel, **question) -> reflection_pb2.ServerReflectionResponse:
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    request = reflection_pb2.ServerReflectionRequest(**question)
    (answer,) = stub.ServerReflectionInfo(iter([request]), timeout=SECONDS)
    return answer


def test_reflection_lists_every_service(running):
    with running.channel() as channel:
        known = database.ProtoReflectionDescriptorDatabase(channel)
        assert sorted(known.get_services()) == SERVICES


def test_a_client_without_files_calls_a_method(running, pool):
    method = pool.FindServiceByName(SERVICE).FindMethodByName("RecordEvents")
    request = message_factory.GetMessageClass(method.input_type)()
    request.ParseFromString(
        s.RecordEventsRequest(events=[event(3)]).SerializeToString())
    with running.channel() as channel:
        call = channel.unary_unary(
            f"/{SERVICE}/RecordEvents",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(
                method.output_type).FromString)
        assert call(request, timeout=SECONDS).tally.accepted == 1


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_described_with_all_that_it_names(pool, name):
    described = pool.FindServiceByName(name)
    assert {m.input_type.full_name for m in described.methods}
    # The database looks each import up by its name: a missing one fails here.
    assert described.file.name.endswith(".proto")


@pytest.mark.parametrize("question, file", [
    ({"file_by_filename": "sightline/v1/event.proto"}, "sightline/v1/event.proto"),
    ({"file_by_filename": "google/protobuf/duration.proto"}, "google/protobuf/duration.proto"),
    ({"file_containing_symbol": SERVICE}, "sightline/v1/tracking_service.proto"),
    ({"file_containing_symbol": SERVICE + ".RecordEvents"},
     "sightline/v1/tracking_service.proto"),
    ({"file_containing_symbol": "sightline.v1.TrackingEvent"}, "sightline/v1/event.proto"),
    ({"file_containing_symbol": "sightline.v1.TrackingEvent.app_id"},
     "sightline/v1/event.proto"),
    ({"file_containing_symbol": "sightline.v1.VERDICT_ACCEPTED"}, "sightline/v1/verdict.proto"),
    ({"file_containing_symbol": "grpc.reflection.v1alpha.ErrorResponse"},
     "grpc/reflection/v1alpha/reflection.proto"),
])
def test_a_file_is_found(running, question, file):
    with running.channel() as channel:
        (found,) = ask(channel, **question).file_descriptor_response.file_descriptor_proto
    assert descriptor_pb2.FileDescriptorProto.FromString(found).name == file


EXTENSION = reflection_pb2.ExtensionRequest(
    containing_type="sightline.v1.TrackingEvent", extension_number=1000)
LONG = "x" * 1025


@pytest.mark.parametrize("question, code", [
    ({"file_by_filename": "no/such.proto"}, grpc.StatusCode.NOT_FOUND),
    ({"file_containing_symbol": "no.such.Symbol"}, grpc.StatusCode.NOT_FOUND),
    ({"file_containing_symbol": ""}, grpc.StatusCode.NOT_FOUND),
    ({"file_containing_extension": EXTENSION}, grpc.StatusCode.NOT_FOUND),
    ({"all_extension_numbers_of_type": "no.such.Type"}, grpc.StatusCode.NOT_FOUND),
    ({}, grpc.StatusCode.INVALID_ARGUMENT),
    ({"file_by_filename": LONG}, grpc.StatusCode.INVALID_ARGUMENT),
    ({"file_containing_symbol": LONG}, grpc.StatusCode.INVALID_ARGUMENT),
    ({"host": LONG, "list_services": ""}, grpc.StatusCode.INVALID_ARGUMENT),
    ({"all_extension_numbers_of_type": LONG}, grpc.StatusCode.INVALID_ARGUMENT),
])
def test_a_question_without_an_answer_gets_an_error_and_ends_nothing(running, question, code):
    with running.channel() as channel:
        stub = reflection_pb2_grpc.ServerReflectionStub(channel)
        first, second = stub.ServerReflectionInfo(
            iter([reflection_pb2.ServerReflectionRequest(**question),
                  reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=SECONDS)
    assert first.error_response.error_code == code.value[0]
    assert first.error_response.error_message
    assert len(second.list_services_response.service) == len(SERVICES)
    # What is too long to be a name does not come back.
    assert first.ByteSize() < 1024


def test_a_type_without_extensions_has_none(running):
    with running.channel() as channel:
        answer = ask(channel, all_extension_numbers_of_type="sightline.v1.TrackingEvent")
    assert answer.all_extension_numbers_response.base_type_name == "sightline.v1.TrackingEvent"
    assert list(answer.all_extension_numbers_response.extension_number) == []


def test_switched_off_it_is_not_there(make_server, tmp_path):
    server = configured(make_server, tmp_path, "reflection:\n  enabled: false\n")
    with server.channel() as channel:
        error = failure(lambda: ask(channel, list_services=""))
        assert error.code() == grpc.StatusCode.UNIMPLEMENTED
        assert reason(error) == "UNIMPLEMENTED"
        assert check(channel) == SERVING


# buf curl


def curl(running, *arguments: str, protocol: str = "grpc-v1") -> str:
    done = subprocess.run(
        [str(BUF), "curl", "--protocol", "grpc", "--http2-prior-knowledge",
         "--reflect-protocol", protocol, *arguments],
        capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout


def documents(text: str) -> list[dict]:
    """The JSON documents that stand one after the other."""
    found, decoder = [], json.JSONDecoder()
    while text.strip():
        document, end = decoder.raw_decode(text.lstrip())
        found.append(document)
        text = text.lstrip()[end:]
    return found


@pytest.mark.parametrize("protocol", ["grpc-v1", "grpc-v1alpha"])
def test_buf_curl_lists_the_services(running, protocol):
    url = f"http://{running.target}"
    assert curl(running, "--list-services", url, protocol=protocol).split() == SERVICES
    methods = curl(running, "--list-methods", url, protocol=protocol).split()
    assert f"{SERVICE}/StreamEvents" in methods and len(methods) == 13


REJECTED = {"events": [{}]}


@pytest.mark.parametrize("protocol", ["grpc-v1", "grpc-v1alpha"])
@pytest.mark.parametrize("method, request_json, field", [
    (f"{SERVICE}/StreamEvents", {"sequence": 1, **REJECTED}, "durableSequence"),
    (f"{SERVICE}/RecordEvents", REJECTED, "tally"),
    (f"{SERVICE}/ExplainEvents", REJECTED, "results"),
    (f"{SERVICE}/InspectPayload", {"json": "{}", "platform": "PLATFORM_IOS"}, "findings"),
    (f"{SERVICE}/ExplainDelivery", {"deliveryId": "never"}, "findings"),
    ("grpc.health.v1.Health/Check", {}, "status"),
    ("grpc.health.v1.Health/List", {}, "statuses"),
])
def test_buf_curl_calls_each_method_with_json(running, method, request_json, field, protocol):
    out = curl(running, "--data", json.dumps(request_json), f"http://{running.target}/{method}",
               protocol=protocol)
    assert field in documents(out)[-1]


# Statuses that no handler of ours gives


@pytest.mark.parametrize("path", ["/sightline.v1.TrackingService/NoSuchMethod", "/x.Y/Z"])
def test_an_unknown_method_says_so_in_details_too(running, path):
    with running.channel() as channel:
        error = failure(lambda: channel.unary_unary(path)(b"", timeout=SECONDS))
    assert error.code() == grpc.StatusCode.UNIMPLEMENTED
    assert reason(error) == "UNIMPLEMENTED"


def test_a_request_that_is_no_message_says_so_in_details_too(running):
    with running.channel() as channel:
        for path in ["/grpc.health.v1.Health/Check", f"/{SERVICE}/InspectPayload"]:
            error = failure(lambda: channel.unary_unary(path)(b"\xff\xff", timeout=SECONDS))
            assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
            assert reason(error) == "REQUEST_MALFORMED"
