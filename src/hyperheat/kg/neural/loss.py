"""Losses over all candidates, without keeping the matrix of their scores.

With s_c = z . x_c the score of candidate c for a question, P its answers, n candidates and the smoothing a:

    SoftmaxLoss   - sum_c t_c log softmax(s)_c,   t_c = (1 - a) [c in P] / |P| + a / n
    BinaryLoss    - 1/n sum_c (y_c log sigmoid(s_c) + (1 - y_c) log(1 - sigmoid(s_c))),   y_c = (1 - a) [c in P] + 1 / n

The second is StarE's published form, 1 / n instead of a / n included. Both take the questions in chunks, and compute the
gradient of a chunk as soon as its scores are there. Letters: B questions, C candidates, K (question, answer) pairs, D width.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

__all__ = ["BinaryLoss", "SoftmaxLoss", "candidate_loss"]

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


def candidate_loss(
    loss: SoftmaxLoss | BinaryLoss, z_BD: Tensor, x_CD: Tensor, row_K: Tensor, column_K: Tensor
) -> Tensor:
    """The loss summed over questions; answer k of question `row[k]` is candidate `column[k]`."""
    precision = torch.promote_types(
        x_CD.dtype, torch.float32
    )  # also where the network runs in half precision
    z_BD, x_CD = z_BD.to(precision), x_CD.to(precision)
    weight_K = loss.answer_weights(row_K, x_CD)
    # All that is linear in the scores needs no matrix of them.
    answers = (F.embedding(row_K, z_BD) * F.embedding(column_K, x_CD)).sum(1)
    everywhere = (z_BD.sum(0) * x_CD.sum(0)).sum() * loss.mean_weight(len(x_CD))
    with torch.autocast(x_CD.device.type, enabled=False):
        normaliser = _Normaliser.apply(z_BD, x_CD, loss)
    return normaliser - (weight_K * answers).sum() - everywhere


class _Normaliser(torch.autograd.Function):
    """The part of the loss that is not linear in the scores, summed over questions."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, x: Tensor, loss: SoftmaxLoss | BinaryLoss) -> Tensor:
        grad_z, grad_x = torch.empty_like(z), torch.zeros_like(x)
        total = z.new_zeros(())
        for start in range(0, len(z), _CHUNK):
            part = z[start : start + _CHUNK]
            losses, gradient, factor = loss.normaliser(part @ x.T)
            total += losses.sum()
            torch.mm(gradient, x, out=grad_z[start : start + _CHUNK])
            grad_z[start : start + _CHUNK] *= factor[:, None]
            grad_x.addmm_(gradient.T, part * factor[:, None])
        ctx.save_for_backward(grad_z, grad_x)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        grad_z, grad_x = ctx.saved_tensors
        return grad * grad_z, grad * grad_x, None
