"""What the answers of APNs and FCM mean for a sender's event. docs/sends.md has the table."""

from __future__ import annotations

import re
from typing import NamedTuple

TAKEN = 200
APNS_REASONS = {
    "BadDeviceToken": "invalid_token", "DeviceTokenNotForTopic": "invalid_token",
    "MissingDeviceToken": "invalid_token", "BadCollapseId": "invalid_payload",
    "BadExpirationDate": "invalid_payload", "BadMessageId": "invalid_payload",
    "BadPriority": "invalid_payload", "BadTopic": "invalid_payload",
    "DuplicateHeaders": "invalid_payload", "InvalidPushType": "invalid_payload",
    "MissingTopic": "invalid_payload", "PayloadEmpty": "invalid_payload",
    "BadPath": "invalid_payload", "MethodNotAllowed": "invalid_payload",
    "PayloadTooLarge": "payload_too_large", "TopicDisallowed": "credentials",
    "BadCertificate": "credentials", "BadCertificateEnvironment": "credentials",
    "BadEnvironmentKeyIdInToken": "credentials", "BadEnvironmentKeyInToken": "credentials",
    "ExpiredProviderToken": "credentials", "Forbidden": "credentials",
    "InvalidProviderToken": "credentials", "MissingProviderToken": "credentials",
    "UnrelatedKeyIdInToken": "credentials", "ExpiredToken": "unregistered",
    "Unregistered": "unregistered", "TooManyProviderTokenUpdates": "throttled",
    "TooManyRequests": "throttled", "InternalServerError": "provider_error",
    "ServiceUnavailable": "provider_error", "Shutdown": "provider_error",
    "IdleTimeout": "network"}
FCM_REASONS = {
    "INVALID_ARGUMENT": "invalid_payload", "SENDER_ID_MISMATCH": "invalid_token",
    "UNREGISTERED": "unregistered", "QUOTA_EXCEEDED": "throttled",
    "RESOURCE_EXHAUSTED": "throttled", "UNAVAILABLE": "provider_error",
    "INTERNAL": "provider_error", "THIRD_PARTY_AUTH_ERROR": "credentials",
    "UNAUTHENTICATED": "credentials", "PERMISSION_DENIED": "credentials"}
# INVALID_ARGUMENT says neither in its code.
FCM_TOKEN_FIELD = "message.token"
FCM_TOKEN_MESSAGE = "The registration token is not a valid FCM registration token"
FCM_SIZE_MESSAGE = "Android message is too big"
# Shorter than a device's token, which may never become a code.
WORD = re.compile(r"[A-Za-z0-9_]{1,63}")


class PushAnswer(NamedTuple):
    """What the answer of a push service means."""

    # "sent" or "failed".
    outcome: str
    # Why it failed, as push_send_failed takes it; empty if it was sent.
    reason: str
    # The service's word for that, or else the status; empty if it was sent, or nothing came back.
    code: str


def apns_outcome(status: int, reason: str = "") -> PushAnswer:
    """What an answer of APNs means: its HTTP status, 0 if none came, and the `reason` of its
    body."""
    return answer(status, reason, APNS_REASONS.get(reason, ""))


def fcm_outcome(status: int, error_code: str = "", *, field: str = "",
                message: str = "") -> PushAnswer:
    """What an answer of FCM means: its HTTP status, 0 if none came, and of its error the
    `errorCode` of the details, or else the `status`; the `field` of the details' first violation;
    and the `message`. INVALID_ARGUMENT is about the token if the field or the message says so,
    else about the payload."""
    known = FCM_REASONS.get(error_code, "")
    if error_code == "INVALID_ARGUMENT":
        if field == FCM_TOKEN_FIELD or not field and message == FCM_TOKEN_MESSAGE:
            known = "invalid_token"
        elif message == FCM_SIZE_MESSAGE:
            known = "payload_too_large"
    return answer(status, error_code, known)


def answer(status: int, word: str, known: str) -> PushAnswer:
    """The meaning of a status and of the reason that its word stands for, if that is known."""
    if status == TAKEN:
        return PushAnswer("sent", "", "")
    if status == 0:
        return PushAnswer("failed", "network", "")
    code = word if WORD.fullmatch(word) else str(status)
    return PushAnswer("failed", known or reason_of(status), code)


def reason_of(status: int) -> str:
    """The reason where the answer has no word that is known, as a proxy's has none."""
    if status >= 500:
        return "provider_error"
    return {401: "credentials", 403: "credentials", 410: "unregistered", 413: "payload_too_large",
            429: "throttled"}.get(status, "other")
