"""A receiver of webhooks, in a process of its own so that it can be killed. It verifies each request
by the libraries of both specifications, and takes what it gets into a file before it answers.

Usage: webhook_receiver.py FOLDER PORT [CERTIFICATE KEY]; PORT 0 takes a free one. FOLDER has `secret`,
and may have `accepted` (the secret that counts, if it is another one), `shares` (of requests that fail,
in JSON: a status, or one of the fates below), `unwanted` (a tenant, of which any hit makes the answer
400) and `shift` (seconds by which its clock is wrong, read for each request). It gets `port`, `taken`,
`refused`, `failed`, `unwanted_hits`, `unverified` and `faults`.
"""

import datetime
import http.server
import json
import pathlib
import random
import ssl
import sys
import threading

import standardwebhooks.webhooks
from cloudevents.core.formats.json import JSONFormat
from google.protobuf import json_format
from standardwebhooks import Webhook, WebhookVerificationError

from protos import record as r

REASON = "every tenth"
# An event that tells of a recipient who was forgotten: no hit, and taken whoever it is.
FORGOTTEN = "sightline.v1.subject.forgotten"
# What else may become of a request: no answer until the client gives up; a connection that ends
# before anything was taken, or after it; a late answer.
STALL, DROP, LOSE, SLOW = "stall", "drop", "lose", "slow"
SLOW_SECONDS = 0.2
ELSEWHERE = "/elsewhere"


def is_refused(identity: bytes) -> bool:
    """Hit ids are hashes, so this is one of ten, and the same ones each time."""
    return int.from_bytes(identity, "big") // 256 % 10 == 0


def read(headers, body: bytes, secret: str) -> tuple[list[bytes], set[str]]:
    """The hit ids and the tenants of a request; raises for one that is not as the specifications
    ask."""
    Webhook(secret).verify(body, dict(headers))
    assert headers["content-type"] == "application/cloudevents-batch+json", headers["content-type"]
    assert "." not in headers["webhook-id"], headers["webhook-id"]
    assert not any(name.lower().startswith("ce-") for name in headers), dict(headers)
    ids, tenants = [], set()
    for element in json.loads(body):
        event = JSONFormat().read(None, json.dumps(element))
        assert event.get_specversion() == "1.0"
        if event.get_type() == FORGOTTEN:
            continue
        assert event.get_type().startswith("sightline.v1.hit."), event.get_type()
        record = json_format.ParseDict(event.get_data(), r.TrackingRecord())
        assert record.hit_id.hex() == event.get_id(), event.get_id()
        assert event.get_source() == f"/sightline/{record.tenant}", event.get_source()
        assert event.get_extension("traceparent") == record.trace_context.traceparent
        ids.append(record.hit_id)
        tenants.add(record.tenant)
    return ids, tenants


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers as docs/sinks/webhook.md says, but for its share of failures."""
    protocol_version = "HTTP/1.1"
    # Else the body waits until the head is acknowledged, which the other side delays by 40 ms.
    disable_nagle_algorithm = True
    folder: pathlib.Path
    shares: dict[str, float] = {}
    # What has not come yet: of the first requests every other one meets a fate, each of them once. One
    # after the other they would make the sender wait for longer each time. The rest is by dice.
    due: list[str] = []
    lock = threading.Lock()

    def do_POST(self):  # pylint: disable=invalid-name
        length = int(self.headers["content-length"])
        body = self.rfile.read(length)
        if len(body) < length:
            # The sender has given up, and will send it again.
            self.close_connection = True
            return None
        try:
            assert self.path.partition("?")[0] == "/hits", "a redirect was followed"
            ids, tenants = read(self.headers, body, self.secret())
        except WebhookVerificationError as error:
            self.note("unverified", [str(error)])
            return self.answer(401, {})
        except BaseException as error:  # pylint: disable=broad-except
            self.note("faults", [repr(error)])
            return self.answer(500, {})
        unwanted = self.folder / "unwanted"
        if unwanted.exists() and unwanted.read_text() in tenants:
            self.note("unwanted_hits", [str(len(ids))])
            return self.answer(400, {})
        fate = self.fate()
        if fate:
            self.note("failed", [fate])
        if fate == STALL:
            self.rfile.read(1)
        if fate in (STALL, DROP):
            self.close_connection = True
            return None
        if fate.isdigit():
            return self.answer(int(fate), {})
        self.take(ids)
        if fate == SLOW:
            threading.Event().wait(SLOW_SECONDS)
        if fate == LOSE:
            self.close_connection = True
            return None
        return self.answer(200, {"rejected": [
            {"id": identity.hex(), "reason": REASON} for identity in ids if is_refused(identity)]})

    def take(self, ids: list[bytes]) -> None:
        self.note("taken", [identity.hex() for identity in ids if not is_refused(identity)])
        self.note("refused", [identity.hex() for identity in ids if is_refused(identity)])

    def secret(self) -> str:
        accepted = self.folder / "accepted"
        path = accepted if accepted.exists() else self.folder / "secret"
        return path.read_text().split()[0]

    def fate(self) -> str:
        """What becomes of a request; empty for an answer at once."""
        with self.lock:
            if self.due:
                return self.due.pop()
        dice = random.random()
        for fate, share in self.shares.items():
            dice -= share
            if dice < 0:
                return fate
        return ""

    def note(self, name: str, lines: list[str]) -> None:
        with self.lock, (self.folder / name).open("a") as file:
            # Half a line of a process that was killed ends here.
            file.write("\n" + "".join(f"{line}\n" for line in lines))

    def answer(self, status: int, value: dict) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        if status == 429:
            self.send_header("retry-after", "1")
        if status == 302:
            self.send_header("location", ELSEWHERE)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments) -> None:
        """Nothing: bodies hold ids of people."""


class ShiftedClock(datetime.datetime):
    """The receiver's clock, as wrong as the file `shift` says."""

    @classmethod
    def now(cls, tz=None):
        shift = Handler.folder / "shift"
        seconds = float(shift.read_text()) if shift.exists() else 0
        return datetime.datetime.now(tz) + datetime.timedelta(seconds=seconds)


def main() -> None:
    folder, port, *identity = sys.argv[1:]
    Handler.folder = pathlib.Path(folder)
    shares = Handler.folder / "shares"
    Handler.shares = json.loads(shares.read_text()) if shares.exists() else {}
    Handler.due = [due for fate in Handler.shares for due in ("", fate)]
    standardwebhooks.webhooks.datetime = ShiftedClock
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
