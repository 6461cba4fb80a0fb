"""docs/clients.md: each of its statements is held by a test that exists, and its table of retries
says all that docs/errors.md does."""

import re

import pytest

from protos import ROOT

PAGE = (ROOT / "docs/clients.md").read_text()
NOTE = re.compile(r"\[\^([\w-]+)\]")
DEFINITION = re.compile(r"^\[\^([\w-]+)\]: (.+)$", re.MULTILINE)


def blocks(page: str) -> list[str]:
    """The paragraphs, items and rows of all sections, without headings and the heads of tables."""
    found: list[str] = []
    text = DEFINITION.sub("", page.partition("\n## ")[2].partition("\n")[2])
    for paragraph in re.split(r"\n\s*\n", text):
        for line in paragraph.strip().splitlines():
            if line.startswith("  ") or not line.startswith(("#", "-", "|")) and found and \
                    not paragraph.startswith(line):
                found[-1] += " " + line.strip()
            elif not line.startswith("#"):
                found.append(line)
        is_table = paragraph.strip().startswith("|")
        if is_table:
            rows = paragraph.strip().splitlines()
            del found[len(found) - len(rows):len(found) - len(rows) + 2]
    return [block for block in found if block]


def unproven(block: str) -> list[str]:
    """The statements of a block without a note. One ends with a full stop, and its note follows
    that; a row is one. What leads in to a table, with a colon, is none."""
    if block.startswith("|"):
        return [] if NOTE.search(block) else [block]
    ends = re.split(r"(?<=[.:])(?=\s|$)|(?<=\])(?=\s+[A-Z]|$)", block)
    return [text.strip() for text in ends
            if text.strip() and not NOTE.search(text) and not text.strip().endswith(":")]


def names_of(definition: str) -> set[str]:
    return set(re.findall(r"`([^`]+)`|\"([^\"]+)\"|\*([^*]+)\*", definition))


def test_each_statement_has_a_note():
    found = blocks(PAGE)
    assert len(found) > 70
    missing = [text for block in found for text in unproven(block)]
    assert not missing, "\n".join(missing)


def test_each_note_names_tests_that_exist():
    definitions = dict(DEFINITION.findall(PAGE))
    assert len(definitions) == len(DEFINITION.findall(PAGE)) > 40
    used = set(NOTE.findall(DEFINITION.sub("", PAGE)))
    assert used == set(definitions)
    python = {path.name: path.read_text() for path in (ROOT / "Tests/Interop").glob("test_*.py")}
    python |= {path.name: path.read_text().replace("\nfunc ", "\ndef ")
               for path in (ROOT / "Clients/go").glob("*_test.go")}
    swift = " ".join(path.read_text() for path in (ROOT / "Tests").glob("*Tests/**/*.swift"))
    for definition in definitions.values():
        named = names_of(definition)
        assert named, definition
        for function, row, title in named:
            assert not function or any(f"\ndef {function}(" in text for text in python.values()), (
                f"there is no test {function}")
            assert not row or any(f'"{row}"' in text for text in python.values()), row
            assert not title or f'"{title}"' in swift, title


def test_each_advice_on_retries_has_its_row():
    """Each value of the column in errors.md begins as one row of the table here, and each row is
    needed."""
    rows = re.findall(r"^\| `\w+` \|[^|]+\|[^|]+\| ([^|]+) \|",
                      (ROOT / "docs/errors.md").read_text(), re.MULTILINE)
    table = PAGE.split("| the column begins with |")[1].split("\n\n")[0]
    advice = [word for row in re.findall(r"^\| ([^|-]+) \|", table, re.MULTILINE)
              for word in row.split(", ")]
    assert len(rows) > 15 and len(advice) > 5
    for row in rows:
        assert len([word for word in advice if re.match(rf"{word}\b", row)]) == 1, row
    for word in advice:
        assert any(re.match(rf"{word}\b", row) for row in rows), word


@pytest.mark.parametrize("block, count", [
    ("- It never falls.[^a]", 0), ("- It never falls.", 1), ("- One.[^a] Two.", 1),
    ("- One.[^a] Two.[^b]", 0), ("One. Two.[^b]", 1), ("| a | b[^c] |", 0), ("| a | b |", 1),
    ("What it says decides:", 0), ("- One[^a], and two.[^b]", 0), ("- One[^a], and two.", 0),
])
def test_a_planted_statement_is_found(block, count):
    assert len(unproven(block)) == count
