"""`sqlite.group` under the unit of Deploy: what docs/hits.md adds is needed, and enough."""

import re
import shutil
import subprocess

import pytest

from protos import ROOT

UNIT = (ROOT / "Deploy/systemd/sightline.service").read_text()
PAGE = (ROOT / "docs/hits.md").read_text()
DROP_IN = re.search(r"^```ini\n(\[Service\]\nSupplementaryGroups=.*?)^```$", PAGE,
                    re.MULTILINE | re.DOTALL)[1]
pytestmark = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")


def settings(text: str, name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", text, re.MULTILINE)


def calls(name: str) -> set[str]:
    """The system calls of a name as a filter has it: of one call, or of a set that has others."""
    if not name.startswith("@"):
        return {name}
    told = subprocess.run(["systemd-analyze", "syscall-filter", name], check=True, text=True,
                          capture_output=True).stdout
    names = {line.strip() for line in told.splitlines()[1:] if not line.strip().startswith("#")}
    return set().union(*map(calls, names - {""}))


def allowed(unit: str) -> set[str]:
    """As systemd reads the filters: the first allows, and each later one adds or takes away."""
    found: set[str] = set()
    for line in settings(unit, "SystemCallFilter"):
        listed = set().union(*map(calls, line.removeprefix("~").split()))
        found = found - listed if line.startswith("~") else found | listed
    return found


def test_the_unit_alone_lets_the_server_give_no_file_away():
    assert not calls("@chown") & allowed(UNIT)
    assert settings(UNIT, "PrivateUsers") == ["yes"], "no group but the server's own is seen"
    assert settings(UNIT, "UMask") == ["0077"], "whom nobody has given a file does not read it"
    assert settings(UNIT, "StateDirectoryMode") == ["0700"]


def test_the_drop_in_of_the_page_lets_it():
    assert calls("@chown") <= allowed(UNIT + DROP_IN)
    assert allowed(UNIT + DROP_IN) - allowed(UNIT) == calls("@chown")
    assert settings(UNIT + DROP_IN, "PrivateUsers")[-1] == "no"


def test_systemd_reads_the_drop_in(tmp_path):
    (tmp_path / "sightline.service").write_text(UNIT.replace("=/usr/bin/sightline ", "=/bin/true "))
    (tmp_path / "sightline.service.d").mkdir()
    (tmp_path / "sightline.service.d/override.conf").write_text(DROP_IN)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                           tmp_path / "sightline.service"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr
