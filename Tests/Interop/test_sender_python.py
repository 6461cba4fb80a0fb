"""The sender of Examples/sender-python: each answer of a push service in the table of docs/sends.md
becomes the hit that the table says, and no device's token is recorded anywhere."""

import csv
import hashlib
import json
import re
import subprocess
import sys
import typing

import pytest

import push_services
import test_client_libraries as libraries
from protos import ROOT, event
from push_services import NOTHING, Answer, Script

EXAMPLE = ROOT / "Examples/sender-python"
TABLE = list(csv.DictReader((ROOT / "Tests/Fixtures/send-answers.csv").open()))
DELIVERY = "5e4d"
SECONDS = 120
RETRIED, ATTEMPTS = {"throttled", "provider_error", "network"}, 4
# Words that stand in the status of Google's errors, and not in FCM's own code.
GOOGLES = {"UNAUTHENTICATED", "PERMISSION_DENIED", "NOT_FOUND", "RESOURCE_EXHAUSTED"}


class Device(typing.NamedTuple):
    """A recipient, what its push service answers, and the hits that are expected."""

    service: str
    answers: list[Answer]
    hits: dict[str, event.PushSend]
    requests: int
    consent: bool = True


def answer_of(service: str, row: dict[str, str]) -> Answer:
    """What a service sends in a case of the table."""
    status, word = int(row["status"]), row["word"]
    if status == NOTHING:
        return Answer(NOTHING)
    if status == 200:
        return Answer(200, b"" if service == "apns" else b'{"name": "projects/p/messages/1"}',
                      (("apns-id", "8c7d"),) if service == "apns" else ())
    # As a proxy answers where no word is known.
    if not word:
        return Answer(status, b"<html></html>")
    if service == "apns":
        return Answer(status, json.dumps({"reason": word}).encode(), (("apns-id", "8c7d"),))
    details: list[dict] = []
    if row["field"]:
        details.append({"@type": "type.googleapis.com/google.rpc.BadRequest",
                        "fieldViolations": [{"field": row["field"]}]})
    if word not in GOOGLES:
        details.append({"@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError",
                        "errorCode": word})
    error = {"code": status, "message": row["message"], "details": details,
             "status": word if word in GOOGLES else "UNKNOWN"}
    return Answer(status, json.dumps({"error": error}).encode())


def send_of(service: str, answer: Answer, row: dict[str, str], attempt: int) -> event.PushSend:
    """What the table says of an answer."""
    send = event.PushSend(
        delivery_id=DELIVERY, provider_code=row["code"], attempt=attempt,
        outcome=event.PushSendOutcome.Value(f"PUSH_SEND_OUTCOME_{row['outcome'].upper()}"),
        display=event.PUSH_DISPLAY_SYSTEM if service == "apns" else event.PUSH_DISPLAY_APP)
    if row["reason"]:
        send.reason = event.PushSendReason.Value(f"PUSH_SEND_REASON_{row['reason'].upper()}")
    if service == "apns":
        send.provider_message_id = dict(answer.headers).get("apns-id", "")
    elif answer.status == 200:
        send.provider_message_id = "projects/p/messages/1"
    return send


def hit_kind(row: dict[str, str]) -> str:
    return "sent" if row["outcome"] == "sent" else "send_failed"


def devices() -> list[Device]:
    """One for each answer of each service, those of retries that succeed, and one that is out."""
    found = []
    for service in ("apns", "fcm"):
        taken = next(row for row in TABLE if row["service"] == service and row["status"] == "200")
        last = answer_of(service, taken)
        for row in TABLE:
            if row["service"] not in (service, "any"):
                continue
            answer = answer_of(service, row)
            failed = {hit_kind(row): send_of(service, answer, row, 1)}
            is_retried = row["reason"] in RETRIED
            found.append(Device(service, [answer], failed, ATTEMPTS if is_retried else 1))
            if is_retried:
                found.append(Device(service, [answer, last],
                                    failed | {"sent": send_of(service, last, taken, 2)}, 2))
        skipped = event.PushSend(delivery_id=DELIVERY, outcome=event.PUSH_SEND_OUTCOME_SKIPPED,
                                 reason=event.PUSH_SEND_REASON_NO_CONSENT)
        found.append(Device(service, [last], {"send_skipped": skipped}, 0, consent=False))
    return found


DEVICES = devices()


