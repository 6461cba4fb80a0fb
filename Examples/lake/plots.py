"""Draws what a lake says: funnels of deliveries, opens by hour, and cohorts of first opens.

Usage: plots.py TABLE PICTURE, as in plots.py lake plots.png. Needs deltalake, polars, matplotlib.
"""

import sys

import matplotlib

matplotlib.use("Agg")  # A file, without a display.

import matplotlib.pyplot as pyplot
import polars
from matplotlib.ticker import PercentFormatter
from polars import col

DELIVERIES = 10
STEPS = ["sent", "impressions", "clicks", "opens"]


def funnels(hits: polars.LazyFrame) -> polars.DataFrame:
    """The deliveries with most hits: of each step the hits, each once."""
    is_shown = ~col("warnings").fill_null("").str.contains("nothing_shown")
    kinds = {"sent": "sent", "impressions": "impression", "clicks": "click", "opens": "open"}
    return (
        hits.filter(col("kind").is_in(list(kinds.values())), is_shown)
        .group_by("tenant", "delivery_id")
        .agg(polars.len().alias("hits"),
             **{step: col("hit_id").filter(col("kind") == kind).n_unique()
                for step, kind in kinds.items()})
        .sort("hits", "tenant", "delivery_id", descending=[True, False, False])
        .head(DELIVERIES)
        .collect()
    )


def opens(hits: polars.LazyFrame) -> polars.LazyFrame:
    """Each open once, with the time at which it happened. A device's clock may be wrong: a time
    before 1970, or after the receipt, is that of the receipt."""
    is_right = (col("occur_time").dt.epoch() >= 0) & (col("occur_time") <= col("receive_time"))
    return (
        hits.filter(col("kind") == "open")
        .select("tenant", "hit_id", "subject_id",
                time=polars.when(is_right).then(col("occur_time")).otherwise(col("receive_time")))
        .unique("hit_id")
    )


def by_hour(hits: polars.LazyFrame) -> list[int]:
    """Opens of each hour of the day, in UTC."""
    rows = opens(hits).group_by(col("time").dt.hour().alias("hour")).len().collect()
    counts = dict(rows.iter_rows())
    return [counts.get(hour, 0) for hour in range(24)]


def cohorts(hits: polars.LazyFrame) -> polars.DataFrame:
    """Of the recipients of each day of a first open: the share that opened so many days later."""
    recipient = ["tenant", "subject_id"]
    days = (
        opens(hits).filter(col("subject_id").fill_null("") != "")
        .select(*recipient, day=col("time").dt.date())
        .unique()
        .with_columns(first=col("day").min().over(recipient))
        .with_columns(later=(col("day") - col("first")).dt.total_days())
    )
    return (
        days.group_by("first", "later").len("recipients")
        .with_columns(share=col("recipients")
                      / col("recipients").filter(col("later") == 0).sum().over("first"))
        .sort("first", "later")
        .collect()
    )


def draw_funnels(axes, rows: polars.DataFrame) -> None:
    height = 0.8 / len(STEPS)
    for number, step in enumerate(STEPS):
        axes.barh([place + number * height for place in range(rows.height)], rows[step], height,
                  label=step)
    axes.set_yticks([place + 0.4 - height / 2 for place in range(rows.height)], rows["delivery_id"])
    axes.invert_yaxis()
    axes.legend()
    axes.set_title(f"The {rows.height} largest deliveries")


def draw_hours(axes, counts: list[int]) -> None:
    axes.bar(range(24), counts)
    axes.set_xlabel("hour of day, UTC")
    axes.set_title("Opens")


def draw_cohorts(axes, rows: polars.DataFrame) -> None:
    """A row for each day of first opens, a column for each day after it."""
    firsts = rows["first"].unique().sort()
    shares = [[0.0] * (rows["later"].max() or 0) for _ in firsts]
    places = {first: place for place, first in enumerate(firsts)}
    for first, later, share in rows.select("first", "later", "share").iter_rows():
        if later:
            shares[places[first]][later - 1] = share
    if shares and shares[0]:
        image = axes.imshow(shares, aspect="auto", cmap="Blues", vmin=0,
                            extent=(0.5, len(shares[0]) + 0.5, len(shares) - 0.5, -0.5))
        axes.figure.colorbar(image, ax=axes, format=PercentFormatter(1))
    axes.set_yticks(range(len(firsts)), [f"{first}" for first in firsts])
    axes.set_xlabel("days after the first open")
    axes.set_title("Recipients who open again, by the day of their first open")


def main() -> None:
    table, picture = sys.argv[1:]
    hits = polars.scan_delta(table)
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(18, 6), layout="constrained")
    draw_funnels(left, funnels(hits))
    draw_hours(middle, by_hour(hits))
    draw_cohorts(right, cohorts(hits))
    figure.savefig(picture)
    print(f"{picture}: {left.get_title()}; opens by hour; cohorts")


if __name__ == "__main__":
    main()
