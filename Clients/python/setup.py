"""Generates the code of Protos while the package is built; pyproject.toml has all the rest."""

import pathlib
import re
import shutil

from grpc_tools import protoc
from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
# A source archive brings the protos and the version with it; a checkout has them at its root.
PROTOS = next(path for path in (HERE / "protos", HERE.parent.parent / "Protos") if path.is_dir())
VERSION = next(path for path in (HERE / "VERSION", HERE.parent.parent / "VERSION")
               if path.is_file())
# A client's files; the contract of sinks is another.
NAMES = ("payload", "event", "verdict", "ledger", "tracking_service")


def generate(folder: pathlib.Path) -> None:
    """Writes the modules and their stubs to sightline/v1 in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    well_known = pathlib.Path(protoc.__file__).parent / "_proto"
    files = [str(PROTOS / "sightline" / "v1" / f"{name}.proto") for name in NAMES]
    if protoc.main(["protoc", f"-I{PROTOS}", f"-I{well_known}", f"--python_out={folder}",
                    f"--pyi_out={folder}", *files]) != 0:
        raise RuntimeError(f"grpcio-tools cannot compile {PROTOS}")
    (folder / "sightline" / "v1" / "__init__.py").write_text('"""The contract\'s messages."""\n')


def oldest_protobuf() -> str:
    """The oldest protobuf that takes the generated code, as the code itself says."""
    scratch = HERE / "build" / "generated"
    generate(scratch)
    text = (scratch / "sightline" / "v1" / "event_pb2.py").read_text()
    found = re.search(r"Protobuf Python Version: (\S+)", text)
    assert found, "the generated code does not say its version"
    return found.group(1)


class BuildPy(build_py):
    """Puts the generated code beside the written one."""

    def run(self) -> None:
        super().run()
        generate(pathlib.Path(self.build_lib))


class Sdist(sdist):
    """Puts the protos and the version into the archive."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        for name in NAMES:
            path = pathlib.Path("sightline", "v1", f"{name}.proto")
            target = pathlib.Path(base_dir, "protos", path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROTOS / path, target)
        shutil.copyfile(VERSION, pathlib.Path(base_dir, "VERSION"))


setup(version=VERSION.read_text().strip(), cmdclass={"build_py": BuildPy, "sdist": Sdist},
      install_requires=["grpcio>=1.60", f"protobuf>={oldest_protobuf()}"])
