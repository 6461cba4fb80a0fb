#!/usr/bin/env python3
"""Sends a push to recipients through APNs and FCM, and reports each attempt to Sightline.

    python sender.py recipients.ndjson --delivery 56c4 --app com.example.shop \\
        --project my-project --apns-key apns.jwt --fcm-key fcm.token --title Sale

A line of the file is a recipient: {"platform": "ios", "token": "…", "broadlog_id": "h1"}, and, if
known, "subject" and "consent". The device's token goes to the push service and nowhere else.
"""

import argparse
import asyncio
import json
import logging
import pathlib
import random
import sys
from typing import Any, Iterator, NamedTuple, Optional

import httpx

import sightline
from sightline.v1 import event_pb2
from sightline.v1.event_pb2 import TrackingEvent

# Recipients that are served at the same time.
CONCURRENT = 100
# Attempts for one recipient, and the seconds of an attempt.
ATTEMPTS = 4
ATTEMPT_SECONDS = 10
# The longest wait before another attempt, also if the push service asks for more.
MAX_WAIT_SECONDS = 60
# What may be otherwise next time.
WORTH_ANOTHER = {event_pb2.PUSH_SEND_REASON_THROTTLED, event_pb2.PUSH_SEND_REASON_PROVIDER_ERROR,
                 event_pb2.PUSH_SEND_REASON_NETWORK}
# What a push service answers to an attempt; None if nothing came back.
Answer = Optional[httpx.Response]


class Recipient(NamedTuple):
    """One of a delivery's recipients."""

    platform: str
    token: str
    delivery: str
    broadlog: str
    app: str
    subject: str = ""
    consent: bool = True


def apns_event(to: Recipient, attempt: int, response: Answer) -> TrackingEvent:
    """What an answer of APNs tells."""
    answer = sightline.apns_outcome(status_of(response), part(json_of(response), "reason", str))
    known = dict(platform="ios", app=to.app, subject=to.subject, attempt=attempt, display="system",
                 message_id=header(response, "apns-id"))
    if answer.outcome == "sent":
        return sightline.push_sent(to.delivery, to.broadlog, **known)
    return sightline.push_send_failed(
        to.delivery, to.broadlog, reason=answer.reason, code=answer.code, **known)


def fcm_event(to: Recipient, attempt: int, response: Answer) -> TrackingEvent:
    """What an answer of FCM tells."""
    body = json_of(response)
    answer = sightline.fcm_outcome(status_of(response), **fcm_error(part(body, "error", dict)))
    known = dict(platform="android", app=to.app, subject=to.subject, attempt=attempt, display="app",
                 message_id=part(body, "name", str))
    if answer.outcome == "sent":
        return sightline.push_sent(to.delivery, to.broadlog, **known)
    return sightline.push_send_failed(
        to.delivery, to.broadlog, reason=answer.reason, code=answer.code, **known)


def fcm_error(error: dict) -> dict[str, str]:
    """What fcm_outcome asks of an error: FCM's own code, or else Google's; the field; the text."""
    details = part(error, "details", list)
    codes = [part(detail, "errorCode", str) for detail in details]
    fields = [part(violation, "field", str) for detail in details
              for violation in part(detail, "fieldViolations", list)]
    return {"error_code": next(filter(None, codes), part(error, "status", str)),
            "field": next(filter(None, fields), ""), "message": part(error, "message", str)}


def status_of(response: Answer) -> int:
    """The status; 0 if nothing came back."""
    return response.status_code if response is not None else 0


def header(response: Answer, name: str) -> str:
    """A header; empty if it is not there, or nothing came back."""
    return response.headers.get(name, "") if response is not None else ""


def json_of(response: Answer) -> Any:
    """The body; nothing if it is no JSON, as that of a proxy is not."""
    try:
        return response.json() if response is not None else None
    except ValueError:
        return None


