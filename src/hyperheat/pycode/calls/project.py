"""An index of a project's modules: which file an import means, and what that file defines.

Building the index only lists files. A file is read and parsed when an import first leads to it, once; a file
that cannot be read or parsed counts as a module about which nothing is known.
"""

import ast
import os
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from hyperheat.pycode.calls.definitions import ModuleDefinitions, define
from hyperheat.pycode.syntax.python_source import PythonSource

__all__ = ["ProjectIndex", "define_file"]

_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist", "venv"})


@dataclass(frozen=True, eq=False)
class ProjectIndex:
    """The modules of a folder by dotted name; several files may claim a name, scripts in different folders."""

    root: Path
    files: dict[str, tuple[Path, ...]] = field(repr=False)
    names: dict[Path, str] = field(repr=False)
    _modules: dict[Path, ModuleDefinitions | None] = field(default_factory=dict, repr=False)

    @classmethod
    def build(cls, root: str | Path) -> "ProjectIndex":
        """List the Python files below a folder, hidden and installed ones left out."""
        top = Path(root).resolve()
        files: dict[str, list[Path]] = {}
        names: dict[Path, str] = {}
        for folder, subfolders, filenames in os.walk(top):
            subfolders[:] = sorted(f for f in subfolders if f not in _SKIPPED and not f.startswith("."))
            here = Path(folder)
            for filename in sorted(filenames):
                if filename.endswith(".py"):
                    path = here / filename
                    names[path] = _dotted(path, top)
                    for name in dict.fromkeys((names[path], _relative(path, top))):
                        files.setdefault(name, []).append(path)
        return cls(top, {name: tuple(paths) for name, paths in files.items()}, names)

    def define(self, tree: ast.Module, path: str | Path) -> ModuleDefinitions:
        """Say what a module defines whose file is, or will be, at `path` in the project."""
        resolved = Path(path).resolve()
        name = self.names.get(resolved) or _dotted(resolved, self.root)
        return define(tree, name=name, is_package=resolved.name == "__init__.py")

    def module(self, name: str, importer: ModuleDefinitions | None = None) -> ModuleDefinitions | None:
        """The module that an import of a dotted name means, seen from the importing module."""
        paths = self.files.get(name, ())
        if len(paths) == 0:
            return self._namespaces.get(name)
        if len(paths) > 1:
            return self._nearest(paths, importer)
        return self._load(paths[0])

    @cached_property
    def _namespaces(self) -> dict[str, ModuleDefinitions]:
        """The packages that have no `__init__.py`, by name."""
        parents = {name.rpartition(".")[0] for name in self.files if "." in name}
        empty = ast.Module(body=[], type_ignores=[])
        return {name: define(empty, name=name, is_package=True) for name in sorted(parents - set(self.files))}

    @cached_property
    def is_standard_library(self) -> bool:
        """Whether the folder is the standard library of some Python itself."""
        return {"abc", "codecs", "os", "site", "stat"} <= self.files.keys()

    def _nearest(
        self, paths: tuple[Path, ...], importer: ModuleDefinitions | None
    ) -> ModuleDefinitions | None:
        """Of several files that claim one name, the one beside the importing file; else none."""
        if importer is None or not importer.name:
            return None
        beside = {path.parent for path in self.files.get(importer.name, ())}
        found = [path for path in paths if path.parent in beside]
        return self._load(found[0]) if len(found) == 1 else None

    def _load(self, path: Path) -> ModuleDefinitions | None:
        if path not in self._modules:
            tree = _parse(path)
            self._modules[path] = None if tree is None else self.define(tree, path)
        return self._modules[path]


def define_file(tree: ast.Module, path: str | Path | None, project: ProjectIndex | None) -> ModuleDefinitions:
    """Say what a file defines; its place on disk tells the packages around it, for relative imports."""
    if project is not None and path is not None:
        return project.define(tree, path)
    if path is None:
        return define(tree)
    resolved = Path(path).resolve()
    name = _dotted(resolved, Path(resolved.anchor))
    return define(tree, name=name, is_package=resolved.name == "__init__.py")


def _dotted(path: Path, top: Path) -> str:
    """The name under which a file is imported: from the folder above its outermost package."""
    parts = [] if path.name == "__init__.py" else [path.stem]
    folder = path.parent
    while folder != top.parent and (folder / "__init__.py").exists():
        parts.append(folder.name)
        folder = folder.parent
    return ".".join(reversed(parts)) or path.parent.name


def _relative(path: Path, top: Path) -> str:
    """The name of a file counted from the project's folder, for packages without `__init__.py`."""
    parts = path.relative_to(top).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or path.parent.name


def _parse(path: Path) -> ast.Module | None:
    try:
        text = PythonSource.read(path.read_bytes(), str(path)).text
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None
