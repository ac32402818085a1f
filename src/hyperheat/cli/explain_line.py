"""What the detector thinks of the function around a line: its places by suspicion, and what becomes of each."""

import os
from collections.abc import Iterator
from pathlib import Path

from hyperheat.check.discover import FoundFile, shown_path
from hyperheat.check.judge import judge
from hyperheat.check.records import ScannedFile, ScannedFunction
from hyperheat.check.scan import scan_data
from hyperheat.check.settings import Settings
from hyperheat.cli.limits import limits_of, max_file_bytes
from hyperheat.cli.options import ScanOptions, read_settings
from hyperheat.cli.scanning import known_findings, load_for
from hyperheat.detector.detector import Detector
from hyperheat.files import SkippedFile, read_regular
from hyperheat.report import LEVELS, Finding, FunctionHeat, SourceText
from hyperheat.report.colours import painted
from hyperheat.report.heat import paint
from hyperheat.report.safe import visible, visible_code, visible_line

__all__ = ["explain_line"]

_HOT = 0.05  # less suspicion than this is not worth a number


def explain_line(path: str, line: int, options: ScanOptions, *, colour: bool) -> str:
    """The function around a line, as a listing with suspicions, and all that may be wrong with it, surest first.

    Raises ValueError in one sentence if the file cannot be checked or has no such line.
    """
    settings = read_settings([path], options)
    detector = load_for(options, settings)
    absolute = Path(os.path.abspath(path))
    try:
        data = read_regular(absolute, max_bytes=max_file_bytes(options))
    except SkippedFile as error:
        raise ValueError(f"{path}: {error}") from None
    found = FoundFile(shown_path(absolute, Path.cwd()), absolute)
    file = scan_data(data, found, detector, limits=limits_of(options))
    function = next((f for f in file.functions if f.line <= line <= f.end_line), None)
    text = file.text()
    if function is None or text is None:
        raise ValueError(_nothing_there(file, line))
    parts = [
        visible_line(f"{file.path}:{line} in {function.name}, lines {function.line} to {function.end_line}")
        + "\n",
        "".join(_listing(function.heat, text, line, detector, colour)),
        "".join(_verdicts(file, function, settings, detector, colour)),
    ]
    return "\n".join(parts)


def _nothing_there(file: ScannedFile, line: int) -> str:
    place = f"{file.path}:{line}"
    for error in file.errors:
        if not file.functions or error.line == line:
            where = f" (line {error.line})" if error.line else ""
            return f"{place}: not checked: {error.reason}{where}"
    near = min(file.functions, key=lambda f: min(abs(f.line - line), abs(f.end_line - line)), default=None)
    there = "there is none" if near is None else f"the nearest is {near.name} in line {near.line}"
    return f"{place}: expected a line of a function, since only functions are checked; {there}"


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
    file: ScannedFile, function: ScannedFunction, settings: Settings, detector: Detector, colour: bool
) -> Iterator[str]:
    """Each place that may be wrong, how sure that is, and whether it is reported."""
    if function.no_bug is None:
        least = detector.calibration.min_candidates
        yield f"Not judged: the model was trained and measured on functions with at least {least} candidate changes.\n"
        return
    yield (
        f"The model's own probability that nothing is wrong here is {function.no_bug:.3f}. "
        "What may be wrong, surest first:\n\n"
    )
    reasons = _Reasons(file, settings, detector)
    for suspect in function.suspects:
        finding = suspect.finding
        sure = painted(f"{finding.confidence:.3f} {finding.tier}", LEVELS[finding.tier], colour=colour)
        yield f"{sure}  {finding.line}:{finding.column}  {finding.rule}  {visible(finding.message)}\n"
        yield f"         {reasons.of(finding)}\n"
        for other in finding.alternatives:
            yield (
                painted(
                    f"         or: {visible(other.message)} ({other.confidence:.3f})", "faint", colour=colour
                )
                + "\n"
            )


class _Reasons:
    """Why a finding of a file is reported or not."""

    def __init__(self, file: ScannedFile, settings: Settings, detector: Detector) -> None:
        baseline = known_findings(settings)
        self._file, self._settings, self._calibration = file, settings, detector.calibration
        self._reported = judge([file], settings, detector, baseline=baseline).findings
        self._new = judge([file], settings, detector, baseline=baseline, show_all=True).findings
        self._all = judge([file], settings, detector, show_all=True).findings

    def of(self, finding: Finding) -> str:
        """The reason in one sentence."""
        if finding in self._reported:
            return "Reported."
        if finding.rule not in self._settings.rules_for(self._file.file.path):
            return f"Not reported: {finding.rule} is not looked for here."
        for comment in self._file.suppressions:
            if comment.covers(finding):
                return f"Not reported: the comment in line {comment.line} keeps it quiet."
        if finding in self._new:
            return f"Not reported: {self._threshold()}."
        if finding in self._all:
            return "Not reported: it is in the baseline."
        return f"Not reported: less sure than of any function ({self._calibration.bug_rate:.1%})."

    def _threshold(self) -> str:
        settings, calibration = self._settings, self._calibration
        if settings.min_confidence is not None:
            return f"shown from confidence {settings.min_confidence:g} on (min-confidence)"
        if settings.min_precision is not None:
            least = calibration.at_precision(settings.min_precision).confidence
            return f"shown from confidence {least:g} on (min-precision {settings.min_precision:g})"
        least = calibration.tiers.get(settings.tier, 0.0)
        return f"shown from tier {settings.tier} on, confidence {least:g} (--show-all)"
