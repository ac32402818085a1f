"""Repairs of files: which suggestions go together, what they make of the text, and how it is put in place.

Of the suggestions for one function the surest is taken: the others were made for a function that is then no longer
there, so they wait for the next scan. A file is written only if it still holds the text that was scanned, whole or not
at all; its encoding, byte order mark, line ends and mode stay.
"""

import io
import os
import tokenize
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hyperheat.check.changes import why_not_clean
from hyperheat.check.discover import MAX_BYTES, FoundFile
from hyperheat.check.files import SkippedFile, read_regular, remove_leftovers, write_whole
from hyperheat.pycode import SourceError
from hyperheat.pycode.source import Source
from hyperheat.report.finding import FileEdit, Finding, Fix
from hyperheat.report.source import SourceText

try:
    import fcntl
except ImportError:  # Windows, where two runs at a time are not kept apart
    fcntl = None

__all__ = ["FixError", "Repair", "plan_repair", "write_repair"]


class FixError(ValueError):
    """A file that is not repaired. The message says why, without the name of the file."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """What is to be done to one file: its text, the findings that are repaired, and those that wait."""

    file: FoundFile
    before: SourceText
    done: tuple[Finding, ...]
    left: tuple[Finding, ...]
    fix: Fix
    """The edits of all findings that are repaired."""

    @property
    def after(self) -> str:
        """The text with all edits done."""
        return self.before.edited(self.fix.edits)


def plan_repair(file: FoundFile, text: SourceText, findings: Iterable[Finding]) -> Repair:
    """The repair of a file by its findings, at least one: the surest first, one in a function, without overlap.

    Raises FixError if Python could not read the result.
    """
    done: list[Finding] = []
    left: list[Finding] = []
    edits: tuple[FileEdit, ...] = ()
    for finding in sorted(findings, key=lambda finding: (-finding.confidence, finding.line, finding.column)):
        joined = _joined(edits, finding.fix.edits)
        if joined and all(finding.function != other.function for other in done):
            edits = joined
            done.append(finding)
        else:
            left.append(finding)
    repair = Repair(file=file, before=text, done=tuple(done), left=tuple(left), fix=Fix(edits))
    try:
        Source.read(repair.after).parse()
    except SourceError as error:
        raise FixError(f"expected Python after the repair, got a problem on line {error.line}") from None
    return repair


def write_repair(repair: Repair, *, root: Path, allow_dirty: bool) -> None:
    """Put the repaired text in place of what was scanned; raises FixError and changes nothing if anything differs.

    Only a file that git tracks, without changes, is written, so that the old text can be had again; `allow_dirty`
    does without. A link is followed only inside of `root`.
    """
    path = repair.file.path
    _refuse_links_out(path, root)
    with _locked(path.parent):
        if not allow_dirty and (reason := why_not_clean(path)):
            raise FixError(f"expected a file that is committed (or --allow-dirty), got {reason}")
        try:
            data = read_regular(path, max_bytes=MAX_BYTES)
        except SkippedFile as error:
            raise FixError(str(error)) from None
        after = _repaired_bytes(data, repair)
        if not os.access(path, os.W_OK):
            raise FixError("expected a file that may be written, got one that is read-only")
        try:
            remove_leftovers(path)
            write_whole(path, after)
        except OSError as error:
            raise FixError(f"cannot be written: {error.strerror or error}") from None


def _joined(edits: tuple[FileEdit, ...], more: tuple[FileEdit, ...]) -> tuple[FileEdit, ...] | None:
    """All edits in order, or None if some overlap."""
    joined = sorted((*edits, *more), key=lambda edit: (edit.line, edit.column))
    try:
        return Fix(tuple(joined)).edits
    except ValueError:
        return None


def _refuse_links_out(path: Path, root: Path) -> None:
    real, inside = Path(os.path.realpath(path)), path.is_relative_to(root)
    if path.is_symlink() or inside:
        real_root = os.path.realpath(root)
        if not real.is_relative_to(real_root):
            raise FixError(f"expected a file in {real_root}, got a link to {real}")


def _repaired_bytes(data: bytes, repair: Repair) -> bytes:
    """The repaired contents of a file that holds this data, in its own encoding."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        encoding = encoding.removesuffix("-sig")  # a byte order mark is then a character like others
        text = data.decode(encoding)
        same = text.removeprefix("\ufeff") == repair.before.text.removeprefix("\ufeff")
        if not same or text.encode(encoding) != data:
            raise FixError("expected the text that was scanned, got another: the file has changed")
        after = SourceText(text).edited(repair.fix.edits)
        encoded = after.encode(encoding)
        if encoded.decode(encoding) != after:
            raise FixError(f"expected a repair that can be written in {encoding}, got other text")
    except (SyntaxError, LookupError, UnicodeError) as error:
        raise FixError(f"expected text that can be decoded and encoded again, got: {error}") from None
    return encoded


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other runs from repairing files of a folder; ends with the process at the latest, and leaves no file."""
    if fcntl is None:
        yield
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise FixError(f"cannot be written: {error.strerror or error}") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise FixError("expected nobody else to repair files here, got another run that does") from None
    finally:
        os.close(descriptor)
