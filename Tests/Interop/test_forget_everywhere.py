"""A recipient is forgotten, whatever the sink, however ids are recorded, at any moment, wherever the
id is: no byte of any form of it stays or comes again, but where the receipt says so.

Each run is a server of one sink, one mode and one moment, with a recipient for each place, who is
forgotten, and a neighbour who goes the same ways and is not: where the search does not see the
neighbour, or an id that was planted, it proves nothing.
"""

import contextlib
import dataclasses
import http.client
import itertools
import json
import pathlib
import random
import secrets
import shutil
import sqlite3
import threading
import time
import urllib.request

import pytest

import forgetting_backends
from drained import wait_until_drained
from facts import Facts
from forgetting_backends import SINKS
from grpc_backend import REFUSED_DELIVERY
from id_forms import dense, files_of, forms_of, found, keyed_hash
from otlp import Receiver as SpanReceiver
from protos import event as e
from protos import record as r
from protos import service as s
from protos import verdict as v
from server import query, wait_until
from test_forget import KEYS
from test_replay import put
from test_tap import ask_socket
from test_terminal_commands import run

# Runs, each of which has every place.
SAMPLE = 12
SECONDS = 60
# Of each request this many events of somebody else for each of a recipient, so that no page of a
# database becomes half empty and is written anew: docs/forgetting.md says what may stay then.
OTHERS = 4
# Small, so that each of them is written again soon.
SEGMENT_BYTES = 262_144
# What the server did not write, with every form of each id.
PLANTED = "planted.bin"
# One byte more than an app's id may have: the event is kept, and recovered with another app.
LONG_APP = "a" * 257
DAY_MICROSECONDS = 86_400_000_000
# How long after the forgetting began the server is killed, at most.
KILL_SECONDS = 0.2
# Between two requests of who sends meanwhile.
PAUSE_SECONDS = 0.05
MODES = ["plain", "hashed", "rotated"]
MOMENTS = ["before", "during", "after", "retention", "replay", "recovery", "compaction", "kill"]
PLACES = ["subject", "dead-letter", "quarantine", "tap", "log", "stats", "span", "receipt"]
# What ids look like: each writer escapes others of these characters.
ENDINGS = ["", "-é", '-"\\/', "-%+& ="]


@dataclasses.dataclass(frozen=True)
class Case:
    """One run."""

    sink: str
    mode: str
    moment: str

    @property
    def is_possible(self) -> bool:
        """Campaign needs the recipients' own ids."""
        return self.sink != "campaign" or self.mode == "plain"

    def __str__(self) -> str:
        return f"{self.sink}, {self.mode}, {self.moment}"


CASES = [case for case in itertools.starmap(Case, itertools.product(SINKS, MODES, MOMENTS))
         if case.is_possible]


def chosen(chooser: random.Random, count: int) -> list[Case]:
    """So many cases, each once. The first ones have each sink, each mode and each moment as evenly
    as can be."""
    left = CASES.copy()
    chooser.shuffle(left)
    uses: dict[str, int] = dict.fromkeys([*SINKS, *MODES, *MOMENTS], 0)
    cases = []
    while left and len(cases) < count:
        case = min(left, key=lambda case: (
            max(uses[case.sink] * len(SINKS), uses[case.moment] * len(MOMENTS)),
            sum(uses[name] for name in dataclasses.astuple(case))))
        left.remove(case)
        cases.append(case)
        for name in dataclasses.astuple(case):
            uses[name] += 1
    return cases


@pytest.fixture
def cases(request, amount, seed) -> list[Case]:
    """The runs: the one that --case names, or else some by chance, or with --whole all."""
    if name := request.config.getoption("--case"):
        return [{str(case): case for case in CASES}[name]]
    return chosen(random.Random(seed), amount(SAMPLE, len(CASES)))


class Tap:
    """What an unmasked reader at the admin socket is shown, over all lives of a server."""

    def __init__(self):
        self.lines: list[bytes] = []

    def follow(self, server) -> None:
        """Reads from the server that runs now, until it ends."""
        response = wait_until(lambda: self._opened(server), "the tap")
        threading.Thread(target=self._read, args=(response,), daemon=True).start()

    @staticmethod
    def _opened(server):
        try:
            response = ask_socket(server, "/tap?unmasked=true")
            return response if response.readline() == b"{}\n" else None
        except (OSError, http.client.HTTPException):
            return None  # The socket of the process before stands there still.

    def _read(self, response) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            while line := response.readline():
                self.lines.append(line)


