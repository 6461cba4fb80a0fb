"""The state machine keeps its word in random histories, and the histories find planted bugs."""

import os
import random

import pytest

from model import Broken, History
from sightline.outbox import HalfClose, Outbox, Request

HISTORIES = int(os.environ.get("HISTORIES", "400"))


def test_every_event_gets_its_verdict_whatever_happens():
    """SEED=n HISTORIES=1 repeats one."""
    first = int(os.environ.get("SEED", random.SystemRandom().randrange(1 << 32)))
    for seed in range(first, first + HISTORIES):
        try:
            History(seed).run()
        except Broken as error:
            raise AssertionError(f"seed {seed}: {error}") from error


class ForgetsOnReconnect(Outbox):
    def open_stream(self):
        super().open_stream()
        self._pending.clear()


class Renumbers(Outbox):
    def open_stream(self):
        super().open_stream()
        for request in self._pending:
            request.sequence = self._next_sequence
            self._next_sequence += 1


class StartsAgainAtOne(Outbox):
    def open_stream(self):
        super().open_stream()
        self._next_sequence = 1


class IgnoresClosing(Outbox):
    def next_step(self, now):
        self._is_closing = False
        return super().next_step(now)


class TrustsWhatIsWritten(Outbox):
    def _settle(self, watermark):
        return super()._settle(1 << 62)


class TakesRetryLaterAsDone(Outbox):
    def _put_back(self, items):
        self.count -= len(items)
        self.bytes -= sum(len(item.frame) for item in items)


class RetriesAtOnce(Outbox):
    def _delay(self, asked, now):
        pass


class IgnoresTheWindow(Outbox):
    def next_step(self, now):
        self._limits = type(self._limits)(self._limits.events, self._limits.request_bytes, 1 << 20)
        return super().next_step(now)


class HalfClosesWhenIdle(Outbox):
    def next_step(self, now):
        step = super().next_step(now)
        return step if isinstance(step, Request) or self.count else HalfClose()


class RejectsWhatIsTooLarge(Outbox):
    def receive(self, answer, now):
        answer.ClearField("limits")
        self._has_answer = True
        return super().receive(answer, now)




class LingersForEver(Outbox):
    def add(self, item, now):
        return super().add(item, now + 1e9)

    def finish(self):
        self._is_finishing = False


PLANTED = [ForgetsOnReconnect, Renumbers, StartsAgainAtOne, IgnoresClosing, TrustsWhatIsWritten,
           TakesRetryLaterAsDone, RetriesAtOnce, IgnoresTheWindow, HalfClosesWhenIdle,
           RejectsWhatIsTooLarge, LingersForEver]


@pytest.mark.parametrize("kind", PLANTED, ids=lambda kind: kind.__name__)
def test_a_planted_bug_is_found(kind):
    for seed in range(200):
        try:
            History(seed, kind).run()
        except (Broken, IndexError, KeyError):
            return
    raise AssertionError("200 histories did not find it")
