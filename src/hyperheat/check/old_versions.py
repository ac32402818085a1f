"""Earlier versions of files, scanned like the files themselves, to see which findings rose.

    rises = find_rises(files, changes, detector, jobs=2, cache=cache)
    rises.of[finding].rose

Only files with something to report are compared, and of their earlier versions only functions that are no longer the same
are scored. Functions that are not in the earlier version of their own file are then looked for in those of other files
that changed. What cannot be compared counts as new, and a note says so.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from hyperheat.check.cache import Cache, Entry
from hyperheat.check.changes import Changes, OldFile, read_old_files
from hyperheat.check.discovery import MAX_BYTES, FoundFile
from hyperheat.check.filters import changed_functions
from hyperheat.check.records import FileRecord, PartialRecord, Wanted, key_of_lines
from hyperheat.check.rises import Rise, compare_function, has_match
from hyperheat.check.scan import is_final, make_entry, record_of
from hyperheat.check.scan_work import LIMITS, run_in_workers, score_in_worker
from hyperheat.check.scanned_files import ScannedFile, ScannedFunction, sha256_of
from hyperheat.detector.detector import Detector
from hyperheat.report.finding import Finding
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost

__all__ = ["Rises", "changes_in_text", "find_rises"]

_NOTHING = FileRecord()


@dataclass(frozen=True, slots=True)
class Rises:
    """What became of findings since an earlier version, and sentences about what could not be compared.

    Findings that are less likely than the assumed share of functions with a bug are not compared.
    """

    of: Mapping[Finding, Rise] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _OldJob:
    """An earlier version for a worker: its contents, and the functions whose results are not needed, by their digests.

    `same` are digests of functions that are in the file now, by the key of their lines; the worker does not even read them.
    """

    file: OldFile
    data: bytes
    known: frozenset[str]
    same: Mapping[str, str]
    wanted: Wanted | None = None


@dataclass(frozen=True, slots=True)
class _OldWork:
    """What a worker does with an earlier version."""

    detector: Detector
    limits: Limits
    max_bytes: int

    def __call__(self, job: _OldJob) -> Iterator[PartialRecord | None]:
        from hyperheat.check.analysis import Detail, analyse_parts
        from hyperheat.check.notebook_analysis import analyse_notebook

        score = partial(score_in_worker, self.detector, self.limits)
        most, calibration = self.max_bytes, self.detector.calibration
        detail = Detail(compared=True, wanted=job.wanted)
        if job.file.found.is_notebook:
            return analyse_notebook(
                job.data, job.known, score, calibration, max_characters=most, detail=detail
            )
        return analyse_parts(
            job.data, job.known, score, calibration, guesses=job.same, max_characters=most, detail=detail
        )


def find_rises(
    files: Sequence[ScannedFile],
    changes: Changes,
    detector: Detector,
    *,
    jobs: int,
    cache: Cache | None = None,
    limits: Limits = LIMITS,
    max_bytes: int = MAX_BYTES,
) -> Rises:
    """Compare all findings in functions that changed with the earlier versions of these functions."""
    asked = {file.path: functions for file in files if (functions := _to_compare(file, changes, detector))}
    if not asked:
        return Rises()
    scan = _OldScan(detector, jobs, cache, limits, max_bytes)
    unchanged = {old: _functions_now(file) for file in files if (old := changes.before(file.file.path))}
    before = {file.path: changes.before(file.file.path) for file in files if file.path in asked}
    own = scan.read({old: unchanged[old] for old in before.values() if old is not None})
    lost = [
        function
        for path, functions in asked.items()
        for function in functions
        if not has_match(function, _record_of(before[path], own))
    ]
    found = dict(own)
    if lost:
        others = {*changes.old.values(), *changes.removed}.difference(own)
        found |= scan.search({old: unchanged.get(old, {}) for old in others}, lost)
    elsewhere = {old: _without_unchanged(record) for old, record in found.items()}
    rises: dict[Finding, Rise] = {}
    for path, functions in asked.items():
        mine = _record_of(before[path], own)
        theirs = [record for old, record in elsewhere.items() if old != before[path]]
        for function in functions:
            compared = compare_function(function, mine, theirs, detector.calibration)
            rises.update(zip((suspect.finding for suspect in function.suspects), compared, strict=True))
    return Rises(rises, tuple(sorted(scan.notes)))


def _record_of(old: OldFile | None, records: Mapping[OldFile, FileRecord]) -> FileRecord:
    return _NOTHING if old is None else records.get(old, _NOTHING)


def _without_unchanged(record: FileRecord) -> FileRecord:
    """The functions that are no longer in their file as they were: these may have moved, others are copied at most."""
    return replace(record, functions=tuple(f for f in record.functions if f.digest in record.known))


def changes_in_text(
    file: ScannedFile,
    changes: Changes,
    detector: Detector,
    *,
    cache: Cache | None = None,
    limits: Limits = LIMITS,
    max_bytes: int = MAX_BYTES,
) -> Changes:
    """What changed in a text that need not be on disk: functions that are not in the earlier version of its file."""
    real = Path(os.path.realpath(file.file.path))
    old = changes.find_before(real)
    same: set[str] = set()
    if old is not None:
        scan = _OldScan(detector, 1, cache, limits, max_bytes)
        version = scan.read({old: _functions_now(file)}).get(old, _NOTHING)
        same = {function.digest for function in version.functions}
    changed = tuple(range(f.line, f.end_line + 1) for f in file.functions if f.digest not in same)
    return replace(
        changes,
        lines={**changes.lines, real: changed},
        new=changes.new - {real},
        old={**changes.old, real: old} if old else changes.old,
    )


def _functions_now(file: ScannedFile) -> Mapping[str, str]:
    """The digests of a file's functions by the keys of their lines; by themselves if there are no such lines."""
    text = None if file.cells else file.text()
    if text is None:
        return {function.digest: function.digest for function in file.functions}
    return {key_of_lines(f.name, text.lines(f.line, f.end_line)): f.digest for f in file.functions}


