"""References to fixes: which commit or release fixed which function, without the sources.

One JSON object a line, gzipped or not, in one of three forms:

    repo, sha, parent, path, kind, before_text, after_text, span, fix_like, ...     a commit, as mining writes it
    package, before, after, archive, sha256, path, function, kind, span, ...        a release, as mining writes it
    repo, hash, diff, old_path, rewrite                                             as PyPIBugs is published

`repo` is `owner/name` on GitHub, or the address of a repository. A reference may name the `split` of its samples;
without it they are for testing.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperheat.bugs.corpus.packages import normalise
from hyperheat.bugs.dataset import SPLITS
from hyperheat.bugs.mining.repository import project_name
from hyperheat.detector.sample import LIKELY
from hyperheat.files import whole_file

__all__ = [
    "AnyReference",
    "Reference",
    "ReleaseReference",
    "read_records",
    "read_references",
    "select",
    "write_records",
]

_GITHUB = "https://github.com/"
_ID = re.compile(r"[0-9a-f]{7,64}")
_ADDRESS = re.compile(r"(https?|git|ssh)://[^\s]+|git@[^\s:]+:[^\s]+")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,100}[A-Za-z0-9])?")
_PROJECT = re.compile(r"[\w.-]+/[\w.-]+")
_VERSION = re.compile(r"[A-Za-z0-9.+!_-]{1,100}")
_ARCHIVE = re.compile(r"[\w.+!-]{1,300}\.(whl|tar\.gz|zip)")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_TAGS = {"fix_like": "fix", "is_test_file": "test", "on_main": "main"}


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A commit, the file that it fixes, and its record; `kind` may be unknown."""

    repo: str
    address: str
    sha: str
    parent: str
    path: str
    kind: str = "unknown"
    tags: tuple[str, ...] = ()
    split: str = "test"
    record: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def project(self) -> str:
        """The repository."""
        return self.repo

    @property
    def where(self) -> dict[str, str]:
        """The fields that identify the reference."""
        return {"repo": self.repo, "sha": self.sha, "path": self.path}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Reference":
        """Parse a record; raises ValueError if a field is missing or wrong."""
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
            tags=(*(tag for name, tag in _TAGS.items() if record.get(name) is True), *_likely(record)),
            split=_split(record),
            record=record,
        )


@dataclass(frozen=True, kw_only=True)
class ReleaseReference:
    """A function of a release, and the rewrite that fixes it in the next release."""

    package: str
    before: str
    archive: str
    """The file name of the release with the bug."""
    sha256: str
    path: str
    function: str
    start_line: int
    span: tuple[int, int, int, int]
    after_text: str
    kind: str
    tags: tuple[str, ...] = ()
    split: str = "test"
    record: Mapping[str, Any] = field(repr=False, compare=False)

    @property
    def project(self) -> str:
        """The package."""
        return self.package

    @property
    def where(self) -> dict[str, str]:
        """The fields that identify the reference."""
        return {"package": self.package, "release": self.before, "path": self.path, "function": self.function}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "ReleaseReference":
        """Parse a record; raises ValueError if a field is missing or wrong."""
        span, line = record.get("span"), record.get("start_line")
        if not (isinstance(span, list) and len(span) == 4 and all(type(place) is int for place in span)):
            raise ValueError(f"span: expected four numbers, got {span!r}")
        if type(line) is not int:
            raise ValueError(f"start_line: expected a number, got {line!r}")
        if not isinstance(record.get("after_text"), str):
            raise ValueError(f"after_text: expected a text, got {record.get('after_text')!r}")
        return cls(
            package=normalise(_like(record, "package", _NAME)),
            before=_like(record, "before", _VERSION),
            archive=_like(record, "archive", _ARCHIVE),
            sha256=_like(record, "sha256", _SHA256),
            path=_path(record),
            function=_text(record, "function"),
            start_line=line,
            span=(span[0], span[1], span[2], span[3]),
            after_text=record["after_text"],
            kind=_text(record, "kind"),
            tags=("released", *_likely(record)),
            split=_split(record),
            record=record,
        )


AnyReference = Reference | ReleaseReference


def read_references(path: Path) -> list[AnyReference]:
    """All references in a file; errors name the line."""
    references: list[AnyReference] = []
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError(f"expected a JSON object, got {line.strip()[:60]}")
                references.append((ReleaseReference if "package" in record else Reference).of(record))
            except ValueError as error:
                raise ValueError(f"{path}:{number}: {error}") from None
    return references


def select(references: Iterable[AnyReference], where: Iterable[str]) -> list[AnyReference]:
    """The references whose records match all conditions of the form `field=value`."""
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


def read_records(path: Path) -> list[dict[str, Any]]:
    """The records in a file, which must all be valid references."""
    return [dict(reference.record) for reference in read_references(path)]


def write_records(records: Iterable[Mapping[str, Any]], path: Path) -> None:
    """Write a list of references, gzipped; equal lists give equal bytes."""
    lines = "".join(json.dumps(dict(record), ensure_ascii=False) + "\n" for record in records)
    with whole_file(path) as temporary:
        temporary.write_bytes(gzip.compress(lines.encode(), mtime=0))


def _lines(path: Path) -> Iterator[str]:
    with path.open("rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    try:
        with (gzip.open if is_gzip else open)(path, "rt", encoding="utf-8") as lines:
            yield from lines
    except (EOFError, gzip.BadGzipFile, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a file of JSON lines, gzipped or not: {error}") from None


def _text(record: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that exists, as non-empty text."""
    value = next((record[name] for name in names if name in record), None)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{names[0]}: expected a text, got {value!r}")
    return value


def _like(record: Mapping[str, Any], name: str, form: re.Pattern[str]) -> str:
    text = _text(record, name)
    if not form.fullmatch(text):
        raise ValueError(f"{name}: expected text of the form {form.pattern}, got {text[:100]!r}")
    return text


def _likely(record: Mapping[str, Any]) -> tuple[str, ...]:
    """The tag of a record that is more likely a bug than not."""
    weight = record.get("weight")
    return (LIKELY,) if isinstance(weight, int | float) and weight >= 0.5 else ()


def _split(record: Mapping[str, Any]) -> str:
    split = record.get("split", "test")
    if split not in SPLITS:
        raise ValueError(f"split: expected one of {', '.join(SPLITS)}, got {split!r}")
    return split


def _path(record: Mapping[str, Any]) -> str:
    """The path of a file inside a repository, without `.` parts."""
    path = _text(record, "path", "old_path")
    parts = [part for part in path.split("/") if part != "."]
    is_text = "\0" not in path and path.encode(errors="ignore").decode() == path
    if not parts or not is_text or "" in parts or ".." in parts:
        raise ValueError(f"path: expected the path of a file inside the repository, got {path!r}")
    return "/".join(parts)


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
