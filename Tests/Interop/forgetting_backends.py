"""A backend for each sink that keeps what it was sent, and refuses some hits in words that name
their recipients."""

import collections
import http.server
import json
import pathlib
import queue
import shutil
import tempfile
import threading

import nats
from nats_server import NatsServer

import campaign
import judge
import test_forget_told
import test_grpc_sink
from database import Database
from grpc_backend import REFUSED_DELIVERY, SEEN
from kafka_mock import Mock
from test_terminal_commands import run
from test_webhook import new_secret

# Keys tell what came later from what came before; those of a set are of no order.
Received = dict[object, bytes]


class Backend:
    """What a server's one sink needs. This one needs nothing: discard, sqlite and jsonl."""

    # Whether what it has is erased too, and not only what comes later without the id.
    is_erased = False

    def __init__(self, sink: str, _folder: pathlib.Path):
        self.sink = sink
        self.options = [f"--set=sink={sink}"]

    def follow(self, server) -> None:
        """Called after each start of the server."""

    def received(self) -> Received:
        """All that it was sent so far."""
        return {}

    def close(self) -> None:
        """Ends it."""


class StandardOutput(Backend):
    """The lines that the server prints."""

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        self.server, self.lines = None, []

    def follow(self, server) -> None:
        self.server = server

    def received(self) -> Received:
        try:
            while line := self.server.lines.get_nowait():
                self.lines.append(line.encode())
        except queue.Empty:
            pass
        return dict(enumerate(self.lines))


class Webhook(Backend):
    """Refuses the hits of one delivery, each with a reason that names its recipient."""

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        (folder / "secret").write_text(new_secret())
        self.bodies: list[bytes] = []
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Takes a batch."""
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_POST(self):  # pylint: disable=invalid-name
                """Answers as docs/sinks/webhook.md says."""
                body = self.rfile.read(int(self.headers["content-length"]))
                backend.bodies.append(body)
                answer = json.dumps({"rejected": refusals(json.loads(body))}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):  # pylint: disable=arguments-differ
                """Nothing: bodies hold ids of people."""

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.options += [f"--set=webhook.secret_file={folder / 'secret'}",
                         "--set=webhook.allow=localhost",
                         f"--set=webhook.url=http://localhost:{self.server.server_port}/hits"]

    def received(self) -> Received:
        return dict(enumerate(list(self.bodies)))

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def refusals(events: list[dict]) -> list[dict]:
    """What a receiver says of the hits that it does not want; the words are its own."""
    return [{"id": event["id"], "reason": f"no recipient {event['data']['event'].get('subjectId')}"}
            for event in events if event["data"].get("deliveryId") == REFUSED_DELIVERY]


class Campaign(Backend):
    """A Campaign server, which answers 404 for that delivery."""

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        self.receiver = campaign.Receiver(seed=1, shares={})
        url = self.receiver.url
        servers = [{"tenant": "default", "standard": url, "classic": url}]
        self.options.append(f"--set=campaign.servers={json.dumps(servers)}")

    def received(self) -> Received:
        return dict(enumerate(query.encode() for query, _ in list(self.receiver.came)))

    def close(self) -> None:
        self.receiver.close()


class GRPC(Backend):
    """The example in Python, with the mode `quotes`: it forgets what it has, and what it refused."""

    is_erased = True

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        self.folder = folder
        self.backend = test_grpc_sink.Backend(test_grpc_sink.python("quotes"), folder).start()
        self.options = self.backend.options

    def received(self) -> Received:
        taken, seen = self.folder / "hits", self.folder / SEEN
        records = seen.read_text().splitlines() if seen.exists() else []
        # Its acks repeat its own words, which are no hits.
        lines = [line for line in taken.read_bytes().splitlines()
                 if line.startswith(b'{"hit"')] if taken.exists() else []
        return dict(enumerate([*lines, *map(bytes.fromhex, records)]))

    def close(self) -> None:
        self.backend.kill()


class Kafka(Backend):
    """A broker in memory."""

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        self.mock = Mock(folder)
        self.options = [f"--set=sink={sink}", *self.mock.options[1:]]

    def received(self) -> Received:
        return {(message.partition(), message.offset()): b"".join([
            message.key() or b"", b" ", message.value() or b"",
            *(name.encode() + b" " + (value or b"") for name, value in message.headers() or [])])
            for message in test_forget_told.kafka_messages(self.mock)}

    def close(self) -> None:
        self.mock.__exit__()


class JetStream(Backend):
    """A nats-server."""

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        self.server = NatsServer(folder / "nats").start()
        # By default the journal keeps what the stream has for ten minutes.
        self.options += [f"--set=nats.servers={self.server.url}", "--set=nats.retain_seconds=0"]

    def received(self) -> Received:
        try:
            messages = judge.read(self.server.url)
        except nats.js.errors.NotFoundError:
            return {}  # The first hit makes the stream.
        return {message.sequence: message.data + f" {message.subject} {message.headers}".encode()
                for message in messages}

    def close(self) -> None:
        self.server.close()


class PostgreSQL(Backend):
    """A PostgreSQL whose trigger refuses the hits of that delivery, and names their recipients."""

    is_erased = True

    def __init__(self, sink: str, folder: pathlib.Path):
        super().__init__(sink, folder)
        # Where its user may go, who is not the test's.
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="sightline-postgresql-"))
        self.database = Database(self.home / "server").start()
        self.options = [*self.database.options, "--set=postgresql.retain_seconds=0"]
        printed = run("sinks", "sql", "postgresql", "--days", "2").stdout
        self.database.run(printed + f"""
            CREATE FUNCTION refusing() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
                IF NEW.delivery_id = '{REFUSED_DELIVERY}' THEN
                    RAISE EXCEPTION 'no recipient %', NEW.subject_id;
                END IF;
                RETURN NEW;
            END$$;
            CREATE TRIGGER refusing BEFORE INSERT ON sightline.stored_hits
                FOR EACH ROW EXECUTE FUNCTION refusing()""")

    def received(self) -> Received:
        rows = self.database.run("SELECT * FROM sightline.stored_hits")
        return dict(enumerate(b" ".join(
            bytes(value) if isinstance(value, (bytes, memoryview)) else f"{value}".encode()
            for value in row) for row in rows))

    def close(self) -> None:
        self.database.close()
        shutil.rmtree(self.home, ignore_errors=True)


BACKENDS = collections.defaultdict(lambda: Backend, {
    "stdout": StandardOutput, "webhook": Webhook, "campaign": Campaign, "grpc": GRPC,
    "kafka": Kafka, "nats": JetStream, "postgresql": PostgreSQL})
SINKS = ["discard", "sqlite", "jsonl", *BACKENDS]


def make(sink: str, folder: pathlib.Path) -> Backend:
    """The backend of a sink, with its files in that folder."""
    folder.mkdir(parents=True)
    return BACKENDS[sink](sink, folder)
