"""How far the lake has the hits of one journal and sink."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Position:
    """The end of a batch, kept and returned as it came. Positions are never compared by size: a
    journal that was restored from an older copy goes on from a lower one."""

    sequence: int
    index: int
    check: int
