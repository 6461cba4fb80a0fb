"""What docs/security.md says is held is held by tests and keys that exist."""

import re

from protos import ROOT

SECURITY = (ROOT / "docs" / "security.md").read_text().split("## What was read")[0]
KEY = re.compile(r"`((?:connections|limits|stream|quotas|auth|tls|admin|journal|health|compression"
                 r"|dead_letters|drain|quarantine|tap|telemetry)(?:\.[a-z0-9_]+)+)`")


def test_every_test_that_is_named_exists():
    """By function or file, and by row where it stands in quotes."""
    sources = {path.name: path.read_text() for path in (ROOT / "Tests/Interop").glob("*.py")}
    named = set(re.findall(r"`(test_\w+)(\.py)?`", SECURITY))
    missing = [name for name, suffix in named if not (
        name + suffix in sources if suffix
        else any(f"def {name}(" in source for source in sources.values()))]
    rows = set(re.findall(r'"([^"]+)"', SECURITY.split("## What holds an operator")[0]))
    missing += [row for row in rows if f'"{row}"' not in sources["test_peers_harm_themselves_alone.py"]]
    assert len(named) > 20 and len(rows) > 5 and not missing, missing


def test_every_key_that_is_named_exists():
    keys = set(re.findall(r"^\| `([a-z0-9_.]+)` \|", (
        ROOT / "docs" / "configuration.md").read_text(), re.MULTILINE))
    named = set(KEY.findall(SECURITY))
    assert len(named) > 20 and named <= keys, named - keys


def test_every_swift_test_that_is_named_exists():
    sources = " ".join(path.read_text() for path in (ROOT / "Tests").glob("*Tests/**/*.swift"))
    named = set(re.findall(r"(?<!\*)\*([a-z][^*|]+)\*(?!\*)", SECURITY))
    suites = set(re.findall(r"\b[A-Z]\w+Tests\b", SECURITY))
    missing = [title for title in named if f'"{title}"' not in sources]
    missing += [suite for suite in suites if not re.search(rf"(struct|class) {suite}\b", sources)]
    assert len(named) > 10 and len(suites) > 5 and not missing, missing
