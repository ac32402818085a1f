"""Asking a detector: samples in, answers out."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from hyperheat.bugs.dataset import Dataset
from hyperheat.bugs.metrics import Answers
from hyperheat.bugs.model import Scores
from hyperheat.bugs.trained_detector import TrainedDetector
from hyperheat.detector.batch import BugBatch, collate_samples
from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.detector.scorer import SampleScores, Scorer
from hyperheat.tensors import BudgetSampler

__all__ = ["answer", "answer_all", "answer_batch", "answer_exported"]


def answer_all(
    detector: TrainedDetector | Scorer,
    samples: Sequence[Sample] | Dataset,
    sizes: Sequence[int],
    *,
    budget: int = 12_000,
) -> Iterator[tuple[list[int], Answers]]:
    """The answers to all samples, batch by batch, with the numbers of the samples in each."""
    order = np.argsort(sizes, kind="stable")  # batches of equal sizes waste least
    sampler = BudgetSampler(sizes=[sizes[i] for i in order], budget=budget, shuffle=False)
    for batch in sampler.batches():
        indices = [int(order[i]) for i in batch]
        chosen = [samples[i] for i in indices]
        if isinstance(detector, Scorer):
            yield indices, answer_exported(detector, chosen)
        else:
            yield indices, answer(detector, chosen)


def answer_exported(scorer: Scorer, samples: Sequence[Sample]) -> Answers:
    """The answers of an exported detector to one batch of samples."""
    readable = [sample for sample in samples if scorer.problem(sample) is None]
    scores = iter(scorer.score(readable))
    return Answers.join(
        _unread(sample) if scorer.problem(sample) is not None else _answer_of(sample, next(scores))
        for sample in samples
    )


def _answer_of(sample: Sample, scores: SampleScores) -> Answers:
    """The answer to one sample, from its log-probabilities."""
    best_location, best = int(scores.locations.argmax()), int(scores.findings.argmax())
    alarm = bool(scores.locations[best_location] > scores.no_bug)
    loss, located, repaired = -scores.no_bug, not alarm, False
    if sample.target != NO_BUG:
        true_location = scores.location_of[sample.target]
        there = np.flatnonzero(scores.location_of == true_location)
        located = alarm and best_location == true_location
        repaired = bool(there[scores.rewrites[there].argmax()] == sample.target)
        loss = -float(scores.findings[sample.target])
    values = {
        "read": True,
        "alarm": alarm,
        "located": located,
        "repaired": repaired,
        "probability": np.exp(scores.locations[best_location] if alarm else scores.no_bug),
        "confidence": np.exp(scores.findings[best]),
        "finding": best == sample.target,
        "loss": loss,
    }
    return Answers(kind=_kinds([sample]), **{name: np.array([value]) for name, value in values.items()})


def answer(detector: TrainedDetector, samples: Sequence[Sample]) -> Answers:
    """The answers to one batch of samples; those that the detector cannot read are marked."""
    view = detector.view
    readable = [sample for sample in samples if view.problem(sample) is None]
    if not readable:
        return Answers.join(_unread(sample) for sample in samples)
    rows = iter(
        _split(answer_batch(detector, collate_samples(readable, view, detector.vocab), _kinds(readable)))
    )
    return Answers.join(next(rows) if view.problem(s) is None else _unread(s) for s in samples)


def answer_batch(detector: TrainedDetector, batch: BugBatch[Any], kinds: np.ndarray) -> Answers:
    """The answers to a batch of samples with bugs of these kinds."""
    batch = batch.to_torch(next(detector.model.parameters()).device)
    with torch.inference_mode():
        return _answers(kinds, detector.model(batch), batch)


def _answers(kinds: np.ndarray, scores: Scores, batch: BugBatch[Tensor]) -> Answers:
    num_locations = len(batch.by_sample.owner)
    choices, rewrites = scores.choices.double(), scores.rewrites.double()
    best_rewrite = _best(rewrites, batch.by_location.owner, num_locations)
    located = choices[:num_locations]
    best_location = _best(located, batch.by_sample.owner, batch.num_samples)
    no_bug = choices[num_locations:]
    alarm = located[best_location] > no_bug
    choice = torch.where(
        alarm, best_location, num_locations + torch.arange(batch.num_samples, device=alarm.device)
    )
    is_buggy = batch.true_choice < num_locations
    true_location = batch.true_choice.clamp(max=num_locations - 1)
    repaired = torch.zeros_like(is_buggy)
    repaired[is_buggy] = best_rewrite[true_location[is_buggy]] == batch.true_rewrite
    # The best finding weighs location and rewrite together: a sure rewrite at the second location may win.
    joint = located[batch.by_location.owner] + rewrites
    sample_of = batch.by_sample.owner[batch.by_location.owner]
    best = _best(joint, sample_of, batch.num_samples)
    loss = -choices[batch.true_choice]
    loss[is_buggy] -= rewrites[batch.true_rewrite]
    finding = torch.zeros_like(is_buggy)
    finding[is_buggy] = best[is_buggy] == batch.true_rewrite
    columns = {
        "read": torch.ones_like(is_buggy),
        "alarm": alarm,
        "located": choice == batch.true_choice,
        "repaired": repaired,
        "probability": choices[choice].exp(),
        "confidence": joint[best].exp(),
        "finding": finding,
        "loss": loss,
    }
    return Answers(kind=kinds, **{name: column.cpu().numpy() for name, column in columns.items()})


def _best(scores: Tensor, owner: Tensor, segments: int) -> Tensor:
    """The first entry with the highest score of each segment."""
    highest = scores.new_full((segments,), -torch.inf).scatter_reduce(0, owner, scores, "amax")
    entries = torch.arange(len(scores), device=scores.device)
    entries = torch.where(scores == highest[owner], entries, len(scores))
    return entries.new_full((segments,), len(scores)).scatter_reduce(0, owner, entries, "amin")


def _kinds(samples: Sequence[Sample]) -> np.ndarray:
    return np.array([NO_BUG if s.target == NO_BUG else int(s.candidates.kind[s.target]) for s in samples])


def _unread(sample: Sample) -> Answers:
    no, zero = np.zeros(1, bool), np.zeros(1)
    wrong = dict.fromkeys(("read", "alarm", "located", "repaired", "finding"), no)
    return Answers(kind=_kinds([sample]), **wrong, probability=zero, confidence=zero, loss=zero)


def _split(answers: Answers) -> Iterator[Answers]:
    return (answers.select(np.array([row])) for row in range(len(answers)))
