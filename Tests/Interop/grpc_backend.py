"""A backend for the grpc sink in a process of its own, so that it can be killed: the example, which
does in addition what the tests ask for.

Usage: grpc_backend.py FOLDER PORT [MODE...]; FOLDER gets `hits`, and `port`. PORT 0 takes a free one.
`tenth` refuses every tenth hit, `busy` says Busy now and then, `raises` ends the call with an exception
that names a recipient, `quotes` refuses the hits of one delivery in words that name theirs, and notes
each record, `clock` commits by time alone, and so waits before each ack. The wrong ones: `early`
acknowledges before it stores, `forgets` has no position after a break, `global` has one position for all
journals, `ahead` says that it has hits which no journal has yet, `keeps` says of each Erase that it
deleted a hit, `grabs` the same of recipients whom it does not know, `cannot` fails each Erase, `names`
in words that name the recipient, and `silent` never answers one, and makes the file `asked`.
"""

import importlib.util
import pathlib
import sys
import threading

import protos

SPEC = importlib.util.spec_from_file_location(
    "backend", protos.ROOT / "Examples" / "sink-python" / "backend.py")
example = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(example)
pb = example.pb

REASON = "every tenth"
BUSY_MILLISECONDS = 50
AHEAD = 10 ** 12
CLOCK_SECONDS = 0.5
# Whose hits `quotes` refuses, and where it notes records, in hexadecimal digits.
REFUSED_DELIVERY = "10c"
SEEN = "seen"
# There once an Erase has come that is not answered.
ASKED = "asked"


def is_refused(identity: bytes) -> bool:
    """Hit ids are hashes, so this is one of ten, and the same ones each time."""
    return int.from_bytes(identity, "big") // 256 % 10 == 0


class Backend(example.Backend):
    """The example, with a mode."""

    def __init__(self, path: str, modes: list[str]):
        super().__init__(path)
        self.modes = modes
        if "early" in modes:
            # Each message by itself, so that there is one before the last.
            example.MOST_MESSAGES = 1
        self.seen = pathlib.Path(path).with_name(SEEN)
        self.waiting = None
        self.answers = 0
        self.erased: set[str] = set()

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
            if "silent" in self.modes and answer.HasField("busy"):
                continue
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

    def erase(self, erase):
        if "silent" in self.modes:
            self.seen.with_name(ASKED).touch()
            # Until the process is killed.
            threading.Event().wait()
        if "quotes" in self.modes:
            self.erase_seen(erase)
        erased = super().erase(erase)
        if "keeps" in self.modes or "grabs" in self.modes and not self.knows(erase):
            erased.erased_count = max(1, erased.erased_count)
        if "cannot" in self.modes:
            erased.failure = "the disk is read-only"
        if "names" in self.modes:
            erased.failure = f"no row of {', '.join(erase.subject_ids)}"
        self.erased.update(erase.subject_ids)
        return erased

    def erase_seen(self, erase) -> None:
        """What it has noted of a recipient goes too, also of hits that it has refused."""
        lines = self.seen.read_text().splitlines() if self.seen.exists() else []
        records = [(line, protos.record.TrackingRecord.FromString(bytes.fromhex(line)))
                   for line in lines]
        made = self.seen.with_name(f"{SEEN}.new")
        made.write_text("".join(
            f"{line}\n" for line, record in records if record.tenant != erase.tenant
            or record.event.subject_id not in erase.subject_ids))
        made.rename(self.seen)

    def knows(self, erase) -> bool:
        return not self.erased.isdisjoint(erase.subject_ids) or not self.erased

    def take(self, batches, pair):
        if "clock" in self.modes:
            # The time is what is tried: it waits for nothing else.
            threading.Event().wait(CLOCK_SECONDS)
        if "early" not in self.modes:
            return super().take(batches, pair)
        # Those before are stored as soon as the next ones are there.
        if self.waiting:
            super().take(*self.waiting)
        self.waiting = (batches, pair)
        return pb.Ack(durable=batches[-1].end)


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