class Run:
    """One server's lives with a case."""

    def __init__(self, case: Case, seed: int, make_server, folder: pathlib.Path):
        self.case, self.folder = case, folder
        self.chooser = random.Random(seed)
        self.facts = Facts(seed, int(time.time()), space=1)
        ending = self.chooser.choice(ENDINGS)
        self.gone, self.near = (
            {place: f"{who}-{place}-{self.chooser.getrandbits(96):024x}{ending}"
             for place in PLACES} for who in ("gone", "near"))
        self.keys = self.first_keys()
        self.was_plain = not self.keys
        # Of the other keys the server does not know.
        keys = {key: KEYS[key] for key in (*self.keys, *self.rotated_keys())}
        self.forms = {subject: forms_of(subject, keys)
                      for subject in (*self.gone.values(), *self.near.values())}
        self.is_forgotten = False
        self.receipts: dict[str, dict[str, dict]] = {}
        self.told, self.pages, self.commands = b"", b"", b""
        self.letters = itertools.count(1)
        self.marks: dict[str, object] = {}
        self.tap = Tap()
        self.spans = SpanReceiver()
        self.backend = forgetting_backends.make(case.sink, folder / "backend")
        self.options = [
            *self.backend.options, f"--set=journal.segment_bytes={SEGMENT_BYTES}",
            "--set=log.level=trace", "--set=telemetry.traces.delay_milliseconds=50",
            f"--set=telemetry.traces.endpoint={self.spans.url}",
            "--set=tap.events_per_second=1000000", "--set=tap.queue_bytes=67108864",
            *(["--set=journal.retain_seconds=3600"] if case.moment == "replay" else []),
            # At least as long as the journal can feed a hit again.
            *(["--set=nats.duplicate_seconds=7200"] if case.sink == "nats" else [])]
        self.server = make_server()

    # MARK: The server

    def first_keys(self) -> tuple[str, ...]:
        """The keys of the first life: what is rotated was plain or hashed before."""
        return {"plain": (), "hashed": ("old",),
                "rotated": self.chooser.choice([(), ("old",)])}[self.case.mode]

    def rotated_keys(self) -> tuple[str, ...]:
        """The keys after the change, where the mode has one: the former ones stay in the file."""
        return ("new", *self.keys) if self.case.mode == "rotated" else self.keys

    def start(self, *more: str) -> None:
        hashed = []
        if self.keys:
            path = self.folder / "keys"
            path.write_text("".join(f"{KEYS[key]}\n" for key in self.keys))
            hashed = ["--set=privacy.subject=hashed", f"--set=privacy.key_file={path}"]
        self.options += more
        self.server.arguments = (*self.options, *hashed)
        self.server.start()
        self.tap.follow(self.server)
        self.backend.follow(self.server)

    def stop(self) -> None:
        self.look_at_pages()
        self.backend.received()
        assert self.server.terminate() == 0, self.server.log()

    def rotate(self) -> None:
        """Starts with a new key, where the mode says so."""
        if self.case.mode == "rotated":
            self.stop()
            self.keys = self.rotated_keys()
            self.start()

    def recorded(self, subject: str) -> str:
        """What the server records of an id now."""
        return keyed_hash(KEYS[self.keys[0]], subject).hex() if self.keys else subject

    def drain(self) -> None:
        wait_until_drained(self.server, self.case.sink)

    def close(self) -> None:
        try:
            self.server.close()
        finally:
            self.spans.stop()
            self.backend.close()
            self.server.log_path.unlink(missing_ok=True)
            for folder in (self.server.directory, self.folder):
                shutil.rmtree(folder, ignore_errors=True)

    # MARK: What is sent

    def event(self, subject: str) -> e.TrackingEvent:
        event = self.facts.push(kind=e.PUSH_INTERACTION_KIND_RECEIVED).event
        event.subject_id = subject
        return event

    def events_of(self, place: str, subject: str) -> list[e.TrackingEvent]:
        """Events by which an id comes to a place: what a sender did, and what a device has seen."""
        sent = self.facts.send().event
        sent.subject_id = subject
        events = [sent, self.event(subject)]
        for event in events:
            if place == "quarantine":
                event.app_id = LONG_APP
        if place in ("dead-letter", "log", "stats", "span"):
            # The backend refuses it, in words that name the recipient.
            push = events[-1].push
            carrier = push.apns if push.HasField("apns") else push.fcm.data
            carrier.delivery_id = REFUSED_DELIVERY
        return events

    def record(self, events: list[e.TrackingEvent]) -> None:
        refused = sum(event.app_id == LONG_APP for event in events)
        with self.server.channel() as channel:
            tally = self.server.stub(channel).RecordEvents(
                s.RecordEventsRequest(events=events), timeout=SECONDS).tally
        assert (tally.accepted, tally.rejected) == (len(events) - refused, refused), tally

    def send(self) -> None:
        """Sends events of all, between those of others."""
        events = []
        for people in (self.gone, self.near):
            for place, subject in people.items():
                for event in self.events_of(place, subject):
                    events += [event, *(self.event("of-others") for _ in range(OTHERS))]
        self.record(events)

    def put_letters(self) -> None:
        """Letters as earlier builds and other sinks have left them, since not each sink refuses
        hits; a neighbour's names who is to be forgotten."""
        gone, near = self.gone["dead-letter"], self.near["dead-letter"]
        put(self.server, *(self.letter(subject, gone)
                           for subject in ([near] if self.is_forgotten else [gone, near])))

    def letter(self, subject: str, named: str) -> tuple:
        record = r.TrackingRecord(
            hit_id=secrets.token_bytes(15) + bytes([v.HIT_KIND_CLICK]), kind=v.HIT_KIND_CLICK,
            campaign_action=2, delivery_id="5ec7", broadlog_id=f"h{secrets.token_hex(6)}",
            tenant="default")
        record.receive_time.seconds = int(time.time())
        record.trace_context.traceparent = f"00-{secrets.token_hex(16)}-{secrets.token_hex(8)}-01"
        record.event.subject_id = self.recorded(subject)
        record.event.push.kind = e.PUSH_INTERACTION_KIND_DISMISSED
        data = record.event.push.fcm.data
        data.delivery_id, data.message_id = record.delivery_id, record.broadlog_id
        # A backend's words, which name nobody any longer who was forgotten.
        words = "no recipient" if self.is_forgotten else f"no recipient {self.recorded(named)}"
        return (self.case.sink, 1, next(self.letters), record.hit_id, words, "default", 1,
                record.SerializeToString())

    @contextlib.contextmanager
    def sending(self):
        """Sends all the while, as fast as the sink comes to its end: of what a tenant has in a
        longer queue more would be refused than a sink finds one by one."""
        is_over, failures = threading.Event(), []

        def send() -> None:
            try:
                while not is_over.wait(PAUSE_SECONDS):
                    self.send()
                    self.drain()
            except Exception as failure:  # pylint: disable=broad-except
                failures.append(failure)

        thread = threading.Thread(target=send)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        assert not failures, failures

    # MARK: Forgetting

    def forget_all(self) -> None:
        """Forgets everybody who is to be; what comes from then on names none of them."""
        for place, subject in self.gone.items():
            done = run("forget", "--data-dir", self.server.directory, "--tenant", "default",
                       "--subject", subject, "--json", code=None)
            self.told += (done.stdout + done.stderr).encode()
            assert done.returncode == 0, f"{place}: {done.stdout}\n{done.stderr}"
            self.receipts[place] = {
                told["name"]: told["erasure"] for told in json.loads(done.stdout)["places"]}
        self.is_forgotten = True

    def mark(self) -> None:
        """After an event that is sent now nobody is told or shown any of those ids."""
        fence = self.event("of-others")
        push = fence.push
        carrier = push.apns if push.HasField("apns") else push.fcm.data
        word = carrier.message_id.encode()
        self.record([fence])
        wait_until(lambda: any(word in line for line in self.tap.lines.copy()), "the tap to show it")
        if self.case.sink == "stdout":
            wait_until(lambda: any(word in line for line in self.backend.received().values()),
                       "the line to be printed")
        self.marks = {"tap": len(self.tap.lines), "commands": len(self.commands),
                      "backend": set() if self.backend.is_erased else set(self.backend.received())}

    def look_at_pages(self) -> None:
        for path in ("", "stats.json", "metrics"):
            with urllib.request.urlopen(self.server.admin + path, timeout=10) as page:
                self.pages += page.read()

    def command(self, *words) -> None:
        """A command of an operator, whatever it comes to: its words are looked at."""
        done = run(*words, code=None)
        self.commands += (done.stdout + done.stderr).encode()
        # Neither a wrong usage nor a wrong configuration.
        assert done.returncode not in (64, 78), done

    # MARK: The moments

    def live(self) -> None:
        """All of it: events come, their recipients are forgotten, and events come again."""
        self.start()
        self.plant()
        getattr(self, self.case.moment)()
        self.arrive()
        self.drain()
        wait_until(lambda: self.kept(self.near["quarantine"]), "the neighbour's events to be kept")
        if self.case.moment == "compaction":
            self.write_over_the_journal()
        self.look_at_pages()

    def plant(self) -> None:
        """Puts a file with every form of each id into the directory: the search has to see it, and
        each receipt to name it."""
        (self.server.directory / PLANTED).write_bytes(b"\n".join(
            form for subject in self.gone.values() for form in self.forms[subject]))

    def arrive(self) -> None:
        """Events come, and letters."""
        self.send()
        self.put_letters()
        # Or the server might end before it has shown them.
        wait_until(self.shows_neighbour, "the neighbour to be shown by the tap")

    def shows_neighbour(self) -> bool:
        return bool(found(b"".join(self.tap.lines.copy()), self.forms[self.near["tap"]]))

    def before(self) -> None:
        self.forget_all()
        self.rotate()
        self.mark()

    def during(self) -> None:
        self.arrive()
        self.rotate()
        with self.sending():
            self.forget_all()
            self.mark()
            self.send_once_more()

    def send_once_more(self) -> None:
        """Lets the thread that sends come to what is after the mark."""
        shown = len(self.tap.lines)
        wait_until(lambda: len(self.tap.lines) > shown, "more events to be shown")

    def after(self) -> None:
        self.arrive()
        self.drain()
        self.rotate()
        self.forget_all()
        self.mark()

    def retention(self) -> None:
        """What was deleted by age or size was nobody's to erase: it must not stand there either."""
        self.arrive()
        self.drain()
        wait_until(lambda: self.kept(self.gone["quarantine"]), "events to be kept")
        self.stop()
        self.age()
        self.start("--set=sqlite.retain_days=1", "--set=quarantine.retain_days=1",
                   "--set=jsonl.file_bytes=20000", "--set=jsonl.retain_files=1")
        self.record([*(self.event(self.near["subject"]) for _ in range(500)),
                     *self.events_of("quarantine", self.near["quarantine"])])
        self.drain()
        wait_until(lambda: not self.kept(self.gone["quarantine"]), "kept events to be deleted")
        if self.case.sink == "sqlite":
            wait_until(self.has_dropped, "hits to be deleted by their age", every=0.2)
        self.rotate()
        self.forget_all()
        self.mark()

    def has_dropped(self) -> bool:
        """Whether hits.db has deleted a day; it does so with a batch."""
        self.record([self.event(self.near["subject"])])
        return self.server.query("SELECT max(id) - count(*) FROM partitions")[0][0] > 0

    def kept(self, subject: str) -> int:
        """Somebody's events in quarantine.db, under the id that is recorded now."""
        with contextlib.suppress(sqlite3.OperationalError):
            return query(self.server.directory / "quarantine.db",
                         "SELECT count(*) FROM events WHERE instr(event, ?) > 0",
                         self.recorded(subject).encode())[0][0]
        return 0

    def age(self) -> None:
        """Makes what there is two days old: hits, and the kept events of those to be forgotten. The
        neighbour's stay, since a clock that is far from all that is stored is not believed."""
        kept = self.recorded(self.gone["quarantine"]).encode()
        with contextlib.closing(sqlite3.connect(self.server.directory / "quarantine.db")) as file:
            with file:
                file.execute("UPDATE events SET receive_time = receive_time - ?"
                             " WHERE instr(event, ?) > 0", (2 * DAY_MICROSECONDS, kept))
        if self.case.sink == "sqlite":
            with contextlib.closing(sqlite3.connect(self.server.directory / "hits.db")) as file:
                with file:
                    file.execute("UPDATE partitions SET day = day - 2")

    def replay(self) -> None:
        """What the journal has kept, and letters, go to the sink once more."""
        self.arrive()
        self.drain()
        self.rotate()
        self.forget_all()
        self.mark()
        words = ("replay", *self.server.arguments, "--data-dir", self.server.directory)
        self.command(*words)
        self.command(*words, "--sink", self.case.sink, "--since", "1h")

    def recovery(self) -> None:
        """Refused events are judged again: those of the neighbours are there, and no others."""
        self.arrive()
        wait_until(lambda: self.kept(self.gone["quarantine"]), "events to be kept")
        self.rotate()
        recover = ("recover", "--data-dir", self.server.directory, "--where", "code=TOO_LARGE",
                   "--field", "app_id", "--set-app", "com.shop")
        # They are kept, or recorded by then.
        if self.chooser.random() < 0.5:
            self.command(*recover)
        self.forget_all()
        self.mark()
        self.send()
        self.command(*recover)

    def compaction(self) -> None:
        """Segments, logs and indexes are written anew meanwhile, by what others send."""
        self.arrive()
        self.rotate()
        with self.sending():
            self.forget_all()
            self.mark()
            self.send_once_more()
        self.stop()
        self.start()

    def kill(self) -> None:
        """In the middle of it; then it is asked for again."""
        self.arrive()
        self.rotate()
        thread = threading.Thread(target=self.command, args=(
            "forget", "--data-dir", self.server.directory, "--tenant", "default", "--subject",
            self.chooser.choice(list(self.gone.values())), "--json"), daemon=True)
        self.look_at_pages()
        thread.start()
        thread.join(self.chooser.uniform(0, KILL_SECONDS))
        self.server.kill()
        thread.join(SECONDS)
        self.start()
        self.forget_all()
        self.mark()

    def write_over_the_journal(self) -> None:
        """Sends others' events until no segment has anybody who was forgotten."""
        def is_gone() -> bool:
            self.record([self.event("of-others") for _ in range(1000)])
            self.drain()
            files = files_of(self.server.directory / "journal")
            return not any(found(data, self.forms[subject]) for data in files.values()
                           for subject in self.gone.values())
        wait_until(is_gone, "the journal's files to be written again", seconds=240, every=0)

    # MARK: The search

    def search(self) -> list[str]:
        """What was found, and may not be: in the files while the server runs, in the files that it
        leaves, and in all that was told or shown."""
        faults = self.strange_files() + self.blind_spots()
        self.look_at_pages()
        self.backend.received()
        assert self.server.terminate() == 0, self.server.log()
        faults += self.strange_files() + self.strange_words()
        return sorted(set(faults))

    def strange_files(self) -> list[str]:
        """Files that hold a form of an id, and that no receipt names as not done."""
        files = files_of(self.server.directory)
        faults = []
        for place, subject in self.gone.items():
            forms = self.forms[subject]
            assert found(files[PLANTED], forms) == sorted(set(forms.values())), "a blind search"
            faults += [f"{place}: {name} has {form}" for name, data in files.items()
                       if not self.is_named(name, self.receipts[place])
                       for form in found(data, forms)]
            if not self.is_named(PLANTED, self.receipts[place]):
                faults.append(f"{place}: the receipt does not name {PLANTED}")
        if not self.was_plain:
            # Of hashed ids none was ever written, forgotten or not.
            faults += [f"{place}: {name} has {form} of a neighbour" for name, data in files.items()
                       for place, subject in self.near.items()
                       for form in found(data, forms_of(subject, {}))]
        return faults

    def is_named(self, name: str, receipt: dict[str, dict]) -> bool:
        """Whether a receipt says that an id may stand in a file."""
        def says_impossible(place: str) -> bool:
            return receipt.get(place, {}).get("outcome") == "impossible"

        if name.startswith("journal/segment-"):
            return self.case.moment != "compaction" and says_impossible("journal")
        if name.startswith("hits.db") and self.case.moment == "retention":
            return "free pages" in receipt["sqlite"]["reason"]
        return says_impossible(name)

    def blind_spots(self) -> list[str]:
        """Places where the search does not see the neighbour, who is there."""
        files = files_of(self.server.directory)
        wanted = {"dead-letter": "dead_letters.db", "quarantine": "quarantine.db",
                  "subject": {"sqlite": "hits.db", "jsonl": "hits/"}.get(
                      self.case.sink, "journal/segment-")}
        if self.case.moment == "compaction" and self.case.sink not in ("sqlite", "jsonl"):
            del wanted["subject"]
        blind = [f"{place}: the neighbour is not in {file}" for place, file in wanted.items()
                 if not any(found(data, self.forms[self.near[place]])
                            for name, data in files.items() if name.startswith(file))]
        if not self.shows_neighbour():
            blind.append("tap: the neighbour is not shown")
        return blind

    def strange_words(self) -> list[str]:
        """What was told or shown, and names somebody."""
        gone, everybody = self.gone, [*self.gone.items(), *self.near.items()]
        received = self.backend.received()
        later = [data for key, data in received.items() if key not in self.marks["backend"]]
        spans = b"".join(
            span.span.SerializeToString() + f"{span.resource}".encode() for span in self.spans.all())
        assert spans, "no spans came"
        # None of these ever has anybody's id.
        faults = [fault for what, data in {
            "the log": self.server.log_path.read_bytes(), "a page": self.pages, "a span": spans,
            "the receipt": self.told}.items() for fault in self.names(what, data, everybody)]
        for what, data in {
                "the tap": b"".join(self.tap.lines[self.marks["tap"]:]),
                "a command": self.commands[self.marks["commands"]:],
                "the backend": b"\n".join(later)}.items():
            faults += self.names(what, data, gone.items())
        return faults

    def names(self, what: str, data: bytes, people) -> list[str]:
        """The forms of ids in a text; first of those that are planted there."""
        faults = []
        for place, subject in people:
            forms = self.forms[subject]
            planted = found(b"\n".join([data, *forms]), forms)
            assert planted == sorted(set(forms.values())), f"a blind search in {what}"
            faults += [f"{place}: {what} has {form}" for form in found(data, forms)]
        return faults


