"""The verdicts by name."""

from __future__ import annotations

import enum

from sightline.v1 import verdict_pb2


class Verdict(enum.IntEnum):
    """A verdict, which prints as its name and equals its number: `Verdict(result.verdict)`."""

    UNSPECIFIED = verdict_pb2.VERDICT_UNSPECIFIED
    ACCEPTED = verdict_pb2.VERDICT_ACCEPTED
    SUPPRESSED_FLAG_OFF = verdict_pb2.VERDICT_SUPPRESSED_FLAG_OFF
    SUPPRESSED_FLAG_UNKNOWN = verdict_pb2.VERDICT_SUPPRESSED_FLAG_UNKNOWN
    SUPPRESSED_CONSENT = verdict_pb2.VERDICT_SUPPRESSED_CONSENT
    SUPPRESSED_TEST_MESSAGE = verdict_pb2.VERDICT_SUPPRESSED_TEST_MESSAGE
    SUPPRESSED_DISPLAY = verdict_pb2.VERDICT_SUPPRESSED_DISPLAY
    DUPLICATE = verdict_pb2.VERDICT_DUPLICATE
    REJECTED = verdict_pb2.VERDICT_REJECTED
    RETRY_LATER = verdict_pb2.VERDICT_RETRY_LATER

    @classmethod
    def _missing_(cls, value: object) -> Verdict:
        """That of a later server."""
        if not isinstance(value, int):
            raise ValueError(f"{value!r} is no verdict")
        verdict = int.__new__(cls, value)
        verdict.__dict__.update(_name_=f"VERDICT_{value}", _value_=value)
        return verdict

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__
