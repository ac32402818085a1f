"""Which files a scan looks at.

Folders are searched for Python files. Three things are left out: folders without code of the project (virtual
environments, build results, caches), paths that match an `exclude` glob, and paths that the repository's .gitignore files
ignore. A file that is named explicitly is always checked, unless `force_exclude` applies the globs to it too; .gitignore
files never apply to it, since a file can be both tracked and ignored.

Links inside searched folders are not followed: their targets are found under their own names, or are outside.
"""

import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from hyperheat.check.gitignore import Globs
from hyperheat.files import SkippedFile, kind_of_file, read_regular, why
from hyperheat.report.finding import ScanError

__all__ = [
    "DEFAULT_EXCLUDES",
    "MAX_BYTES",
    "NOTEBOOK_FACTOR",
    "SUFFIXES",
    "Discovered",
    "FoundFile",
    "Selection",
    "discover",
    "is_excluded",
    "is_left_out",
    "shown_path",
]

_NOTEBOOK = ".ipynb"
SUFFIXES = (".py", ".pyw", _NOTEBOOK)
"""How the names of files end that are looked for; stubs (.pyi) hold no code that runs."""
MAX_BYTES = 1_000_000
"""Larger files are skipped."""
NOTEBOOK_FACTOR = 20
"""Notebooks may be so many times as large, because they hold outputs too; their code may not."""
DEFAULT_EXCLUDES = (
    *(".git/", ".hg/", ".svn/", ".bzr/"),
    *(".venv/", "venv/", ".env/", "env/", ".virtualenv/", ".tox/", ".nox/", ".direnv/", ".pixi/"),
    *("site-packages/", "node_modules/", "__pypackages__/", ".eggs/", "*.egg-info/"),
    *("build/", "_build/", "dist/", "buck-out/", "__pycache__/"),
    *(".mypy_cache/", ".pytest_cache/", ".ruff_cache/", ".hypothesis/", ".ipynb_checkpoints/"),
)
"""Folders that are left out unless they are named, in the syntax of .gitignore; `!build/` takes one back."""

_STUB = ".pyi"
_SHEBANG = re.compile(rb"#!.{0,200}python")
_DEFAULTS = Globs.of(DEFAULT_EXCLUDES, "/")
_IGNORE_FILE = ".gitignore"
_MAX_IGNORE_BYTES = 200_000
_MAX_PATTERNS = 10_000  # that count in one folder, those of all folders above it included
_MAX_SECONDS = 30.0  # of work on patterns


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is left out of a search."""

    exclude: Globs | None = None
    gitignore: bool = True
    force_exclude: bool = False
    max_bytes: int = MAX_BYTES


@dataclass(frozen=True, slots=True, order=True)
class FoundFile:
    """A file to scan: the path that reports show, and the absolute one to open."""

    shown: str
    path: Path

    @property
    def is_notebook(self) -> bool:
        """Whether it is a notebook, by its name."""
        return self.path.name.endswith(_NOTEBOOK)

    def most_bytes(self, max_bytes: int) -> int:
        """How large the file may be, if source files may have so many bytes."""
        return max_bytes * NOTEBOOK_FACTOR if self.is_notebook else max_bytes


@dataclass(frozen=True, slots=True)
class Discovered:
    """The files to scan and what could not be looked at, both in the order of their paths."""

    files: tuple[FoundFile, ...]
    errors: tuple[ScanError, ...]


def discover(paths: Sequence[str | os.PathLike[str]], *, root: Path, selection: Selection) -> Discovered:
    """The Python files of the given files and folders; relative paths start from `root`, and are shown so.

    Raises FileNotFoundError if nothing is at a given path, and ValueError if a given file is not Python: neither may
    look like a clean scan.
    """
    root = Path(os.path.abspath(root))
    for path in paths:
        if not os.fspath(path):
            raise ValueError(
                "expected the path of a file or folder, got an empty one; the current folder is `.`"
            )
        if not os.path.lexists(root / path):
            raise FileNotFoundError(f"{os.fspath(path)}: no such file or folder")
    search = _Search(root, [_absolute(path, root) for path in paths], selection)
    for path in search.named:
        search.add_named(path)
    errors = {(error.path, error.reason): error for error in search.errors}
    return Discovered(tuple(sorted(search.files.values())), tuple(errors[key] for key in sorted(errors)))


def is_excluded(path: Path, *, root: Path, selection: Selection) -> bool:
    """Whether globs name a file or a folder that it lies in, given by its absolute path; it need not exist."""
    return _Search(root, [], selection).excludes(path, folder=False)


def is_left_out(path: Path, *, root: Path, selection: Selection) -> bool:
    """Whether a search of the root would not find a file in it, by its globs or the repository's .gitignore files."""
    return _Search(root, [], selection).leaves_out(path)


