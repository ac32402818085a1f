"""Seconds per epoch of models of statements, by encoder, beside a naive path, which encodes the graph more often."""

import json as json_module
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from benchmarks.command import Positive, fail, run, use_kernel
from benchmarks.naive_kg import NaiveModel
from benchmarks.workloads import STATEMENT_SIZES
from hyperheat.configuration import override
from hyperheat.kg.datasets import KNOWN, StatementDataset, read_dataset
from hyperheat.kg.known_answers import AnswerGroups
from hyperheat.kg.neural.decoder import QuestionTokens, tokenise
from hyperheat.kg.neural.recipes import RECIPES, KgSettings
from hyperheat.kg.neural.trained_model import ModelScorer
from hyperheat.kg.neural.training import KgJob
from hyperheat.kg.statements import Statements
from hyperheat.train.process import freed_memory_kept

__all__ = ["ENCODERS", "Contest", "contestants", "main", "measure", "synthetic"]

ENCODERS = ("no-encoder", "stare", "heat", "heat-crossatt")
"""Recipes, each of which has an encoder of its own."""
_EQUAL = 1e-4
_COMPARED = 64
"""Questions whose scores are compared."""
_MAIN_ENTITIES = 10_874
"""Entities of WD50K(100) that are subject or object."""


@dataclass(frozen=True, kw_only=True)
class Contest:
    """A model with a step of training in both ways; each returns the loss. Dropout is drawn anew in each."""

    job: KgJob
    lean: Callable[[], float]
    naive: Callable[[], float]
    difference: float
    """the largest difference between the two ways in a score, as a share of the largest score; without dropout"""


def measure(
    data: StatementDataset,
    encoders: Sequence[str] = ENCODERS,
    assignments: Sequence[str] = (),
    *,
    naive_batch: int,
    repeats: int = 3,
) -> Iterator[dict[str, Any]]:
    """For each encoder seconds that cores work for an epoch of training, beside the naive path in the same process.

    An epoch is a step times their number; a step is the questions' loading, forward and backward, without the update, which
    both ways share. Keeping freed memory is a part of the lean path; a second ratio grants it to the naive one as well.
    Refuses to compare ways whose scores differ by more than 1e-4.
    """
    for name in encoders:
        contest = contestants(name, data, assignments, naive_batch)
        if contest.difference > _EQUAL:
            raise ValueError(
                f"{name}: expected scores equal to {_EQUAL}, got a difference of {contest.difference:.1e}"
            )
        lean, naive, naive_keeping = turns(contest, repeats)
        yield {
            "encoder": name,
            "seconds_per_epoch": round(lean * len(contest.job.batches(0)), 2),
            "speedup_over_naive": round(naive / lean, 2),
            "with_memory_kept": round(naive_keeping / lean, 2),
            "difference": contest.difference,
        }


def turns(contest: Contest, repeats: int) -> tuple[float, float, float]:
    """The median seconds that cores work for a step, which take turns; the first turn warms up.

    Lean, naive, and naive with freed memory kept, which takes a step to have effect.
    """
    seconds = []
    for _ in range(repeats + 1):
        with freed_memory_kept():
            contest.lean()
            lean = _work(contest.lean)
            contest.naive()
            naive_keeping = _work(contest.naive)
        seconds.append((lean, _work(contest.naive), naive_keeping))
    lean, naive, naive_keeping = (statistics.median(column) for column in zip(*seconds[1:], strict=True))
    return lean, naive, naive_keeping


