"""All hits that are acknowledged and not in the table yet."""

import pathlib
from collections.abc import Callable, Sequence

from . import hits
from .log import log
from .position import Position
from .staged_file import StagedFile


class Stage:
    """One open file of each journal and sink, and sealed ones that wait for a commit. A file follows
    an earlier one, or what the table has. For one thread, except `bytes`."""

    def __init__(self, folder: pathlib.Path, memory: int,
                 committed: Callable[[str], Position | None]) -> None:
        """Opens a folder, and drops files that the table has already, or that do not follow it.
        Beyond `memory` bytes requests are not held, but read again."""
        self.folder, self.memory, self.committed = folder, memory, committed
        self.opened: dict[str, StagedFile] = {}
        self.sealed: list[StagedFile] = []
        self.bytes = 0
        self._ends: dict[str, Position | None] = {}
        folder.mkdir(exist_ok=True)
        paths = sorted(folder.glob("*.staged"))
        self._number = int(paths[-1].stem) if paths else 0
        for path in paths:
            self._recover(path)

    def _recover(self, path: pathlib.Path) -> None:
        file = StagedFile.read(path)
        if file is not None and file.after == self.position(file.app):
            self.sealed.append(file)
            self.bytes += file.size
            self._ends[file.app] = file.end
            return
        if file is not None and file.end != self.position(file.app):
            log("error", "staged hits do not follow the table: they are dropped, and the server "
                "sends them again if its journal has them", app=file.app, after=file.after,
                end=file.end, table=self.position(file.app))
        path.unlink()

    def position(self, app: str) -> Position | None:
        """Up to here everything is staged, or in the table."""
        if app not in self._ends:
            self._ends[app] = self.committed(app)
        return self._ends[app]

    def add(self, app: str, request: bytes, end: Position) -> int:
        """Makes a request durable; returns its hits. Raises ValueError if it is malformed, and OSError
        if it cannot be stored; it is left out then."""
        part = hits.records(request)
        file = self.opened.get(app)
        if file is None:
            self._number += 1
            path = self.folder / f"{self._number:016}.staged"
            file = StagedFile(path, app, self.position(app))
        before = file.size
        file.add(request, end, part, self.bytes <= self.memory)
        self.bytes += file.size - before
        self.opened[app], self._ends[app] = file, end
        return len(part)

    @property
    def since(self) -> float | None:
        """When the oldest file was begun."""
        files = [*self.sealed, *self.opened.values()]
        return files[0].since if files else None

    def seal(self) -> list[StagedFile]:
        """Ends the open files; returns all that wait for a commit, in their order."""
        self.sealed += self.opened.values()
        self.opened = {}
        return list(self.sealed)

    def drop(self, files: Sequence[StagedFile]) -> None:
        """Deletes files that the table has, the first ones of all."""
        del self.sealed[:len(files)]
        for file in files:
            self.bytes -= file.size
            file.path.unlink()
