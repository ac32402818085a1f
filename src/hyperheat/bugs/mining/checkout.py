"""The Python files of commits in a temporary folder, so that calls lead to the definitions of their time.

From one commit to the next only the files that differ are written; files that the history lacks are left out.
"""

from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from hyperheat.bugs.mining.git import Objects, Repository
from hyperheat.pycode import ModuleGraphs, extract
from hyperheat.pycode.calls.project import ProjectIndex

__all__ = ["Checkout"]


class Checkout:
    """A folder that holds the Python files of one commit after another."""

    def __init__(self, repository: Repository, objects: Objects) -> None:
        self._repository = repository
        self._objects = objects
        self._folder = TemporaryDirectory(prefix="hyperheat-")
        self._held: dict[str, str] = {}
        self._project: tuple[str, ProjectIndex] | None = None

    def __enter__(self) -> "Checkout":
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def extract(self, commit: str, path: str, contents: bytes) -> ModuleGraphs:
        """The graphs of a file as part of the project that the commit held."""
        project = self._at(commit)
        return extract(contents, project.root / path, project)

    def _at(self, commit: str) -> ProjectIndex:
        if self._project is None or self._project[0] != commit:
            self._update(commit)
            self._project = commit, ProjectIndex.build(self._folder.name)
        return self._project[1]

    def _update(self, commit: str) -> None:
        wanted = {path: id for path, id in self._repository.python_files(commit).items() if _is_safe(path)}
        for path in self._held.keys() - wanted.keys():
            self._remove(path)
        for path, id in wanted.items():
            if self._held.get(path) != id:
                contents = self._objects.read(id)
                if contents is not None and self._write(path, contents):
                    self._held[path] = id
                elif path in self._held:
                    self._remove(path)

    def _write(self, path: str, contents: bytes) -> bool:
        target = Path(self._folder.name, path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(contents)
        except OSError:  # a name that this system does not take, or a folder where a file was
            return False
        return True

    def _remove(self, path: str) -> None:
        Path(self._folder.name, path).unlink(missing_ok=True)
        del self._held[path]


def _is_safe(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return not path.startswith("/") and ".." not in parts and "\0" not in path
