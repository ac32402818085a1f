"""Repairs of files: which suggestions are compatible, the repaired text, and how it is written.

Only the most confident suggestion for a function is applied: the others were made for the function before that repair, so
they wait for the next scan. A file is written atomically, and only if it still holds the text that was scanned; its
encoding, byte order mark, line ends and mode are kept. In a notebook only characters of the code change: outputs,
metadata and layout stay as they are, byte for byte.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from hyperheat.check.analysis import read_text
from hyperheat.check.changes import why_not_clean
from hyperheat.check.discovery import MAX_BYTES, FoundFile
from hyperheat.check.notebook import edits_in_notebook, read_notebook
from hyperheat.check.notebook_analysis import find_cell_error
from hyperheat.check.preload import MODULES
from hyperheat.check.scan_work import LIMITS
from hyperheat.files import SkippedFile, read_regular, refuse_links_out, remove_leftovers, write_whole
from hyperheat.pycode import SourceError
from hyperheat.pycode.syntax.python_source import PythonSource
from hyperheat.report.finding import FileEdit, Finding, Fix
from hyperheat.report.source import SourceText
from hyperheat.source_encoding import decode, encode
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost
from hyperheat.workers.pool import run_jobs

try:
    import fcntl
except ImportError:  # Windows, where two runs at a time are not kept apart
    fcntl = None

__all__ = ["FixError", "Repair", "find_problems", "plan_repair", "write_repair"]


class FixError(ValueError):
    """A file that is not repaired. The message says why, without the name of the file."""


@dataclass(frozen=True, kw_only=True)
class Repair:
    """The plan for one file with contents `data`: the findings to repair now, and those to leave for the next scan."""

    file: FoundFile
    data: bytes
    repaired: bytes
    """What the file is to hold."""
    done: tuple[Finding, ...]
    left: tuple[Finding, ...]
    fix: Fix
    """The edits of all findings that are repaired."""

    @cached_property
    def before(self) -> SourceText:
        """The text of the file."""
        return SourceText(decode(self.data)[0])

    @cached_property
    def after(self) -> str:
        """The text with all edits done."""
        return decode(self.repaired)[0]


def plan_repair(file: FoundFile, data: bytes, findings: Iterable[Finding]) -> Repair:
    """The repair of a file by its findings, at least one: the surest first, one in a function, without overlap.

    Raises FixError if the result cannot be written.
    """
    notebook = read_notebook(data) if file.is_notebook else None
    done: list[Finding] = []
    left: list[Finding] = []
    edits: tuple[FileEdit, ...] = ()
    for finding in sorted(findings, key=lambda finding: (-finding.confidence, finding.line, finding.column)):
        own = finding.fix.edits
        if notebook is not None and finding.cell is not None:
            own = edits_in_notebook(notebook, finding.cell, own)
        joined = _joined(edits, own)
        function = finding.cell, finding.function
        if joined and all(function != (other.cell, other.function) for other in done):
            edits = joined
            done.append(finding)
        else:
            left.append(finding)
    fix = Fix(edits)
    repaired = _edited(data, fix)
    return Repair(file=file, data=data, repaired=repaired, done=tuple(done), left=tuple(left), fix=fix)


def find_problems(
    repairs: Iterable[Repair], *, limits: Limits = LIMITS
) -> Iterator[tuple[Repair, str | None]]:
    """Each repair, and why its result is not Python, or None; a process that can be ended reads it."""
    waiting: deque[Repair] = deque()  # there is one worker, so they come back in order

    def results() -> Iterator[_Repaired]:
        for repair in repairs:
            waiting.append(repair)
            cells = frozenset(finding.cell for finding in repair.done if finding.cell is not None)
            yield _Repaired(repair.repaired, cells)

    for _, answer in run_jobs(_read_again, results(), workers=1, limits=limits, preload=MODULES):
        yield waiting.popleft(), answer.reason if isinstance(answer, Lost) else answer


def write_repair(repair: Repair, *, root: Path, allow_dirty: bool) -> None:
    """Put the repaired file in place of the one that was scanned; raises FixError and writes nothing if it differs.

    Only a file that git tracks, without changes, is written, so that the old text can be had again; `allow_dirty`
    does without. A link is followed only inside of `root`.
    """
    try:
        refuse_links_out(repair.file.path, root)
    except OSError as error:
        raise FixError(str(error)) from None
    path = Path(os.path.realpath(repair.file.path))
    with _locked(path.parent):
        if not allow_dirty and (reason := why_not_clean(path)):
            raise FixError(f"{reason}; commit it first, or use --allow-dirty")
        try:
            data = read_regular(path, max_bytes=max(MAX_BYTES, len(repair.data)))
        except SkippedFile as error:
            raise FixError(str(error)) from None
        if data != repair.data:
            raise FixError("the file has changed since it was scanned")
        if not os.access(path, os.W_OK):
            raise FixError("the file is read-only")
        try:
            remove_leftovers(path)
            write_whole(path, repair.repaired)
        except OSError as error:
            raise FixError(f"cannot be written: {error.strerror or error}") from None


class _Repaired(NamedTuple):
    """What a file is to hold, and which cells of it were repaired if it is a notebook."""

    data: bytes
    cells: frozenset[int]


def _read_again(repaired: _Repaired) -> str | None:
    data, cells = repaired
    if cells:
        problem = find_cell_error(data, cells)
        return None if problem is None else f"expected Python after the repair, got: {problem}"
    try:
        PythonSource.read(read_text(data), max_characters=len(data)).parse()
    except SourceError as error:
        return f"expected Python after the repair, got: {error}"
    return None


def _joined(edits: tuple[FileEdit, ...], more: tuple[FileEdit, ...]) -> tuple[FileEdit, ...] | None:
    """All edits in order, or None if some overlap."""
    joined = sorted((*edits, *more), key=lambda edit: (edit.line, edit.column))
    try:
        return Fix(tuple(joined)).edits
    except ValueError:
        return None


def _edited(data: bytes, fix: Fix) -> bytes:
    """The bytes of a file with edits done, in its own encoding, which must lead there and back."""
    text, encoding = decode(data)
    after = SourceText(text).edited(fix.edits)
    try:
        repaired = encode(after, encoding)
        same = encode(text, encoding) == data and decode(repaired) == (after, encoding)
    except (UnicodeError, SyntaxError, LookupError) as error:
        raise FixError(f"the repair cannot be written in {encoding}: {error}") from None
    if not same:
        raise FixError(f"the encoding {encoding} does not lead back to the same bytes")
    return repaired


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
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FixError("another `hyperheat fix` is already running here") from None
        except OSError:  # a file system without locks
            pass
        yield
    finally:
        os.close(descriptor)
