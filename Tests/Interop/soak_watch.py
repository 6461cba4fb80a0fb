"""What a soak watches: samples of a server, a row for each minute, and what of it grew."""

import dataclasses
import os
import pathlib
import re
import statistics
import time

from test_metrics import scrape, values

MIB = 1 << 20
ACKS = "sightline_ack_duration_seconds_bucket"
BOUND = re.compile(r'le="([^"]+)"')
SINKS = re.compile(r'^sightline_sink_lag_seconds\{sink="([^"]+)"\}$')


@dataclasses.dataclass
class Row:
    """A minute: the most of what was seen in it, and its acks by the server's histogram."""

    minute: int
    # Which of the server's processes, from 0, and its minute in that process's time.
    life: int
    age: int
    events_per_s: float
    rss_mib: float
    fds: int
    files: int
    disk_mib: float
    lag_s: float
    p50_ms: float
    p99_ms: float
    p999_ms: float
    note: str = ""


NAMES = [field.name for field in dataclasses.fields(Row)]


@dataclasses.dataclass(frozen=True)
class Limit:
    """How much more than before counts as growth: a share of it, and an amount beside."""

    share: float
    amount: float


# Acks and lag vary with whatever else the machine does.
LIMITS = {
    "rss_mib": Limit(0.1, 16), "fds": Limit(0.05, 8), "lag_s": Limit(0.5, 2),
    "p99_ms": Limit(0.5, 10), "p999_ms": Limit(1, 50),
}
# What is deleted goes in pieces: a partition of hits.db has up to a million rows, 256 bytes each.
OF_LIVES = {"files": Limit(0.1, 8), "disk_mib": Limit(0.15, 512)}


def quantile(buckets: dict[float, float], share: float) -> float:
    """As Prometheus has it: values are spread evenly in a bucket; beyond the last bound, it."""
    bounds = sorted(buckets)
    wanted = share * (buckets[bounds[-1]] if bounds else 0)
    if not wanted:
        return 0.0
    lower = before = 0.0
    for bound in bounds:
        if buckets[bound] >= wanted:
            if bound == float("inf"):
                break
            return lower + (bound - lower) * (wanted - before) / (buckets[bound] - before)
        lower, before = bound, buckets[bound]
    return lower


class Watch:
    """Samples a server as often as it is asked, and makes a row of each minute."""

    def __init__(self, server):
        self.server = server
        self.started = time.monotonic()
        self.life, self.life_started = 0, self.started
        self.rows: list[Row] = []
        self.notes: list[str] = []
        self.samples: list[tuple] = []
        # What counted before this process, by name: counters begin at 0 with each.
        self.known: dict[str, float] = {}
        # The most that a metric ever was.
        self.most: dict[str, float] = {}
        self.counted: dict[str, float] = {}
        self.events_at = 0.0
        self.buckets_at: dict[float, float] = {}

    def restarted(self) -> None:
        """Another process serves from now on."""
        self.life, self.life_started = self.life + 1, time.monotonic()
        self.known = {}
        self.notes.append("restart")

    def sample(self) -> dict[str, float]:
        """Looks at the server now; its metrics."""
        now = values(scrape(self.server)[0])
        for name, value in now.items():
            self.most[name] = max(value, self.most.get(name, value))
            if "_total" in name or name.startswith(ACKS):
                self.counted[name] = (self.counted.get(name, 0.0) + value
                                      - self.known.get(name, 0.0))
                self.known[name] = value
        pid = self.server.process.pid
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
        paths = [path for path in self.server.directory.rglob("*") if path.is_file()]
        self.samples.append((
            int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024,
            len(os.listdir(f"/proc/{pid}/fd")), len(paths), sum(map(used_bytes, paths)) / MIB,
            max((value for name, value in now.items() if SINKS.match(name)), default=0.0)))
        return now

    def total(self, name: str) -> float:
        """A counter over all processes so far, all its labels together."""
        return sum(value for key, value in self.counted.items() if key.partition("{")[0] == name)

    def end_minute(self) -> Row:
        """Makes a row of the samples since the last one."""
        buckets = {float(BOUND.search(name)[1]): value for name, value in self.counted.items()
                   if name.startswith(ACKS)}
        since = {bound: value - self.buckets_at.get(bound, 0.0) for bound, value in buckets.items()}
        events, now = self.total("sightline_events_total"), time.monotonic()
        most = [max(column) for column in zip(*self.samples)]
        ended = self.started + 60 * len(self.rows)
        row = Row(len(self.rows), self.life, int((now - self.life_started) // 60),
                  (events - self.events_at) / max(1.0, now - ended), *most,
                  *(quantile(since, share) * 1000 for share in (0.5, 0.99, 0.999)),
                  ", ".join(self.notes))
        self.events_at, self.buckets_at = events, buckets
        self.samples, self.notes = [], []
        self.rows.append(row)
        return row


def used_bytes(path: pathlib.Path) -> int:
    """What a file takes; nothing where it has gone meanwhile."""
    try:
        return path.stat().st_blocks * 512
    except FileNotFoundError:
        return 0


def has_grown(before: float, after: float, limit: Limit) -> bool:
    return after > before * (1 + limit.share) + limit.amount


def grown(rows: list[Row], warm: int) -> list[str]:
    """What grew after the first `warm` minutes, in words.

    Thirds of the run are compared by their medians: in the order of the minutes, and in that of the
    processes' ages, as a restart hides what one process gathers. Minutes of a restart do not count.
    What stands on the disk is compared by its most in the second process and in the last one: in
    between midnights pass, and what is deleted varies.
    """
    found = []
    quiet = [row for row in rows if "restart" not in row.note]
    orders = {"run": sorted((row for row in quiet if row.minute >= warm),
                            key=lambda row: row.minute),
              "process": sorted((row for row in quiet if row.age >= warm),
                                key=lambda row: (row.age, row.minute))}
    for name, limit in LIMITS.items():
        for of, order in orders.items():
            third = len(order) // 3
            if not third:
                continue
            before, after = (statistics.median(getattr(row, name) for row in part)
                             for part in (order[:third], order[-third:]))
            if has_grown(before, after, limit):
                found.append(f"{name} grew with the time of the {of}: from {before:.1f} to "
                             f"{after:.1f}")
    lives = sorted({row.life for row in rows})
    if len(lives) < 3:
        return found
    for name, limit in OF_LIVES.items():
        before, after = (max(getattr(row, name) for row in rows if row.life == life)
                         for life in (lives[1], lives[-1]))
        if has_grown(before, after, limit):
            found.append(f"{name} grew from the second process to the last: from {before:.1f} to "
                         f"{after:.1f}")
    return found
