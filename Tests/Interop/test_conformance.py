"""`sightline-conformance client`: it finds every planted fault of a client, nothing in one without a fault,
and nothing in the client libraries of Clients."""

import concurrent.futures
import json
import re
import shlex
import subprocess
import sys

import pytest

import protos  # noqa: F401 - before the client, which imports the code that this makes
from clients import faulty
from server import binary, conformance_kit
from test_client_libraries import BUILT, HERE, built, environment

SECONDS = 300
FAULTY = shlex.join([sys.executable, str(HERE / "clients" / "faulty.py")])
LIBRARY = shlex.join([sys.executable, str(HERE / "clients" / "conformance.py")])
CLIENTS_OF = {
    "python": LIBRARY,
    "asyncio": f"{LIBRARY} --asyncio",
    "go": str(BUILT / "go" / "conformance"),
    # Started 30 times: as light as a JVM is.
    "swift": f"{binary().with_name('LibraryClient')} --conformance",
    "java": f"java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '{BUILT}/java/*' Conformance",
}
# A fault: the scenario that has to find it, the section of docs/clients.md, and a pattern that the
# finding matches.
FOUND = {
    # How many, and which, depends on what it had not sent yet when the stream was cut.
    "forgets-on-reconnect": ("cut-before-ack", "Acknowledgements", "stream's end it had not sent"),
    "new-ids": ("cut-before-ack", "Sending again", r'sent the event_id "event-\d+-again"'),
    "changes-events": ("cut-before-ack", "Sending again", r"changed the event event-\d+"),
    "sequence-0": ("plain", "Sequences", "sequence 0 in the first request"),
    "falling-sequences": ("plain", "Sequences", "sequence 3 after 4"),
    "reorders": ("cut-before-ack", "Sending again", "the order has changed"),
    "ignores-closing": ("closing", "The states of a stream", "did not half-close stream 1 within"),
    "no-half-close": ("plain", "The states of a stream", "broke off stream 1 without a half-close"),
    "leaves-early": ("slow-answers", "Acknowledgements", "told no verdict on"),
    "ignores-max-events": ("limit-events", "Limits", "max_events was 2"),
    "ignores-max-bytes": ("limit-bytes", "Limits", "max_request_bytes was 600"),
    "ignores-max-requests": ("limit-requests", "Limits", "max_unacknowledged_requests was 3"),
    "believes-watermark": ("watermark-ahead", "Acknowledgements", "that never came"),
    "accepted-too-early": ("slow-answers", "Acknowledgements", "before any answer settled it"),
    "duplicate-is-failure": ("cut-after-durable", "Acknowledgements", "had said DUPLICATE"),
    "resends-rejected": ("rejected", "Verdicts", "again on stream 1, with the verdict REJECTED"),
    "index-alone": ("batched-acks", "Acknowledgements", "REJECTED on event-"),
    "index-0-for-whole": ("whole-request", "Acknowledgements", "the server had said REJECTED"),
    "retries-at-once": ("retry-later", "Verdicts", "whose retry_delay was 400 ms"),
    "old-sequence": ("retry-later", "Sequences", "sent the sequence"),
    "drops-retry-later": ("retry-later", "Acknowledgements", "told no verdict on 8 events"),
    "retry-later-is-final": ("retry-later", "Acknowledgements", "RETRY_LATER on event-4 as if it"),
    "unknown-verdict-again": ("newer-server", "Verdicts", "with the verdict 42"),
    "hammers": ("away", "Errors", "connections in a second while nobody listened"),
    "ignores-retry-info": ("overloaded", "Errors", "whose RetryInfo said 500 ms"),
    "gives-up-at-quota": ("quota", "Errors", "ended with 1, although the server would serve it"),
    "goes-on-after-refusal": ("credentials-refused", "Errors",
                              "again after unauthenticated CREDENTIALS_REFUSED"),
    "silent-loss": ("credentials-refused", "Acknowledgements", "did not list them"),
    "exits-0-when-refused": ("scope-missing", "Errors", "ended with 0, although"),
    "no-key": ("key", "Credentials", "without the key"),
    "stops-at-cut": ("cut-before-ack", "Errors", "ended with 1, although"),
    # Before or after the half-close: it may have sent all by then.
    "takes-4-mib": ("large-answer", "The states of a stream", "stream 1 .*half-close"),
}


def conformance(client: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [conformance_kit(), "client", "--client", client, *arguments], capture_output=True,
        text=True, env=environment(), timeout=SECONDS)


def findings(done: subprocess.CompletedProcess) -> list[tuple[str, str, str]]:
    """Scenario, section and fault of each finding."""
    assert done.returncode in (0, 1), done
    found = [(line["scenario"], finding["section"], finding["fault"])
             for line in map(json.loads, done.stdout.splitlines()) for finding in line["findings"]]
    assert bool(found) == (done.returncode == 1), done
    return found


def scenarios() -> list[str]:
    # Without a command it tries a client.
    listed = subprocess.run([conformance_kit(), "--list"], capture_output=True, text=True)
    return [line.split()[0] for line in listed.stdout.splitlines()]


@pytest.mark.parametrize("arguments", [
    ["--list"], ["--client", FAULTY, "--scenario", "plain"],
    ["--client", FAULTY, "--scenario", "plain", "--json"]])
def test_a_full_output_is_told_and_ends_the_kit(arguments):
    built("python")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([conformance_kit(), "client", *arguments], stdout=full, text=True,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=SECONDS)
    assert done.returncode == 74, done.stderr
    assert done.stderr == ("sightline-conformance: the output cannot be written: "
                           "No space left on device\n")


def test_a_client_without_a_fault_passes():
    built("python")
    done = conformance(FAULTY, "--json")
    assert findings(done) == []
    assert [json.loads(line)["scenario"] for line in done.stdout.splitlines()] == scenarios()


@pytest.mark.timeout(900)
def test_each_planted_fault_is_found():
    """By its scenario, with the section that it breaks; several at a time, as they wait a lot."""
    built("python")
    assert list(FOUND) == faulty.FAULTS and len(FOUND) >= 15

    def missed(fault: str) -> str:
        scenario, section, words = FOUND[fault]
        # A client's start, and that of five others, is part of its time.
        found = findings(conformance(f"{FAULTY} --fault {fault}", "--json", "--timeout=60",
                                     f"--scenario={scenario}"))
        told = [text for _, its_section, text in found if its_section == section]
        return "" if any(re.search(words, text) for text in told) else f"{fault}: {found}"

    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        assert [text for text in pool.map(missed, FOUND) if text] == []


def test_a_command_that_starts_nothing_is_told_from_a_client():
    done = conformance("/nowhere/client")
    assert done.returncode == 69 and "starts no client" in done.stderr, done
    assert conformance("true", "--scenario=no-events").returncode == 0


@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("name", CLIENTS_OF)
def test_a_library_passes(name):
    built("python" if name == "asyncio" else name)
    assert findings(conformance(CLIENTS_OF[name], "--json")) == []
