"""What the detector thinks of a place, and of the function around it: its places by suspicion, and what becomes of each."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import wrap

from hyperheat.alarm_rate import MEANING
from hyperheat.check.cell_places import CellPlaces
from hyperheat.check.checker import Checker
from hyperheat.check.discovery import FoundFile, shown_path
from hyperheat.check.explanations import Target, explain_place
from hyperheat.check.filters import make_report
from hyperheat.check.scan import scan_data
from hyperheat.check.scanned_files import ScannedFile, ScannedFunction, Sources
from hyperheat.cli.options import ScanOptions, make_checker, read_settings
from hyperheat.detector.detector import Detector
from hyperheat.files import SkippedFile, read_regular
from hyperheat.report import LEVELS, Finding, FunctionHeat, SourceText
from hyperheat.report.cause_marks import render_why
from hyperheat.report.colours import painted
from hyperheat.report.finding_causes import METHOD
from hyperheat.report.listing import paint
from hyperheat.report.text import render_finding
from hyperheat.visible_text import visible, visible_code, visible_line

__all__ = ["PlaceInFile", "explain_line"]

_WIDTH = 100
_HOT = 0.05  # less suspicion than this is not worth a number


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceInFile:
    """A line of a file, or of a cell of a notebook, and perhaps a column, as people write it."""

    path: str
    cell: int | None = None
    line: int
    column: int | None = None


def explain_line(there: PlaceInFile, options: ScanOptions, *, colour: bool) -> str:
    """What is suspicious at a line or column and why, then the function around it and all that may be wrong with it.

    Raises ValueError in one sentence if the file cannot be checked or has no such line.
    """
    checker = make_checker(options, read_settings([there.path], options))
    absolute = Path(os.path.abspath(there.path))
    found = FoundFile(shown_path(absolute, Path.cwd()), absolute)
    try:
        data = read_regular(absolute, max_bytes=found.most_bytes(checker.max_bytes))
    except SkippedFile as error:
        raise ValueError(f"{there.path}: {error}") from None
    file = scan_data(data, found, checker.detector, limits=checker.limits)
    line = _line_in_code(there, file)
    function = next((f for f in file.functions if f.line <= line <= f.end_line), None)
    if function is None:
        raise ValueError(_nothing_there(file, line))
    heat = CellPlaces(file.cells).heat(function.heat)
    text = Sources([file])[heat.source]
    where = f"{heat.source}:{there.line}" + ("" if there.column is None else f":{there.column}")
    reasons, explained = _Reasons(file, checker), None
    parts = [visible_line(f"{where} in {function.name}, lines {heat.line} to {heat.end_line}") + "\n"]
    if function.no_bug is not None:
        target = Target(line, there.column)
        explained = explain_place(data, target, found, checker.detector, limits=checker.limits)
        if explained is None:
            parts.append(f"Nothing to explain at {visible(where)}: no rule applies to what is there.\n")
        else:
            parts += _why(explained, reasons, text, colour)
    parts.append("".join(_listing(heat, text, there.line, checker.detector, colour)))
    parts.append("".join(_verdicts(function, explained, reasons, colour)))
    return "\n".join(parts)


def _line_in_code(there: PlaceInFile, file: ScannedFile) -> int:
    """The line in the code that was scanned; for a notebook, in that of all cells together."""
    line = CellPlaces(file.cells).joined_line(there.cell, there.line)
    if line is not None:
        return line
    if not file.cells:
        raise ValueError(f"{file.path}: has no cells: only notebooks have")
    if there.cell is None:
        raise ValueError(
            f"{file.path}: a place in a notebook needs its cell, as in '{file.path}:cell 1:{there.line}'"
        )
    raise ValueError(f"{file.path}:cell {there.cell}:{there.line}: there is no such line of code")


def _why(joined: Finding, reasons: "_Reasons", text: SourceText, colour: bool) -> Iterator[str]:
    """The likeliest bug at a place as `hyperheat check` shows it, whether it is reported, and what it depends on."""
    finding = CellPlaces(reasons.file.cells).finding(joined)
    shown = render_finding(replace(finding, alternatives=(), why=None), text, colour=colour)
    yield f"{shown}\n{reasons.of(replace(joined, why=None))}\n"
    method = "".join(f"{painted(line, 'faint', colour=colour)}\n" for line in wrap(METHOD, _WIDTH))
    yield render_why(finding, finding.why, text, colour=colour) + method
    if finding.alternatives:
        rows = (f"  {other.confidence:.3f}  {visible(other.message)}\n" for other in finding.alternatives)
        yield "Other repairs of the same place, with their confidence:\n" + "".join(rows)


def _nothing_there(file: ScannedFile, line: int) -> str:
    places = CellPlaces(file.cells)
    place = places.show(file.path, line)
    for error in file.errors:
        if not file.functions or error.line == line:
            where = f" ({_in_words(file, error.line)})" if error.line else ""
            return f"{place}: not checked: {error.reason}{where}"
    near = min(file.functions, key=lambda f: min(abs(f.line - line), abs(f.end_line - line)), default=None)
    there = (
        "the file has none" if near is None else f"the nearest is {near.name} in {_in_words(file, near.line)}"
    )
    return f"{place}: only functions are checked, and this line is not in one; {there}"


def _in_words(file: ScannedFile, line: int) -> str:
    """A line of the code that was scanned, as its readers count it."""
    if not file.cells:
        return f"line {line}"
    cell = CellPlaces(file.cells).find_cell(line)
    return f"cell {cell.number}, line {line - cell.line + 1}"


def _listing(
    heat: FunctionHeat, source: SourceText, marked: int, detector: Detector, colour: bool
) -> Iterator[str]:
    """The lines of a function with their greatest suspicion, those of suspicious places in colours."""
    width = len(str(heat.end_line))
    for number, pieces in paint(heat, source):
        peak = max((suspicion for _, suspicion in pieces), default=0.0)
        texts = visible_code(*(text for text, _ in pieces)) if pieces else []
        code = "".join(
            painted(text, LEVELS[detector.calibration.tier(suspicion)], colour=colour)
            if suspicion >= _HOT
            else text
            for text, (_, suspicion) in zip(texts, pieces, strict=True)
        )
        sign = ">" if number == marked else " "
        shown = f"{peak:.2f}" if peak >= _HOT else ""
        gutter = painted(f"{shown:>4} {sign} {number:>{width}} |", "faint", colour=colour)
        yield f"{gutter} {code}".rstrip() + "\n"


def _verdicts(
    function: ScannedFunction, explained: Finding | None, reasons: "_Reasons", colour: bool
) -> Iterator[str]:
    """Each other place that may be wrong, how sure that is, and whether it is reported."""
    if function.no_bug is None:
        least = reasons.checker.detector.calibration.min_candidates
        yield f"Not scored: the model was trained and measured on functions with at least {least} candidate changes"
        yield ", and without commands of IPython.\n" if reasons.file.cells else ".\n"
        return
    yield (
        "The numbers beside the code, and confidences, compare places; they are not shares of right findings.\n"
        f"{MEANING}\n\n"
    )
    known = explained and replace(explained, why=None)
    others = [suspect for suspect in function.suspects if suspect.finding != known]
    what = "What" if known is None else "What else"
    yield f"{what} may be wrong, most likely first:\n\n" if others else "Nothing else is suspicious.\n"
    for suspect in others:
        finding = CellPlaces(reasons.file.cells).finding(suspect.finding)
        worth = painted(f"[{finding.worth}]", LEVELS[finding.tier], colour=colour)
        yield f"{finding.line}:{finding.column}  {finding.rule}  {visible(finding.message)}  {worth}\n"
        yield f"         {reasons.of(suspect.finding)}\n"
        for other in finding.alternatives:
            yield (painted(f"         or: {visible(other.message)}", "faint", colour=colour) + "\n")


class _Reasons:
    """Why a finding of a file is reported or not, given by its place in the code that was scanned."""

    def __init__(self, file: ScannedFile, checker: Checker) -> None:
        settings, detector, baseline = checker.settings, checker.detector, checker.read_baseline()
        self.file, self.checker = file, checker
        self._settings, self._calibration = settings, detector.calibration
        self._excluded = checker.excludes(file.file.path)
        self._reported = make_report([file], settings, detector, baseline=baseline).findings
        self._new = make_report([file], settings, detector, baseline=baseline, show_all=True).findings
        self._all = make_report([file], settings, detector, show_all=True).findings

    def of(self, finding: Finding) -> str:
        """The reason in one sentence."""
        shown = CellPlaces(self.file.cells).finding(finding)
        if shown in self._reported:
            if self._excluded:
                return "Reported if the file is named: it is excluded otherwise."
            return "Reported."
        if finding.rule not in self._settings.rules_for(self.file.file.path):
            return f"Not reported: {finding.rule} is disabled for this file."
        for comment in self.file.suppressions:
            if comment.covers(finding):
                return f"Not reported: suppressed by the comment in {_in_words(self.file, comment.line)}."
        if shown in self._new:
            return f"Not reported: {self._threshold(finding)}."
        if shown in self._all:
            return "Not reported: it is in the baseline."
        return "Not reported: it is not among the most suspicious places of the function."

    def _threshold(self, finding: Finding) -> str:
        settings, calibration = self._settings, self._calibration
        if settings.min_confidence is not None:
            return f"its confidence of {finding.confidence:.3f} is below {settings.min_confidence:g} (min-confidence)"
        if settings.max_alarms is not None:
            return (
                f"its level raises more than {settings.max_alarms:g} alarms per 1,000 functions (max-alarms)"
            )
        if reason := calibration.why_empty(settings.tier):
            return f"tier {settings.tier} is empty: {reason} (--show-all)"
        return f"only tier {settings.tier} and better are shown (--tier, --show-all)"
