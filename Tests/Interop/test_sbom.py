"""The bill of materials and the notices that the image has: Scripts/sbom."""

import json
import re
import subprocess

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from protos import ROOT
from server import binary


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The bill and the notices of the program under test."""
    folder = tmp_path_factory.mktemp("sbom")
    done = subprocess.run([ROOT / "Scripts/sbom", binary(), "--bom", folder / "bom.json",
                           "--notices", folder / "notices.txt"], text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_schema(written):
    """It is CycloneDX 1.6."""
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(
        (written / "bom.json").read_text())
    assert problem is None, problem


def test_complete(written):
    """Each pinned package has its row with its version and licence, and so have the libraries that
    the program loads; each row hangs on the program."""
    document = json.loads((written / "bom.json").read_text())
    rows = {row["bom-ref"]: row for row in document["components"]}
    pins = json.loads((ROOT / "Package.resolved").read_text())["pins"]
    for pin in pins:
        place = pin["location"].removesuffix(".git").removeprefix("https://")
        row = rows[f"pkg:swift/{place}@{pin['state']['version']}"]
        assert row["licenses"], row
    names = {row["name"] for row in rows.values()}
    assert {"swift", "libssl3", "libsqlite3-0", "libzstd1", "zlib1g"} <= names
    graph = {row["ref"]: row["dependsOn"] for row in document["dependencies"]}
    reached, waiting = set(), ["sightline"]
    while waiting:
        reference = waiting.pop()
        if reference not in reached:
            reached.add(reference)
            waiting += graph[reference]
    assert reached == {"sightline", *rows}


def test_build(written):
    """It says the version and the commit that the program says."""
    subject = json.loads((written / "bom.json").read_text())["metadata"]["component"]
    told = json.loads(subprocess.run([binary(), "version", "--json"], check=True,
                                     capture_output=True).stdout)
    properties = {row["name"]: row["value"] for row in subject["properties"]}
    assert (subject["version"], properties["sightline:commit"]) == (told["version"], told["commit"])


def test_notices(written):
    """Each package that is compiled in has its licence's text there."""
    text = (written / "notices.txt").read_text()
    for row in json.loads((written / "bom.json").read_text())["components"]:
        if row["purl"].startswith("pkg:swift/"):
            folder = row["externalReferences"][0]["url"].split("/")[-1]
            assert re.search(rf"^{re.escape(folder)}/LICEN[CS]E", text, re.MULTILINE), folder
    assert "Permission is hereby granted" in text and "Apache License" in text


def test_unknown_licence(tmp_path):
    """A licence that nobody has read stops it."""
    (tmp_path / "LICENSE").write_text("Do what you like on Tuesdays.\n")
    code = f"import runpy; runpy.run_path({str(ROOT / 'Scripts/sbom')!r})['spdx'](" \
           f"__import__('pathlib').Path({str(tmp_path)!r}))"
    done = subprocess.run(["python3", "-c", code], text=True, capture_output=True, check=False)
    assert done.returncode == 1 and "read it, then add it" in done.stderr, done
