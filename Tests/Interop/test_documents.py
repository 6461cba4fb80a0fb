"""The documents: what they point to is there."""

import pathlib
import re
import sqlite3
import subprocess

import pytest

from protos import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "Deploy/README.md",
                ROOT / "Backends/lake/README.md", ROOT / "Benchmarks/README.md"])
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMES = re.compile(r"`([^`]+)`")


def architecture() -> str:
    """The page without its pictures."""
    return re.sub(r"^```.*?^```$", "", (ROOT / "docs/architecture.md").read_text(),
                  flags=re.DOTALL | re.MULTILINE)


def sources(name: str) -> list[pathlib.Path]:
    return [path for path in (ROOT / "Sources").rglob(pathlib.PurePath(name).name)
            if path.as_posix().endswith("/" + name)]


def anchors(page: pathlib.Path) -> set[str]:
    """What a link may name in a page: its headings as GitHub writes them, and its own marks."""
    text = page.read_text()
    headings = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
                for heading in HEADING.findall(text)}
    return headings | set(re.findall(r'id="([^"]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_link_leads_somewhere(page):
    for path, anchor in LINK.findall(page.read_text()):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}"
        assert not anchor or anchor in anchors(target), f"{page.name} links to {path}#{anchor}"


def test_readme_counts_the_packages_that_a_build_installs():
    listed = re.search(r"^build=\(\n(.*?)^\)", (ROOT / "Scripts/bootstrap").read_text(),
                       re.MULTILINE | re.DOTALL)[1]
    packages = re.sub(r"#.*", "", listed).split()
    number = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")[len(packages)]
    assert f"install {number} packages" in (ROOT / "README.md").read_text()


def test_each_page_is_in_the_index():
    index = (ROOT / "docs/README.md").read_text()
    missing = [page.name for page in ROOT.glob("docs/*.md")
               if page.name != "README.md" and f"({page.name})" not in index]
    assert not missing


def test_the_bars_are_those_of_the_last_table():
    drawn = subprocess.run([ROOT / "Benchmarks/bars"], capture_output=True, text=True, check=True)
    assert drawn.stdout == (ROOT / "docs/images/benchmark.svg").read_text(), \
        "draw it again: Benchmarks/bars > docs/images/benchmark.svg"


def test_pictures_are_light():
    for picture in (ROOT / "docs/images").iterdir():
        assert picture.stat().st_size <= 150 * 1024, picture.name


def test_what_the_architecture_names_is_in_the_sources():
    files = {name for name in NAMES.findall(architecture())
             if name.endswith(".swift") and "…" not in name}
    assert len(files) > 25
    assert not [name for name in files if not sources(name)]


def test_each_answer_to_where_something_is_names_what_is_there():
    rows = [line for line in architecture().splitlines() if line.startswith("| Where ")]
    assert len(rows) == 23
    for row in rows:
        names = NAMES.findall(row)
        for file, place in zip(names, names[1:]):
            if file.endswith(".swift") and not place.endswith(".swift"):
                word = re.escape(place.split("(")[0].split(".")[-1])
                found = [path for path in sources(file)
                         if re.search(rf"(func|var|let) {word}\b", path.read_text())]
                assert found, f"{file} has no {place}"


def test_a_backup_by_the_page_is_its_owners_alone(tmp_path):
    """The command of docs/operations.md, under the umask of most systems."""
    words = re.search(r"`(umask 077; sqlite3 [^`]+)`", (ROOT / "docs/operations.md").read_text())[1]
    source = tmp_path / "source.db"
    with sqlite3.connect(source) as database:
        database.execute("CREATE TABLE hits (id)")
    words = words.replace("/var/lib/sightline/hits.db", str(source))
    words = words.replace("/backup/", f"{tmp_path}/")
    subprocess.run(["sh", "-c", words], check=True, timeout=60, umask=0o022)
    assert (tmp_path / "hits.db").stat().st_mode & 0o777 == 0o600


def test_each_page_that_a_message_names_is_there():
    """As a URL, which whoever reads a log can open."""
    named = [(file, path) for file in (ROOT / "Sources").rglob("*.swift")
             for path in re.findall(r'Documentation\.page\("([^"]+)"\)', file.read_text())]
    assert len(named) >= 5
    for file, path in named:
        name, _, anchor = path.partition("#")
        page = ROOT / "docs" / name
        assert page.exists() and (not anchor or anchor in anchors(page)), f"{file} names {path}"
