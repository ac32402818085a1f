"""Findings with what they depend on, found in workers: `hyperheat explain` and `hyperheat check --why`.

    report = explain_findings(report, scan.files, detector, jobs=2)
    finding = explain_place(data, Target(3, 16), file, detector)        # whatever is there, reported or not

A target is a place in a file, or in the joined code of a notebook. A worker reads the file again, finds the function and the
place, and asks the detector with one part of the function after another removed (`why.py`).
"""

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from hyperheat.check.cell_places import CellPlaces
from hyperheat.check.discovery import MAX_BYTES, FoundFile
from hyperheat.check.records import FileRecord, FunctionRecord, ListedFunction
from hyperheat.check.scan_work import LIMITS, run_in_workers, score_in_worker
from hyperheat.check.scanned_files import ScannedFile, lines_and_columns, read_record
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.detector import Detector
from hyperheat.report.finding import Finding, Report
from hyperheat.report.finding_causes import METHOD, CodeCause, CodePlace, FindingCauses
from hyperheat.workers.limits import Limits
from hyperheat.workers.outcomes import Lost

if TYPE_CHECKING:
    from hyperheat.check.analysis import Question, Score
    from hyperheat.check.why import Cause, Why

__all__ = [
    "ExplainedPlace",
    "Target",
    "explain_findings",
    "explain_place",
    "explain_targets",
    "read_explained",
]

_AT_ONCE = 20  # targets of one job, which has the time limit of a file
_LEAST_CHANGE = 0.005  # of the confidence
_LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Target:
    """A place to explain, as findings have it: all of it, or a line and perhaps a column of it, counted from 1."""

    line: int
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    def meets(self, place: tuple[int, int, int, int]) -> bool:
        """Whether a place is meant: equal if the target has an end, around the column if it has one, else on the line."""
        line, column, end_line, end_column = place
        if self.column is None:
            return line <= self.line <= end_line
        if self.end_line is None:
            return (line, column) <= (self.line, self.column) < (end_line, end_column)
        return place == (self.line, self.column, self.end_line, self.end_column)


@dataclass(frozen=True, slots=True)
class ExplainedPlace:
    """The function around a place, with a record of that place alone, and what it depends on."""

    function: ListedFunction
    record: FunctionRecord
    why: "Why"


