"""A stranger at full speed neither ends the server nor takes its memory. What another client's acks
take meanwhile is measured by Benchmarks/attacks, on a machine that does nothing else."""

import pytest

from attacks import ATTACKS, MIB
from effects import measure
from http_attacks import HTTP_ATTACKS
from server import MANY_CONNECTIONS

SAMPLE_SECONDS, WHOLE_SECONDS = 3, 60
MOST_MIB = 256


@pytest.mark.parametrize("name", [*ATTACKS, *HTTP_ATTACKS])
def test_an_attack_leaves_the_server_alive_and_small(name, amount, figure, tmp_path):
    """Findings 1 to 7, and the HTTP port's: each attack by itself, from one client."""
    # At full speed: nothing but what is tested here may hold the attack.
    effect = measure(name, tmp_path, amount(SAMPLE_SECONDS, WHOLE_SECONDS), MANY_CONNECTIONS)
    figure(f"attacks: {effect}")
    assert effect.lives, f"the server ended with {effect.exit_code}"
    assert not effect.failures, f"{effect.failures} calls of another client failed"
    assert effect.growth <= MOST_MIB * MIB, f"{effect.growth / MIB:.0f} MiB more than idle"
