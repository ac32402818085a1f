"""The Python files of a release, read from its archive in memory, each when it is needed.

A wheel lists the checksums of its files, so files that two releases share are recognised without unpacking.
A tar archive is unpacked as a whole, and its Python files stay in memory. The limits are those of `corpus.package_sources`;
tests, documentation, vendored and generated files are left out. Paths are those of the package: without the folder
that a source archive has around all files, and without a leading `src/`.
"""

import gzip
import io
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from hyperheat.bugs.corpus.package_sources import (
    BROKEN_ARCHIVE,
    MAX_FILE_BYTES,
    MAX_MEMBERS,
    MAX_RATIO,
    MAX_TOTAL_BYTES,
    PackageSources,
    checked_members,
    is_generated,
    is_inside,
    reason_by_name,
)
from hyperheat.bugs.corpus.packages import CorpusError

__all__ = ["Archive", "Member", "open_archive"]

MAX_UNPACKED_BYTES = 1_000_000_000
"""The unpacked size of a source archive; for small archives the limit is lower."""
_SMALL = 100_000_000
_BLOCK = 1 << 16

_BROKEN = (*BROKEN_ARCHIVE, tarfile.TarError)


@dataclass(frozen=True)
class Member:
    """A file of an archive; equal checksums and sizes mean equal contents."""

    key: tuple[int, int]
    read: Callable[[], bytes] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Archive:
    """The Python files of a release by path, and how many were left out, by reason."""

    members: dict[str, Member]
    dropped: Counter[str]

    def read(self, path: str) -> bytes | None:
        """The contents of a file; None if it is generated or broken."""
        try:
            contents = self.members[path].read()
        except _BROKEN:
            return None
        return None if is_generated(contents) else contents

    def sources(self) -> PackageSources:
        """All files with their contents."""
        files = {path: contents for path in self.members if (contents := self.read(path)) is not None}
        dropped = self.dropped + Counter({"files: generated or not readable": len(self.members) - len(files)})
        return PackageSources.of(files, dropped)


def open_archive(file: str, contents: bytes) -> Archive:
    """Open the archive of a release; raises CorpusError if it is broken or hostile."""
    try:
        if file.endswith((".whl", ".zip")):
            return _open_zip(zipfile.ZipFile(io.BytesIO(contents)), has_top=not file.endswith(".whl"))
        return _open_tar(contents)
    except CorpusError:
        raise
    except _BROKEN as error:
        raise CorpusError(f"{file} is broken: {error or type(error).__name__}") from None


def _open_zip(archive: zipfile.ZipFile, *, has_top: bool) -> Archive:
    members, dropped = {}, Counter[str]()
    for info in checked_members(archive.infolist()):
        path = _path(info.filename, has_top=has_top)
        reason = "files: too long" if info.file_size > MAX_FILE_BYTES else reason_by_name(path)
        if reason:
            dropped[reason] += 1
        else:
            members[path] = Member((info.CRC, info.file_size), partial(_read_member, archive, info))
    return Archive(members, dropped)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as file:
        return file.read(info.file_size)  # which also compares the checksum


def _open_tar(contents: bytes) -> Archive:
    members, dropped = {}, Counter[str]()
    count = total = 0
    with (
        gzip.GzipFile(fileobj=io.BytesIO(contents)) as unpacked,
        tarfile.open(fileobj=_Limited(unpacked, len(contents)), mode="r|", bufsize=_BLOCK) as archive,
    ):
        while (info := archive.next()) is not None:
            archive.members.clear()  # pyright: ignore[reportAttributeAccessIssue], or it grows with every file
            count += 1
            if count > MAX_MEMBERS:
                raise CorpusError(f"the archive has more than {MAX_MEMBERS:,} members")
            if not info.isreg() or not info.name.endswith(".py"):
                continue
            if not is_inside(info.name):
                raise CorpusError(f"the archive has a path outside the package: {info.name!r}")
            path = _path(info.name, has_top=True)
            reason = "files: too long" if info.size > MAX_FILE_BYTES else reason_by_name(path)
            if reason:
                dropped[reason] += 1
                continue
            total += info.size
            if total > MAX_TOTAL_BYTES:
                raise CorpusError(f"the archive has more than {MAX_TOTAL_BYTES:,} bytes of Python")
            file = archive.extractfile(info)
            text = file.read() if file else b""
            members[path] = Member((zlib.crc32(text), len(text)), partial(bytes, text))
    return Archive(members, dropped)


class _Limited(io.RawIOBase):
    """An unpacked stream that raises CorpusError when it grows beyond the limit."""

    def __init__(self, stream: gzip.GzipFile, packed: int) -> None:
        self._stream = stream
        self._most = self._left = min(max(_SMALL, MAX_RATIO * packed), MAX_UNPACKED_BYTES)

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._left -= len(data)
        if self._left < 0:
            raise CorpusError(f"the archive unpacks to more than {self._most:,} bytes")
        return data


def _path(name: str, *, has_top: bool) -> str:
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if has_top and len(parts) > 1:
        del parts[0]
    if parts[0] == "src" and len(parts) > 1:
        del parts[0]
    return "/".join(parts)
