"""Those who have had a forgotten recipient's hits are told, in a form that their own libraries read."""

import base64
import http.server
import json
import math
import pathlib
import secrets
import threading
import time

import pytest
from cloudevents.core.formats.json import JSONFormat
from confluent_kafka import Consumer, TopicPartition
from standardwebhooks import Webhook

from drained import wait_until_drained
from facts import Facts
from judge import read
from kafka_mock import Mock
from test_forget import forget, reports, send_all, subject

TYPE = "sightline.v1.subject.forgotten"
SINKS = ("--set=sinks=[{type: sqlite}, {type: webhook, required: false}, {type: kafka}, "
         "{type: nats}, {type: stdout}]")


class Receiver(http.server.ThreadingHTTPServer):
    """Takes what is signed as Standard Webhooks has it, and keeps the bodies."""

    def __init__(self, folder: pathlib.Path):
        self.secret = folder / "secret"
        self.secret.write_text(f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}\n")
        self.bodies: list[bytes] = []
        self.status = 200
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def options(self) -> list[str]:
        return [f"--set=webhook.secret_file={self.secret}", "--set=webhook.allow=localhost",
                f"--set=webhook.url=http://localhost:{self.server_port}/"]

    def told(self) -> list[dict]:
        events = [event for body in self.bodies for event in json.loads(body)]
        return [event for event in events if event["type"] == TYPE]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["content-length"]))
        Webhook(self.server.secret.read_text().strip()).verify(body, dict(self.headers))
        self.server.bodies.append(body)
        self.send_response(self.server.status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *arguments) -> None:
        """Nothing: bodies hold ids of people."""


@pytest.fixture
def receiver(tmp_path):
    with Receiver(tmp_path) as made:
        yield made
        made.shutdown()


def kafka_messages(mock) -> list:
    consumer = Consumer({"bootstrap.servers": mock.bootstrap, "group.id": "told",
                         "auto.offset.reset": "earliest", "log_level": 0})
    ends = {number: end for number, end in mock.ends().items() if end}
    consumer.assign([TopicPartition(mock.topic, number, 0) for number in ends])
    found: list = []
    # Of each partition up to the end that it had: others may go on to grow meanwhile.
    while ends:
        for message in consumer.consume(100, timeout=5):
            if message.error():
                continue
            found.append(message)
            if message.offset() + 1 >= ends.get(message.partition(), math.inf):
                del ends[message.partition()]
    consumer.close()
    return found


def test_receivers_are_told_of_a_forgotten_subject(
        make_server, receiver, jetstream, folder, seed):
    facts, gone = Facts(seed, int(time.time()), space=8), subject()
    with Mock(folder) as mock:
        server = make_server(SINKS, *receiver.options, *mock.options[1:],
                             f"--set=nats.servers={jetstream.url}").start()
        send_all(server, reports(facts, 20, gone))
        wait_until_drained(server, "sqlite", "webhook", "kafka", "nats")
        receipt = forget(server, gone)
        outcomes = {place: erasure["outcome"] for place, erasure in receipt.items()}
        assert outcomes == {
            "sqlite": "erased", "webhook": "told", "kafka": "told", "nats": "told",
            "stdout": "impossible", "dead_letters.db": "erased", "quarantine.db": "erased",
            "journal": "impossible"}, receipt

        [element] = receiver.told()
        event = JSONFormat().read(None, json.dumps(element))
        assert event.get_source() == "/sightline/default"
        assert event.get_data() == {"tenant": "default", "subjectIds": [gone]}

        tombstones = [message for message in kafka_messages(mock) if message.value() is None]
        assert [message.key() for message in tombstones] == [gone.encode()]
        assert dict(tombstones[0].headers()) == {
            "ce-type": TYPE.encode(), "ce-source": b"/sightline/default"}

        told = [message for message in read(jetstream.url) if message.headers["ce-type"] == TYPE]
        assert [(message.headers["ce-subject"], message.data) for message in told] == [(gone, b"")]
        assert told[0].subject == "sightline.default._.subject_forgotten.0"

        # A receiver that is away fails its place, and no other; hits flow on.
        receiver.status = 503
        receipt = forget(server, gone, code=69)
        assert receipt["webhook"]["outcome"] == "failed" and "503" in receipt["webhook"]["reason"]
        assert receipt["kafka"]["outcome"] == "told"
        receiver.status = 200
        assert forget(server, gone)["webhook"]["outcome"] == "told"
        assert len({event["id"] for event in receiver.told()}) == 1
        send_all(server, reports(facts, 20, "another"))
        wait_until_drained(server, "sqlite", "webhook", "kafka", "nats")
