"""A scan as the commands run it: which files, with which settings, and how far it came."""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hyperheat.check.baseline import Baseline, read_baseline
from hyperheat.check.cache import Cache
from hyperheat.check.changes import Changes, changes_since
from hyperheat.check.discover import FoundFile, Selection, discover, is_excluded
from hyperheat.check.judge import judge
from hyperheat.check.records import ScannedFile
from hyperheat.check.scan import scan_data, scan_files
from hyperheat.check.settings import Settings, processors
from hyperheat.cli.limits import limits_of, max_file_bytes
from hyperheat.cli.options import ScanOptions
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.progress import Progress
from hyperheat.report import Report, ScanError

__all__ = ["Scan", "known_findings", "load_for", "scan_paths", "scan_stdin"]


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What was scanned and how; `notes` are sentences about that for the reader."""

    settings: Settings
    detector: Detector
    files: tuple[ScannedFile, ...]
    errors: tuple[ScanError, ...] = ()
    changes: Changes | None = None
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    seconds: float

    def report(self, *, baseline: Baseline | None = None, show_all: bool = False) -> Report:
        """What there is to say; raises ValueError if no threshold gives the precision that is asked for."""
        report = judge(
            self.files,
            self.settings,
            self.detector,
            errors=self.errors,
            baseline=baseline,
            changes=self.changes,
            show_all=show_all,
            seconds=self.seconds,
        )
        return replace(report, summary=replace(report.summary, notes=(*self.notes, *report.summary.notes)))


def scan_paths(paths: Sequence[str], options: ScanOptions, settings: Settings) -> Scan:
    """Scan files and folders, or those of them that changed; an interrupt ends it with what there is."""
    start, root = time.perf_counter(), Path.cwd()
    limits, max_bytes = limits_of(options), max_file_bytes(options)
    detector = load_for(options, settings)
    changes = _changes(options, root)
    found = discover(paths, root=root, selection=_selection(options, settings))
    files = [file for file in found.files if changes is None or changes.touch(file.path, 1, sys.maxsize)]
    cache = _cache(options, detector)
    notes = () if found.files or found.errors else ("No Python files were found.",)
    done: list[ScannedFile] = []
    interrupted = False
    try:
        with Progress(
            "Checking",
            total=len(files),
            unit="files",
            counted="functions",
            every=None,
            quiet=options.quiet,
        ) as progress:
            jobs = settings.jobs or processors()
            for file in scan_files(
                files,
                detector,
                jobs=jobs,
                cache=cache,
                progress=lambda file: progress.advance(len(file.functions)),
                limits=limits,
                max_bytes=max_bytes,
            ):
                done.append(file)
    except KeyboardInterrupt:
        interrupted = True
        notes = (f"Interrupted: {len(files) - len(done)} of {len(files)} files were not looked at.",)
    return Scan(
        settings=settings,
        detector=detector,
        files=tuple(done),
        errors=found.errors,
        changes=changes,
        interrupted=interrupted,
        notes=notes,
        seconds=time.perf_counter() - start,
    )


def scan_stdin(name: str, options: ScanOptions, settings: Settings) -> Scan:
    """Scan standard input as if it were the file of that name."""
    start, root = time.perf_counter(), Path.cwd()
    detector = load_for(options, settings)
    file = FoundFile(name, Path(os.path.abspath(name)))
    limits, max_bytes = limits_of(options), max_file_bytes(options)
    data = sys.stdin.buffer.read(max_bytes + 1)
    errors: tuple[ScanError, ...] = ()
    files: tuple[ScannedFile, ...] = ()
    if len(data) > max_bytes:
        reason = f"expected at most {max_bytes} bytes, got more"
        errors = (ScanError(path=name, rule="HH901", reason=reason),)
    elif not (
        settings.force_exclude and is_excluded(file.path, root=root, selection=_selection(options, settings))
    ):
        files = (scan_data(data, file, detector, limits=limits),)
    return Scan(
        settings=settings,
        detector=detector,
        files=files,
        errors=errors,
        changes=_changes(options, root),
        seconds=time.perf_counter() - start,
    )


def known_findings(settings: Settings) -> Baseline | None:
    """The baseline of the settings, if there is one; read it first, since a scan may take its time."""
    return None if settings.baseline is None else read_baseline(settings.baseline)


def load_for(options: ScanOptions, settings: Settings) -> Detector:
    """The detector; refuses a precision that it does not reach before anything is scanned."""
    detector = load_detector(options.model)
    if settings.min_precision is not None:
        detector.calibration.at_precision(settings.min_precision)
    return detector


def _changes(options: ScanOptions, root: Path) -> Changes | None:
    return None if options.since is None else changes_since(options.since, folder=root)


def _selection(options: ScanOptions, settings: Settings) -> Selection:
    return Selection(
        exclude=settings.exclude,
        gitignore=settings.gitignore,
        force_exclude=settings.force_exclude,
        max_bytes=max_file_bytes(options),
    )


def _cache(options: ScanOptions, detector: Detector) -> Cache | None:
    return None if options.no_cache else Cache.open(detector, options.cache_dir)