@pytest.mark.parametrize("seed_of_sample", range(20))
def test_a_sample_has_each_sink_mode_and_moment(seed_of_sample):
    cases = chosen(random.Random(seed_of_sample), SAMPLE)
    assert len(set(cases)) == SAMPLE
    assert {case.sink for case in cases} == set(SINKS)
    assert {case.mode for case in cases} == set(MODES)
    assert {case.moment for case in cases} == set(MOMENTS)
    assert set(chosen(random.Random(seed_of_sample), len(CASES))) == set(CASES)


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_id_is_found_in_every_form_and_nobody_elses_is(ending):
    gone, near = f"gone-1{ending}", f"near-1{ending}"
    forms = forms_of(gone, KEYS)
    for form, name in forms.items():
        assert name in found(dense(b"before" + bytes(5000) + form + bytes(5000)), forms), name
    assert found(b"\n".join(forms_of(near, KEYS)), forms) == []


@pytest.mark.timeout(36_000)
def test_no_form_of_a_forgotten_id_stays_anywhere(make_server, folder, cases, seed, figure):
    faults: list[str] = []
    for number, case in enumerate(cases):
        work = Run(case, seed + number, make_server, folder / f"run{number}")
        # The others go on: a whole search takes hours.
        try:
            work.live()
            faults += [f"{case}, {fault}" for fault in work.search()]
        except Exception as error:  # pylint: disable=broad-except
            faults.append(f"{case}: {error!r}\n{work.server.log(1500)}")
        finally:
            work.close()
    figure(f"{len(cases)} of {len(CASES)} runs of a sink, a mode and a moment, "
           f"{len(cases) * len(PLACES):,} of {len(CASES) * len(PLACES):,} combinations with a "
           f"place: {len(faults)} ids that stay")
    assert not faults, "\n".join(faults)
