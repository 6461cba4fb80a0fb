"""All hits that are acknowledged and not in the table yet."""

import pathlib
from collections.abc import Callable, Sequence
from itertools import pairwise

from . import hits
from .log import log
from .position import Position
from .staged_file import StagedFile, count_known


class Stage:
    """One open file of each journal and sink, and sealed ones that wait for a commit. A file
    follows an earlier one, or what the table has. For one thread, except what is only read."""

    def __init__(self, folder: pathlib.Path, limit: int,
                 committed: Callable[[str], Position | None]) -> None:
        """Opens a folder, and drops files that the table has already, or that do not follow it.
        A file that reaches `limit` bytes is sealed; beyond two of them requests are not held, but
        read again."""
        self.folder, self.limit, self.committed = folder, limit, committed
        self.opened: dict[str, StagedFile] = {}
        self.sealed: list[StagedFile] = []
        self._ends: dict[str, Position | None] = {}
        folder.mkdir(exist_ok=True)
        paths = sorted(folder.glob("*.staged"))
        self._number = int(paths[-1].stem) if paths else 0
        for path in paths:
            if file := StagedFile.read(path):
                self.sealed.append(file)
            else:
                path.unlink()
        for app in {file.app for file in self.sealed}:
            self._recover(app, [file for file in self.sealed if file.app == app])

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in [*self.sealed, *self.opened.values()])

    def _recover(self, app: str, files: list[StagedFile]) -> None:
        known = count_known(files, self.position(app))
        if known is None or any(next.after != file.end for file, next in pairwise(files)):
            log("error", "staged hits do not follow the table: they are dropped, and the server "
                "sends them again if its journal has them", app=app, after=files[0].after,
                end=files[-1].end, table=self.position(app))
            known = len(files)
        elif known < len(files):
            self._ends[app] = files[-1].end
        self.drop(files[:known])

    def position(self, app: str) -> Position | None:
        """Up to here everything is staged, or in the table."""
        if app not in self._ends:
            self._ends[app] = self.committed(app)
        return self._ends[app]

    def add(self, app: str, request: bytes, end: Position) -> int:
        """Makes a request durable; returns how many hits it has. Leaves it out with ValueError if
        it is malformed, and with OSError if it cannot be stored."""
        part = hits.records(request)
        file = self.opened.get(app)
        if file is None:
            path = self.folder / f"{self._number + 1:016}.staged"
            file = StagedFile(path, app, self.position(app))
        file.add(request, end, part, self.size <= 2 * self.limit)
        self._number = max(self._number, int(file.path.stem))
        self.opened[app], self._ends[app] = file, end
        if file.size >= self.limit:
            self.sealed.append(self.opened.pop(app))
        return len(part)

    def seal(self) -> list[StagedFile]:
        """Ends the open files; returns all that wait for a commit, in their order."""
        self.sealed += self.opened.values()
        self.opened = {}
        return list(self.sealed)

    def drop(self, files: Sequence[StagedFile]) -> None:
        """Deletes files that the table has."""
        for file in files:
            self.sealed.remove(file)
            file.path.unlink()
