"""The judge: reads a whole stream with another client library, and holds it against the facts."""

import asyncio
import collections
import dataclasses
import re

import nats
from google.protobuf import message as protobuf
from nats.js.api import ConsumerConfig, DeliverPolicy

from facts import KIND_NAMES
from protos import event as e
from protos import record as r

TRACEPARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
STREAM = "SIGHTLINE"


@dataclasses.dataclass
class Message:
    """A message as it was read."""

    sequence: int
    subject: str
    headers: dict[str, str]
    data: bytes

    @property
    def hit_id(self) -> bytes:
        return bytes.fromhex(self.headers["Nats-Msg-Id"])

    @property
    def record(self) -> protobuf.Message:
        return r.TrackingRecord.FromString(self.data)

    @property
    def trace(self) -> tuple[str, str]:
        match = TRACEPARENT.fullmatch(self.headers.get("traceparent", ""))
        assert match, f"no sound traceparent: {self.headers}"
        return match[1], match[2]


def run(url: str, work, **options):
    """Connects, runs `work(connection, jetstream)`, and gives what it returns."""
    async def connected():
        connection = await nats.connect(url.split(","), max_reconnect_attempts=60, **options)
        try:
            return await work(connection, connection.jetstream(timeout=10))
        finally:
            await connection.close()
    return asyncio.run(connected())


def read(url: str, stream: str = STREAM, **options) -> list[Message]:
    """Every message of the stream, in its order."""
    async def work(_, jetstream):
        state = (await jetstream.stream_info(stream)).state
        if not state.messages:
            return []
        messages = await consumed(jetstream, stream, state.messages)
        # A consumer is on one server, which after a fault may be behind the stream's leader, for
        # longer than a test can wait.
        rest = set(range(state.first_seq, state.last_seq + 1)) - {
            message.sequence for message in messages}
        messages += await told_by_leader(jetstream, stream, rest)
        return sorted(messages, key=lambda message: message.sequence)
    return run(url, work, **options)


async def consumed(jetstream, stream: str, number: int) -> list[Message]:
    """So many messages as a consumer is given them, fewer where its server has no more."""
    consumer = await jetstream.pull_subscribe(
        "", stream=stream, config=ConsumerConfig(
            deliver_policy=DeliverPolicy.ALL, ack_policy="none", mem_storage=True,
            num_replicas=1))
    messages = []
    while len(messages) < number:
        try:
            batch = await consumer.fetch(min(1000, number - len(messages)), timeout=10)
        except asyncio.TimeoutError:
            print(f"the consumer's server has {len(messages)} of {number} messages")
            break
        messages += [Message(message.metadata.sequence.stream, message.subject,
                             dict(message.headers or {}), message.data) for message in batch]
    return messages


async def told_by_leader(jetstream, stream: str, sequences) -> list[Message]:
    """The messages of these sequences from the stream's leader, one by one; without those that it
    does not have."""
    messages = []
    for sequence in sequences:
        try:
            message = await jetstream.get_msg(stream, sequence)
        except nats.js.errors.NotFoundError:
            continue
        messages.append(Message(sequence, message.subject, dict(message.headers or {}),
                                message.data or b""))
    return messages


def count(url: str, stream: str = STREAM) -> int:
    """Messages in the stream; 0 while there is none, or nobody who can tell."""
    async def work(_, jetstream):
        try:
            return (await jetstream.stream_info(stream)).state.messages
        except (nats.js.errors.Error, nats.errors.Error):
            return 0
    return run(url, work)


def times(messages: list[Message]) -> collections.Counter:
    """How often each hit is in the stream."""
    return collections.Counter(message.hit_id for message in messages)


def check_message(message: Message, row: tuple, event: bytes) -> None:
    """A message is what its fact says: subject, headers, record, and the client's own event."""
    kind, action, delivery, broadlog, app, _, _, _, tenant = row
    record, headers = message.record, message.headers
    assert record.hit_id == message.hit_id
    assert KIND_NAMES[record.kind] == kind and record.campaign_action == action
    assert (record.delivery_id, record.broadlog_id) == (delivery, broadlog)
    assert record.tenant == tenant
    assert record.event == e.TrackingEvent.FromString(event)
    assert message.data.endswith(event), "the event is not in the client's own bytes"
    token = app.replace(".", "%2E") if app else "_"
    assert message.subject == f"sightline.{tenant}.{token}.{kind}.{action}"
    assert headers["content-type"] == "application/protobuf"
    assert headers["ce-specversion"] == "1.0"
    assert headers["ce-id"] == record.hit_id.hex()
    assert headers["ce-source"] == f"/sightline/{tenant}"
    assert headers["ce-type"] == f"sightline.v1.hit.{kind}"
    assert headers["ce-subject"] == delivery
    moment = record.receive_time.ToDatetime()
    assert headers["ce-time"] == moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    assert headers["traceparent"] == record.trace_context.traceparent
    assert headers.get("tracestate", "") == record.trace_context.tracestate
