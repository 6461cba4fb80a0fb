"""The wait for sinks to pass everything that was acked."""

from server import wait_until
from test_metrics import scrape, values

# Longer than any fault of these tests lasts, and than any pause between two attempts.
STALLED_SECONDS = 120


def wait_until_drained(server, *sinks: str, check=lambda: None) -> None:
    """Waits as long as the sinks go on: how much they have to pass depends on how fast the machine
    took it in. `check` runs each time that is looked."""
    names = {f'sightline_sink_lag_groups{{sink="{sink}"}}' for sink in sinks}
    lags: dict[str, float] = {}

    def has_moved() -> bool:
        check()
        known, now = dict(lags), values(scrape(server)[0])
        lags.update({name: now[name] for name in names & now.keys()})
        return lags.keys() == names and (not any(lags.values()) or lags != known)

    while lags.keys() != names or any(lags.values()):
        wait_until(has_moved, f"{', '.join(sinks)} to pass more", STALLED_SECONDS, every=0.2)
