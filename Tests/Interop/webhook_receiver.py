"""A receiver of webhooks, in a process of its own so that it can be killed. It verifies each request
by the libraries of both specifications, and takes what it gets into a file before it answers.

Usage: webhook_receiver.py FOLDER PORT [CERTIFICATE KEY]; FOLDER has `secret`, and gets `port`,
`taken`, `refused` and `faults`. PORT 0 takes a free one.
"""

import http.server
import json
import pathlib
import ssl
import sys
import threading

from cloudevents.core.formats.json import JSONFormat
from google.protobuf import json_format
from standardwebhooks import Webhook

from protos import record as r

REASON = "every tenth"


def is_refused(identity: bytes) -> bool:
    """Hit ids are hashes, so this is one of ten, and the same ones each time."""
    return int.from_bytes(identity, "big") // 256 % 10 == 0


def read(headers, body: bytes, secret: str) -> list[bytes]:
    """The hit ids of a request; raises for one that is not as the specifications ask."""
    Webhook(secret).verify(body, dict(headers))
    assert headers["content-type"] == "application/cloudevents-batch+json", headers["content-type"]
    assert "." not in headers["webhook-id"], headers["webhook-id"]
    assert not any(name.lower().startswith("ce-") for name in headers), dict(headers)
    ids = []
    for element in json.loads(body):
        event = JSONFormat().read(None, json.dumps(element))
        assert event.get_specversion() == "1.0" and event.get_source() == "/sightline/default"
        assert event.get_type().startswith("sightline.v1.hit."), event.get_type()
        record = json_format.ParseDict(event.get_data(), r.TrackingRecord())
        assert record.hit_id.hex() == event.get_id(), event.get_id()
        assert event.get_extension("traceparent") == record.trace_context.traceparent
        ids.append(record.hit_id)
    return ids


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as docs/sinks/webhook.md says."""
    protocol_version = "HTTP/1.1"
    folder: pathlib.Path
    lock = threading.Lock()

    def do_POST(self):  # pylint: disable=invalid-name
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            ids = read(self.headers, body, (self.folder / "secret").read_text().split()[0])
        except BaseException as error:  # pylint: disable=broad-except
            self.note("faults", [repr(error)])
            return self.answer(500, {})
        refused = [identity for identity in ids if is_refused(identity)]
        self.note("taken", [identity.hex() for identity in ids if not is_refused(identity)])
        self.note("refused", [identity.hex() for identity in refused])
        return self.answer(200, {"rejected": [
            {"id": identity.hex(), "reason": REASON} for identity in refused]})

    def note(self, name: str, lines: list[str]) -> None:
        with self.lock, (self.folder / name).open("a") as file:
            # Half a line of a process that was killed ends here.
            file.write("\n" + "".join(f"{line}\n" for line in lines))

    def answer(self, status: int, value: dict) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        """Nothing: bodies hold ids of people."""


def main() -> None:
    folder, port, *identity = sys.argv[1:]
    Handler.folder = pathlib.Path(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(port)), Handler)
    if identity:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*identity)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    made = Handler.folder / "port.new"
    made.write_text(str(server.server_port))
    made.rename(Handler.folder / "port")
    server.serve_forever()


if __name__ == "__main__":
    main()
