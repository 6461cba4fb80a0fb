"""Log lines as the server's: an object of JSON each, on standard error (docs/logs.md)."""

import datetime
import json
import sys


def log(level: str, message: str, **details: object) -> None:
    """Writes a line by one call. The same event always has the same message."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="microseconds")
    line = {"time": now.replace("+00:00", "Z"), "level": level, "logger": "sightline-lake",
            "msg": message, **dict(sorted(details.items()))}
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), default=vars)
    sys.stderr.write(text + "\n")
