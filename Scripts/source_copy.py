"""A copy of the sources below .build, for scripts that change them and build."""

import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPIED = ["Package.swift", "Package.resolved", "VERSION", "Plugins", "Sources", "Tests", "docs",
          "Benchmarks/bare", "Benchmarks/micro", "Examples/sink-swift/Sources",
          "Examples/client-swift/Sources"]


def update(copy: pathlib.Path, changed: dict[pathlib.Path, str] | None = None) -> None:
    """Brings a copy up to date, with other texts for some files, by their paths in the repository.

    Files that are as they were keep their time, for the build.
    """
    changed = changed or {}
    wanted = {path: text.encode() for path, text in changed.items()}
    for name in COPIED:
        source = ROOT / name
        for path in [source] if source.is_file() else source.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                wanted.setdefault(path, path.read_bytes())
    for path, content in wanted.items():
        target = copy / path.relative_to(ROOT)
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            shutil.copymode(path if path.exists() else ROOT / "Package.swift", target)
    for name in COPIED:
        for target in (copy / name).rglob("*"):
            if target.is_file() and ROOT / target.relative_to(copy) not in wanted:
                target.unlink()
