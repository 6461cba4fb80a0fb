"""Sends tracking events to Sightline, and keeps each until the server has acknowledged it."""

import importlib.metadata

from sightline.aio import AsyncClient
from sightline.answers import PushAnswer, apns_outcome, fcm_outcome
from sightline.client import Client, Tls
from sightline.errors import (ClientClosed, ClientFailed, EventRejected, EventsLost, FlushReport,
                              FlushTimeout, QueueFull, SightlineError, TooLarge,
                              raise_for_rejection)
from sightline.events import (in_app_clicked, in_app_dismissed, in_app_shown, push_dismissed,
                              push_opened, push_received, push_send_failed, push_send_skipped,
                              push_sent)
from sightline.outbox import Limits
from sightline.segment import SpoolDamaged
from sightline.session import Stats
from sightline.spool import Spool, SpoolLocked
from sightline.ticket import Ticket
from sightline.verdict import Verdict

__all__ = ["AsyncClient", "Client", "ClientClosed", "ClientFailed", "EventRejected", "EventsLost",
           "FlushReport", "FlushTimeout", "Limits", "PushAnswer", "QueueFull", "SightlineError",
           "Spool", "SpoolDamaged", "SpoolLocked", "Stats", "Ticket", "Tls", "TooLarge", "Verdict",
           "apns_outcome", "fcm_outcome", "in_app_clicked", "in_app_dismissed", "in_app_shown",
           "push_dismissed", "push_opened", "push_received", "push_send_failed",
           "push_send_skipped", "push_sent", "raise_for_rejection"]
__version__ = importlib.metadata.version("sightline")
