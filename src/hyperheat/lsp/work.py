"""What workers do for the server: read the settings for a document, scan its text, explain a finding.

All of it is about files that may come from anyone, so none of it happens in the server's own process.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hyperheat.check.baseline import Baseline, read_baseline
from hyperheat.check.discovery import FoundFile, Selection, is_left_out, shown_path
from hyperheat.check.explanations import Target, explain_targets, read_explained
from hyperheat.check.records import PartialRecord
from hyperheat.check.scan_work import score_in_worker
from hyperheat.check.settings import Settings, find_settings, load_settings, override_settings
from hyperheat.detector.detector import Detector
from hyperheat.report.finding import Finding
from hyperheat.workers.limits import Limits

__all__ = ["DocumentSettings", "EditorWork", "HoverJob", "ScanJob", "SettingsJob", "read_for"]

_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsJob:
    """Where a document is, and what the editor's own settings say, by their keys in pyproject.toml.

    `path` is None for a document that was never saved; `folder` is the one that the editor has open.
    """

    path: Path | None
    folder: Path
    options: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSettings:
    """The settings for one document: those of its project, changed by the editor's, with globs already applied.

    `problems` are settings that could not be used or show nothing, each in one sentence.
    """

    settings: Settings
    shown: str
    """The path in the baseline, and in messages."""
    left_out: bool = False
    baseline: Baseline | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanJob:
    """A text to scan.

    Functions whose digests are `known` are not scored; those whose lines have a guess are not even read. The settings are
    read first if their job is given, and nothing else is done if they leave the document out.
    """

    text: str
    known: frozenset[str]
    guesses: Mapping[str, str]
    settings: SettingsJob | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HoverJob:
    """A finding to explain, and the text that it was found in."""

    text: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class EditorWork:
    """What a worker does with a job."""

    detector: Detector
    limits: Limits
    max_characters: int

    def __call__(self, job: ScanJob | HoverJob) -> Any:
        return self._scan(job) if isinstance(job, ScanJob) else self._explain(job)

    def _scan(self, job: ScanJob) -> Iterator[DocumentSettings | PartialRecord | None]:
        from hyperheat.check.analysis import analyse_edited

        if job.settings is not None:
            settings = read_for(job.settings, self.detector)
            yield settings
            if settings.left_out:
                return
        yield from analyse_edited(
            job.text,
            job.guesses,
            job.known,
            self._score,
            self.detector.calibration,
            max_characters=self.max_characters,
        )

    def _explain(self, job: HoverJob) -> Finding | None:
        """The finding with what it depends on; None if there is nothing to judge in the text."""
        place, file = job.finding, FoundFile(job.finding.path, Path(job.finding.path))
        target = Target(place.line, place.column, place.end_line, place.end_column)
        calibration = self.detector.calibration
        (explained,) = explain_targets(job.text, [target], self._score, calibration)
        return None if explained is None else read_explained(explained, file, calibration)

    @property
    def _score(self) -> Any:
        return partial(score_in_worker, self.detector, self.limits)


def read_for(job: SettingsJob, detector: Detector) -> DocumentSettings:
    """The settings for a document; what cannot be used is told, and left at its default."""
    problems: list[str] = []
    settings = Settings()
    try:
        source = find_settings(job.path or job.folder)
        if source is not None:
            settings = load_settings(source)
    except (ValueError, OSError) as error:
        problems.append(str(error))
    try:
        settings = override_settings(settings, job.options, folder=job.folder, prefix="hyperheat.")
        if settings.max_alarms is not None:
            detector.calibration.at_rate(settings.max_alarms / 1000)
    except ValueError as error:
        problems.append(str(error))
        settings = replace(settings, max_alarms=None)
    problems += _remarks(settings, detector)
    root = settings.source.parent.absolute() if settings.source else job.folder
    path = job.path or root / "untitled.py"
    baseline = None
    try:
        baseline = None if settings.baseline is None else read_baseline(settings.baseline)
    except (ValueError, OSError) as error:
        problems.append(str(error))
    selection = Selection(exclude=settings.exclude, gitignore=settings.gitignore)
    ignored = [rule for rule in ("HH900", "HH901") if settings.ignores(rule, path)]
    return DocumentSettings(
        settings=replace(
            settings,
            select=tuple(sorted(settings.rules_for(path))),
            ignore=tuple(ignored),
            exclude=None,
            per_file_ignores=(),
        ),
        shown=shown_path(path, root),
        left_out=job.path is not None and _is_left_out(job.path, root, selection),
        baseline=baseline,
        problems=tuple(problems),
    )


def _remarks(settings: Settings, detector: Detector) -> Iterator[str]:
    """That a project wants another model, and that nothing can be shown: or silence would look like praise."""
    if settings.model not in (None, detector.name):
        yield (
            f"the model is {detector.name}, not {settings.model} as the project's settings say: "
            f"start the server with --model {settings.model}"
        )
    chosen = settings.min_confidence is not None or settings.max_alarms is not None
    if settings.tier == "A" and not chosen and (reason := detector.calibration.why_empty("A")):
        yield f'nothing is shown because tier A is empty: {reason}; set tier = "B" for less certain findings'


def _is_left_out(path: Path, root: Path, selection: Selection) -> bool:
    """Whether a scan of the project would not look at a file; of files outside of it, only installed ones are left out."""
    if path.is_relative_to(root):
        return is_left_out(path, root=root, selection=selection)
    return not _INSTALLED.isdisjoint(path.parts)
