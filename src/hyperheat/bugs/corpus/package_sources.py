"""The Python files of a package, from its wheel or from a folder, never imported or run.

Wheels are fetched with pip as the user has configured it, and never installed or built. Source archives are not used:
pip would run their set-up code to read the metadata.

A wheel is read in memory. A package that tries to write outside its folder or to fill the memory is rejected as
malicious. Vendored, generated, test and documentation files are left out and counted.
"""

import hashlib
import lzma
import os
import re
import stat
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from hyperheat.bugs.corpus.packages import CorpusError, Package, PassingError
from hyperheat.bugs.corpus.workspace import load_record, save_record
from hyperheat.files import file_sha256

__all__ = [
    "BROKEN_ARCHIVE",
    "GENERATED",
    "MAX_FILE_BYTES",
    "MAX_MEMBERS",
    "MAX_RATIO",
    "MAX_TOTAL_BYTES",
    "PARTIAL",
    "PackageSources",
    "checked_members",
    "fetch_wheel",
    "is_generated",
    "is_inside",
    "read_folder",
    "read_wheel",
    "reason_by_name",
]

PARTIAL = ".part"
"""The suffix of folders that downloads are written to."""

_ATTEMPTS = 3
_DOWNLOAD_SECONDS = 180
_NOT_THERE = ("No matching distribution", "Could not find a version")
_HOPELESS = (*_NOT_THERE, "is invalid")
_NO_CONNECTION = "after connection broken by"
"""A warning of pip; without a network, it then says that there is no such package."""


def fetch_wheel(package: Package, folder: Path) -> tuple[Path, dict[str, str]]:
    """The wheel of a package in a folder of archives, with its version and hash; it is downloaded only once."""
    record = folder / f"{package.name}.json"
    if record.exists():
        facts = load_record(record)
        wheel = folder / facts["archive"]
        if wheel.exists() and file_sha256(wheel) == facts["sha256"]:
            return wheel, facts
    # A new folder for every attempt: the pip of a killed worker may still write to the last one.
    with TemporaryDirectory(
        dir=folder, prefix=f".{package.name}.", suffix=PARTIAL, ignore_cleanup_errors=True
    ) as fresh:
        _download(package, Path(fresh))
        wheels = sorted(Path(fresh).glob("*.whl"))
        if len(wheels) != 1:
            raise CorpusError(f"pip downloaded {len(wheels)} wheels instead of one")
        wheel = folder / wheels[0].name
        facts = {"archive": wheel.name, "version": wheel.name.split("-")[1], "sha256": file_sha256(wheels[0])}
        wheels[0].replace(wheel)
    save_record(record, facts)
    return wheel, facts


def _download(package: Package, folder: Path) -> None:
    name = f"{package.name}=={package.version}" if package.version else package.name
    options = ["--no-deps", "--only-binary", ":all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    # -P: pip of this Python, not a pip.py in the current folder.
    command = [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(folder), name]
    problem = ""
    for attempt in range(_ATTEMPTS):
        time.sleep(2.0 * attempt)
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_DOWNLOAD_SECONDS,
                env={**os.environ, "PIP_PROGRESS_BAR": "off"},
            )
        except subprocess.TimeoutExpired:
            problem = f"the download took more than {_DOWNLOAD_SECONDS} s"
            continue
        if done.returncode == 0:
            return
        problem = _last_error(done.stderr)
        if any(text in done.stderr for text in _NOT_THERE):
            problem = f"no wheel found ({problem})"
        if _NO_CONNECTION in done.stderr:
            problem = "the download failed: no connection"
        elif any(text in done.stderr for text in _HOPELESS):
            raise CorpusError(problem)
    raise PassingError(problem)


def _last_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return (errors or lines or ["pip gave no reason"])[-1][:300]


MAX_MEMBERS = 50_000
MAX_FILE_BYTES = 4_000_000
MAX_TOTAL_BYTES = 400_000_000
MAX_RATIO = 200
"""Of uncompressed to compressed size, for files over MIN_RATIO_BYTES."""
MIN_RATIO_BYTES = 100_000

_VENDORED = frozenset(
    {
        "_vendor",
        "_vendored",
        "vendor",
        "vendored",
        "vendors",
        "third_party",
        "thirdparty",
        "extern",
        "externals",
    }
    | {"site-packages", "node_modules", "_vendor_", "packages_vendored", "bundled", "patched"}
)
_VENDORED_ENDS = ("_third_party", "_vendor", "_vendored")
_TESTS = frozenset({"test", "tests"})
_DOCS = frozenset({"doc", "docs", "documentation"})
_TEST_FILE = re.compile(r"test_.*\.py|.*_tests?\.py|tests?\.py|conftest\.py")
_GENERATED_FILE = re.compile(r".*_pb2(_grpc)?\.py|_version\.py|versioneer\.py")
_GENERATED_TEXT = re.compile(rb"(?i)\bdo not edit\b|@generated|autogenerated by|automatically generated")
_HEAD = 500
BROKEN_ARCHIVE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError),
    *(NotImplementedError, RuntimeError, ValueError, LookupError, OverflowError, MemoryError),
)
"""What zipfile and the libraries below it raise for broken archives."""
_MAX_PATH, _MAX_NAME = 1000, 255
"""In bytes; every file system allows these."""
_TOO_LONG = "files: too long"
GENERATED = "files: generated"
_UNREADABLE = "files: not readable"


