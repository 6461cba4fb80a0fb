"""The program's options."""

import argparse
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Any

MIB = 1 << 20


def _option(text: str, default: Any = MISSING, low: int = 0, high: int = 0) -> Any:
    span = f"; {low} to {high}" if high else ""
    return field(default=default, metadata={"text": text + span, "low": low, "high": high})


@dataclass(frozen=True)
class Configuration:
    """All options, each within its range."""

    table: str = _option("the table's folder, or its URL, s3://bucket/folder with AWS_* variables")
    state: str = _option("a folder for hits that are acknowledged and not in the table yet")
    listen: str = _option("host:port of the backend", "127.0.0.1:50061")
    metrics: str = _option("host:port of /metrics", "127.0.0.1:9465")
    tls_certificate: str = _option("PEM file of the backend's certificate; plaintext without", "")
    tls_key: str = _option("PEM file of its key", "")
    tls_clients: str = _option("PEM file of the authorities whose servers alone are served", "")
    event_bytes: int = _option("1 for a column with the events' own bytes, 0 for none", 1, 0, 1)
    publish_seconds: int = _option("seconds between two commits", 30, 1, 3600)
    publish_bytes: int = _option("bytes of messages that are committed without waiting for that",
                                 128 * MIB, MIB, 1024 * MIB)
    stage_bytes: int = _option("bytes of messages that wait for the table; then servers wait",
                               4096 * MIB, MIB, 1 << 50)
    tidy_seconds: int = _option("seconds between two compactions, which remove old files too", 3600,
                                1, 604_800)
    file_bytes: int = _option("bytes of a compacted file", 256 * MIB, MIB, 4096 * MIB)
    retention_hours: int = _option("hours that earlier versions stay, with hits erased since", 168,
                                   0, 720)


def _whole(low: int, high: int, text: str) -> int:
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {low} to {high}")
    return int(text)


def parse(arguments: Sequence[str] | None = None) -> Configuration:
    """The options of a command line; ends the program with 2 where it is wrong."""
    parser = argparse.ArgumentParser(
        prog="sightline-lake", description="Keeps a Delta table of Sightline's hits.",
        epilog="@FILE stands for a file of options, one on each line.", fromfile_prefix_chars="@")
    for each in fields(Configuration):
        is_required, meta = each.default is MISSING, each.metadata
        parser.add_argument(
            f"--{each.name.replace('_', '-')}", metavar="VALUE", required=is_required,
            default=None if is_required else each.default,
            type=partial(_whole, meta["low"], meta["high"]) if meta["high"] else str,
            help=meta["text"] + ("" if is_required or each.default == "" else "; %(default)s"))
    return Configuration(**vars(parser.parse_args(arguments)))
