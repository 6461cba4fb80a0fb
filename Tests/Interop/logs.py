"""What no log may hold: who a person is, what an app wrote of them, what proves a tenant,
and where the sources of libraries were when the program was built."""

import pathlib
import re

from facts import CANARY

SECRETS = {
    "a subject id or a custom field of the tests' events": re.compile(re.escape(CANARY)),
    # `sightline bench` fills its subject ids up with them.
    "a subject id of the bench's events": re.compile(r"7{26,}"),
    "a token": re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    "an API key": re.compile(r"slk_[A-Za-z0-9_-]{20,}"),
    "a file of a library": re.compile(r"/checkouts/|OPENSSL_internal|\.cc:\d"),
}

# What was found in the servers' logs of this run, and how much there was to look at.
found: list[str] = []
scanned_logs: list[int] = []


def leaks(text: str) -> list[str]:
    """What stands in a log and may not, each with the line that it was found in."""
    return [f"{what}: {line[:200]}" for line in text.splitlines()
            for what, pattern in SECRETS.items() if pattern.search(line)]


def scan(path: pathlib.Path) -> None:
    """Looks through a server's log before it is removed."""
    if not path.exists():
        return
    text = path.read_text(errors="replace")
    scanned_logs.append(len(text))
    found.extend(f"{path.name}: {leak}" for leak in leaks(text))
