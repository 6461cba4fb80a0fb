"""Events in one call each, which happen now. Each returns a TrackingEvent: what a call leaves out is
set there, and docs/api.md explains its fields."""

from __future__ import annotations

import json
import uuid
from typing import Any, Mapping, Optional, Union

from google.protobuf.timestamp_pb2 import Timestamp

from sightline.v1 import event_pb2 as pb
from sightline.v1.event_pb2 import TrackingEvent
from sightline.v1.payload_pb2 import RawPayload

PLATFORMS = {"android": pb.PLATFORM_ANDROID, "ios": pb.PLATFORM_IOS}
DISMISSALS = {"": pb.IN_APP_DISMISS_TYPE_UNSPECIFIED, "auto": pb.IN_APP_DISMISS_TYPE_AUTO,
              "click": pb.IN_APP_DISMISS_TYPE_CLICK, "swipe": pb.IN_APP_DISMISS_TYPE_SWIPE}
REASONS = {name.removeprefix("PUSH_SEND_REASON_").lower(): number
           for name, number in pb.PushSendReason.items() if number}
DISPLAYS = {"": pb.PUSH_DISPLAY_UNSPECIFIED, "system": pb.PUSH_DISPLAY_SYSTEM,
            "app": pb.PUSH_DISPLAY_APP, "silent": pb.PUSH_DISPLAY_SILENT}
# The payload of a push as the app got it: its JSON, or the map that was read from it.
Payload = Union[bytes, str, Mapping[str, Any]]


def push_received(payload: Payload, *, platform: str, app: str = "", subject: str = "",
                  event_id: str = "") -> TrackingEvent:
    """A push has reached the device. `platform` is "android" or "ios", `app` the package name or
    bundle id, and `subject` the recipient."""
    return push(pb.PUSH_INTERACTION_KIND_RECEIVED, payload, platform, "",
                common(app, subject, event_id))


def push_opened(payload: Payload, *, platform: str, app: str = "", subject: str = "",
                button: str = "", event_id: str = "") -> TrackingEvent:
    """The recipient has tapped a push, or its button with this id. See push_received."""
    return push(pb.PUSH_INTERACTION_KIND_OPENED, payload, platform, button,
                common(app, subject, event_id))


def push_dismissed(payload: Payload, *, platform: str, app: str = "", subject: str = "",
                   button: str = "", event_id: str = "") -> TrackingEvent:
    """The recipient has cleared a push. See push_received."""
    return push(pb.PUSH_INTERACTION_KIND_DISMISSED, payload, platform, button,
                common(app, subject, event_id))


def in_app_shown(message_id: str, *, app: str = "", subject: str = "", campaign: str = "",
                 event_id: str = "") -> TrackingEvent:
    """An in-app message was seen. Without an `event_id`, each call is a fact of its own."""
    return in_app(message_id, campaign, common(app, subject, event_id),
                  impression=pb.InAppImpression())


def in_app_clicked(message_id: str, *, url: str, text: str = "", app: str = "", subject: str = "",
                   campaign: str = "", event_id: str = "") -> TrackingEvent:
    """An action of an in-app message was chosen: its URL, and its button's text. Without a URL it
    counts as a dismissal."""
    return in_app(message_id, campaign, common(app, subject, event_id),
                  click=pb.InAppClick(action_text=text, action_url=url))


def in_app_dismissed(message_id: str, *, how: str = "", app: str = "", subject: str = "",
                     campaign: str = "", event_id: str = "") -> TrackingEvent:
    """An in-app message was closed: by "auto", "click" or "swipe"."""
    return in_app(message_id, campaign, common(app, subject, event_id),
                  dismissal=pb.InAppDismissal(type=one_of("how", how, DISMISSALS)))


