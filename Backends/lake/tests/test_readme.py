"""The README's tables, against the program."""

import pathlib
import re
from dataclasses import fields

from sightline_lake.configuration import Configuration, parse
from sightline_lake.metrics import FIGURES, text

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text()
UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}


def test_each_figure_has_its_row():
    rows = re.findall(r"^\| `sightline_lake_(\w+)` \| (\w+) \| (.+) \|$", README, re.MULTILINE)
    assert {name: f"{meaning}." for name, _, meaning in rows} == FIGURES
    exposed = text(dict.fromkeys(FIGURES, 0))
    for name, kind, _ in rows:
        assert f"# TYPE sightline_lake_{name} {kind}\n" in exposed


def test_each_option_has_its_row_and_its_default():
    rows = re.findall(r"^\| (`--.+?) \|(.*?)\| .+ \|$", README, re.MULTILINE)
    told = {name: default for names, default in rows for name in re.findall(r"`--([\w-]+)`", names)}
    defaults = parse(["--table", "", "--state", ""])
    for field in fields(Configuration):
        shown = told.pop(field.name.replace("_", "-")).strip(" `")
        number, _, unit = shown.partition(" ")
        value = str(int(number) * UNITS[unit]) if unit else shown
        assert value == str(getattr(defaults, field.name)), field.name
    assert told == {}
