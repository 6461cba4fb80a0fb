"""Generates the code of Protos while the package is built; pyproject.toml has all the rest."""

import pathlib
import re

from grpc_tools import protoc
from setuptools import setup
from setuptools.command.build_py import build_py

HERE = pathlib.Path(__file__).resolve().parent
# The build brings the protos and the version with it; a checkout has them at its root.
PROTOS = next(path for path in (HERE / "protos", HERE.parent.parent / "Protos") if path.is_dir())
VERSION = next(path for path in (HERE / "VERSION", HERE.parent.parent / "VERSION")
               if path.is_file())
NAMES = ("payload", "event", "verdict", "record", "sink_service")


def generate(folder: pathlib.Path) -> None:
    """Writes the modules and their stubs to sightline_lake/v1 in a folder.

    They import each other from there: `sightline.v1` belongs to the client's package.
    """
    folder.mkdir(parents=True, exist_ok=True)
    well_known = pathlib.Path(protoc.__file__).parent / "_proto"
    files = [str(PROTOS / "sightline" / "v1" / f"{name}.proto") for name in NAMES]
    if protoc.main(["protoc", f"-I{PROTOS}", f"-I{well_known}", f"--python_out={folder}",
                    f"--pyi_out={folder}", *files]) != 0:
        raise RuntimeError(f"grpcio-tools cannot compile {PROTOS}")
    target = folder / "sightline_lake" / "v1"
    target.mkdir(parents=True, exist_ok=True)
    (target / "__init__.py").write_text('"""The contract\'s messages."""\n')
    for path in (folder / "sightline" / "v1").iterdir():
        text = re.sub(r"^from sightline\.v1 import", "from sightline_lake.v1 import",
                      path.read_text(), flags=re.MULTILINE)
        (target / path.name).write_text(text)
        path.unlink()
    (folder / "sightline" / "v1").rmdir()
    (folder / "sightline").rmdir()


class BuildPy(build_py):
    """Puts the generated code beside the written one."""

    def run(self) -> None:
        super().run()
        generate(pathlib.Path(self.build_lib))


setup(version=VERSION.read_text().strip(), cmdclass={"build_py": BuildPy})
