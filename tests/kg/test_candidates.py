"""Candidates that are drawn: who is there, how the loss weighs them, and that nothing changes if all are drawn."""

import numpy as np
import pytest
import torch
from tests.kg.neural_data import random_statements
from torch.nn import functional as F

from hyperheat.kg.known_answers import group_main
from hyperheat.kg.neural.candidates import BatchCandidates, CandidateSampler
from hyperheat.kg.neural.loss import SoftmaxLoss, candidate_loss

STATEMENTS = random_statements(200, entities=50, relations=2)
GROUPS = group_main(STATEMENTS)
EVERY = np.flatnonzero(STATEMENTS.main_entities())
LARGEST = int(np.diff(GROUPS.offsets).argmax())


def sampler(negatives: int | None, answers: int | None = None) -> CandidateSampler:
    return CandidateSampler(EVERY, GROUPS, negatives=negatives, answers=answers)


def right_answers(question: int) -> set[int]:
    return set(GROUPS.answer[GROUPS.offsets[question] : GROUPS.offsets[question + 1]].tolist())


def counted(found: BatchCandidates, row: int) -> set[int]:
    return set(found.entry[found.column[found.row == row]].tolist())


def test_all_answers_are_there_beside_those_drawn():
    chosen = np.array([LARGEST, 3, 8])
    found = sampler(5).draw(chosen, np.random.default_rng(0))
    for row, question in enumerate(chosen.tolist()):
        assert counted(found, row) == right_answers(question)
    answers = set().union(*(right_answers(question) for question in chosen.tolist()))
    assert answers <= set(found.entry.tolist())
    assert len(answers) < len(found.entry) <= len(answers) + 5
    assert found.left_out.shape == (2, 0)
    assert (np.diff(found.entry) > 0).all()


def test_known_answers_that_were_not_drawn_are_no_wrong_answers():
    known = right_answers(LARGEST)
    assert len(known) > 2
    found = sampler(len(EVERY), answers=2).draw(np.array([3, LARGEST]), np.random.default_rng(0))
    row, column = found.left_out
    kept, rest = counted(found, 1), set(found.entry[column[row == 1]].tolist())
    assert len(kept) == 2
    assert kept | rest == known
    assert not kept & rest


def test_the_same_seed_draws_the_same_and_answers_take_turns():
    draws = [
        frozenset(counted(sampler(5, answers=1).draw(np.array([LARGEST]), np.random.default_rng(seed)), 0))
        for seed in (*range(30), 0)
    ]
    assert draws[0] == draws[-1]
    assert set().union(*draws) == right_answers(LARGEST)


def test_the_weights_make_up_for_candidates_that_are_not_drawn():
    """On average over batches the sum over those drawn is the sum over all."""
    random = np.random.default_rng(0)
    score = random.normal(size=len(STATEMENTS.entities))
    drawing, totals = sampler(5), []
    for _ in range(4_000):
        found = drawing.draw(random.choice(len(GROUPS), 20, replace=False), random)
        assert found.raised is not None
        totals.append(np.exp(score[found.entry] + found.raised).sum())
    error = np.std(totals) / len(totals) ** 0.5
    assert np.mean(totals) == pytest.approx(np.exp(score[EVERY]).sum(), abs=5 * error)
    assert error < 0.01 * np.mean(totals)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_of_drawn_candidates_is_that_of_a_plain_softmax(smoothing):
    torch.manual_seed(0)
    chosen = np.random.default_rng(1).choice(len(GROUPS), 300, replace=False)  # more than a chunk of the loss
    chosen[0] = LARGEST
    found = sampler(10, answers=2).draw(np.unique(chosen), np.random.default_rng(0))
    assert found.left_out.shape[1] > 0
    questions = len(np.unique(chosen))
    z, x = torch.randn(questions, 8).requires_grad_(), torch.randn(len(found.entry), 8).requires_grad_()
    tensors = {
        name: torch.as_tensor(getattr(found, name)) for name in ("row", "column", "raised", "left_out")
    }
    loss = candidate_loss(
        SoftmaxLoss(smoothing=smoothing),
        z,
        x,
        tensors["row"],
        tensors["column"],
        raised_C=tensors["raised"],
        left_out_2X=tensors["left_out"],
    )
    gradients = torch.autograd.grad(loss, (z, x))
    expected = z.new_zeros(())
    for q in range(questions):
        right = tensors["column"][tensors["row"] == q]
        out = tensors["left_out"][1][tensors["left_out"][0] == q]
        counts = torch.ones(len(x), dtype=torch.bool)
        counts[out] = False
        scores = x @ z[q]
        raised = tensors["raised"].clone()
        raised[right] = 0
        normaliser = (scores + raised)[counts].logsumexp(0)
        weight = F.softmax(tensors["raised"][counts], 0)
        target = (1 - smoothing) * scores[right].mean() + smoothing * (weight * scores[counts]).sum()
        expected = expected + normaliser - target
    torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-4)
    for found_gradient, gradient in zip(gradients, torch.autograd.grad(expected, (z, x)), strict=True):
        torch.testing.assert_close(found_gradient, gradient, rtol=1e-3, atol=1e-4)


def test_if_all_are_drawn_nothing_is_raised():
    found = sampler(len(EVERY)).draw(np.arange(5), np.random.default_rng(0))
    assert found.raised is None
    assert found.entry.tolist() == EVERY.tolist()
