"""Which packages a corpus is made of: lists of names, folders of sources, exclusions, and the split."""

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "CorpusError",
    "Package",
    "PassingError",
    "normalise",
    "read_names",
    "source_packages",
    "split_of",
    "without",
]

_REQUIREMENT = re.compile(r"([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\s*==\s*([A-Za-z0-9.+!_-]+))?")
_SPLITS = (("train", 0.8), ("valid", 0.9), ("test", 1.0))


class CorpusError(ValueError):
    """A corpus cannot be built as requested; the message is one sentence."""


class PassingError(CorpusError):
    """A failure that says nothing about a package, such as no network: a retry may succeed."""


@dataclass(frozen=True, kw_only=True)
class Package:
    """One package: downloaded by name, in the version asked for if any, or read from a folder."""

    name: str
    version: str = ""
    folder: str = ""

    @classmethod
    def named(cls, text: str) -> "Package":
        """Parse `name` or `name==version`."""
        match = _REQUIREMENT.fullmatch(text)
        if match is None:
            raise CorpusError(f"expected `name` or `name==version`, got {text!r}")
        return cls(name=normalise(match[1]), version=match[2] or "")


def normalise(name: str) -> str:
    """The normal form of a package name: lower case, runs of `-`, `_` and `.` as one `-`."""
    return re.sub(r"[-_.]+", "-", name).strip("-").lower()


def read_names(path: Path) -> list[Package]:
    """The packages in a file with one `name` or `name==version` per line and comments after `#`, sorted by name."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        line = 1 + error.object[: error.start].count(b"\n")
        raise CorpusError(f"{path}:{line}: not valid UTF-8") from None
    found: dict[str, Package] = {}
    for number, line in enumerate(lines, start=1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            package = Package.named(text)
        except CorpusError as error:
            raise CorpusError(f"{path}:{number}: {error}") from None
        if found.setdefault(package.name, package) != package:
            raise CorpusError(f"{path}:{number}: {package.name} is already listed with another version")
    if not found:
        raise CorpusError(f"{path}: no package names")
    return [found[name] for name in sorted(found)]


def source_packages(root: Path) -> list[Package]:
    """Every direct sub-folder with Python files, or the folder itself if it has Python files."""
    if not root.is_dir():
        raise CorpusError(f"{root} is not a folder")
    folders = [root] if any(root.glob("*.py")) else sorted(path for path in root.iterdir() if path.is_dir())
    found: dict[str, Package] = {}
    for folder in folders:
        if folder.name.startswith(".") or not any(folder.rglob("*.py")):
            continue
        package = Package(name=normalise(folder.resolve().name), folder=str(folder.resolve()))
        if package.name in found:
            raise CorpusError(f"{root}: two folders have the name {package.name}")
        found[package.name] = package
    if not found:
        raise CorpusError(f"{root}: no Python files")
    return [found[name] for name in sorted(found)]


def without(packages: list[Package], excluded: list[Package]) -> list[Package]:
    """The packages whose names are not excluded."""
    names = {package.name for package in excluded}
    left = [package for package in packages if package.name not in names]
    if not left:
        raise CorpusError(f"all packages are excluded by the {len(names)} excluded names")
    return left


def split_of(name: str, seed: int) -> str:
    """The split of a package: about 80 % train, 10 % valid, 10 % test, independent of other packages."""
    digest = hashlib.sha256(f"{seed}\0{normalise(name)}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return next(split for split, end in _SPLITS if place < end)
