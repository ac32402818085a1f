"""Checking a text, or files and folders, from the command line or from a program.

    from hyperheat.check import check_paths, check_text

    check_text("def f(a, b): ...")              # -> [Finding, ...]
    report = check_paths(["src", "tests"])      # with the settings of the project, as `hyperheat check` does
    report.findings, report.errors, report.summary

A `Checker` does the same in steps, for programs that show progress, repair files or write several reports of one scan.
"""

import os
import re
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache as cached
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from hyperheat.check.baseline import Baseline, read_baseline
from hyperheat.check.cache import Cache
from hyperheat.check.discovery import MAX_BYTES, SUFFIXES, FoundFile, Selection, discover, is_excluded
from hyperheat.check.filters import make_report
from hyperheat.check.installed_models import load_model
from hyperheat.check.scan import scan_data, scan_files, scan_source
from hyperheat.check.scan_work import LIMITS
from hyperheat.check.scanned_files import ScannedFile, Sources
from hyperheat.check.settings import Settings, processors, settings_for
from hyperheat.detector.detector import Detector, load_detector
from hyperheat.progress import Progress
from hyperheat.report.finding import Finding, Report, ScanError
from hyperheat.workers.limits import Limits

if TYPE_CHECKING:
    from hyperheat.check.changes import Changes
    from hyperheat.check.old_versions import Rises

__all__ = ["Checker", "Scan", "check_paths", "check_text"]


class _How(TypedDict):
    """How files are read."""

    cache: Cache | None
    limits: Limits
    max_bytes: int


_StrPath = str | os.PathLike[str]
_PATH = re.compile(r"[^\n\r\0()=]{1,4096}")


def check_text(source: str, *, path: str = "<source>") -> list[Finding]:
    """The findings of tiers A, B and C in a text of Python source, without those that its comments suppress.

    Runs in this process, with the model of the package and without limits on time and memory. Warns of functions that
    were skipped. Raises ValueError if the text cannot be read, or is the path of a file.
    """
    _refuse_path(source)
    file = scan_source(source, _builtin_detector(), path=path)
    for error in file.errors:
        reason = f"{path}:{error.line}: {error.reason}" if error.line else f"{path}: {error.reason}"
        if not file.functions:
            raise ValueError(reason)
        warnings.warn(f"not checked: {reason}", stacklevel=2)
    return list(make_report([file], Settings(tier="C"), _builtin_detector()).findings)


