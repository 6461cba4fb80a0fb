"""What costs a server most leaves its memory within the bounds that docs/security.md names. What it
costs of CPU is measured by Benchmarks/cost, on a machine that does nothing else."""

import pytest

from attacks import KIB, MIB
from cost_inputs import INPUTS
from costs import measure

# limits.bytes_in_flight.
MOST = 256 * MIB
SECONDS, CONNECTIONS = 1, 2
# In a sample: those that take most memory, and one by frames.
SAMPLE = ["frames: windows of 100 streams", "StreamEvents: empty events, gzip",
          "ExplainEvents: empty events, gzip", "RecordEvents: raw payloads, gzip",
          "HTTP: empty events, gzip", "HTTP: white space, gzip"]
# Bytes of a stream that is held, or of a connection where it has none.
HELD = {
    "hold: Health/Check": 64 * KIB,
    "hold: Health/Check, long metadata": 64 * KIB,
    "hold: Health/Check, gzip": 96 * KIB,
    "hold: Health/Check, 16 KiB unfinished": 96 * KIB,
    "hold: Health/Watch": 64 * KIB,
    "hold: StreamEvents": 64 * KIB,
    "hold: head that never ends": 256 * KIB,
}


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        whole = metafunc.config.getoption("--whole")
        inputs = [name for name in INPUTS if not INPUTS[name].is_held]
        metafunc.parametrize("name", inputs if whole else SAMPLE)


@pytest.mark.timeout(120)
def test_an_input_leaves_memory_bounded(name, figure, tmp_path):
    """One connection, as fast as it is taken."""
    cost = measure(name, INPUTS[name], tmp_path, SECONDS, CONNECTIONS)
    figure(f"cost: {cost}")
    assert cost.peak <= MOST, f"{cost.peak / MIB:.0f} MiB more than idle"


@pytest.mark.timeout(120)
@pytest.mark.parametrize("held", HELD)
def test_what_is_held_is_bounded_for_each_stream(held, figure, tmp_path):
    """As many streams as two connections may have, held open."""
    cost = measure(held, INPUTS[held], tmp_path, 30, CONNECTIONS)
    figure(f"cost: {cost}")
    each = cost.held / (cost.streams or CONNECTIONS)
    assert each <= HELD[held], f"{each / KIB:.0f} KiB for each"


# What is whole and waits: some hundred of these are as much as limits.bytes_waiting.
WAITING = ["hold: RecordEvents, whole, not ended", "hold: RecordEvents, unread answers"]
# Twice the limit, and what it takes to make answers side by side; 360 MiB and more without a limit.
MOST_WAITING = 300 * MIB


@pytest.mark.timeout(120)
@pytest.mark.parametrize("waiting", WAITING)
def test_what_waits_is_bounded_in_all(waiting, figure, tmp_path):
    """As many streams as six connections may have: more than there is room for."""
    cost = measure(waiting, INPUTS[waiting], tmp_path, 30, 6)
    figure(f"cost: {cost}")
    assert cost.peak <= MOST_WAITING, f"{cost.peak / MIB:.0f} MiB more than idle"
