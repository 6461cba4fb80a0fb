"""docs/sends.md: its table of answers is the one that all client libraries are tested with."""

import csv
import re

import pytest

from protos import ROOT, event

ROWS = list(csv.DictReader((ROOT / "Tests/Fixtures/send-answers.csv").open()))
ITEM = re.compile(r"(\d+|no answer)(?: `([^`]+)`(?: \((field|message) `([^`]+)`\))?)?(?:, |$)")
# An answer as the page names it: status, word, and what else decides, if that does.
Item = tuple[str, str, str, str]


def rows() -> dict[str, list[str]]:
    """The cells of each reason's row."""
    page = (ROOT / "docs/sends.md").read_text()
    table = re.search(r"^\| reason \|.*?(?=^$)", page, re.MULTILINE | re.DOTALL)[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in table.splitlines()[2:]]
    return {row[0].strip("`").removeprefix("none: sent"): row[1:] for row in cells}


def items(column: int) -> dict[Item, str]:
    """The reason of each answer in a column, each of which stands there once."""
    found: dict[Item, str] = {}
    for reason, cells in rows().items():
        cell = cells[column]
        assert ITEM.sub("", cell) == "", cell
        for item in ITEM.findall(cell):
            assert item not in found, item
            found[item] = reason
    return found


def item_of(row: dict[str, str], known: dict[Item, str]) -> Item:
    """The item that names an answer: one with its field or message, before one with its word."""
    status = "no answer" if row["status"] == "0" else row["status"]
    exact = [(status, row["word"], name, row[name]) for name in ("field", "message") if row[name]]
    return next((item for item in exact if item in known), (status, row["word"], "", ""))


@pytest.mark.parametrize("service, column", [("apns", 0), ("fcm", 1)])
def test_the_page_has_each_answer_and_no_other(service, column):
    known = items(column)
    named = {item_of(row, known): row["reason"] for row in ROWS if row["service"] == service}
    assert len(named) > 15
    assert named == known


def test_the_page_says_what_a_status_means_without_a_known_word():
    by_status = {status: reason for reason, cells in rows().items()
                 for status in cells[2].split(", ") if status}
    used = set()
    for row in ROWS:
        if row["service"] != "any":
            continue
        names = (row["status"], "500 and above" if int(row["status"]) >= 500 else "", "all others")
        name = next(name for name in names if name in by_status)
        used.add(name)
        assert by_status[name] == row["reason"], row
    assert used == set(by_status)


def test_the_page_has_each_reason_of_the_contract():
    names = {name.removeprefix("PUSH_SEND_REASON_").lower()
             for name, number in event.PushSendReason.items() if number}
    assert set(rows()) == names | {""}
