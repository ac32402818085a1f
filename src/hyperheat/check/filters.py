"""From scanned files to the report: which findings are shown, how many are not and why.

Findings are left out in this order: rules that are not selected; comments in the code; the baseline; functions that did
not change; places that were as suspicious before; tiers and thresholds. Tiers come last so that a comment or a baseline
entry is not reported as unused because of a threshold.
"""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import hyperheat
from hyperheat.check.baseline import Baseline, Compared, compare_to_baseline
from hyperheat.check.cell_places import CellPlaces
from hyperheat.check.scanned_files import ScannedFile, ScannedFunction, Sources, Suspect
from hyperheat.check.settings import Settings
from hyperheat.check.suppressions import Suppressed, suppress
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.detector import Detector
from hyperheat.report.finding import LEVELS, Finding, Model, Report, ScanError, Summary, sort_findings
from hyperheat.report.rules import RULES

if TYPE_CHECKING:
    from hyperheat.check.changes import Changes
    from hyperheat.check.old_versions import Rises

__all__ = ["changed_functions", "make_report"]

_REST = "D"


def make_report(
    files: Sequence[ScannedFile],
    settings: Settings,
    detector: Detector,
    *,
    errors: Iterable[ScanError] = (),
    baseline: Baseline | None = None,
    changes: "Changes | None" = None,
    rises: "Rises | None" = None,
    show_all: bool = False,
    seconds: float | None = None,
) -> Report:
    """The report on scanned files; `errors` are those of the search for files, `show_all` shows every tier.

    With `rises`, only findings that rose since an earlier version are reported.

    Raises ValueError in one sentence if no threshold raises as few alarms as `max_alarms`.
    """
    calibration = detector.calibration
    threshold = _threshold(settings, calibration, show_all=show_all)
    compares = baseline is not None or rises is not None
    wanted = {
        file.path: _Wanted(
            settings.rules_for(file.file.path), threshold, every=compares or bool(file.suppressions)
        )
        for file in files
    }
    commented = {file.path: _suppress(file, wanted[file.path]) for file in files}
    changed = {file.path: changed_functions(file, changes) for file in files}
    compared = _compare(files, commented, baseline)
    in_changed = [f for f in compared.new if changes is None or _stands_in(f, changed[f.path])]
    left = in_changed if rises is None else _risen(in_changed, rises)
    unrisen = 0 if rises is None else sum(f in rises.of and not rises.of[f].rose for f in in_changed)
    places = {file.path: CellPlaces(file.cells) for file in files}
    told, ignored = _not_ignored(files, errors, settings)
    hidden = Counter(finding.tier for finding in left if not threshold.shows(finding))
    hidden[_REST] += sum(
        wanted[path].passes_over(suspect)
        for path, of_file in changed.items()
        for function in of_file
        for suspect in function.suspects
    )
    functions = [function for of_file in changed.values() for function in of_file]
    too_large = sum(e.line is not None and e.rule == "HH901" for file in files for e in file.errors)
    summary = Summary(
        files=sum(file.is_checked for file in files),
        functions=len(functions) + too_large,
        too_small=sum(function.no_bug is None for function in functions),
        too_large=too_large,
        min_candidates=calibration.min_candidates,
        hidden={tier: hidden[tier] for tier in LEVELS if hidden[tier]},
        suppressed=sum(f.tier != _REST or show_all for of_file in commented.values() for f in of_file.quiet),
        known=len(compared.known),
        unrisen=unrisen,
        notes=(*_empty_tier(calibration), *_notes(commented, compared, places), *_ignored_notes(ignored)),
        cached=sum(file.cached for file in files),
        seconds=seconds,
    )
    hot: dict[str, list[Finding]] = {path: [] for path in changed}
    for finding in left:
        if finding.tier != _REST or threshold.shows(finding):
            hot[finding.path].append(finding)
    return Report(
        version=hyperheat.__version__,
        model=Model(name=detector.name, sha256=detector.sha256),
        findings=tuple(places[finding.path].finding(finding) for finding in left if threshold.shows(finding)),
        errors=told,
        summary=summary,
        heat=tuple(
            places[path].heat(function.heat)
            for path, of_file in changed.items()
            for function in of_file
            if any(_stands_in(finding, [function]) for finding in hot[path])
        ),
    )


@dataclass(frozen=True)
class _Threshold:
    """Which findings are shown: those of some tiers, or from some confidence on."""

    tiers: frozenset[str]
    confidence: float = 0.0

    def shows(self, found: Finding | Suspect) -> bool:
        return found.tier in self.tiers and found.confidence >= self.confidence


