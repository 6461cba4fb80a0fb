"""Each form of metadata that a stranger may send, on each method: the server lives after it."""

import collections
import os
import random
import time

import grpc
import pytest
from hyperframe.frame import ContinuationFrame, GoAwayFrame, HeadersFrame, RstStreamFrame

from metadata_forms import METHODS, forms, odd
from peer import Peer
from protos import service as s

ANSWER_SECONDS = 20
SAMPLE = 500
# Octets of a frame, as the server's SETTINGS say.
FRAME_BYTES = 16384
# To print where a debug program trapped takes it ten seconds.
NO_BACKTRACE = os.environ | {"SWIFT_BACKTRACE": "enable=no"}
# Those ask for nothing else, so they are sent to one method alone.
CASES = [(path, name, fields) for path in METHODS for name, fields in forms(path)]
CASES += [(METHODS[0], name, fields) for name, fields in odd(METHODS[0])]


def call(target: str, fields, ends_with_head: bool = False) -> str:
    """Sends the head and an empty message; what came of it, in a word."""
    with Peer(target) as peer:
        block = peer.encoder.encode(fields)
        parts = [block[at:at + FRAME_BYTES] for at in range(0, len(block) or 1, FRAME_BYTES)]
        frames = [HeadersFrame(1, parts[0])] + [ContinuationFrame(1, part) for part in parts[1:]]
        frames[-1].flags.add("END_HEADERS")
        if ends_with_head:
            frames[0].flags.add("END_STREAM")
        peer.send(*frames)
        if not ends_with_head:
            peer.send(peer.message(1, b"", end=True))
        try:
            frame = peer.wait(lambda f: f.stream_id == 1 and not is_window(f)
                              or isinstance(f, GoAwayFrame), ANSWER_SECONDS)
        except AssertionError:
            return "silence"
        match frame:
            case None: return "closed"
            case GoAwayFrame(): return "GOAWAY"
            case RstStreamFrame(): return "RST_STREAM"
            case _: return f"grpc-status {getattr(frame, 'fields', {}).get('grpc-status', '…')}"


def is_window(frame) -> bool:
    return frame.type == 8


class Watch:
    """A server that is started again where a form ended it, and a client that always asks."""

    def __init__(self, make_server):
        self.make_server = make_server
        self.start()

    def start(self) -> None:
        self.server = self.make_server("--admin", "off", "--sink", "discard",
                                       "--set=log.level=critical",
                                       environment=NO_BACKTRACE).start()
        self.channel = self.server.channel()
        self.stub = self.server.stub(self.channel)

    def lives(self) -> bool:
        """Whether the same process answers a good call."""
        try:
            self.stub.RecordEvents(s.RecordEventsRequest(), timeout=10)
        except grpc.RpcError:
            return False
        return self.server.process.poll() is None


@pytest.mark.timeout(1200)
def test_no_form_of_metadata_ends_the_server(make_server, seed, amount, figure):
    """Finding 1: `grpc-timeout: -1S` ended the process. So may whatever else is read there."""
    cases = random.Random(seed).sample(CASES, min(len(CASES), amount(SAMPLE, len(CASES))))
    watch = Watch(make_server)
    ended, silent, answers = [], [], collections.Counter()
    started = time.monotonic()
    for path, name, fields in cases:
        answer = call(watch.server.target, fields)
        answers[answer] += 1
        if answer == "silence":
            silent.append(f"{path}, {name}")
        if not watch.lives():
            code = watch.server.process.wait(10)
            ended.append(f"{path}, {name}: exit {code}")
            watch.channel.close()
            watch.start()
    watch.channel.close()
    figure(f"metadata: {len(cases)} forms in {time.monotonic() - started:.0f} s:"
           f" {', '.join(f'{count} {answer}' for answer, count in answers.most_common())};"
           f" {len(ended)} ended the server, {len(silent)} got no answer")
    assert not ended, "\n".join(ended)
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("path", METHODS)
def test_a_call_that_is_a_head_alone_is_answered(running, path):
    """HEADERS with END_STREAM is a request without a message."""
    fields = next(fields for _, fields in forms(path))
    answer = call(running.target, fields, ends_with_head=True)
    assert answer.startswith("grpc-status"), answer
