"""How the checker does on your own code: each function is checked unchanged, and with a bug planted in memory.

Files are taken in a random order until there are enough functions. Bugs are drawn like those that detectors are
trained and measured with. A finding in an unchanged function counts as a false alarm, although it may be a real bug.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from hyperheat.check.analysis import MAX_CANDIDATES, MAX_NODES, read_module, read_text
from hyperheat.check.discovery import MAX_BYTES, FoundFile
from hyperheat.check.scan_work import LIMITS, load_scorer, model_errors, run_in_workers
from hyperheat.detector.alarms import TIERS
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.detector import Detector
from hyperheat.detector.measurement import (
    Outcome,
    Outcomes,
    Share,
    ask,
    count_by_kind,
    share,
)
from hyperheat.detector.sample import Origin, Sample, make_sample
from hyperheat.files import SkippedFile, read_regular
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, extract_function
from hyperheat.rewrites import KINDS, candidates
from hyperheat.rewrites.planting import MIN_CANDIDATES, choose_bugs, rank, seeded
from hyperheat.workers.outcomes import Lost

__all__ = [
    "PER_FILE",
    "OfTier",
    "Planted",
    "measure_planted",
    "plant_bugs",
]

PER_FILE = 20
"""The most functions used from one file: functions of one file are similar."""

_HALF = 0.5  # of the samples have no bug: one bug for each function


@dataclass(frozen=True, kw_only=True)
class Planted:
    """The best findings in unchanged functions, each followed by that in the same function with a planted bug."""

    outcomes: tuple[Outcome, ...]
    files: int
    """Files that gave functions."""
    unread: int
    """Files that could not be read or took too much time or memory."""

    @property
    def functions(self) -> int:
        """How many functions there are."""
        return len(self.outcomes) // 2


@dataclass(frozen=True, kw_only=True)
class OfTier:
    """What the findings of a tier and better are on some code: planted bugs that are found, and alarms without one."""

    threshold: float
    recall: Share
    alarms: Share
    kinds: dict[str, tuple[int, int]]
    """For each kind, bugs that were planted and bugs that were found."""


@dataclass(frozen=True, slots=True)
class _Job:
    number: int
    shown: str
    data: bytes


def plant_bugs(
    files: Iterable[FoundFile],
    detector: Detector,
    *,
    samples: int,
    seed: int,
    jobs: int,
    progress: Callable[[int], object] = lambda functions: None,
) -> Planted:
    """Ask the detector about at most so many functions, in workers; the same for any number of them."""
    work = _Work(detector, seed)
    ordered = sorted(files, key=lambda file: rank(seed, file.shown))
    found: list[Outcome] = []
    used = unread = 0
    for outcomes in _in_order(work, ordered, jobs):
        if outcomes is None:
            unread += 1
            continue
        used += bool(outcomes)
        found += outcomes
        progress(min(len(found) // 2, samples))
        if len(found) >= 2 * samples:
            break
    return Planted(outcomes=tuple(found[: 2 * samples]), files=used, unread=unread)


def measure_planted(planted: Planted, calibration: Calibration) -> dict[str, OfTier]:
    """Recall and alarms on this code, by tier; tiers that the model has not earned are left out."""
    if not planted.outcomes:
        raise ValueError(
            f"no functions to plant bugs in: none has at least {MIN_CANDIDATES} candidate changes"
        )
    outcomes = Outcomes(planted.outcomes, calibration.slope, calibration.intercept)
    tiers = {tier: sure for tier, sure in calibration.tiers.items() if tier in TIERS}
    return {tier: _measure_tier(outcomes, threshold) for tier, threshold in tiers.items()}


def _measure_tier(outcomes: Outcomes, threshold: float) -> OfTier:
    shown, buggy, group = outcomes.confidence >= threshold, outcomes.buggy, outcomes.group
    counted = count_by_kind(outcomes, threshold)
    return OfTier(
        threshold=threshold,
        recall=share((shown & outcomes.right)[buggy], group[buggy]),
        alarms=share(shown[~buggy], group[~buggy]),
        kinds={kind: counted.get(kind, (0, 0)) for kind in KINDS},
    )


def _in_order(work: "_Work", files: Sequence[FoundFile], jobs: int) -> Iterator[Sequence[Outcome] | None]:
    """The outcomes of each file in the order of files, None where it could not be read."""
    done: dict[int, Sequence[Outcome] | None] = {}

    def to_do() -> Iterator[_Job]:
        for number, file in enumerate(files):
            try:
                yield _Job(number, file.shown, read_regular(file.path, max_bytes=MAX_BYTES))
            except SkippedFile:
                done[number] = None

    ready = 0
    for job, result in run_in_workers(work, to_do(), work.detector, workers=jobs, limits=LIMITS):
        done[job.number] = None if isinstance(result, Lost) else result
        while ready in done:
            yield done.pop(ready)
            ready += 1
    yield from (done[number] for number in sorted(done))


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker does with a file."""

    detector: Detector
    seed: int

    def __call__(self, job: _Job) -> list[Outcome] | None:
        try:
            module = read_module(read_text(job.data))
        except SourceError:
            return None
        functions = sorted(module.functions, key=lambda function: rank(self.seed, job.shown, *function.span))
        made = (pair for function in functions if (pair := self._pair(function, module, job.shown)))
        outcomes: list[Outcome] = []
        for pair in islice(made, PER_FILE):
            outcomes += self._ask(pair)
        return outcomes

    def _pair(self, function: FunctionGraph, module: ModuleGraphs, shown: str) -> list[Sample]:
        """The unchanged function, and the function with a bug; nothing if it is too small or too large."""
        if function.graph.num_nodes > MAX_NODES:
            return []
        try:
            rewrites = candidates(function, most=MAX_CANDIDATES)
            if len(rewrites) < MIN_CANDIDATES:
                return []
            (bug,) = choose_bugs(rewrites, _HALF, seeded(self.seed, shown, *function.span))
            broken = extract_function(bug.apply(function.source), function, module.facts)
            line = function.span[0]
            origin = Origin(project=shown, version="", path=shown, function=function.name, line=line)
            return [
                make_sample(function, None, origin),
                make_sample(broken, bug.inverse(function.source), origin),
            ]
        except ValueError:  # a source error among them: it cannot be read on its own
            return []

    def _ask(self, pair: list[Sample]) -> list[Outcome]:
        """Two outcomes, or none if the detector cannot read both."""
        with model_errors():
            scorer = load_scorer(self.detector)
            LIMITS.begin_job()
            outcomes = list(ask(scorer, pair))
        return outcomes if len(outcomes) == len(pair) else []
