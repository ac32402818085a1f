"""Whether explanations of findings name what matters, and how long they take: measured on planted bugs.

A bug is planted in a function, and kept if the model finds it: its best finding is the repair, with a probability of at
least a half. Then the findings are explained, and

    deletion    the three parts that are named first are removed together; so are, for comparison, three parts of the
                same kinds drawn at random, and the three of the same kinds nearest to the place
    misuse      of bugs where one variable stands for another: whether one of the two is among the first three words that
                are named, the one at the place itself not counted; and how often three words at random would do
    time        seconds of processor time for each explanation, by the size of the function

Bugs are drawn as for training; from each function a variable misuse is planted, too, since few of the others are.
"""

import json as json_module
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from statistics import mean, median
from typing import Any

from benchmarks.command import Positive, fail, run
from hyperheat.check.analysis import Question, Score, make_question, read_module, read_text
from hyperheat.check.why import MeasuredParts, measure_parts
from hyperheat.detector import Scorer
from hyperheat.detector.detector import load_detector
from hyperheat.detector.occlusion import FunctionPart, remove
from hyperheat.pycode import FunctionGraph, ModuleGraphs, SourceError, extract_function
from hyperheat.rewrites import Rewrite, Span, candidates
from hyperheat.rewrites.planting import MIN_CANDIDATES, choose_bugs, rank, seeded

__all__ = ["FoundBug", "find_bugs", "main", "measure_why"]

_MISUSE = "variable-misuse"
_NAMED = 3  # parts that are removed together
_DRAWS = 5  # of random parts
_PER_FILE = 6  # functions; those of one file are alike
_SIZES = (100, 200, 400)
_LEAST = 0.5
_TELL = 25
_WORDS = ("variable", "token")


@dataclass(frozen=True, kw_only=True)
class FoundBug:
    """A function with a planted bug that the model finds: the question, the index of the repair, and the bug."""

    question: Question
    repair: int
    bug: Rewrite


def find_bugs(files: Iterable[Path], score: Score, *, seed: int) -> Iterator[FoundBug]:
    """Plant bugs in the functions of files, in a random order, and yield those that the model finds."""
    for path in sorted(files, key=lambda path: rank(seed, path.name)):
        try:
            module = read_module(read_text(path.read_bytes()))
        except (SourceError, OSError):
            continue
        functions = sorted(module.functions, key=lambda function: rank(seed, path.name, *function.span))
        fitting = [f for f in functions if f.graph.num_nodes <= _SIZES[-1]][:_PER_FILE]
        for function in fitting:
            yield from _found(function, module, score, seeded(seed, path.name, *function.span))


def _found(function: FunctionGraph, module: ModuleGraphs, score: Score, rng: Random) -> Iterator[FoundBug]:
    rewrites = candidates(function)
    if len(rewrites) < MIN_CANDIDATES:
        return
    misuses = [rewrite for rewrite in rewrites if rewrite.kind == _MISUSE]
    drawn = [*choose_bugs(rewrites, 0.5, rng), *(rng.sample(misuses, 1) if misuses else ())]
    for bug in dict.fromkeys(drawn):
        try:
            broken = extract_function(bug.apply(function.source), function, module.facts)
        except SourceError:
            continue
        question = make_question(broken, None)
        repair = question.rewrites.index(bug.inverse(function.source))
        findings = score(question.sample).findings
        if int(findings.argmax()) == repair and math.exp(findings[repair]) >= _LEAST:
            yield FoundBug(question=question, repair=repair, bug=bug)


def measure_why(
    bugs: Iterable[FoundBug],
    score: Score,
    *,
    seed: int,
    most: int,
    progress: Callable[[str], object] = lambda line: None,
) -> dict[str, Any]:
    """All figures over at most so many bugs."""
    rng = Random(seed)
    deletions: list[dict[str, float]] = []
    misuses: list[tuple[bool, float]] = []
    seconds: list[tuple[int, float]] = []
    kinds: Counter[str] = Counter()
    first: Counter[str] = Counter()
    left_out = 0
    for number, found in enumerate(bugs, 1):
        start = time.process_time()
        measured = measure_parts(found.question, score, found.repair)
        seconds.append((found.question.sample.graph.num_nodes, time.process_time() - start))
        left_out += measured.left_out
        kinds[found.bug.kind] += 1
        ranked = _ranked(measured)
        first[ranked[0].kind if ranked else "none"] += 1
        deletions.append(_deletion(found, measured, ranked, score, rng))
        if found.bug.kind == _MISUSE:
            misuses.append(_misuse(found, measured))
        if number % _TELL == 0:
            progress(f"{number} of {most}")
        if number == most:
            break
    if not deletions:
        raise ValueError("no planted bug was found by the model")
    return {
        "bugs": dict(sorted(kinds.items())),
        "deletion": {key: round(mean(row[key] for row in deletions), 4) for key in deletions[0]},
        "first": dict(sorted(first.items())),
        "misuse": {
            "bugs": len(misuses),
            "named": sum(hit for hit, _ in misuses),
            "chance": round(sum(chance for _, chance in misuses), 2),
        },
        "seconds": _by_size(seconds),
        "left_out": left_out,
    }


