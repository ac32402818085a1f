"""What a detector finds in code as it was released: one package at a time, as `hyperheat check` would.

    seen = look_at_package(sources, detector, functions=1000, seed=0, jobs=1)
    seen.functions      # of each function that was judged, the log-probabilities of its findings
    seen.sure           # the findings that a reader may want to look at

Files and functions are taken in a random order, the same every time. Every place of a function counts, as in a scan. What is
kept are the model's own probabilities, so that a new map to confidence needs no new scan.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hyperheat.check.analysis import MAX_PLACES, Question, make_question, read_module, read_text
from hyperheat.check.discovery import MAX_BYTES
from hyperheat.check.scan_work import LIMITS, load_scorer, model_errors, run_in_workers
from hyperheat.detector import SampleScores
from hyperheat.detector.detector import Detector
from hyperheat.pycode import FunctionGraph, SourceError, TooMuchSource
from hyperheat.rewrites import KINDS
from hyperheat.rewrites.planting import rank
from hyperheat.workers.outcomes import Lost

__all__ = ["PER_FILE", "SeenPackage", "SureFinding", "look_at_package"]

PER_FILE = 40
"""The most functions used from one file: functions of one file are similar."""

_LEAST = 1e-3  # findings of a lower probability are not kept
_SURE = 0.9
_DIGITS = 4  # as in a scan


@dataclass(frozen=True, kw_only=True)
class SureFinding:
    """A finding that the model gives a high probability."""

    log_probability: float
    path: str
    function: str
    line: int
    kind: str
    message: str


@dataclass(frozen=True, kw_only=True)
class SeenPackage:
    """What was found in some functions of a package."""

    functions: tuple[tuple[float, ...], ...] = ()
    not_judged: int = 0
    """Functions that are too small or too large to be judged."""
    unread: int = 0
    """Files that could not be read or took too much time or memory."""
    sure: tuple[SureFinding, ...] = ()

    def plus(self, other: "SeenPackage") -> "SeenPackage":
        """Both together."""
        return SeenPackage(
            functions=self.functions + other.functions,
            not_judged=self.not_judged + other.not_judged,
            unread=self.unread + other.unread,
            sure=self.sure + other.sure,
        )

    def to_plain(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    @classmethod
    def from_plain(cls, values: Mapping[str, Any]) -> "SeenPackage":
        """Read plain data."""
        return cls(
            functions=tuple(tuple(map(float, findings)) for findings in values["functions"]),
            not_judged=int(values["not_judged"]),
            unread=int(values["unread"]),
            sure=tuple(SureFinding(**finding) for finding in values["sure"]),
        )


def look_at_package(
    sources: Mapping[str, bytes], detector: Detector, *, functions: int, seed: int, jobs: int
) -> SeenPackage:
    """Ask the detector about at most so many functions of a package, in workers; the same for any number of them."""
    work = _Work(detector, seed)
    files = sorted(sources, key=lambda path: rank(seed, path))
    jobs_to_do = (_Job(number, path, sources[path]) for number, path in enumerate(files))
    seen = SeenPackage()
    for of_file in _in_order(work, jobs_to_do, jobs):
        seen = seen.plus(of_file)
        if len(seen.functions) >= functions:
            break
    return seen


@dataclass(frozen=True, slots=True)
class _Job:
    number: int
    path: str
    data: bytes


def _in_order(work: "_Work", to_do: Iterator[_Job], jobs: int) -> Iterator[SeenPackage]:
    """What was seen in each file, in the order of the files."""
    done: dict[int, SeenPackage] = {}
    ready = 0
    for job, result in run_in_workers(work, to_do, work.detector, workers=jobs, limits=LIMITS):
        done[job.number] = SeenPackage(unread=1) if isinstance(result, Lost) else result
        while ready in done:
            yield done.pop(ready)
            ready += 1


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker does with a file."""

    detector: Detector
    seed: int

    def __call__(self, job: _Job) -> SeenPackage:
        try:
            if len(job.data) > MAX_BYTES:
                raise TooMuchSource(None, None, f"expected at most {MAX_BYTES} bytes")
            module = read_module(read_text(job.data))
        except SourceError:
            return SeenPackage(unread=1)
        seen = SeenPackage()
        for function in sorted(
            module.functions, key=lambda function: rank(self.seed, job.path, *function.span)
        ):
            seen = seen.plus(self._look(function, job.path))
            if len(seen.functions) == PER_FILE:
                break
        return seen

    def _look(self, function: FunctionGraph, path: str) -> SeenPackage:
        try:
            question = make_question(function, None)
            if len(question.rewrites) < max(1, self.detector.calibration.min_candidates):
                return SeenPackage(not_judged=1)
            with model_errors():
                scorer = load_scorer(self.detector)
                if scorer.problem(question.sample) is not None:
                    return SeenPackage(not_judged=1)
                LIMITS.begin_job()
                (scores,) = scorer.score_batch([question.sample])
        except TooMuchSource:
            return SeenPackage(not_judged=1)
        return _seen(question, scores, path)


def _seen(question: Question, scores: SampleScores, path: str) -> SeenPackage:
    """The best candidate of each place, as `answer` reports them."""
    findings = np.round(scores.findings, _DIGITS)
    best: dict[int, int] = {}
    for candidate in np.lexsort((np.arange(len(findings)), -findings)).tolist():
        best.setdefault(int(scores.location_of[candidate]), candidate)
    chosen = [candidate for candidate in best.values() if findings[candidate] >= np.log(_LEAST)][:MAX_PLACES]
    return SeenPackage(
        functions=(tuple(float(findings[candidate]) for candidate in chosen),),
        sure=tuple(
            _sure(question, candidate, float(findings[candidate]), path)
            for candidate in chosen
            if findings[candidate] >= np.log(_SURE)
        ),
    )


def _sure(question: Question, candidate: int, log_probability: float, path: str) -> SureFinding:
    rewrite, function = question.rewrites[candidate], question.function
    return SureFinding(
        log_probability=log_probability,
        path=path,
        function=function.name,
        line=function.span[0] + function.source.count("\n", 0, rewrite.location.start),
        kind=rewrite.kind,
        message=KINDS[rewrite.kind].describe(rewrite, function.source),
    )