@dataclass(frozen=True, slots=True)
class _Job:
    data: bytes
    is_notebook: bool
    targets: tuple[Target, ...]
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker does with a job."""

    detector: Detector
    limits: Limits

    def __call__(self, job: _Job) -> "Iterator[ExplainedPlace | None]":
        from hyperheat.check.analysis import read_text

        score, calibration = partial(score_in_worker, self.detector, self.limits), self.detector.calibration
        if not job.is_notebook:
            return explain_targets(read_text(job.data), job.targets, score, calibration)
        from hyperheat.check.notebook import read_notebook
        from hyperheat.check.notebook_analysis import join_cells

        code = join_cells(read_notebook(job.data))
        return explain_targets(
            code.text, job.targets, score, calibration, interactive=True, unjudged=code.commands
        )


def explain_findings(
    report: Report,
    files: Sequence[ScannedFile],
    detector: Detector,
    *,
    jobs: int,
    limits: Limits = LIMITS,
    progress: Callable[[], object] = lambda: None,
) -> Report:
    """The report with every finding explained; a note says how many are not, because of a limit or an interruption."""
    explained: dict[Finding, Finding] = {}
    work, scanned = _Work(detector, limits), {file.path: file for file in files}
    try:
        for job, result in run_in_workers(
            work, _jobs(report, scanned), detector, workers=jobs, limits=limits
        ):
            places = result.parts if isinstance(result, Lost) else result
            for finding, place in zip(job.findings, places, strict=False):
                if place is not None:
                    file = scanned[finding.path]
                    made = CellPlaces(file.cells).finding(
                        read_explained(place, file.file, detector.calibration)
                    )
                    explained[finding] = replace(finding, why=made.why)
            for _ in job.findings:
                progress()
    except KeyboardInterrupt:
        pass  # the findings are there
    notes = (*report.summary.notes, METHOD) if report.findings else report.summary.notes
    if lost := len(report.findings) - len(explained):
        notes = (
            *notes,
            f"{lost} of {len(report.findings)} findings could not be explained.",
        )
    return replace(
        report,
        findings=tuple(explained.get(finding, finding) for finding in report.findings),
        summary=replace(report.summary, notes=notes),
    )


def explain_place(
    data: bytes, target: Target, file: FoundFile, detector: Detector, *, limits: Limits = LIMITS
) -> Finding | None:
    """What the detector says about a place and why, in a worker; None if there is nothing to judge.

    Raises ValueError if that took too much time or memory.
    """
    work, job = _Work(detector, limits), _Job(data, file.is_notebook, (target,))
    ((_, result),) = run_in_workers(work, [job], detector, workers=1, limits=limits)
    if isinstance(result, Lost):
        raise ValueError(f"{file.shown}:{target.line}: not explained: {result.reason}")
    return None if result[0] is None else read_explained(result[0], file, detector.calibration)


def _jobs(report: Report, files: dict[str, ScannedFile]) -> Iterator[_Job]:
    """The findings of each file, a few at a time; those of a file that has changed since are left out."""
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    for path, findings in by_path.items():
        data = files[path].data()
        if data is None:
            continue
        data = data.encode() if isinstance(data, str) else data
        places, left = CellPlaces(files[path].cells), iter(findings)
        while some := tuple(islice(left, _AT_ONCE)):
            targets = tuple(_target(finding, places) for finding in some)
            yield _Job(data, files[path].file.is_notebook, targets, some)


def _target(finding: Finding, places: CellPlaces) -> Target:
    line = places.joined_line(finding.cell, finding.line) or finding.line
    return Target(line, finding.column, line + finding.end_line - finding.line, finding.end_column)


def explain_targets(
    text: str,
    targets: Sequence[Target],
    score: "Score",
    calibration: Calibration,
    *,
    interactive: bool = False,
    unjudged: Collection[int] = (),
) -> "Iterator[ExplainedPlace | None]":
    """What is at each target and what it depends on; None if no candidate is there, or the function is not judged.

    The text is `interactive` if it is that of a notebook; functions with `unjudged` lines are not scored.
    """
    from hyperheat.check.analysis import make_question, read_outline
    from hyperheat.pycode import SourceError

    module = read_outline(text, max_characters=max(len(text), MAX_BYTES), interactive=interactive)
    for target in targets:
        found = next((f for f in module.functions if f.line <= target.line <= f.end_line), None)
        if found is None or any(found.line <= line <= found.end_line for line in unjudged):
            yield None
            continue
        try:
            question = make_question(module.read(found), text if "\r" in text else None)
            yield _explain(question, target, score, calibration)
        except SourceError:
            yield None


def _explain(
    question: "Question", target: Target, score: "Score", calibration: Calibration
) -> ExplainedPlace | None:
    """The likeliest of the places that are meant."""
    from hyperheat.check.analysis import line_starts, place_record, rank_candidates
    from hyperheat.check.why import find_why

    function = question.function
    if len(question.rewrites) < max(1, calibration.min_candidates):
        return None
    bare = FunctionRecord(line_starts(function))
    line = function.span[0]
    scores = score(question.sample)
    for candidates in rank_candidates(scores):
        start, end = question.rewrites[candidates[0]].location
        place = lines_and_columns(bare, line, start, end)
        if target.meets((place["line"], place["column"], place["end_line"], place["end_column"])):
            return ExplainedPlace(
                ListedFunction(function.name, line, ""),
                replace(bare, places=(place_record(question, scores, candidates, calibration),)),
                find_why(question, score, candidates[0]),
            )
    return None


def read_explained(place: ExplainedPlace, file: FoundFile, calibration: Calibration) -> Finding:
    """The finding of a place, with its explanation."""
    record = FileRecord((place.function,), {place.function.digest: place.record})
    (function,) = read_record(record, file, calibration).functions
    finding = function.suspects[0].finding
    return replace(finding, why=_explanation(place, finding.confidence, calibration))


def _explanation(place: ExplainedPlace, confidence: float, calibration: Calibration) -> FindingCauses:
    why = place.why

    def read(causes: Sequence["Cause"]) -> tuple[CodeCause, ...]:
        made = (_cause(cause, place, calibration) for cause in causes)
        return tuple(cause for cause in made if abs(cause.confidence - confidence) >= _LEAST_CHANGE)

    return FindingCauses(
        confidence=confidence,
        causes=read(why.causes),
        against=read(why.against),
        tried=why.tried,
        left_out=why.left_out,
    )


def _cause(cause: "Cause", place: ExplainedPlace, calibration: Calibration) -> CodeCause:
    from hyperheat.detector.occlusion import FAMILIES

    line, without = place.function.line, place.why.probability - cause.change
    where = (lines_and_columns(place.record, line, *span) for span in cause.spans)
    return CodeCause(
        kind=cause.kind,
        text=cause.text,
        meaning=FAMILIES[cause.text] if cause.kind == "relation" else "",
        places=tuple(CodePlace(**lines) for lines in where),
        confidence=calibration.confidence(math.log(max(without, _LEAST_PROBABILITY))),
    )