def _ranked(
    measured: MeasuredParts, kinds: Sequence[str] = ("variable", "token", "relation")
) -> list[FunctionPart]:
    """The parts of some kinds without which the finding is less likely, largest change first."""
    pairs = zip(measured.parts, measured.changes, strict=True)
    falls = [(part, change) for part, change in pairs if change > 0 and part.kind in kinds]
    return [part for part, _ in sorted(falls, key=lambda pair: -pair[1])]


def _deletion(
    found: FoundBug, measured: MeasuredParts, ranked: list[FunctionPart], score: Score, rng: Random
) -> dict[str, float]:
    """The probability of the finding with everything, and without the parts named, drawn and nearest."""

    def without(parts: Sequence[FunctionPart]) -> float:
        sample = found.question.sample
        scores = score(replace(sample, graph=remove(sample.graph, parts)))
        return float(math.exp(scores.findings[found.repair]))

    named = ranked[:_NAMED]
    draws = [without(_alike(named, measured.parts, rng)) for _ in range(_DRAWS)]
    nearest = without(_alike(named, measured.parts, None))
    left = without(named)
    return {
        "before": measured.probability,
        "named": left,
        "random": mean(draws),
        "nearest": nearest,
        "gone_named": float(left < _LEAST),
        "gone_random": mean(float(value < _LEAST) for value in draws),
        "gone_nearest": float(nearest < _LEAST),
    }


def _alike(
    named: Sequence[FunctionPart], parts: Sequence[FunctionPart], rng: Random | None
) -> list[FunctionPart]:
    """As many parts of each kind as were named: drawn at random, or the nearest ones."""
    counts = Counter(part.kind for part in named)
    chosen: list[FunctionPart] = []
    for kind, count in counts.items():
        of_kind = [part for part in parts if part.kind == kind]
        chosen += of_kind[:count] if rng is None else rng.sample(of_kind, count)
    return chosen


def _misuse(found: FoundBug, measured: MeasuredParts) -> tuple[bool, float]:
    """Whether the wrong or the right variable is among the first words named, and how likely that is by chance."""
    names = {found.bug.original, found.bug.replacement}
    place = found.question.rewrites[found.repair].location
    words = [part for part in measured.parts if part.kind in _WORDS and not _is_place(part, place)]
    named = [part for part in _ranked(measured, _WORDS) if not _is_place(part, place)][:_NAMED]
    others = sum(part.text not in names for part in words)
    missed = math.comb(others, min(_NAMED, len(words))) / math.comb(len(words), min(_NAMED, len(words)))
    return any(part.text in names for part in named), 1 - missed


def _is_place(part: FunctionPart, place: Span) -> bool:
    return part.kind == "token" and part.spans[0] == place


def _by_size(seconds: Sequence[tuple[int, float]]) -> list[dict[str, Any]]:
    """Median and maximum of the seconds of functions up to each size."""
    rows, least = [], 0
    for most in _SIZES:
        taken = [spent for nodes, spent in seconds if least < nodes <= most]
        if taken:
            rows.append(
                {
                    "nodes": most,
                    "explanations": len(taken),
                    "median": round(median(taken), 3),
                    "max": round(max(taken), 3),
                }
            )
        least = most
    return rows


def main(
    path: Path | None = None,
    /,
    *,
    model: Path | None = None,
    bugs: Positive = 300,
    seed: int = 0,
    json: bool = False,
) -> None:
    """Plant bugs, explain those that the model finds, and measure the explanations.

    Parameters
    ----------
    path
        A folder of Python code; the standard library, without its packages, unless given.
    model
        A folder that bugs export wrote; the model in the package unless given.
    bugs
        How many found bugs are explained.
    seed
        Which bugs are planted.
    json
        Print one JSON object.
    """
    folder = path or Path(os.__file__).parent
    files = list(folder.rglob("*.py") if path else folder.glob("*.py"))
    if not files:
        fail(f"{folder}: no Python files")
    try:
        detector = load_detector(model)
        scorer = Scorer.load(detector.folder)
    except (ValueError, OSError) as error:
        fail(error)

    def score(sample: Any) -> Any:
        return scorer.score_batch([sample])[0]

    try:
        measured = measure_why(
            find_bugs(files, score, seed=seed),
            score,
            seed=seed,
            most=bugs,
            progress=lambda line: sys.stderr.write(f"{line}\n"),
        )
    except ValueError as error:
        fail(error)
    name = path.resolve().name if path else f"the standard library of Python {sys.version.split()[0]}"
    content = {"code": name, "model": detector.sha256, "asked": bugs, "seed": seed, **measured}
    sys.stdout.write((json_module.dumps(content, indent=1) if json else _table(content)) + "\n")


def _table(content: dict[str, Any]) -> str:
    deletion, misuse = content["deletion"], content["misuse"]
    rows = [
        f"{content['code']}: {sum(content['bugs'].values())} planted bugs that the model finds",
        f"probability of the finding: {deletion['before']:.3f}; without the parts named {deletion['named']:.3f}, "
        f"drawn at random {deletion['random']:.3f}, nearest {deletion['nearest']:.3f}",
        f"variable misuse: named {misuse['named']} of {misuse['bugs']}, by chance {misuse['chance']:.1f}",
        *(
            f"up to {row['nodes']} nodes: {row['median']:.2f} s, at most {row['max']:.2f} s"
            for row in content["seconds"]
        ),
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    run(main)