def token_of(number: int) -> str:
    """A device's token: APNs' is 32 bytes in hex, FCM's an instance and 140 bytes."""
    digest = hashlib.sha256(f"device {number}".encode()).hexdigest()
    return digest if DEVICES[number].service == "apns" else f"{digest[:22]}:APA91b{digest}{digest}"


def broadlog_of(number: int) -> str:
    return f"h{number + 0x1000:x}"


class Run(typing.NamedTuple):
    """What a run of the sender has left behind."""

    server: object
    script: Script
    printed: str


@pytest.fixture(scope="module")
def run(running, tmp_path_factory) -> Run:
    """All devices are sent a push."""
    libraries.built("python")
    home = tmp_path_factory.mktemp("sender")
    (home / "recipients.ndjson").write_text("".join(json.dumps(
        {"platform": "ios" if device.service == "apns" else "android", "token": token_of(number),
         "broadlog_id": broadlog_of(number), "consent": device.consent}) + "\n"
        for number, device in enumerate(DEVICES)))
    (home / "key").write_text("the-key\n")
    script = Script({token_of(number): device.answers for number, device in enumerate(DEVICES)})
    with (push_services.serving(push_services.Apns, script) as apns,
          push_services.serving(push_services.Fcm, script) as fcm):
        done = subprocess.run(
            [sys.executable, EXAMPLE / "sender.py", home / "recipients.ndjson",
             "--delivery", DELIVERY, "--app", "com.example.shop", "--title", "Sale",
             "--apns", apns, "--apns-key", home / "key", "--fcm", fcm, "--fcm-key", home / "key",
             "--project", "p", "--sightline", running.target, "--backoff", "0"],
            env=libraries.environment() | {"NO_PROXY": "127.0.0.1"}, capture_output=True,
            text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    running.wait_for_hits(sum(len(device.hits) for device in DEVICES))
    return Run(running, script, done.stdout + done.stderr)


def test_each_answer_becomes_the_hits_that_the_table_says(run):
    """A failure that is repeated counts once; a retry that succeeds is sent, and has failed."""
    expected = {(broadlog_of(number), kind): send for number, device in enumerate(DEVICES)
                for kind, send in device.hits.items()}
    found = {}
    rows = run.server.query("SELECT kind, broadlog_id, event FROM hits WHERE delivery_id = ?",
                            DELIVERY)
    for row in rows:
        send = event.TrackingEvent.FromString(row["event"]).push_send
        assert send.broadlog_id == row["broadlog_id"]
        send.ClearField("broadlog_id")
        found[row["broadlog_id"], row["kind"]] = send
    assert len(rows) == len(found)
    assert found == expected


def test_an_answer_that_may_change_is_asked_for_again_and_no_other(run):
    asked = [len(run.script.requests[token_of(number)]) for number in range(len(DEVICES))]
    assert asked == [device.requests for device in DEVICES]


def test_a_request_is_what_its_push_service_asks_for(run):
    for number, device in enumerate(DEVICES):
        for request in run.script.requests[token_of(number)]:
            is_apns = device.service == "apns"
            ids = request.body if is_apns else request.body["message"]["data"]
            assert (ids["_dId"], ids["_mId"]) == (DELIVERY, broadlog_of(number))
            assert ids["_acsDeliveryTracking"] == "on"
            assert request.headers["authorization"].lower() == "bearer the-key"
            assert not is_apns or request.headers["apns-topic"] == "com.example.shop"
            assert is_apns or request.headers[":path"] == "/v1/projects/p/messages:send"


def test_no_token_is_recorded_anywhere(run):
    """Neither as text nor as bytes, in no file of the data directory, in no log, in no output."""
    kept = b"".join(path.read_bytes() for path in run.server.directory.rglob("*")
                    if path.is_file())
    assert broadlog_of(0).encode() in kept
    said = run.server.log_path.read_bytes() + run.printed.encode()
    for number, device in enumerate(DEVICES):
        token = token_of(number)
        forms = [token.encode(), token.encode()[-64:]]
        if device.service == "apns":
            forms.append(bytes.fromhex(token))
        assert not [form for form in forms if form in kept or form in said], number


def test_its_page_shows_parts_of_the_program():
    program = (EXAMPLE / "sender.py").read_text()
    shown = re.findall(r"^```python\n(.*?)^```$", (EXAMPLE / "README.md").read_text(),
                       re.MULTILINE | re.DOTALL)
    assert len(shown) == 2
    for block in shown:
        assert block in program and len(block.splitlines()) <= 10
