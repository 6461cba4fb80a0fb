"""A backend for the grpc sink in a process of its own, so that it can be killed: the example, which
does in addition what the tests ask for.

Usage: grpc_backend.py FOLDER PORT [MODE...]; FOLDER gets `hits`, and `port`. PORT 0 takes a free one.
`tenth` refuses every tenth hit, `busy` says Busy now and then, `raises` ends the call with an exception
that names a recipient, `quotes` refuses the hits of one delivery in words that name theirs, and notes each
record. The wrong ones: `early` acknowledges before it stores, `forgets` has no position
after a break, `global` has one position for all journals, `ahead` says that it has hits which no journal
has yet.
"""

import importlib.util
import pathlib
import sys

import protos

SPEC = importlib.util.spec_from_file_location(
    "backend", protos.ROOT / "Examples" / "sink-python" / "backend.py")
example = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(example)
pb = example.pb

REASON = "every tenth"
BUSY_MILLISECONDS = 50
AHEAD = 10 ** 12
# Whose hits `quotes` refuses, and where it notes records, in hexadecimal digits.
REFUSED_DELIVERY = "10c"
SEEN = "seen"


def is_refused(identity: bytes) -> bool:
    """Hit ids are hashes, so this is one of ten, and the same ones each time."""
    return int.from_bytes(identity, "big") // 256 % 10 == 0


class Backend(example.Backend):
    """The example, with a mode."""

    def __init__(self, path: str, modes: list[str]):
        super().__init__(path)
        self.modes = modes
        self.seen = pathlib.Path(path).with_name(SEEN)
        self.waiting = None
        self.answers = 0

    def refusal(self, record) -> str:
        if "raises" in self.modes:
            raise ValueError(f"cannot store what is of {record.event.subject_id}")
        if "quotes" in self.modes:
            with self.seen.open("a", encoding="ascii") as file:
                file.write(f"{record.SerializeToString().hex()}\n")
            if record.delivery_id == REFUSED_DELIVERY:
                return f"no recipient {record.event.subject_id}"
        if "tenth" in self.modes:
            return REASON if is_refused(record.hit_id) else ""
        return super().refusal(record)

    def Deliver(self, requests, context):
        for answer in super().Deliver(requests, context):
            self.answers += 1
            if "busy" in self.modes and self.answers % 5 == 0:
                busy = pb.Busy(reason="a test")
                busy.delay.FromMilliseconds(BUSY_MILLISECONDS)
                yield pb.DeliverResponse(busy=busy)
            yield answer

    def welcome(self, hello, pair):
        if "forgets" in self.modes:
            self.ends.pop(pair, None)
        if "global" in self.modes and self.ends:
            # Whatever journal had it last.
            self.ends[pair] = list(self.ends.values())[-1]
        if "ahead" in self.modes:
            self.ends[pair] = pb.Position(sequence=AHEAD)
        self.waiting = None
        return super().welcome(hello, pair)

    def take(self, batch, pair):
        if "early" not in self.modes:
            return super().take(batch, pair)
        # The batch before is stored as soon as the next one is there.
        if self.waiting:
            super().take(*self.waiting)
        self.waiting = (batch, pair)
        return pb.Ack(durable=batch.end)


def main() -> None:
    folder, port, *modes = sys.argv[1:]
    folder = pathlib.Path(folder)

    def tell(*words, **_) -> None:
        made = folder / "port.new"
        made.write_text(words[0].split()[-1])
        made.rename(folder / "port")

    example.print = tell
    example.serve(Backend(str(folder / "hits"), modes), f"127.0.0.1:{port}")


if __name__ == "__main__":
    main()
