"""Sends tracking events to Sightline, and keeps each until the server has acknowledged it."""

from sightline.aio import AsyncClient
from sightline.client import Client, Tls
from sightline.errors import (ClientClosed, ClientFailed, EventRejected, FlushReport, FlushTimeout,
                              QueueFull, SightlineError, TooLarge, raise_for_rejection)
from sightline.outbox import Limits
from sightline.segment import SpoolDamaged
from sightline.session import Stats
from sightline.spool import Spool, SpoolLocked
from sightline.ticket import Ticket

__all__ = ["AsyncClient", "Client", "ClientClosed", "ClientFailed", "EventRejected", "FlushReport",
           "FlushTimeout", "Limits", "QueueFull", "SightlineError", "Spool", "SpoolDamaged",
           "SpoolLocked", "Stats", "Ticket", "Tls", "TooLarge", "raise_for_rejection"]
