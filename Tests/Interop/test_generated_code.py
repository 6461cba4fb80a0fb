"""The contract in other languages: from an empty folder, by the commands of the page, to a program
that streams; and the names that the code has."""

import pathlib
import shutil
import subprocess

import pytest

from protos import ROOT
from test_commands import Terminal, commands, difference

PAGE = ROOT / "Examples/stream/README.md"
# What each section of the page needs besides .venv.
NEEDS = {
    "Go": ["protoc-gen-go", "protoc-gen-go-grpc", "go", "/usr/share/gocode"],
    "Java": ["javac", "grpc_java_plugin", "/usr/share/java/grpc-netty.jar",
             "/usr/share/java/netty-handler.jar", "/usr/share/java/perfmark-api.jar",
             "/usr/share/java/geronimo-annotation-1.3-spec.jar"],
    "Python": [],
    "C++": ["g++", "pkg-config", "grpc_cpp_plugin", "/usr/include/grpcpp/grpcpp.h"],
    "With buf": [],
}
# The names are those of the options in the protos, and of buf's managed mode.
CODE = {
    "csharp": ("Event.cs", "namespace Sightline.V1 {"),
    "java": ("com/sightline/v1/Verdict.java", "public enum Verdict"),
    "kotlin": ("com/sightline/v1/TrackingEventKt.kt", "package com.sightline.v1"),
    "objc": ("sightline/v1/Event.pbobjc.h", "@interface SVXTrackingEvent"),
    "php": ("Sightline/V1/TrackingEvent.php", "namespace Sightline\\V1;"),
    "ruby": ("sightline/v1/event_pb.rb", "module Sightline\n  module V1"),
}


def sections() -> dict[str, str]:
    """The page's sections by their headings, the first under an empty one."""
    head, *others = PAGE.read_text().split("\n## ")
    return {"": head} | dict(section.split("\n", 1) for section in others)


@pytest.fixture
def terminal(tmp_path):
    made = Terminal(tmp_path)
    for path in made.home.iterdir():
        path.unlink()
    (made.home / "sightline").symlink_to(ROOT)
    (made.home / ".venv").symlink_to(ROOT / ".venv")
    yield made
    made.close()


def test_each_section_is_run():
    assert list(sections()) == ["", *NEEDS]


# C++'s compiler takes a minute beside five other tests.
@pytest.mark.timeout(900)
@pytest.mark.parametrize("language", NEEDS)
def test_the_commands_of_the_page_lead_to_a_stream(terminal, language):
    missing = [name for name in NEEDS[language]
               if not (pathlib.Path(name).exists() if name[0] == "/" else shutil.which(name))]
    if missing:
        pytest.skip(f"no {', '.join(missing)}: run make bootstrap")
    terminal.seconds = 600
    parts = sections()
    (serve,) = commands(parts[""])
    assert not difference(terminal, serve, serve.words)
    for command in commands(parts[language]):
        found = difference(terminal, command, command.words)
        assert not found, found


@pytest.mark.parametrize("language", CODE)
def test_code_has_the_names_that_its_language_expects(tmp_path, language):
    protos = sorted((ROOT / "Protos/sightline/v1").glob("*.proto"))
    subprocess.run(["protoc", "-I", ROOT / "Protos", f"--{language}_out={tmp_path}", *protos],
                   check=True)
    file, words = CODE[language]
    assert words in (tmp_path / file).read_text()


def test_our_module_has_no_code_of_others(tmp_path):
    """Whoever makes code of Protos gets nothing of the standard's contracts."""
    (tmp_path / "buf.gen.yaml").write_text(
        "version: v2\nplugins:\n  - protoc_builtin: cpp\n    out: made\n")
    subprocess.run([ROOT / ".venv/bin/buf", "generate", ROOT / "Protos"], cwd=tmp_path, check=True)
    made = {path.relative_to(tmp_path / "made").parts[0]
            for path in (tmp_path / "made").rglob("*.h")}
    assert made == {"sightline"}
