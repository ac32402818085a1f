"""Losses over all candidates, without keeping the matrix of their scores.

With s_c = z . x_c the score of candidate c for a question, P its answers, n candidates and the smoothing a:

    SoftmaxLoss   - sum_c t_c log softmax(s)_c,   t_c = (1 - a) [c in P] / |P| + a / n
    BinaryLoss    - 1/n sum_c (y_c log sigmoid(s_c) + (1 - y_c) log(1 - sigmoid(s_c))),   y_c = (1 - a) [c in P] + 1 / n

The second is StarE's published form, 1 / n instead of a / n included. Both take the questions in chunks, and compute the
gradient of a chunk as soon as its scores are there.

Where candidates were drawn (candidates.py), the softmax is over scores that are raised by -log p_c, but for the question's
own answers; the smoothing weighs candidates by 1 / p_c, and pairs that are left out have no part in either.

Some scores may have a part of their own, s_c = z . x_c + a (surroundings.py).
Letters: B questions, C candidates, K (question, answer) pairs, X pairs that are left out, A pairs with a part of their own,
D width.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

__all__ = ["AddedScores", "BinaryLoss", "SoftmaxLoss", "candidate_loss"]

_CHUNK = 256


@dataclass(frozen=True, kw_only=True)
class SoftmaxLoss:
    """Cross-entropy, the target spread evenly over the answers."""

    smoothing: float = 0.1

    def answer_weights(self, row: Tensor, candidates: Tensor) -> Tensor:
        """What the loss takes off per unit of each answer's score [K]."""
        return (1 - self.smoothing) / torch.bincount(row)[row].to(candidates.dtype)

    def mean_weight(self, candidates: int) -> float:
        """What the loss takes off per unit of every candidate's score."""
        return self.smoothing / candidates

    def normaliser(self, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Overwrite scores [b, C] by their gradient but for a factor per question; the losses and factors [b]."""
        highest = scores.amax(1, keepdim=True)
        exponentials = scores.sub_(highest).exp_()
        total = exponentials.sum(1)
        return total.log() + highest.squeeze(1), exponentials, 1 / total


@dataclass(frozen=True, kw_only=True)
class BinaryLoss:
    """Binary cross-entropy of every candidate by itself, as published for StarE and HEAT."""

    smoothing: float = 0.1

    def answer_weights(self, row: Tensor, candidates: Tensor) -> Tensor:
        """What the loss takes off per unit of each answer's score [K]."""
        return candidates.new_full(row.shape, (1 - self.smoothing) / len(candidates))

    def mean_weight(self, candidates: int) -> float:
        """What the loss takes off per unit of every candidate's score."""
        return 1 / candidates**2

    def normaliser(self, scores: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Overwrite scores [b, C] by their gradient but for a factor per question; the losses and factors [b]."""
        losses = F.softplus(scores).mean(1)
        return losses, scores.sigmoid_(), losses.new_full(losses.shape, 1 / scores.shape[1])


class AddedScores(NamedTuple):
    """Parts of single scores, in rising order of questions and of candidates inside a question."""

    row: Tensor
    """[A] the question"""
    column: Tensor
    """[A] the candidate"""
    score: Tensor
    """[A]"""


def candidate_loss(
    loss: SoftmaxLoss | BinaryLoss,
    z_BD: Tensor,
    x_CD: Tensor,
    row_K: Tensor,
    column_K: Tensor,
    *,
    raised_C: Tensor | None = None,
    left_out_2X: Tensor | None = None,
    added: AddedScores | None = None,
) -> Tensor:
    """The loss summed over questions; answer k of question `row[k]` is candidate `column[k]`.

    Scores are raised by `raised`, but for answers; `left_out` holds questions and candidates that do not count for them.
    `added` is added to single scores, where all candidates are there.
    """
    precision = torch.promote_types(
        x_CD.dtype, torch.float32
    )  # also where the network runs in half precision
    z_BD, x_CD = z_BD.to(precision), x_CD.to(precision)
    raised_C = None if raised_C is None else raised_C.to(precision)
    left_out_2X = row_K.new_zeros(2, 0) if left_out_2X is None else left_out_2X
    weight_K = loss.answer_weights(row_K, x_CD)
    # All that is linear in the scores needs no matrix of them.
    answers = (F.embedding(row_K, z_BD) * F.embedding(column_K, x_CD)).sum(1)
    everywhere = _sum_of_scores(z_BD, x_CD, raised_C, left_out_2X) * loss.mean_weight(len(x_CD))
    changes = _changes(raised_C, row_K, column_K, left_out_2X, x_CD)
    if added is not None:
        added = added._replace(score=added.score.to(precision))
        changes = tuple(map(torch.cat, zip(changes, added, strict=True)))
        answers = answers + _added_to(row_K, column_K, added, len(x_CD))
        everywhere = everywhere + added.score.sum() * loss.mean_weight(len(x_CD))
    with torch.autocast(x_CD.device.type, enabled=False):
        normaliser = _Normaliser.apply(z_BD, x_CD, loss, raised_C, *changes)
    return normaliser - (weight_K * answers).sum() - everywhere


def _added_to(row: Tensor, column: Tensor, added: AddedScores, candidates: int) -> Tensor:
    """What is added to the score of each of some pairs of a question and a candidate."""
    if not len(added.row):
        return added.score.new_zeros(row.shape)
    codes, wanted = added.row * candidates + added.column, row * candidates + column
    place = torch.searchsorted(codes, wanted).clamp_(max=len(codes) - 1)
    return torch.where(codes[place] == wanted, added.score[place], 0.0)


def _sum_of_scores(z: Tensor, x: Tensor, raised: Tensor | None, left_out: Tensor) -> Tensor:
    """The scores of all candidates for all questions, summed; if some were drawn, C times their weighted means."""
    if raised is None and not left_out.shape[1]:
        return (z.sum(0) * x.sum(0)).sum()
    weight = (x.new_zeros(len(x)) if raised is None else raised).softmax(0)  # [C]
    row, column = left_out
    scores = (F.embedding(row, z) * F.embedding(column, x)).sum(1) * weight[column]
    without = z.new_zeros(2, len(z)).index_add(1, row, torch.stack([scores, weight[column]]))
    return len(x) * ((z @ (weight @ x) - without[0]) / (1 - without[1])).sum()


def _changes(
    raised: Tensor | None, row: Tensor, column: Tensor, left_out: Tensor, x: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """What is added to single scores beside `raised`: rows, columns and numbers."""
    never = x.new_full(left_out.shape[1:], -torch.inf)
    if raised is None:
        return left_out[0], left_out[1], never
    return (
        torch.cat([row, left_out[0]]),
        torch.cat([column, left_out[1]]),
        torch.cat([-raised[column], never]),
    )


class _Normaliser(torch.autograd.Function):
    """The part of the loss that is not linear in the scores, summed over questions."""

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        x: Tensor,
        loss: SoftmaxLoss | BinaryLoss,
        raised: Tensor | None,
        row: Tensor,
        column: Tensor,
        change: Tensor,
    ) -> Tensor:
        grad_z, grad_x, grad_change = torch.empty_like(z), torch.zeros_like(x), torch.zeros_like(change)
        total = z.new_zeros(())
        for start in range(0, len(z), _CHUNK):
            part = z[start : start + _CHUNK]
            scores = part @ x.T
            if raised is not None:
                scores += raised
            here = ((row >= start) & (row < start + _CHUNK)).nonzero().squeeze(1)
            if len(here):
                scores.index_put_((row[here] - start, column[here]), change[here], accumulate=True)
            losses, gradient, factor = loss.normaliser(scores)
            total += losses.sum()
            if len(here):
                grad_change[here] = gradient[row[here] - start, column[here]] * factor[row[here] - start]
            torch.mm(gradient, x, out=grad_z[start : start + _CHUNK])
            grad_z[start : start + _CHUNK] *= factor[:, None]
            grad_x.addmm_(gradient.T, part * factor[:, None])
        ctx.save_for_backward(grad_z, grad_x, grad_change)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        grad_z, grad_x, grad_change = ctx.saved_tensors
        return grad * grad_z, grad * grad_x, None, None, None, None, grad * grad_change
