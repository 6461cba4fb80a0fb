"""A Campaign server that answers by dice, and what it has to be asked, worked out from the rules
without any code of the server."""

import collections
import http.client
import http.server
import random
import re
import threading
import urllib.parse

from facts import Fact, Facts, push_hit_id, push_hits, row
from protos import event as e
from server import wait_until

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# A path that counts nothing.
PROBE = "/probe"
# Hits of this delivery are refused.
REFUSED_DELIVERY = "10c"
CLASSIC_IDS = ["55336", "-673096100", "57904851586134", "9223372036854775807", "-2147483649",
               "6B6499a8-9d43-4bc5-acf0-b6aeb96846f6", "9223372036854775808", "1-1-1-1-1", "h138a"]


def classic_id(text: str) -> str | None:
    """D37: a UUID as it is, or a decimal of 64 bits in hex, of 32 where it is negative and fits."""
    if UUID.fullmatch(text):
        return text
    if not re.fullmatch(r"-?[0-9]+", text) or not -1 << 63 <= int(text) < 1 << 63:
        return None
    width = 32 if -1 << 31 <= int(text) < 0 else 64
    return f"{int(text) & (1 << width) - 1:x}"


def postback(product: str, hit: tuple) -> str | None:
    """What is asked for a hit: empty for nothing, None where its ids forbid it."""
    _, action, delivery, broadlog, _, _, subject, _, _ = hit
    if product == "classic":
        identity = classic_id(broadlog)
        return identity and f"?id=h{identity},{delivery},{action}"
    if product == "firebase" or not subject:
        return ""
    return f"?id={broadlog},{delivery},{action}&mcId={urllib.parse.quote(subject, safe='')}"


class CampaignFacts(Facts):
    """Facts with Classic's own ids, strange subjects, and some of nobody."""

    def _event(self, number: int, platform: int) -> e.TrackingEvent:
        event = super()._event(number, platform)
        if number % 7 == 0:
            event.subject_id = "" if number % 2 else f"{event.subject_id} é&=,/{number:x}"
        return event

    def push(self, *arguments, classic: bool = False, **options) -> Fact:
        fact = super().push(*arguments, classic=classic, **options)
        if not classic:
            return fact
        event = fact.event
        carrier = event.push.apns if event.push.HasField("apns") else event.push.fcm.data
        # A notification is one fact: its delivery is its own.
        carrier.delivery_id = str(int(carrier.message_id[1:], 16))
        carrier.message_id = self.random.choice(CLASSIC_IDS)
        hits = {}
        for kind, action in push_hits(event.push.kind, True):
            identity = push_hit_id(kind, "classic", event.app_id, carrier.delivery_id,
                                   carrier.message_id)
            hits[identity] = row(event, kind, action, carrier.delivery_id, carrier.message_id)
        return Fact(event, hits=hits)


class Receiver(http.server.ThreadingHTTPServer):
    """Counts what it answers with 200. Some requests fail first: with 503, 408, 429 and a time to
    wait, or a connection that ends without an answer."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, seed: int):
        super().__init__(("127.0.0.1", 0), Handler)
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.came: list[tuple[str, int]] = []
        self.counted: list[str] = []
        self.refused: list[str] = []
        self.connections = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.failures = collections.Counter()
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def decide(self, target: str) -> int:
        """The status for a request; 0 for none."""
        with self.lock:
            query = target.removeprefix("/r/")
            self.came.append((query, len(self.counted)))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            dice = self.random.random()
            for status, share in ((503, 0.03), (408, 0.01), (429, 0.001), (0, 0.01)):
                dice -= share
                if dice < 0:
                    self.failures[status] += 1
                    return status
            if f",{REFUSED_DELIVERY}," in query:
                self.refused.append(query)
                return 404
            self.counted.append(query)
            return 200

    def process_request(self, request, client_address):
        # Before the thread begins: it may begin late.
        with self.lock:
            self.connections += 1
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.connections -= 1

    def wait_for_ends(self) -> None:
        """Waits until a killed client's connections have ended: what it had sent, and nobody had
        read yet, is counted by then."""
        # Connections are accepted in order, so those before this one are known.
        probe = http.client.HTTPConnection(*self.server_address, timeout=10)
        probe.request("GET", PROBE)
        probe.getresponse().read()
        probe.close()
        wait_until(lambda: self.connections == 0, "the end of the killed client's connections")

    def handle_error(self, request, client_address):
        """A killed client's connection ends anywhere."""

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection, kept."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):  # pylint: disable=invalid-name
        if self.path == PROBE:
            self.send_response(204)
            self.end_headers()
            return
        status = self.server.decide(self.path)
        # Before the answer: its reader may send the next request as soon as it is there.
        with self.server.lock:
            self.server.in_flight -= 1
        if not status:
            self.close_connection = True
            return
        body = b"counted" if status == 200 else b""
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Prints nothing."""