def check_paths(
    paths: Sequence[_StrPath],
    settings: Settings | None = None,
    *,
    detector: Detector | None = None,
    since: str | None = None,
    absolute: bool = False,
    cache: Cache | None = None,
    show_all: bool = False,
) -> Report:
    """The report on files and folders, as `hyperheat check` makes it.

    `settings` are by default those in the project's pyproject.toml. `since` names a commit, branch or tag: only places
    that are more suspicious than at the merge base with it are reported or, if `absolute`, all findings in functions that
    changed. With a `cache` (`Cache.open(detector)`) functions that did not change are not scored again. `show_all`
    shows the findings of every tier.

    Files are read in worker processes, with limits on time and memory; those that could not be checked are in
    `report.errors`. Raises ValueError if a setting cannot be used, and OSError if a path does not exist. On platforms
    that spawn processes, such as Windows and macOS, call it under `if __name__ == "__main__":`.
    """
    settings = settings_for(paths) if settings is None else settings
    checker = Checker(
        settings=settings,
        detector=detector or load_model(None, setting=settings.model),
        since=since,
        absolute=absolute,
        cache=cache,
    )
    baseline = checker.read_baseline()
    return checker.scan_paths(paths).report(baseline=baseline, show_all=show_all)


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What was scanned and how; `notes` are sentences about that for the reader."""

    settings: Settings
    detector: Detector
    files: tuple[ScannedFile, ...]
    errors: tuple[ScanError, ...] = ()
    changes: "Changes | None" = None
    rises: "Rises | None" = None
    interrupted: bool = False
    notes: tuple[str, ...] = ()
    seconds: float

    @property
    def sources(self) -> Sources:
        """The texts of the files, by path."""
        return Sources(self.files)

    def with_every_tier(self) -> "Scan":
        """The same scan, of which all findings of tiers A, B and C are shown."""
        settings = replace(self.settings, tier="C", min_confidence=None, max_alarms=None)
        return replace(self, settings=settings)

    def report(self, *, baseline: Baseline | None = None, show_all: bool = False) -> Report:
        """The findings that are shown, and what was left out; findings in the baseline are not new."""
        report = make_report(
            self.files,
            self.settings,
            self.detector,
            errors=self.errors,
            baseline=baseline,
            changes=self.changes,
            rises=self.rises,
            show_all=show_all,
            seconds=self.seconds,
        )
        return replace(report, summary=replace(report.summary, notes=(*self.notes, *report.summary.notes)))


@dataclass(frozen=True, kw_only=True)
class Checker:
    """How to check: with which settings and detector, within which limits.

    Relative paths start from `root`. With `since`, only what rose is reported, or if `absolute` all in functions that
    changed. Unless `quiet`, scans show their progress on a terminal. Raises ValueError if the settings ask for fewer
    alarms than the detector was measured to raise.
    """

    settings: Settings
    detector: Detector
    root: Path = field(default_factory=Path.cwd)
    since: str | None = None
    absolute: bool = False
    cache: Cache | None = None
    limits: Limits = LIMITS
    max_bytes: int = MAX_BYTES
    quiet: bool = True

    def __post_init__(self) -> None:
        if self.absolute and self.since is None:
            raise ValueError("--absolute requires --since")
        if self.settings.max_alarms is not None:
            try:
                self.detector.calibration.at_rate(self.settings.max_alarms / 1000)
            except ValueError as error:
                raise ValueError(f"max-alarms: {error}") from None

    def read_baseline(self) -> Baseline | None:
        """The baseline of the settings, if there is one. Read it before the scan, which may take its time."""
        return None if self.settings.baseline is None else read_baseline(self.settings.baseline)

    def scan_paths(self, paths: Sequence[_StrPath]) -> Scan:
        """Scan files and folders, or only what changed in them. If interrupted, keep the results so far."""
        start = time.perf_counter()
        changes = self._changes()
        found = discover(paths, root=self.root, selection=self._selection())
        files = [file for file in found.files if changes is None or changes.touch(file.path, 1, sys.maxsize)]
        notes = () if found.files or found.errors else ("No Python files found.",)
        done: dict[
            FoundFile, ScannedFile
        ] = {}  # also files that wait for earlier ones, which a scan yields in order

        def finish(file: ScannedFile) -> None:
            done[file.file] = file
            progress.advance(len(file.functions), of=file.file)

        interrupted = False
        try:
            with Progress(
                "Checking",
                total=len(files),
                unit="files",
                counted="functions",
                every=None,
                quiet=self.quiet,
            ) as progress:
                for _ in scan_files(
                    files,
                    self.detector,
                    jobs=self.settings.jobs or processors(),
                    cache=self.cache,
                    progress=finish,
                    part=progress.advance_part,
                    limits=self.limits,
                    max_bytes=self.max_bytes,
                ):
                    pass
            rises = self._rises(list(done.values()), changes)
        except KeyboardInterrupt:
            interrupted, rises = True, None
            notes = (f"Interrupted: {len(files) - len(done)} of {len(files)} files were not checked.",)
            if changes is not None and not self.absolute:
                notes += ("Findings were not compared with the versions before the change.",)
        return self._scan(
            tuple(done[file] for file in files if file in done),
            found.errors,
            changes=changes,
            rises=rises,
            interrupted=interrupted,
            notes=notes,
            seconds=time.perf_counter() - start,
        )

    def explain(self, report: Report, scan: Scan) -> Report:
        """The report on a scan with what each finding depends on."""
        from hyperheat.check.explanations import explain_findings  # few scans are explained

        with Progress(
            "Explaining", total=len(report.findings), unit="findings", every=None, quiet=self.quiet
        ) as progress:
            return explain_findings(
                report,
                scan.files,
                self.detector,
                jobs=self.settings.jobs or processors(),
                limits=self.limits,
                progress=progress.advance,
            )

    def find_files(self, paths: Sequence[_StrPath]) -> tuple[FoundFile, ...]:
        """The files that a scan of these paths would read. Raises as `scan_paths` does."""
        return discover(paths, root=self.root, selection=self._selection()).files

    def most_bytes(self, name: str) -> int:
        """The most bytes that are read of a file of that name."""
        return FoundFile(name, self.root / name).most_bytes(self.max_bytes)

    def scan_data(self, data: bytes, name: str) -> Scan:
        """Scan bytes as if they were the file of that name, which need not exist."""
        start = time.perf_counter()
        file = FoundFile(name, Path(os.path.abspath(self.root / name)))
        changes = self._changes()
        errors: tuple[ScanError, ...] = ()
        files: tuple[ScannedFile, ...] = ()
        if len(data) > (most := file.most_bytes(self.max_bytes)):
            reason = f"expected at most {most} bytes, got more"
            errors = (ScanError(path=name, rule="HH901", reason=reason),)
        elif not (self.settings.force_exclude and self.excludes(file.path)):
            files = (scan_data(data, file, self.detector, limits=self.limits),)
            if changes is not None:
                from hyperheat.check.old_versions import changes_in_text

                changes = changes_in_text(files[0], changes, self.detector, **self._how())
        rises = self._rises(files, changes)
        return self._scan(files, errors, changes=changes, rises=rises, seconds=time.perf_counter() - start)

    def _scan(
        self,
        files: tuple[ScannedFile, ...],
        errors: tuple[ScanError, ...],
        *,
        changes: "Changes | None",
        rises: "Rises | None",
        seconds: float,
        interrupted: bool = False,
        notes: tuple[str, ...] = (),
    ) -> Scan:
        return Scan(
            settings=self.settings,
            detector=self.detector,
            files=files,
            errors=errors,
            changes=changes,
            rises=rises,
            interrupted=interrupted,
            notes=(*notes, *(changes.notes if changes else ()), *(rises.notes if rises else ())),
            seconds=seconds,
        )

    def _rises(self, files: Sequence[ScannedFile], changes: "Changes | None") -> "Rises | None":
        """What became of findings since an earlier version, if that is asked for."""
        if changes is None or self.absolute:
            return None
        from hyperheat.check.old_versions import find_rises  # most scans compare nothing

        jobs = self.settings.jobs or processors()
        return find_rises(files, changes, self.detector, jobs=jobs, **self._how())

    def _how(self) -> _How:
        return {"cache": self.cache, "limits": self.limits, "max_bytes": self.max_bytes}

    def _changes(self) -> "Changes | None":
        if self.since is None:
            return None
        from hyperheat.check.changes import changes_since  # most scans do not ask git

        return changes_since(self.since, folder=self.root)

    def excludes(self, path: Path) -> bool:
        """Whether a scan of a folder leaves out a file, given by its absolute path, because of patterns."""
        return is_excluded(path, root=self.root, selection=self._selection())

    def _selection(self) -> Selection:
        return Selection(
            exclude=self.settings.exclude,
            gitignore=self.settings.gitignore,
            force_exclude=self.settings.force_exclude,
            max_bytes=self.max_bytes,
        )


def _refuse_path(source: object) -> None:
    """Raise ValueError for the path of a file in place of its text: it often is valid Python, without functions."""
    if isinstance(source, os.PathLike) or (
        isinstance(source, str)
        and _PATH.fullmatch(source)
        and (source.endswith(SUFFIXES) or Path(source).is_file())
    ):
        shown = os.fspath(source)
        raise ValueError(
            f"expected the text of Python source, got the path {shown!r}; to check a file, use "
            f"hyperheat.check.check_paths([{shown!r}])"
        )


@cached
def _builtin_detector() -> Detector:
    return load_detector()
