"""Asking a detector: samples in, answers out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from hyperheat.bugs.dataset import Dataset
from hyperheat.bugs.metrics import Answers
from hyperheat.bugs.trained_detector import TrainedDetector
from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.detector.scorer import SampleScores, Scorer
from hyperheat.hypergraph.graph import running_sum
from hyperheat.tensors import BudgetSampler
from hyperheat.tensors.indices import join_columns

__all__ = ["answer", "answer_all", "answer_batch", "answer_exported"]

_COLUMNS = {
    **dict.fromkeys(("read", "alarm", "located", "repaired", "finding"), bool),
    **dict.fromkeys(("probability", "confidence", "loss"), float),
}


def answer_all(
    detector: TrainedDetector | Scorer,
    samples: Sequence[Sample] | Dataset,
    sizes: Sequence[int],
    *,
    budget: int = 12_000,
    bug_odds: float = 1.0,
) -> Iterator[tuple[list[int], Answers]]:
    """The answers to all samples, batch by batch, with the numbers of the samples in each.

    The odds of a bug are multiplied by `bug_odds`: what the detector would say were bugs so many times as frequent as
    in its training.
    """
    order = np.argsort(sizes, kind="stable")  # batches of equal sizes waste least
    sampler = BudgetSampler(sizes=[sizes[i] for i in order], budget=budget, shuffle=False)
    for batch in sampler.batches():
        indices = [int(order[i]) for i in batch]
        chosen = [samples[i] for i in indices]
        if isinstance(detector, Scorer):
            yield indices, answer_exported(detector, chosen, bug_odds)
        else:
            yield indices, answer(detector, chosen, bug_odds)


def answer_exported(scorer: Scorer, samples: Sequence[Sample], bug_odds: float = 1.0) -> Answers:
    """The answers of an exported detector to one batch of samples; those that it cannot read are marked."""

    def ask(readable: list[Sample]) -> Answers:
        return _answers(_kinds(readable), _join_scores(readable, scorer.score(readable)), bug_odds)

    return _answer_readable(samples, scorer.problem, ask)


def answer(detector: TrainedDetector, samples: Sequence[Sample], bug_odds: float = 1.0) -> Answers:
    """The answers to one batch of samples; those that the detector cannot read are marked."""

    def ask(readable: list[Sample]) -> Answers:
        batch = collate_samples(readable, detector.view, detector.vocab)
        return answer_batch(detector, batch, _kinds(readable), bug_odds)

    return _answer_readable(samples, detector.view.problem, ask)


def answer_batch(
    detector: TrainedDetector, batch: BugBatch[Any], kinds: np.ndarray, bug_odds: float = 1.0
) -> Answers:
    """The answers to a batch of samples with bugs of these kinds."""
    batch = batch.to_torch(next(detector.model.parameters()).device)
    with torch.inference_mode():
        scores = detector.model(batch)
    columns = {
        "choices": scores.choices.double(),
        "rewrites": scores.rewrites.double(),
        "sample_of": batch.by_sample.owner,
        "location_of": batch.by_location.owner,
        "true_choice": batch.true_choice,
        "true_rewrite": batch.true_rewrite,
    }
    scored = _Scored(**{name: column.cpu().numpy() for name, column in columns.items()})
    return _answers(kinds, scored, bug_odds)


@dataclass(frozen=True, kw_only=True)
class _Scored:
    """Log-probabilities for a batch and the right answers; the letters are those of `BugBatch`."""

    choices: np.ndarray
    """Of each location and, after them, of no bug in each sample [L + G]."""
    rewrites: np.ndarray
    """Of each rewrite, given its location [R]."""
    sample_of: np.ndarray
    """The sample of each location [L]."""
    location_of: np.ndarray
    """The location of each rewrite [R]."""
    true_choice: np.ndarray
    """The right one of the choices, for each sample [G]."""
    true_rewrite: np.ndarray
    """The right rewrite, for each sample with a bug [B]."""


def _join_scores(samples: Sequence[Sample], scores: Sequence[SampleScores]) -> _Scored:
    """The scores of single samples as those of one batch."""
    first_location = running_sum([len(one.locations) for one in scores])
    first_rewrite = running_sum([len(one.rewrites) for one in scores])
    is_buggy = np.array([sample.target != NO_BUG for sample in samples])
    true_rewrite = (np.array([sample.target for sample in samples]) + first_rewrite[:-1])[is_buggy]
    location_of = join_columns([one.location_of for one in scores], first_location)
    true_choice = first_location[-1] + np.arange(len(samples))
    true_choice[is_buggy] = location_of[true_rewrite]
    return _Scored(
        choices=np.concatenate([*(one.locations for one in scores), [one.no_bug for one in scores]]),
        rewrites=np.concatenate([one.rewrites for one in scores]),
        sample_of=np.repeat(np.arange(len(samples)), np.diff(first_location)),
        location_of=location_of,
        true_choice=true_choice,
        true_rewrite=true_rewrite,
    )


def _answers(kinds: np.ndarray, scored: _Scored, bug_odds: float) -> Answers:
    num_samples, num_locations = len(scored.true_choice), len(scored.sample_of)
    choices = _with_odds(scored, bug_odds)
    located, no_bug = np.split(choices, [num_locations])
    best_location = _best(located, scored.sample_of, num_samples)
    best_rewrite = _best(scored.rewrites, scored.location_of, num_locations)
    alarm = located[best_location] > no_bug
    choice = np.where(alarm, best_location, num_locations + np.arange(num_samples))
    # The best finding weighs location and rewrite together: a sure rewrite at the second location may win.
    joint = located[scored.location_of] + scored.rewrites
    best = _best(joint, scored.sample_of[scored.location_of], num_samples)
    is_buggy = scored.true_choice < num_locations
    loss = -choices[scored.true_choice]
    loss[is_buggy] -= scored.rewrites[scored.true_rewrite]
    repaired, finding = np.zeros(num_samples, bool), np.zeros(num_samples, bool)
    repaired[is_buggy] = best_rewrite[scored.true_choice[is_buggy]] == scored.true_rewrite
    finding[is_buggy] = best[is_buggy] == scored.true_rewrite
    return Answers(
        kind=kinds,
        read=np.ones(num_samples, bool),
        alarm=alarm,
        located=choice == scored.true_choice,
        repaired=repaired,
        probability=np.exp(choices[choice]),
        confidence=np.exp(joint[best]),
        finding=finding,
        loss=loss,
    )


def _with_odds(scored: _Scored, bug_odds: float) -> np.ndarray:
    """The choices after the odds of a bug in each sample are multiplied by a factor."""
    if bug_odds == 1:
        return scored.choices
    located, no_bug = np.split(scored.choices, [len(scored.sample_of)])
    none = np.exp(no_bug)
    total = np.log(none + bug_odds * (1 - none))
    return np.concatenate([located + np.log(bug_odds) - total[scored.sample_of], no_bug - total])


def _best(scores: np.ndarray, owner: np.ndarray, segments: int) -> np.ndarray:
    """The first entry with the highest score of each segment, none of which is empty."""
    order = np.lexsort((-scores, owner))
    return order[np.searchsorted(owner[order], np.arange(segments))]


def _answer_readable(
    samples: Sequence[Sample],
    problem: Callable[[Sample], str | None],
    ask: Callable[[list[Sample]], Answers],
) -> Answers:
    """The answers to the samples that have no problem, and rows of zeros for the others."""
    is_read = np.array([problem(sample) is None for sample in samples], bool)
    columns = {name: np.zeros(len(samples), kind) for name, kind in _COLUMNS.items()}
    if is_read.any():
        answers = ask([sample for sample, read in zip(samples, is_read, strict=True) if read])
        for name, column in columns.items():
            column[is_read] = getattr(answers, name)
    return Answers(kind=_kinds(samples), **columns)


def _kinds(samples: Sequence[Sample]) -> np.ndarray:
    return np.array([NO_BUG if s.target == NO_BUG else int(s.candidates.kind[s.target]) for s in samples])
