"""SinkService: the contract's messages on one side, the lake on the other."""

import asyncio
import pathlib
from collections.abc import AsyncIterator
from typing import Any

import grpc
from deltalake.exceptions import DeltaError
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

from .configuration import Configuration
from .lake import Lake, Superseded
from .lock import Refused
from .log import log
from .position import Position
from .projection import project
from .v1 import sink_service_pb2 as pb

VERSION = 1
# How long an answer may take before the server is asked for more time: less than its
# grpc.ack_seconds, 10.
BUSY_SECONDS = 3
BUSY = pb.DeliverResponse(busy=pb.Busy(delay={"seconds": BUSY_SECONDS}))
OPTIONS = [("grpc.max_receive_message_length", 64 << 20),
           ("grpc.http2.min_recv_ping_interval_without_data_ms", 5_000)]
# What ends a stream.
ENDS = {ValueError: grpc.StatusCode.INVALID_ARGUMENT, DecodeError: grpc.StatusCode.INVALID_ARGUMENT,
        OSError: grpc.StatusCode.RESOURCE_EXHAUSTED, Superseded: grpc.StatusCode.ABORTED,
        DeltaError: grpc.StatusCode.UNAVAILABLE, Refused: grpc.StatusCode.UNAVAILABLE}
# A DeliverRequest without its records.
Envelope = GetMessageClass(project(
    "sightline.lake.envelope", pb.DeliverRequest.DESCRIPTOR,
    ("hello.versions", "hello.journal_id", "hello.sink", "batch.end.sequence", "batch.end.index",
     "batch.end.check", "erase.tenant", "erase.subject_ids")))


class Service:
    """Answers the messages of each stream, one after another."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.draining = asyncio.Event()

    async def deliver(self, requests: AsyncIterator[bytes],
                      context: "grpc.aio.ServicerContext[bytes, pb.DeliverResponse]",
                      ) -> AsyncIterator[pb.DeliverResponse]:
        """One stream."""
        stream, draining = Stream(self.lake), asyncio.ensure_future(self.draining.wait())
        is_told = False
        try:
            while True:
                reading = asyncio.ensure_future(anext(requests, None))
                if not is_told:
                    await asyncio.wait({reading, draining}, return_when=asyncio.FIRST_COMPLETED)
                    if is_told := draining.done():
                        yield pb.DeliverResponse(drain=pb.Drain(reason="it ends"))
                if (request := await reading) is None:
                    return
                answer = asyncio.ensure_future(stream.answer(request))
                while not (await asyncio.wait({answer}, timeout=BUSY_SECONDS))[0]:
                    if stream.app:  # Nothing comes before Welcome.
                        yield BUSY
                yield answer.result()
        except tuple(ENDS) as error:
            code = next(code for kind, code in ENDS.items() if isinstance(error, kind))
            log("warning", "a stream is ended", app=stream.app, code=code.name, reason=str(error))
            await context.abort(code, str(error))
        finally:
            draining.cancel()
            # What waits for room may be of somebody who is erased meanwhile: it comes again.
            self.lake.end(stream.app, stream)


class Stream:
    """What a stream is of, and the answers to its messages."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        self.app = ""

    async def answer(self, request: bytes) -> pb.DeliverResponse:
        """The answer to a message; raises what is in ENDS."""
        message: Any = Envelope.FromString(request)
        kind = message.WhichOneof("message")
        if kind is None or (kind == "hello") == bool(self.app):
            raise ValueError(f"hello is the first message and no other, and here comes {kind}")
        if kind == "hello":
            return pb.DeliverResponse(welcome=await self._welcome(message.hello))
        if kind == "batch":
            end = Position(message.batch.end.sequence, message.batch.end.index,
                           message.batch.end.check)
            await self.lake.add(self.app, self, request, end)
            return pb.DeliverResponse(ack=pb.Ack(durable=pb.Position(**vars(end))))
        return pb.DeliverResponse(erased=await self._erased(message.erase))

    async def _welcome(self, hello: Any) -> pb.Welcome:
        if VERSION not in hello.versions or not hello.journal_id or not hello.sink:
            raise ValueError(f"hello needs version {VERSION}, a journal and a sink")
        app = f"{hello.journal_id}/{hello.sink}"
        position = await self.lake.begin(app, self)
        self.app = app
        log("info", "a server is connected", app=app, position=position)
        progress: Any = ({"durable": pb.Position(**vars(position))} if position
                         else {"nothing": pb.NothingDurable()})
        return pb.Welcome(version=VERSION, capabilities=[pb.SINK_CAPABILITY_ERASURE],
                          journal_id=hello.journal_id, **progress)

    async def _erased(self, erase: Any) -> pb.Erased:
        try:
            count, until = await self.lake.erase(erase.tenant, list(erase.subject_ids))
        except Exception as error:
            log("error", "a recipient cannot be erased", error=type(error).__name__)
            return pb.Erased(failure=f"the table cannot be changed: {type(error).__name__}")
        log("notice", "a recipient is erased", hits=count, retained_until=until)
        return pb.Erased(erased_count=count, retained_until={"seconds": until} if until else None)


def make_server(service: Service, configuration: Configuration) -> tuple[grpc.aio.Server, int]:
    """A server of the service, and its port; raises OSError."""
    server = grpc.aio.server(options=OPTIONS)
    method: Any = grpc.stream_stream_rpc_method_handler(
        service.deliver, response_serializer=pb.DeliverResponse.SerializeToString)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(
        "sightline.v1.SinkService", {"Deliver": method}),))
    if not configuration.tls_certificate:
        return server, server.add_insecure_port(configuration.listen)
    key, certificate, clients = (
        pathlib.Path(path).read_bytes() if path else None for path in
        (configuration.tls_key, configuration.tls_certificate, configuration.tls_clients))
    credentials = grpc.ssl_server_credentials([(key or b"", certificate or b"")], clients,
                                              require_client_auth=clients is not None)
    return server, server.add_secure_port(configuration.listen, credentials)