def part(value: Any, name: str, kind: type) -> Any:
    """A member of an object, if it has the kind; else an empty one."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, kind) else kind()


class Services:
    """APNs and FCM, as one message needs them."""

    def __init__(self, options: argparse.Namespace):
        self.options = options
        limits = httpx.Limits(max_connections=CONCURRENT)
        # APNs speaks HTTP/2 alone.
        self.apns = httpx.AsyncClient(base_url=options.apns, http1=False, http2=True,
                                      timeout=ATTEMPT_SECONDS, limits=limits)
        self.fcm = httpx.AsyncClient(base_url=options.fcm, timeout=ATTEMPT_SECONDS, limits=limits)

    async def __aenter__(self) -> "Services":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.apns.aclose()
        await self.fcm.aclose()

    async def ask(self, to: Recipient) -> Answer:
        """One attempt."""
        try:
            return await (self.ask_apns(to) if to.platform == "ios" else self.ask_fcm(to))
        except httpx.TransportError:
            return None

    async def ask_apns(self, to: Recipient) -> httpx.Response:
        """https://developer.apple.com/documentation/usernotifications"""
        alert = {"title": self.options.title, "body": self.options.body}
        return await self.apns.post(
            f"/3/device/{to.token}", json={"aps": {"alert": alert}, **tracking(to)},
            headers={"authorization": f"bearer {key(self.options.apns_key)}",
                     "apns-topic": to.app, "apns-push-type": "alert"})

    async def ask_fcm(self, to: Recipient) -> httpx.Response:
        """https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages"""
        data = {"title": self.options.title, "body": self.options.body, **tracking(to)}
        return await self.fcm.post(
            f"/v1/projects/{self.options.project}/messages:send",
            json={"message": {"token": to.token, "data": data}},
            headers={"authorization": f"Bearer {key(self.options.fcm_key)}"})


def tracking(to: Recipient) -> dict[str, str]:
    """What makes the app report the push: the ids, and the flag."""
    return {"_dId": to.delivery, "_mId": to.broadlog, "_acsDeliveryTracking": "on"}


def key(path: pathlib.Path) -> str:
    """A key or token; read for each request, since whoever renews it replaces the file."""
    return path.read_text().strip()


async def deliver(to: Recipient, services: Services, client: sightline.AsyncClient) -> None:
    """Sends a push to a recipient, and reports each attempt."""
    if not to.consent:
        await client.send(sightline.push_send_skipped(
            to.delivery, to.broadlog, platform=to.platform, reason="no_consent", app=to.app,
            subject=to.subject))
        return
    event_of = apns_event if to.platform == "ios" else fcm_event
    for attempt in range(1, ATTEMPTS + 1):
        response = await services.ask(to)
        event = event_of(to, attempt, response)
        await client.send(event)
        if event.push_send.reason not in WORTH_ANOTHER:
            return
        if attempt < ATTEMPTS:
            await asyncio.sleep(wait_seconds(attempt, response, services.options.backoff))


def wait_seconds(attempt: int, response: Answer, backoff: float) -> float:
    """The wait after an attempt: as the push service asks, or else a random time that grows."""
    asked = header(response, "retry-after")
    wait = float(asked) if asked.isdecimal() else random.uniform(0, backoff * 2 ** attempt)
    return min(wait, MAX_WAIT_SECONDS)


def recipients(options: argparse.Namespace) -> Iterator[Recipient]:
    """The lines of the file."""
    with options.recipients.open() as lines:
        for line in filter(str.strip, lines):
            row = json.loads(line)
            yield Recipient(row["platform"], row["token"], options.delivery, row["broadlog_id"],
                            options.app, row.get("subject", ""), row.get("consent", True))


async def send(options: argparse.Namespace) -> None:
    """Serves all recipients; at the end waits until the server has acknowledged each event."""
    left = recipients(options)

    async def serve(services: Services, client: sightline.AsyncClient) -> None:
        for to in left:
            await deliver(to, services, client)

    async with sightline.AsyncClient(options.sightline) as client, Services(options) as services:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(CONCURRENT):
                tasks.create_task(serve(services, client))
        await client.flush()
        print(json.dumps({str(verdict): count
                          for verdict, count in sorted(client.stats().verdicts.items())}))


def main() -> None:
    """Reads the arguments, and sends."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipients", type=pathlib.Path, help="a recipient in JSON on each line")
    parser.add_argument("--delivery", required=True, help="the payload's _dId")
    parser.add_argument("--app", required=True, help="the bundle id, or package name")
    parser.add_argument("--title", default="")
    parser.add_argument("--body", default="")
    parser.add_argument("--apns", default="https://api.push.apple.com")
    parser.add_argument("--apns-key", type=pathlib.Path, help="a file with the provider's JWT")
    parser.add_argument("--fcm", default="https://fcm.googleapis.com")
    parser.add_argument("--fcm-key", type=pathlib.Path, help="a file with an access token")
    parser.add_argument("--project", help="the project's id in Firebase")
    parser.add_argument("--sightline", default="127.0.0.1:50051")
    parser.add_argument("--backoff", type=float, default=1, help="seconds; 0 waits for nothing")
    # It logs the URLs of requests, and APNs' has the token.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    try:
        asyncio.run(send(parser.parse_args()))
    except sightline.EventsLost as lost:
        sys.exit(str(lost))


if __name__ == "__main__":
    main()
