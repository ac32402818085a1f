"""How the time per question and the memory of a model of statements grow with the graph, in training and in answering."""

import json as json_module
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
import torch
from cyclopts import Parameter

from benchmarks.command import Positive, fail, print_records, run
from benchmarks.workloads import STATEMENT_SIZES
from hyperheat.kg import Completer, Questions, Statements
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.recipes import RECIPES
from hyperheat.kg.neural.trained_model import ModelScorer
from hyperheat.kg.neural.training import KgJob
from hyperheat.kg.questions import OBJECT
from hyperheat.train.learner import Learner
from hyperheat.train.process import freed_memory_kept
from hyperheat.train.run import State

__all__ = ["main", "measure_size", "measure_sizes", "skewed_statements"]

_SIZES = (10_000, 100_000, 1_000_000)
_RELATIONS = 500
_STATEMENTS_PER_ENTITY = 5
_WARMING = 1


def skewed_statements(count: int, *, seed: int = 0) -> Statements:
    """Statements with as many qualifiers as in WD50K(100) and a fifth as many entities, of which few are in very many."""
    random = np.random.default_rng(seed)
    sizes = np.array(list(STATEMENT_SIZES)) - 2  # without subject and object
    shares = np.array(list(STATEMENT_SIZES.values())) / sum(STATEMENT_SIZES.values())
    qualifiers = random.choice(sizes, size=count, p=shares)
    num_entities = max(2, count // _STATEMENTS_PER_ENTITY)

    def entities(number: int) -> np.ndarray:
        return (num_entities * random.random(number) ** 2.5).astype(np.int64)

    return Statements(
        entities=tuple(f"Q{i}" for i in range(num_entities)),
        relations=tuple(f"P{i}" for i in range(_RELATIONS)),
        subject=entities(count),
        relation=random.integers(0, _RELATIONS, count),
        object=entities(count),
        offsets=np.concatenate([[0], np.cumsum(qualifiers)]),
        qualifier=random.integers(0, _RELATIONS, qualifiers.sum()),
        value=entities(qualifiers.sum()),
    )


def measure_size(count: int, recipe: str, *, steps: int, questions: int) -> dict[str, Any]:
    """Train for some steps on so many statements and ask some questions, in this process."""
    torch.set_num_threads(1)
    statements = skewed_statements(count)
    nothing = statements[:0]
    data = StatementDataset(
        source="synthetic", format="none", train=statements, valid=nothing, test=nothing, labels={}
    )
    job = KgJob(RECIPES[recipe](), data)
    with freed_memory_kept():
        batch_seconds, asked = _train(job, steps)
    training_mb = _peak_mb()
    job.model.eval()
    encode_seconds, scorer = _timed(lambda: ModelScorer(job.trained))
    completer = Completer(scorer, job.trained.statements, {})
    rows = np.random.default_rng(1).integers(0, len(job.trained.statements), questions)
    chosen = Questions(job.trained.statements[rows], np.full(questions, OBJECT))
    answer_seconds, _ = _timed(lambda: list(completer.ask_all(chosen)))
    return {
        "recipe": recipe,
        "statements": count,
        "entities": len(statements.entities),
        "training_ms_per_question": round(1e3 * batch_seconds / asked, 3),
        "training_peak_mb": round(training_mb),
        "encoding_s": round(encode_seconds, 1),
        "answering_ms_per_question": round(1e3 * answer_seconds / questions, 3),
        "peak_mb": round(_peak_mb()),
    }


def _train(job: KgJob, steps: int) -> tuple[float, int]:
    """The seconds that a core works for some steps after the first, and the questions for subjects and objects in them."""
    learner, state = Learner(job.model, replace(RECIPES["heat-large"]().train, threads=1)), State()
    batches = job.batches(0)
    seconds, asked = 0.0, 0
    for number in range(_WARMING + steps):
        batch = batches[number % len(batches)]
        spent, _ = _timed(lambda batch=batch: _step(job, learner, state, batch))
        state.step += 1
        if number >= _WARMING:
            seconds, asked = seconds + spent, asked + len(batch.main)
    return seconds, asked


def _step(job: KgJob, learner: Learner, state: State, batch: Any) -> None:
    loss, _ = job.loss(job.load(batch))
    learner.backward(loss / job.weight(batch))
    learner.update(state)


def _timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = function()
    return time.process_time() - start, found


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / (1 << 10)


def measure_sizes(
    sizes: Sequence[int], recipe: str, *, steps: int, questions: int
) -> Iterator[dict[str, Any]]:
    """Measure each size in a process of its own, and how many times as long as at the size before a question takes."""
    before: dict[str, Any] = {}
    for count in sizes:
        options = {"--recipe": recipe, "--steps": steps, "--questions": questions, "--statements": count}
        told = [str(part) for option in options.items() for part in option]
        command = [sys.executable, "-m", "benchmarks.kg_growth", "--here", "--json", *told]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise ValueError(f"{count:,} statements: the process ended with exit code {done.returncode}")
        (record,) = json_module.loads(done.stdout)
        for name in ("training", "answering"):
            key = f"{name}_ms_per_question"
            record[f"{name}_growth"] = round(record[key] / before[key], 2) if before else None
        before = record
        yield record


def main(
    *,
    statements: list[Positive] | None = None,
    recipe: str = "heat-large",
    steps: Positive = 4,
    questions: Positive = 256,
    here: Annotated[bool, Parameter(negative=())] = False,
    json: bool = False,
) -> None:
    """Train and ask a model of 10,000, 100,000 and 1,000,000 made-up statements, and show how time and memory grow.

    Milliseconds are those that one core works, whatever else the machine does; they include loading the batch and the
    update of the weights. Memory is the most that the process ever held.

    Parameters
    ----------
    statements
        Other numbers of statements.
    recipe
        The recipe, as in `hyperheat kg train`.
    steps
        Steps of training that are measured, after a first one that is not.
    questions
        Questions that are answered.
    here
        Measure in this process, instead of one for each number of statements.
    json
        Print a list of records.
    """
    columns = {
        "statements": "statements",
        "entities": "entities",
        "training_ms_per_question": "train ms",
        "training_growth": "growth",
        "training_peak_mb": "peak MB",
        "encoding_s": "encode s",
        "answering_ms_per_question": "answer ms",
        "answering_growth": "growth",
        "peak_mb": "peak MB",
    }
    sizes = statements or list(_SIZES)
    if recipe not in RECIPES:
        fail(f"recipe: expected one of {', '.join(RECIPES)}, got {recipe!r}")
    try:
        if here:
            records = (measure_size(size, recipe, steps=steps, questions=questions) for size in sizes)
        else:
            records = measure_sizes(sizes, recipe, steps=steps, questions=questions)
        print_records(records, columns, as_json=json)
    except ValueError as error:
        fail(error)


if __name__ == "__main__":
    run(main)