@dataclass(frozen=True, kw_only=True)
class PackageSources:
    """The files of a package by path, the hash of them all, and how many were left out, by reason."""

    files: dict[str, bytes] = field(repr=False)
    sha256: str
    dropped: Counter[str]

    @classmethod
    def of(cls, files: Mapping[str, bytes], dropped: Counter[str]) -> "PackageSources":
        """Sources from files, sorted by path; files below another file, which no disk can hold, are left out."""
        dropped = Counter(dropped)
        below = set(_below_files(files))
        dropped["files: below another file"] += len(below)
        ordered = {path: files[path] for path in sorted(files.keys() - below)}
        digest = hashlib.sha256()
        for path, content in ordered.items():
            digest.update(f"{path}\0{len(content)}\0".encode())
            digest.update(content)
        return cls(files=ordered, sha256=digest.hexdigest(), dropped=+dropped)

    def unpack(self, folder: Path) -> None:
        """Write the files into a folder; their paths were checked when they were read."""
        for path, content in self.files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)


def read_wheel(path: Path, *, with_tests: bool = False) -> PackageSources:
    """Read the Python files of a wheel; raises CorpusError if the archive is broken or hostile."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = checked_members(archive.infolist())
            return _collect(((m.filename, _read(archive, m)) for m in members), with_tests=with_tests)
    except (CorpusError, FileNotFoundError):
        raise
    except BROKEN_ARCHIVE as error:
        raise CorpusError(f"not a readable zip archive: {error}") from None


def read_folder(root: Path, *, with_tests: bool = False) -> PackageSources:
    """Read the Python files below a folder; links are not followed."""
    return _collect(_walk(root), with_tests=with_tests)


def checked_members(members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """The Python files among the members, after checking all members; raises CorpusError."""
    if len(members) > MAX_MEMBERS:
        raise CorpusError(f"the archive has {len(members)} members, more than {MAX_MEMBERS}")
    for member in members:
        name = member.filename
        if not is_inside(name):
            raise CorpusError(f"the archive has a path outside the package: {name!r}")
        if stat.S_ISLNK(member.external_attr >> 16):
            raise CorpusError(f"the archive has a link: {name!r}")
    files = {member.filename: member for member in members if member.filename.endswith(".py")}
    total = sum(member.file_size for member in files.values())
    if total > MAX_TOTAL_BYTES:
        raise CorpusError(f"the archive has {total} bytes of Python, more than {MAX_TOTAL_BYTES}")
    for name, member in files.items():
        if member.file_size > MIN_RATIO_BYTES and member.file_size > MAX_RATIO * max(member.compress_size, 1):
            raise CorpusError(f"{name!r} is compressed more than {MAX_RATIO}-fold")
    return list(files.values())


def is_inside(path: str) -> bool:
    """Whether a member of an archive stays inside the folder that the archive is unpacked to."""
    parts = path.split("/")
    return not (path.startswith("/") or "\\" in path or ".." in parts or ":" in parts[0] or "\0" in path)


def _read(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes | str:
    """A member, or the reason to drop it if it is too long; the size in the archive is not trusted."""
    if member.file_size > MAX_FILE_BYTES:
        return _TOO_LONG
    with archive.open(member) as file:
        content = file.read(MAX_FILE_BYTES + 1)
    return _TOO_LONG if len(content) > MAX_FILE_BYTES else content


def _walk(root: Path) -> Iterator[tuple[str, bytes | str]]:
    total = 0
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if not name.startswith((".", "__pycache__")))
        for name in sorted(names):
            path = Path(folder) / name
            if not name.endswith(".py") or path.is_symlink() or not path.is_file():
                continue
            size = path.stat().st_size
            total += size
            if total > MAX_TOTAL_BYTES:
                raise CorpusError(f"{root} has more than {MAX_TOTAL_BYTES} bytes of Python")
            yield path.relative_to(root).as_posix(), _TOO_LONG if size > MAX_FILE_BYTES else _content(path)


def _content(path: Path) -> bytes | str:
    """A file, or the reason to drop it if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return _UNREADABLE


def _collect(found: Iterable[tuple[str, bytes | str]], *, with_tests: bool) -> PackageSources:
    """The files to use; `found` has the content of each, or the reason to drop it."""
    files: dict[str, bytes] = {}
    dropped: Counter[str] = Counter()
    for path, content in found:
        reason = reason_by_name(path, with_tests=with_tests)
        if not reason and isinstance(content, str):
            reason = content
        elif not reason and isinstance(content, bytes) and is_generated(content):
            reason = GENERATED
        if reason:
            dropped[reason] += 1
        elif isinstance(content, bytes):
            files[path] = content
    return PackageSources.of(files, dropped)


def _below_files(paths: Iterable[str]) -> list[str]:
    """The paths that have another path as a folder, which an archive can hold but a disk cannot."""
    files = {PurePosixPath(path): path for path in paths}
    return [path for pure, path in files.items() if not files.keys().isdisjoint(pure.parents)]


def reason_by_name(path: str, *, with_tests: bool = False) -> str:
    """Why a file is left out because of its path; empty if it is not."""
    *folders, name = path.split("/")
    if not _is_text(path):
        return "files: name not readable"
    if len(path.encode()) > _MAX_PATH or any(len(part.encode()) > _MAX_NAME for part in (*folders, name)):
        return "files: name too long"
    if any(folder in _VENDORED or folder.endswith(_VENDORED_ENDS) for folder in folders):
        return "files: vendored"
    if not with_tests and (not _TESTS.isdisjoint(folders) or _TEST_FILE.fullmatch(name)):
        return "files: tests"
    if not _DOCS.isdisjoint(folders[:2]):
        return "files: documentation"
    return GENERATED if _GENERATED_FILE.fullmatch(name) else ""


def is_generated(content: bytes) -> bool:
    """Whether the first lines of a file say that it was generated."""
    return _GENERATED_TEXT.search(content[:_HEAD]) is not None


def _is_text(name: str) -> bool:
    """Whether a name is valid Unicode; bytes that are not UTF-8 come from the disk as lone surrogates."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)
