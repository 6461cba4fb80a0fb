"""A soak's picture, in SVG, and its table."""

import statistics

from soak_watch import Row

# Title, the row's field, colour.
PANELS = [("Memory, MiB", "rss_mib", "#e5542b"), ("Lag of the slowest sink, s", "lag_s", "#4c8fb3"),
          ("p99 of acks, ms", "p99_ms", "#8a8f98")]
WIDTH, LEFT, RIGHT, TOP, PANEL, GAP = 860, 64, 24, 40, 110, 46
QUARTER = 15
COLUMNS = ["minutes", "events/s", "memory MiB", "descriptors", "files", "disk MiB", "lag s",
           "p50 ms", "p99 ms", "p99.9 ms", "what happened"]


def label(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{style}>{words}</text>'


def panel(rows: list[Row], title: str, field: str, colour: str, top: float) -> list[str]:
    """A line from 0 to the most, which stands beside it; restarts are dotted."""
    figures = [getattr(row, field) for row in rows]
    most, step = max(figures) or 1.0, (WIDTH - LEFT - RIGHT) / max(1, len(rows) - 1)
    bottom = top + PANEL
    points = " ".join(f"{LEFT + index * step:.1f},{bottom - figure / most * PANEL:.1f}"
                      for index, figure in enumerate(figures))
    marks = [f'<line x1="{LEFT + index * step:.1f}" x2="{LEFT + index * step:.1f}" y1="{top:g}" '
             f'y2="{bottom:g}" class="mark"/>'
             for index, row in enumerate(rows) if "restart" in row.note]
    return [label(LEFT, top - 8, title, ' class="title"'), *marks,
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bottom:g}" y2="{bottom:g}" '
            'class="axis"/>',
            label(LEFT - 8, top + 10, f"{most:.3g}", ' class="quiet end"'),
            label(LEFT - 8, bottom, "0", ' class="quiet end"'),
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>']


def picture(rows: list[Row], caption: str) -> str:
    height = TOP + len(PANELS) * (PANEL + GAP) + 10
    # With a ground of its own it reads the same on a light and a dark page.
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'width="{WIDTH}" height="{height}" role="img" '
             'aria-label="Memory, lag and p99 of acks by minute">',
             "<style>text { font: 12px system-ui, sans-serif; fill: #24292f } "
             ".title { font-size: 13px; font-weight: 600 } .quiet { fill: #59636e } "
             ".end { text-anchor: end } .axis { stroke: #d0d7de } "
             ".mark { stroke: #d0d7de; stroke-dasharray: 2 3 }</style>",
             f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>']
    for place, (title, field, colour) in enumerate(PANELS):
        lines += panel(rows, title, field, colour, TOP + place * (PANEL + GAP))
    lines += [label(LEFT, height - 14, caption, ' class="quiet"'), "</svg>"]
    return "\n".join(lines) + "\n"


def table(rows: list[Row]) -> str:
    """A row for each quarter of an hour: medians, but the most of memory, descriptors, files, bytes
    and lag."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    for start in range(0, len(rows), QUARTER):
        part = rows[start:start + QUARTER]

        def middle(name: str) -> float:
            return statistics.median(getattr(row, name) for row in part)

        def most(name: str) -> float:
            return max(getattr(row, name) for row in part)

        notes = [note for row in part for note in row.note.split(", ") if note]
        lines.append("| " + " | ".join([
            f"{start}–{start + len(part)}", f"{middle('events_per_s'):,.0f}",
            f"{most('rss_mib'):.0f}", f"{most('fds')}", f"{most('files')}",
            f"{most('disk_mib'):,.0f}", f"{most('lag_s'):.1f}", f"{middle('p50_ms'):.2f}",
            f"{middle('p99_ms'):.2f}", f"{middle('p999_ms'):.2f}",
            ", ".join(dict.fromkeys(notes))]) + " |")
    return "\n".join(lines) + "\n"