def _work(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def contestants(recipe: str, data: StatementDataset, assignments: Sequence[str], naive_batch: int) -> Contest:
    """Forward and backward of the first batch of an epoch, lean and naive."""
    settings = replace(RECIPES[recipe](), hide_asked=False, drop_statements=0.0, qualifier_questions=0.0)
    settings = override(settings, assignments)
    job = KgJob(settings, _cut(data))
    trained, batch = job.trained, job.batches(0)[0]
    naive = NaiveModel(trained.model, trained.config, trained.statements)
    candidates = torch.as_tensor(trained.statements.main_entities())

    def run_lean() -> float:
        loss, _ = job.loss(job.load(batch))
        loss.backward()
        return loss.item()

    def run_naive() -> float:
        naive.train(job.model.training)
        total = 0.0
        for start in range(0, len(batch.main), naive_batch):
            chosen = batch.main[start : start + naive_batch]
            tokens, targets = _targets(job.main_groups, trained.statements, chosen, candidates, settings)
            loss = naive.loss(tokens, targets, candidates)
            loss.backward()
            total += loss.item()
        return total

    return Contest(job=job, lean=run_lean, naive=run_naive, difference=_difference(job, naive, batch.main))


@torch.no_grad()
def _difference(job: KgJob, naive: NaiveModel, chosen: np.ndarray) -> float:
    """The largest difference in the scores of all entities for a few questions, as a share of the largest score."""
    questions = job.main_groups.questions(job.trained.statements, chosen[:_COMPARED])
    naive.eval()
    tokens, order = tokenise(questions)
    lean = ModelScorer(job.trained).logits(questions)
    plain = naive.scores(tokens).numpy()
    naive.train()
    return float(np.abs(lean[order] - plain).max() / np.abs(plain).max())


def _targets(
    groups: AnswerGroups,
    statements: Statements,
    chosen: np.ndarray,
    candidates: Tensor,
    settings: KgSettings,
) -> tuple[QuestionTokens[np.ndarray], Tensor]:
    """The tokens of questions and their smoothed targets [B, N]."""
    tokens, order = tokenise(groups.questions(statements, chosen))
    row, place = groups.answers(chosen[order])
    answers = torch.zeros(len(chosen), len(candidates))
    answers[torch.as_tensor(row), torch.as_tensor(groups.answer[place].astype(np.int64))] = 1
    smoothing = settings.loss.smoothing
    spread = answers / answers.sum(1, keepdim=True)
    return tokens, (1 - smoothing) * spread + smoothing * candidates / candidates.sum()


def _cut(data: StatementDataset, most: int = 6) -> StatementDataset:
    """The data set without statements of more qualifiers than published decoders read."""
    return replace(data, **{name: split[split.num_qualifiers <= most] for name, split in data.splits.items()})


def synthetic(seed: int = 0) -> StatementDataset:
    """Statements in the sizes of WD50K(100), so that a benchmark needs no data; a few entities are in very many of them."""
    counts = KNOWN["wd50k_100"]
    random = np.random.default_rng(seed)
    sizes = np.array(list(STATEMENT_SIZES)) - 2  # without subject and object
    shares = np.array(list(STATEMENT_SIZES.values())) / sum(STATEMENT_SIZES.values())
    qualifiers = random.choice(sizes, size=sum(counts.statements), p=shares)

    def entities(number: int, limit: int) -> np.ndarray:
        return (limit * random.random(number) ** 2.5).astype(np.int64)

    every = Statements(
        entities=tuple(f"Q{i}" for i in range(counts.entities)),
        relations=tuple(f"P{i}" for i in range(counts.relations)),
        subject=entities(len(qualifiers), _MAIN_ENTITIES),
        relation=random.integers(0, counts.relations, len(qualifiers)),
        object=entities(len(qualifiers), _MAIN_ENTITIES),
        offsets=np.concatenate([[0], np.cumsum(qualifiers)]),
        qualifier=random.integers(0, counts.relations, qualifiers.sum()),
        value=entities(qualifiers.sum(), counts.entities),
    )
    first, second, _ = np.cumsum(counts.statements)
    return StatementDataset(
        source="synthetic",
        format="none",
        train=every[:first],
        valid=every[first:second],
        test=every[second:],
        labels={},
    )


_KEYS = ("encoder", "kernel", "seconds_per_epoch", "speedup_over_naive", "with_memory_kept")


def main(
    *,
    data: str | None = None,
    encoder: list[Literal["no-encoder", "stare", "heat", "heat-crossatt"]] | None = None,
    dim: Positive = 128,
    batch: Positive = 1024,
    naive_batch: Positive = 1024,
    repeats: Positive = 3,
    threads: Positive = 1,
    kernel: bool | None = None,
    json: bool = False,
) -> None:
    """Train each encoder on statements, lean and in a naive way with equal scores, in turns.

    Seconds are those that cores work, whatever else the machine does: with one thread, what an epoch takes on an idle one.
    An epoch is one step times the number of steps, without the update of the weights.

    Parameters
    ----------
    data
        A folder of statements or the name of a published data set; made up in the sizes of WD50K(100) unless given.
    encoder
        All unless given.
    dim
        Width of all encoders and of the decoder.
    batch
        Questions in a step, for which the graph is encoded once.
    naive_batch
        Questions for which the naive way encodes the graph once; the paper's batch has 512.
    repeats
        Turns each way takes; the median counts.
    threads
        Threads of torch.
    kernel
        Whether ours uses the compiled kernel for small edges; unless told, if there is a C compiler.
    json
        Print a list of records.
    """
    torch.set_num_threads(threads)
    sizes = (f"model.encoder.dim={dim}", f"batch={batch}")
    records = []
    compiled = use_kernel(kernel)
    try:
        chosen = synthetic() if data is None else read_dataset(data)
        measured = measure(chosen, encoder or ENCODERS, sizes, naive_batch=naive_batch, repeats=repeats)
        for record in measured:
            records.append(record | {"kernel": compiled})
            sys.stderr.write(
                f"{record['encoder']}: scores differ by at most {record['difference']:.1e} of the largest\n"
            )
    except (ValueError, OSError, ImportError) as error:
        fail(error)
    if json:
        shown = json_module.dumps([{key: record[key] for key in _KEYS} for record in records], indent=1)
    else:
        shown = _table(records, dim)
    sys.stdout.write(shown + "\n")


def _table(records: list[dict[str, Any]], dim: int) -> str:
    title = f"width {dim}"
    rows = [f"{title:<14}  {'seconds per epoch':>17}  {'over naive':>10}  {'with memory kept':>16}"]
    for record in records:
        rows.append(
            f"{record['encoder']:<14}  {record['seconds_per_epoch']:>17,.1f}  {record['speedup_over_naive']:>9.2f}x"
            f"  {record['with_memory_kept']:>15.2f}x"
        )
    rows.append(f"ours {'with' if records[0]['kernel'] else 'without'} the compiled kernel")
    return "\n".join(rows)


if __name__ == "__main__":
    run(main)
