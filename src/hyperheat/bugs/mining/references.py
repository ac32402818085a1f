"""References to fixes: which commit of which repository mended which file, without the sources.

One JSON object a line, gzipped or not, in one of two forms:

    repo, sha, parent, path, kind, before_text, after_text, span, fix_like, ...   what mining writes
    repo, hash, diff, old_path, rewrite                                          as PyPIBugs is published

`repo` is `owner/name`, which means GitHub, or the address of a repository.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperheat.bugs.mining.git import project_name

__all__ = ["Reference", "read_references", "select"]

_GITHUB = "https://github.com/"
_ID = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"(https?|git|ssh)://[^\s]+|git@[^\s:]+:[^\s]+")
_PROJECT = re.compile(r"[\w.-]+/[\w.-]+")
_TAGS = {"fix_like": "fix", "is_test_file": "test", "on_main": "main"}


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A commit, the file that it mends, and what is said about it; `kind` may be unknown."""

    repo: str
    address: str
    sha: str
    parent: str
    path: str
    kind: str = "unknown"
    tags: tuple[str, ...] = ()
    record: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Reference":
        """The reference that a record holds; raises ValueError where a field is missing or wrong."""
        repo = _text(record, "repo").removesuffix(".git").rstrip("/")
        sha = _text(record, "sha", "hash")
        if not _ID.fullmatch(sha):
            raise ValueError(f"sha: expected the id of a commit, got {sha!r}")
        parent = record.get("parent", f"{sha}^")
        if parent != f"{sha}^" and not (isinstance(parent, str) and _ID.fullmatch(parent)):
            raise ValueError(f"parent: expected the id of a commit, got {parent!r}")
        name = repo if _PROJECT.fullmatch(repo) else project_name(repo)
        if not name or ".." in name or not (name == repo or _ADDRESS.fullmatch(repo)):
            raise ValueError(f"repo: expected owner/name or the address of a repository, got {repo!r}")
        return cls(
            repo=name,
            address=_GITHUB + repo if name == repo else repo,
            sha=sha,
            parent=parent,
            path=_path(record),
            kind=str(record.get("kind", "unknown")),
            tags=tuple(tag for name, tag in _TAGS.items() if record.get(name) is True),
            record=record,
        )


def read_references(path: Path) -> list[Reference]:
    """All references of a file; errors name its line."""
    references = []
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError(f"expected a JSON object, got {line.strip()[:60]}")
                references.append(Reference.of(record))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return references


def select(references: Iterable[Reference], where: Iterable[str]) -> list[Reference]:
    """The references whose records have all the values asked for, each as `field=value`."""
    kept = list(references)
    for condition in where:
        name, sign, value = condition.partition("=")
        if not sign:
            raise ValueError(f"where: expected field=value, got {condition!r}")
        fields = {field for reference in kept for field in reference.record}
        if kept and name not in fields:
            raise ValueError(f"where: expected one of the fields {', '.join(sorted(fields))}, got {name!r}")
        kept = [reference for reference in kept if _spelled(reference.record.get(name)) == value]
    return kept


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    try:
        with (gzip.open if is_gzip else open)(path, "rt", encoding="utf-8") as lines:
            yield from lines
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: expected JSON lines, gzipped or not, got: {error}") from None


def _text(record: Mapping[str, Any], *names: str) -> str:
    """The first of some fields that there is, as text that is not empty."""
    value = next((record[name] for name in names if name in record), None)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{names[0]}: expected a text, got {value!r}")
    return value


def _path(record: Mapping[str, Any]) -> str:
    """The path of a file inside of a repository, without parts that mean the folder itself."""
    path = _text(record, "path", "old_path")
    parts = [part for part in path.split("/") if part != "."]
    is_text = "\0" not in path and path.encode(errors="ignore").decode() == path
    if not parts or not is_text or "" in parts or ".." in parts:
        raise ValueError(f"path: expected the path of a file inside of the repository, got {path!r}")
    return "/".join(parts)


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