def shown_path(path: Path, root: Path) -> str:
    """An absolute path as reports have it: relative to the root if it lies there, with forward slashes."""
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()


class _Search:
    """One search: where it is, what it found, what went wrong."""

    def __init__(self, root: Path, named: list[Path], selection: Selection) -> None:
        self.root = root
        self.named = named
        self.files: dict[Path, FoundFile] = {}
        self.errors: list[ScanError] = []
        self._selection = selection
        self._seen: set[Path] = set()
        self._tops = [os.path.realpath(path) for path in named]
        self._seconds, self._began = 0.0, time.process_time()

    def add_named(self, path: Path) -> None:
        try:
            folder = stat.S_ISDIR(path.stat().st_mode)
        except (OSError, ValueError) as error:
            self._skip(path, why(error))
            return
        if self._selection.force_exclude and self.excludes(path, folder=folder):
            return
        if folder:
            self._walk(path)
        elif path.suffix == _STUB:
            self._skip(path, "a stub file (.pyi): its functions have no code to check")
        elif _may_be_python(path):
            self._add(path)
        else:
            raise ValueError(
                f"{shown_path(path, self.root)}: not a Python file: expected a name that ends with "
                f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, or a first line such as #!/usr/bin/env python3"
            )

    def _walk(self, top: Path) -> None:
        stack = [(top, self._ignores_above(top))]
        while stack:
            folder, ignores = stack.pop()
            if folder in self._seen:
                continue
            self._seen.add(folder)
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except (OSError, ValueError) as error:
                self._skip(folder, why(error))
                continue
            names = {entry.name for entry in entries}
            if "pyvenv.cfg" in names and folder != top:  # a virtual environment of any name
                continue
            if self._selection.gitignore:
                if ".git" in names:  # a nested repository has its own rules
                    ignores = ()
                if _IGNORE_FILE in names:
                    ignores = self._with_ignores(folder, ignores)
            stack += [(Path(entry.path), ignores) for entry in self._enter(entries, ignores)]

    def _enter(
        self, entries: list[os.DirEntry[str]], ignores: tuple[Globs, ...]
    ) -> Iterator[os.DirEntry[str]]:
        """Take the files of a folder, and give the folders in it that are to be searched."""
        for entry in entries:
            try:
                link = entry.is_symlink()
                folder = os.path.isdir(entry.path) if link else entry.is_dir()
            except OSError as error:
                self._skip(Path(entry.path), why(error))
                continue
            python = entry.name.endswith(SUFFIXES)
            if not (folder or link or python) or self._left_out(Path(entry.path), ignores, folder=folder):
                continue
            if link:
                self._look_at_link(Path(entry.path), python=python)
            elif folder:
                yield entry
            else:
                self._add(Path(entry.path))

    def _look_at_link(self, path: Path, *, python: bool) -> None:
        """Say so if a link hides something that would be scanned and is not scanned under another name."""
        target = os.path.realpath(path)
        if any(target == top or target.startswith(os.path.join(top, "")) for top in self._tops):
            if not python or os.path.exists(target):
                return
        elif not python and not os.path.isdir(target):
            return
        leads = "out of what is scanned" if os.path.exists(target) else "to nothing"
        self._skip(path, f"not followed: a link that leads {leads}")

    def _add(self, path: Path) -> None:
        try:
            status = path.stat()
        except (OSError, ValueError) as error:
            self._skip(path, why(error))
            return
        if not stat.S_ISREG(status.st_mode):
            self._skip(path, f"expected a regular file, got {kind_of_file(status.st_mode)}")
            return
        file = FoundFile(shown_path(path, self.root), path)
        most = file.most_bytes(self._selection.max_bytes)
        if status.st_size > most:
            self._skip(path, f"expected at most {most} bytes, got {status.st_size}")
        else:
            self.files[path] = file

    def _left_out(self, path: Path, ignores: Iterable[Globs], *, folder: bool) -> bool:
        with self._counted():
            if self._excluded(path, folder=folder):
                return True
            whole = os.fsencode(path.as_posix())
            verdicts = (globs.verdict(whole, folder=folder) for globs in ignores)
            return next((verdict for verdict in verdicts if verdict is not None), False)

    @contextmanager
    def _counted(self) -> Iterator[None]:
        """Work on patterns; raises ValueError when there was too much of it in all.

        The clock on the wall is a hundred times as quick to read, but also goes on while the machine sleeps.
        """
        start = time.perf_counter()
        yield
        self._seconds += time.perf_counter() - start
        if self._seconds > _MAX_SECONDS and time.process_time() - self._began > _MAX_SECONDS:
            raise ValueError(
                f"{self.root}: matching files against ignore patterns took more than {_MAX_SECONDS:g} s; "
                "try --no-gitignore, --exclude or fewer paths"
            )

    def _excluded(self, path: Path, *, folder: bool) -> bool:
        globs = self._selection.exclude
        verdict = globs.verdict(os.fsencode(path.as_posix()), folder=folder) if globs else None
        if verdict is None:
            verdict = _DEFAULTS.verdict(b"/" + os.fsencode(path.name), folder=folder)
        return bool(verdict)

    def excludes(self, path: Path, *, folder: bool) -> bool:
        inside = [
            parent for parent in path.parents if parent.is_relative_to(self.root) and parent != self.root
        ]
        return self._excluded(path, folder=folder) or any(self._excluded(p, folder=True) for p in inside)

    def leaves_out(self, path: Path) -> bool:
        ignores = self._ignores_above(self.root)
        folder = self.root
        for name in path.relative_to(self.root).parts:
            if self._selection.gitignore:
                ignores = self._with_ignores(folder, () if os.path.lexists(folder / ".git") else ignores)
            folder /= name
            if self._left_out(folder, ignores, folder=folder != path):
                return True
            if folder != path and os.path.lexists(folder / "pyvenv.cfg"):
                return True
        return False

    def _ignores_above(self, top: Path) -> tuple[Globs, ...]:
        """The patterns of the folders above, from the nearest to the root of the repository."""
        if not self._selection.gitignore or os.path.lexists(top / ".git"):
            return ()
        folders = []
        for folder in top.parents:
            folders.append(folder)
            if os.path.lexists(folder / ".git"):
                ignores: tuple[Globs, ...] = ()
                for outer in reversed(folders):
                    ignores = self._with_ignores(outer, ignores)
                return ignores
        return ()

    def _with_ignores(self, folder: Path, above: tuple[Globs, ...]) -> tuple[Globs, ...]:
        """The patterns of the folders above, and before them those of the folder's own ignore file, if it has one."""
        path = folder / _IGNORE_FILE
        if not os.path.lexists(path):
            return above
        try:  # like git, not through a link, which may lead anywhere
            data = read_regular(path, max_bytes=_MAX_IGNORE_BYTES, follow=False)
            with self._counted():
                globs = Globs.read(data, folder)
            count = sum(len(some.patterns) for some in (globs, *above))
            if count > _MAX_PATTERNS:
                raise SkippedFile(f"expected at most {_MAX_PATTERNS} patterns with those above, got {count}")
        except SkippedFile as error:
            self._skip(path, str(error))
            return above
        return (globs, *above)

    def _skip(self, path: Path, reason: str) -> None:
        self.errors.append(ScanError(path=shown_path(path, self.root), rule="HH901", reason=reason))


def _may_be_python(path: Path) -> bool:
    """Whether a named file is read as Python: by its ending, because it has none, or by its first line."""
    if path.name.endswith(SUFFIXES) or not path.suffix or not path.is_file():
        return True
    with suppress(OSError), path.open("rb") as file:
        return _SHEBANG.match(file.read(256)) is not None
    return True


def _absolute(path: str | os.PathLike[str], root: Path) -> Path:
    whole = root / path
    return (
        Path(os.path.realpath(whole)) if ".." in whole.parts else whole
    )  # `link/..` is not where the link is
