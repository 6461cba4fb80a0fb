"""What the program says of the sources that it was built from: Plugins/BuildFacts/facts.sh."""

import os
import pathlib
import re
import subprocess

import pytest

from protos import ROOT

SCRIPT = ROOT / "Plugins/BuildFacts/facts.sh"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def git(folder: pathlib.Path, *arguments: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
    return subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, text=True,
                          capture_output=True).stdout.strip()


def facts(package: pathlib.Path, tmp_path: pathlib.Path, commit: str = "") -> dict[str, str]:
    """What the file says that the script writes."""
    compiler = tmp_path / "swiftc"
    compiler.write_text("#!/bin/sh\necho 'Swift version 6.3.1 (swift-6.3.1-RELEASE)'\n")
    compiler.chmod(0o755)
    environment = os.environ | {"SIGHTLINE_COMMIT": commit}
    subprocess.run(["sh", SCRIPT, package, compiler, tmp_path / "facts.swift"], check=True,
                   env=environment)
    return dict(re.findall(r'static let (\w+)\S*(?: Bool\?)? = "?([^"\n]*)"?\n',
                           (tmp_path / "facts.swift").read_text()))


@pytest.fixture
def package(tmp_path):
    folder = tmp_path / "package"
    (folder / "Sources").mkdir(parents=True)
    (folder / "Sources/main.swift").write_text("print(1)\n")
    (folder / "VERSION").write_text("1.20.3\n")
    return folder


def test_commit(package, tmp_path):
    """The commit, and whether what is compiled differs from it."""
    git(package, "init", "--quiet")
    git(package, "add", ".")
    git(package, "commit", "--quiet", "--message=first")
    head = git(package, "rev-parse", "HEAD")
    told = {"version": "1.20.3", "commit": head, "isModified": "false", "swift": "6.3.1"}
    assert facts(package, tmp_path) == told
    (package / "notes.txt").write_text("not compiled\n")
    assert facts(package, tmp_path, commit=COMMIT)["isModified"] == "false"
    (package / "Sources/new.swift").write_text("print(2)\n")
    assert facts(package, tmp_path) == told | {"isModified": "true"}


@pytest.mark.parametrize("said, commit", [
    ("", "unknown"), (COMMIT, COMMIT), ("main", "unknown"), (COMMIT[:-1], "unknown"),
    (f'{COMMIT}"; }} //', "unknown")])
def test_without_git(package, tmp_path, said, commit):
    """Sources without a history, also within another repository: what the environment says, if it
    is a commit's hash."""
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "--message=another project")
    told = facts(package, tmp_path, commit=said)
    assert told == {"version": "1.20.3", "commit": commit, "isModified": "nil",
                    "swift": "6.3.1"}


def test_no_needless_build(package, tmp_path):
    """The same facts leave the file as it is, so nothing is compiled or linked again."""
    facts(package, tmp_path)
    before = (tmp_path / "facts.swift").stat()
    facts(package, tmp_path)
    assert (tmp_path / "facts.swift").stat().st_mtime_ns == before.st_mtime_ns
    facts(package, tmp_path, commit=COMMIT)
    assert COMMIT in (tmp_path / "facts.swift").read_text()


@pytest.mark.parametrize("version", ["", "1.2", "v1.2.3", "1.2.3-rc1", '1.2.3"; }} //'])
def test_no_other_version(package, tmp_path, version):
    """A version is three numbers, as all packages take it: anything else ends the build."""
    (package / "VERSION").write_text(version + "\n")
    with pytest.raises(subprocess.CalledProcessError):
        facts(package, tmp_path)


def test_the_version_stands_once():
    """The program and all packages read it from VERSION; a manifest that names an image's version
    cannot, so it names the same. No other file has it but the client libraries' own."""
    version = (ROOT / "VERSION").read_text().strip()
    tracked = subprocess.run(["git", "-C", ROOT, "ls-files", "Clients", "Deploy", "Plugins", "Scripts",
                              "Sources/Commands"], check=True, text=True, capture_output=True)
    pattern = re.compile(r"(?:\bversion *[=:] *|sightline[:_@-]|\bVERSION(?:=|: )|newTag: )"
                         r"\"?v?(\d+\.\d+\.\d+)")
    named = {(name, found) for name in tracked.stdout.split()
             if (ROOT / name).is_file() and not name.endswith((".png", ".go", ".java"))
             for found in pattern.findall((ROOT / name).read_text(errors="replace"))}
    assert named == {("Deploy/docker/compose.yaml", version),
                     ("Deploy/kubernetes/kustomization.yaml", version)}
    assert f"image: sightline:{version}\n" in (ROOT / "Deploy/docker/compose.yaml").read_text()


@pytest.mark.parametrize("file, constant", [
    ("Clients/go/client.go", r'\n\tVersion = "(.*)"\n'),
    ("Clients/java/src/com/sightline/client/SightlineClient.java", r' String VERSION = "(.*)";\n'),
    ("Sources/Client/SightlineClient/SightlineClient.swift", r' static let version = "(.*)"\n')])
def test_a_client_library_says_the_version_of_the_release(file, constant):
    """A source package has no other way. Python's is read from VERSION as it is built."""
    version = (ROOT / "VERSION").read_text().strip()
    assert re.findall(constant, (ROOT / file).read_text()) == [version]