def push_sent(delivery_id: str, broadlog_id: str, *, platform: str, app: str = "",
              subject: str = "", message_id: str = "", attempt: int = 0, display: str = "",
              event_id: str = "") -> TrackingEvent:
    """The push service took a push. The ids are the payload's `_dId` and `_mId`, `message_id` is
    the service's (`apns-id`, or FCM's `name`), `attempt` counts from 1, and `display` is who shows
    it: "system", "app" or "silent". No field may have the device's token."""
    return push_send(delivery_id, broadlog_id, platform, common(app, subject, event_id),
                     pb.PushSend(outcome=pb.PUSH_SEND_OUTCOME_SENT,
                                 provider_message_id=message_id, attempt=attempt,
                                 display=one_of("display", display, DISPLAYS)))


def push_send_failed(delivery_id: str, broadlog_id: str, *, platform: str, reason: str,
                     code: str = "", app: str = "", subject: str = "", message_id: str = "",
                     attempt: int = 0, display: str = "", event_id: str = "") -> TrackingEvent:
    """An attempt to send a push failed: its reason and the push service's own code, as
    apns_outcome and fcm_outcome give them. See push_sent."""
    return push_send(delivery_id, broadlog_id, platform, common(app, subject, event_id),
                     pb.PushSend(outcome=pb.PUSH_SEND_OUTCOME_FAILED,
                                 reason=one_of("reason", reason, REASONS), provider_code=code,
                                 provider_message_id=message_id, attempt=attempt,
                                 display=one_of("display", display, DISPLAYS)))


def push_send_skipped(delivery_id: str, broadlog_id: str, *, platform: str, reason: str,
                      app: str = "", subject: str = "", display: str = "",
                      event_id: str = "") -> TrackingEvent:
    """A push was not tried, for a reason such as "no_consent" or "expired". See push_sent."""
    return push_send(delivery_id, broadlog_id, platform, common(app, subject, event_id),
                     pb.PushSend(outcome=pb.PUSH_SEND_OUTCOME_SKIPPED,
                                 reason=one_of("reason", reason, REASONS),
                                 display=one_of("display", display, DISPLAYS)))


def push(kind: pb.PushInteractionKind, payload: Payload, platform: str, button: str,
         event: TrackingEvent) -> TrackingEvent:
    """Adds a push to an event."""
    event.platform = one_of("platform", platform, PLATFORMS)
    text = payload if isinstance(payload, (bytes, str)) else json.dumps(dict(payload))
    event.push.CopyFrom(pb.PushInteraction(
        kind=kind, action_identifier=button,
        raw=RawPayload(json=text.encode() if isinstance(text, str) else text)))
    return event


def push_send(delivery_id: str, broadlog_id: str, platform: str, event: TrackingEvent,
              send: pb.PushSend) -> TrackingEvent:
    """Adds what a sender did with a push to an event."""
    event.platform = one_of("platform", platform, PLATFORMS)
    send.delivery_id, send.broadlog_id = delivery_id, broadlog_id
    event.push_send.CopyFrom(send)
    return event


def in_app(message_id: str, campaign: str, event: TrackingEvent, *,
           impression: Optional[pb.InAppImpression] = None, click: Optional[pb.InAppClick] = None,
           dismissal: Optional[pb.InAppDismissal] = None) -> TrackingEvent:
    """Adds what happened to an in-app message to an event."""
    event.in_app.CopyFrom(pb.InAppInteraction(
        message_id=message_id, campaign_name=campaign, impression=impression, click=click,
        dismissal=dismissal))
    return event


def common(app: str, subject: str, event_id: str) -> TrackingEvent:
    """What all events have. An id keeps an event that is sent again from counting twice."""
    event = TrackingEvent(event_id=event_id or uuid.uuid4().hex, app_id=app, subject_id=subject)
    now: Timestamp = event.occur_time
    now.GetCurrentTime()
    return event


def one_of(name: str, value: str, names: Mapping[str, Any]) -> Any:
    """What a name stands for."""
    if value not in names:
        raise ValueError(f"{name} is {value!r}, and has to be one of "
                         f"{', '.join(repr(name) for name in names)}")
    return names[value]