@dataclass(frozen=True)
class _Wanted:
    """The places of a file whose findings are needed: with `every`, all of them, so that they can be compared.

    Else those that are not shown are only counted, as far as they are in the last tier.
    """

    rules: Collection[str]
    threshold: _Threshold
    every: bool

    def needs(self, suspect: Suspect) -> bool:
        return suspect.rule in self.rules and not self.passes_over(suspect)

    def passes_over(self, suspect: Suspect) -> bool:
        if self.every or suspect.tier != _REST or suspect.rule not in self.rules:
            return False
        return not self.threshold.shows(suspect)


def changed_functions(file: ScannedFile, changes: "Changes | None") -> tuple[ScannedFunction, ...]:
    """The functions of a file in which a line changed; all if nothing is known of changes."""
    if changes is None or (file.cells and changes.touch(file.file.path, 1, sys.maxsize)):
        return file.functions  # the lines of a notebook are not those of its code
    return tuple(f for f in file.functions if changes.touch(file.file.path, f.line, f.end_line))


def _threshold(settings: Settings, calibration: Calibration, *, show_all: bool) -> _Threshold:
    every = frozenset(LEVELS)
    if show_all:
        return _Threshold(every)
    if settings.min_confidence is not None:
        return _Threshold(every, settings.min_confidence)
    if settings.max_alarms is not None:
        return _Threshold(every, calibration.at_rate(settings.max_alarms / 1000))
    tiers = list(LEVELS)
    return _Threshold(frozenset(tiers[: tiers.index(settings.tier) + 1]))


def _empty_tier(calibration: Calibration) -> Iterator[str]:
    """That there is no tier A, and why: or its silence would look like praise."""
    if reason := calibration.why_empty("A"):
        yield f"Tier A is empty: {reason}."


def _suppress(file: ScannedFile, wanted: _Wanted) -> Suppressed:
    """The findings of a file that are needed, sorted by its comments."""
    findings = [
        suspect.finding
        for function in file.functions
        for suspect in function.suspects
        if wanted.needs(suspect)
    ]
    return suppress(findings, file.suppressions, rules=wanted.rules)


def _compare(
    files: Sequence[ScannedFile], commented: Mapping[str, Suppressed], baseline: Baseline | None
) -> Compared:
    findings = sort_findings(finding for of_file in commented.values() for finding in of_file.shown)
    if baseline is None:
        return Compared(findings, (), ())
    paths = {file.path for file in files}
    return compare_to_baseline(findings, Sources(files), baseline, scanned=paths.__contains__)


def _risen(findings: Iterable[Finding], rises: "Rises") -> list[Finding]:
    """The findings that rose, each with its previous confidence; what was not worth comparing is left out."""
    compared = ((finding, rises.of.get(finding)) for finding in findings)
    return [replace(finding, previous=rise.previous) for finding, rise in compared if rise and rise.rose]


def _stands_in(finding: Finding, functions: Iterable[ScannedFunction]) -> bool:
    return any(function.line <= finding.line <= function.end_line for function in functions)


def _not_ignored(
    files: Sequence[ScannedFile], errors: Iterable[ScanError], settings: Settings
) -> tuple[tuple[ScanError, ...], Counter[str]]:
    """What was not checked, without what the settings ignore, which is counted by rule."""
    placed = [(error, None) for error in errors]
    placed += [
        (CellPlaces(file.cells).error(error), file.file.path) for file in files for error in file.errors
    ]
    told = tuple(error for error, path in placed if not settings.ignores(error.rule, path))
    ignored = Counter(error.rule for error, path in placed if settings.ignores(error.rule, path))
    return told, ignored


def _ignored_notes(ignored: Mapping[str, int]) -> Iterator[str]:
    for rule, count in sorted(ignored.items()):
        what = RULES[rule].name.replace("-", " ")
        yield f"{count} {what}, not listed because {rule} is ignored."


def _notes(
    commented: Mapping[str, Suppressed], compared: Compared, places: Mapping[str, CellPlaces]
) -> list[str]:
    notes = [
        f"{places[path].show(path, unused.line)}:{unused.column}: unused suppression: {unused.reason}."
        for path, of_file in commented.items()
        for unused in of_file.unused
    ]
    if compared.stale:
        count = len(compared.stale)
        notes.append(
            f"{count} baseline {'entry no longer matches' if count == 1 else 'entries no longer match'} a finding."
        )
    return notes