def _to_compare(file: ScannedFile, changes: Changes, detector: Detector) -> list[ScannedFunction]:
    """The functions of a file that changed and have something to report."""
    least = detector.calibration.bug_rate
    return [
        function
        for function in changed_functions(file, changes)
        if any(suspect.confidence >= least for suspect in function.suspects)
    ]


class _OldScan:
    """Reads and scans earlier versions."""

    def __init__(
        self, detector: Detector, jobs: int, cache: Cache | None, limits: Limits, max_bytes: int
    ) -> None:
        self.notes: set[str] = set()
        self._detector, self._jobs, self._limits, self._max_bytes = detector, jobs, limits, max_bytes
        self._cache = cache

    def read(self, files: Mapping[OldFile, Mapping[str, str]]) -> dict[OldFile, FileRecord]:
        """The records of files, without the functions that are given; those that cannot be read have none."""
        done: dict[OldFile, FileRecord] = {}
        entries: dict[OldFile, Entry] = {}
        for job, result in self._run(self._jobs_for(files, done, entries)):
            record = record_of(result, job.known)
            known = entries[job.file].record.known if job.file in entries else {}
            listed = {function.digest for function in record.functions}
            record = replace(record, known={**{d: known[d] for d in known if d in listed}, **record.known})
            done[job.file] = record
            if self._cache is not None:
                entry = make_entry(sha256_of(job.data), record, result, self._limits)
                self._cache.store(_cached_as(job.file), entry)
        for file, record in done.items():
            for error in record.errors:
                self._note(file, error.reason)
        return done

    def search(
        self, files: Mapping[OldFile, Mapping[str, str]], functions: Sequence[ScannedFunction]
    ) -> dict[OldFile, FileRecord]:
        """The records of files with those functions that may be the given ones, without those that are still there."""
        shapes = (function.identity.shape for function in functions if function.identity)
        wanted = Wanted(frozenset(function.name for function in functions), frozenset(shapes))
        in_order = sorted(files, key=lambda file: (file.top, file.path))
        jobs = (
            _OldJob(file, data, frozenset(files[file].values()), files[file], wanted)
            for file, data in read_old_files(in_order, max_bytes=self._max_bytes)
            if isinstance(data, bytes) and any(_may_hold(data, function) for function in functions)
        )
        return {job.file: record_of(result, job.known) for job, result in self._run(jobs)}

    def _jobs_for(
        self,
        files: Mapping[OldFile, Mapping[str, str]],
        done: dict[OldFile, FileRecord],
        entries: dict[OldFile, Entry],
    ) -> Iterator[_OldJob]:
        """Jobs for files whose records are not all in the cache."""
        for file, data in read_old_files(files, max_bytes=self._max_bytes):
            if isinstance(data, str):
                self._note(file, data)
                continue
            same = files[file]
            unchanged = frozenset(same.values())
            entry = None if self._cache is None else self._cache.load(_cached_as(file))
            if entry is None:
                yield _OldJob(file, data, unchanged, same)
            elif self._is_complete(entry, data, unchanged):
                done[file] = entry.record
            else:
                entries[file] = entry
                yield _OldJob(file, data, unchanged.union(entry.record.known), same)

    def _is_complete(self, entry: Entry, data: bytes, unchanged: frozenset[str]) -> bool:
        listed = {function.digest for function in entry.record.functions}
        return (
            entry.sha256 == sha256_of(data)
            and is_final(entry, self._limits)
            and listed <= unchanged.union(entry.record.known)
        )

    def _run(self, jobs: Iterator[_OldJob]) -> Iterator[tuple[_OldJob, list[PartialRecord] | Lost]]:
        work = _OldWork(self._detector, self._limits, self._max_bytes)
        return run_in_workers(work, jobs, self._detector, workers=self._jobs, limits=self._limits)

    def _note(self, file: OldFile, reason: str) -> None:
        path = file.path.relative_to(file.top).as_posix()
        self.notes.add(
            f"{path}: not all of its earlier version was compared, and findings may count as new: {reason}."
        )


def _may_hold(data: bytes, function: ScannedFunction) -> bool:
    """Whether a file may have a function: by its name, or by all names in it that are not its own variables."""
    if f"def {function.name.rpartition('.')[2]}".encode() in data:
        return True
    names = function.identity.names if function.identity else ()
    return bool(names) and all(name.strip(".=").encode() in data for name in names)


def _cached_as(file: OldFile) -> FoundFile:
    """The name of the cache entry of an earlier version: no file has it."""
    path = f"{file.path}/\0/before"
    return FoundFile(path, Path(path))
