"""Compare an exported detector with the checkpoint that it comes from, on random functions of the standard library.

    python -m tools.check_export --model RUN/best --exported MODEL [--functions 500] [--seed 0]

The log-probabilities of torch and of numpy are compared, and what `hyperheat check` makes of them: places, repairs,
tiers, and confidence to a thousandth.
Prints the largest difference, then the functions with other findings; exits with 1 if there are any or it exceeds 1e-4.
"""

import argparse
import sys
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tools.check_rewrites import library_functions

from hyperheat.bugs.trained_detector import TrainedDetector, load_trained
from hyperheat.check.analysis import Question, answer, make_question
from hyperheat.detector import SampleScores, Scorer
from hyperheat.detector.batch import collate_samples
from hyperheat.detector.calibration import Calibration
from hyperheat.detector.detector import load_detector
from hyperheat.detector.sample import Sample
from hyperheat.pycode import TooMuchSource

__all__ = ["Report", "compare", "torch_scores"]

LARGEST = 1e-4


@dataclass(slots=True)
class Report:
    """What was compared, and the functions with other findings."""

    functions: int = 0
    numbers: int = 0
    difference: float = 0.0
    findings: int = 0
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.functions} functions, {self.numbers} log-probabilities, largest difference {self.difference:.1e}\n"
            f"{self.findings} findings of all tiers, {len(self.problems)} functions where they differ"
        )


def torch_scores(detector: TrainedDetector, sample: Sample, like: SampleScores) -> SampleScores:
    """What torch says of a sample, in the order of what numpy says of it."""
    batch = collate_samples([sample], detector.view, detector.vocab).to_torch()
    with torch.inference_mode():
        scores = detector.model(batch)
    rewrites = np.empty(len(sample.candidates))
    rewrites[batch.candidate.numpy()] = scores.rewrites.numpy()
    choices = scores.choices.numpy()
    return replace(like, no_bug=float(choices[-1]), locations=choices[:-1], rewrites=rewrites)


def compare(
    detector: TrainedDetector, scorer: Scorer, calibration: Calibration, count: int, seed: int
) -> Report:
    """Compare on functions that the exported detector reads and that have a candidate."""
    report = Report()
    asked = (
        (f"{path.name}: {function.name}", question)
        for path, function, _ in library_functions(seed)
        if (question := _ask(scorer, function)) is not None
    )
    for name, question in islice(asked, count):
        (ours,) = scorer.score_batch([question.sample])
        theirs = torch_scores(detector, question.sample, ours)
        pairs = [
            (ours.no_bug, theirs.no_bug),
            (ours.locations, theirs.locations),
            (ours.rewrites, theirs.rewrites),
        ]
        report.functions += 1
        report.numbers += 1 + len(ours.locations) + len(ours.rewrites)
        report.difference = max([report.difference, *(float(np.abs(a - b).max()) for a, b in pairs)])
        found, expected = (_findings(question, scores, calibration) for scores in (ours, theirs))
        report.findings += len(found)
        if not _alike(found, expected):
            report.problems.append(f"{name}: numpy {found}, torch {expected}")
    return report


def _ask(scorer: Scorer, function: Any) -> Question | None:
    try:
        question = make_question(function, None)
    except TooMuchSource:
        return None
    return question if question.rewrites and scorer.problem(question.sample) is None else None


def _findings(question: Question, scores: SampleScores, calibration: Calibration) -> list[tuple[Any, float]]:
    """Each place with its repairs and tier, and the confidence."""
    best = [(place, place.repairs[0]) for place in answer(question, lambda _: scores, calibration).places]
    return [
        ((place.start, place.end, repair.edits, calibration.tier(repair.confidence)), repair.confidence)
        for place, repair in best
    ]


def _alike(found: list[tuple[Any, float]], expected: list[tuple[Any, float]]) -> bool:
    return [finding for finding, _ in found] == [finding for finding, _ in expected] and all(
        abs(one - other) <= 0.0011 for (_, one), (_, other) in zip(found, expected, strict=True)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--model", type=Path, required=True, help="a trained detector, such as best/ of a run"
    )
    parser.add_argument(
        "--exported", type=Path, required=True, help="what bugs export and bugs calibrate made of it"
    )
    parser.add_argument("--functions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    calibration = load_detector(options.exported).calibration
    report = compare(
        load_trained(options.model),
        Scorer.load(options.exported),
        calibration,
        options.functions,
        options.seed,
    )
    sys.stdout.write("\n".join([str(report), *report.problems, ""]))
    sys.exit(bool(report.problems) or report.difference > LARGEST)


if __name__ == "__main__":
    main()
