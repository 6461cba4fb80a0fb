"""A Campaign server that answers by dice, and what it has to be asked, worked out from the rules
without any code of the server."""

import collections
import http.client
import http.server
import random
import re
import socket
import struct
import threading
import time
import urllib.parse
import zlib

from facts import Fact, Facts, push_hit_id, push_hits, row
from protos import event as e
from server import wait_until

UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
# A path that counts nothing.
PROBE = "/probe"
# Hits of this delivery are refused.
REFUSED_DELIVERY = "10c"
# Where some others are redirected to; nobody may follow.
ELSEWHERE = "/elsewhere"
# What happens to requests, and to which share of them: statuses; 0 ends the connection without an
# answer.
FAILURES = {503: 0.03, 408: 0.01, 429: 0.001, 0: 0.01}
# Fewer of each, as they are for many hits, and worse: no answer until the client gives up, 503 to
# everybody for a while, a late 200.
WORSE = {503: 0.006, 408: 0.002, 429: 0.0003, 0: 0.002, "stall": 0.0002, "storm": 0.0001,
         "slow": 0.01}
STORM_SECONDS = 2
SLOW_SECONDS = 0.2
AWAY_SECONDS = 0.3
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
    if not action:  # Of in-app messages, and of what a sender reports.
        return ""
    if product == "classic":
        identity = classic_id(broadlog)
        return identity and f"?id=h{identity},{delivery},{action}"
    if not subject:
        return ""
    return f"?id={broadlog},{delivery},{action}&mcId={urllib.parse.quote(subject, safe='')}"


def refusal(query: str) -> int:
    """The status by which a request is refused, each time; 0 for none."""
    if f",{REFUSED_DELIVERY}," in query:
        return 404
    return 302 if zlib.crc32(query.encode()) % 500 == 0 else 0


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
    """Counts what it answers with 200. Some requests fail first, as the shares say."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, seed: int, shares: dict | None = None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.random = random.Random(seed)
        self.shares = FAILURES if shares is None else shares
        self.storm_end = 0.0
        self.is_away = False
        self.sockets: set[socket.socket] = set()
        self.strayed: list[str] = []
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

    def decide(self, target: str) -> int | str:
        """The status for a request, or what else becomes of it."""
        with self.lock:
            query = target.removeprefix("/r/")
            self.came.append((query, len(self.counted)))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            fate = self._fate()
            if fate not in (200, "slow"):
                self.failures[fate] += 1
                return 503 if fate == "storm" else fate
            if refusal(query):
                self.refused.append(query)
                return refusal(query)
            self.counted.append(query)
            return fate

    def _fate(self) -> int | str:
        if self.is_away:
            return 0
        if time.monotonic() < self.storm_end:
            return 503
        dice = self.random.random()
        for fate, share in self.shares.items():
            dice -= share
            if dice < 0:
                if fate == "storm":
                    self.storm_end = time.monotonic() + STORM_SECONDS
                return fate
        return 200

    def process_request(self, request, client_address):
        # Before the thread begins: it may begin late.
        with self.lock:
            self.connections += 1
            self.sockets.add(request)
        super().process_request(request, client_address)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self.lock:
                self.connections -= 1
                self.sockets.discard(request)

    def wait_for_ends(self) -> None:
        """Waits until a killed client's connections have ended: what it had sent, and nobody had
        read yet, is counted by then."""
        # Connections are accepted in order, so those before this one are known.
        probe = http.client.HTTPConnection(*self.server_address, timeout=10)
        probe.request("GET", PROBE)
        probe.getresponse().read()
        probe.close()
        wait_until(lambda: self.connections == 0, "the end of the killed client's connections")

    def kill(self) -> int:
        """As kill -9 and a start after a while: connections are reset, and nobody listens. Returns
        how much was counted before."""
        self.shutdown()
        self.thread.join()
        self.socket.close()
        with self.lock:
            # What still comes from these connections is not counted.
            self.is_away = True
            known = len(self.counted)
            for connection in self.sockets:
                reset(connection)
        threading.Event().wait(AWAY_SECONDS)
        wait_until(lambda: self.connections == 0, "the end of the killed receiver's connections")
        self.socket = socket.socket(self.address_family, self.socket_type)
        self.server_bind()
        self.server_activate()
        self.is_away = False
        self.thread = threading.Thread(target=self.serve_forever, daemon=True)
        self.thread.start()
        return known

    def handle_error(self, request, client_address):
        """A killed client's connection ends anywhere."""

    def close(self) -> None:
        self.shutdown()
        self.server_close()


def reset(connection: socket.socket) -> None:
    """Ends a connection as the death of its process does while it has unread bytes."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        # It has ended by itself.
        return


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection, kept."""

    protocol_version = "HTTP/1.1"
    # Else the body waits until the head is acknowledged, which the other side delays by 40 ms.
    disable_nagle_algorithm = True

    def do_GET(self):  # pylint: disable=invalid-name
        if self.path == PROBE:
            self.send_response(204)
            self.end_headers()
            return
        if self.path.startswith(ELSEWHERE):
            self.server.strayed.append(self.path)
        status = self.server.decide(self.path)
        # Before the answer: its reader may send the next request as soon as it is there.
        with self.server.lock:
            self.server.in_flight -= 1
        if status == "stall":
            self.rfile.read(1)
        if status in (0, "stall"):
            self.close_connection = True
            return
        if status == "slow":
            threading.Event().wait(SLOW_SECONDS)
            status = 200
        body = b"counted" if status == 200 else b""
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "1")
        if status == 302:
            self.send_header("Location", ELSEWHERE + self.path)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):  # pylint: disable=arguments-differ
        """Prints nothing."""
