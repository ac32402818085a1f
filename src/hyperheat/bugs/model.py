"""The task head over any encoder: where is the bug, if there is one, and which rewrite repairs it?

With h the states of nodes from the encoder, for each rewrite i at location l, by its form,

    z_i = ReLU(A [h_l; text embedding])   |   ReLU(B [h_l; h_variable])   |   ReLU(C [h_l; h_first; h_second])
    P(i | l) = softmax over the rewrites of l of  a . z_i  (a, b or c by form)

and for each location, with z_l the maximum over its rewrites and s the maximum over all locations of the sample,

    s     = max over l of S [h_l; z_l]
    P(l)  = softmax of  v . ReLU(V [h_l; z_l; s])  over the locations and "no bug", which scores  u . s + w

The pointer follows the paper's source (Vinyals et al.); as in PyBugLab, it knows which rewrites a location offers.
Letters: G samples, L locations, R rewrites, D width.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.detector.batch import BugBatch
from hyperheat.detector.sample import TEXTS
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.nn.fast.rows import segment_log_softmax, segment_max, spread

__all__ = ["BugHead", "BugModel", "Scores", "dense_losses", "losses"]


class Scores(NamedTuple):
    """Log-probabilities: of each choice of a location [L + G], "no bug" last, and of each rewrite [R] at its location.

    `places` are the scores of the locations alone [L], before the softmax.
    """

    choices: Tensor
    rewrites: Tensor
    places: Tensor


class RewriteScorer(nn.Module):
    """A shallow network that scores rewrites, and the locations they belong to: inputs, hidden features, a score."""

    def __init__(self, inputs: int, dim: int, dropout: float) -> None:
        super().__init__()
        self.hidden = nn.Linear(inputs * dim, dim)
        self.score = nn.Linear(dim, 1)
        self.dropout = Dropout(dropout)

    def forward(self, *inputs: Tensor) -> tuple[Tensor, Tensor]:
        """Inputs [X, D] -> features [X, D] and scores [X]."""
        features = F.relu(self.hidden(torch.cat(inputs, dim=1)))
        return features, self.score(self.dropout(features)).squeeze(1)


class BugHead(nn.Module):
    """States of nodes in, log-probabilities of locations and rewrites out."""

    def __init__(self, dim: int, dropout: float) -> None:
        super().__init__()
        self.text = nn.Embedding(len(TEXTS), dim)
        self.put_text = RewriteScorer(2, dim, dropout)
        self.put_variable = RewriteScorer(2, dim, dropout)
        self.swap = RewriteScorer(3, dim, dropout)
        self.summary = nn.Linear(2 * dim, dim)
        self.location = RewriteScorer(3, dim, dropout)
        self.no_bug = nn.Linear(dim, 1)

    def forward(self, nodes_ND: Tensor, batch: BugBatch[Tensor]) -> Scores:
        texts, variables, swaps = batch.forms
        num_locations = len(batch.by_sample.owner)
        taken = spread(nodes_ND, batch.nodes).split([num_locations, variables, swaps, swaps])
        h, variable, first, second = taken  # [L, D], [V, D], [W, D], [W, D]
        at_text, at_variable, at_swap = spread(h, batch.by_location).split([texts, variables, swaps])
        scored = (
            self.put_text(at_text, self.text(batch.text)),
            self.put_variable(at_variable, variable),
            self.swap(at_swap, first, second),
        )
        z = torch.cat([features for features, _ in scored])  # [R, D]
        scores = torch.cat([score for _, score in scored])  # [R]
        z = segment_max(z, batch.by_location)  # [L, D]
        s = segment_max(self.summary(torch.cat([h, z], dim=1)), batch.by_sample)  # [G, D]
        _, pointed = self.location(h, z, spread(s, batch.by_sample))  # [L]
        choices = torch.cat([pointed, self.no_bug(s).squeeze(1)])  # [L + G]
        return Scores(
            choices=segment_log_softmax(choices.float(), batch.choices),
            rewrites=segment_log_softmax(scores.float(), batch.by_location),
            places=pointed.float(),
        )


class BugModel(nn.Module):
    """An encoder and the head."""

    def __init__(self, encoder: nn.Module, dim: int, dropout: float) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = BugHead(dim, dropout)

    def forward(self, batch: BugBatch[Tensor]) -> Scores:
        return self.head(self.encoder(batch.graphs).nodes, batch)


def losses(
    scores: Scores, batch: BugBatch[Tensor], weight: Tensor | None = None, focal: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Negative log-likelihoods, summed: of the right choice of each sample, and of the right rewrite of each buggy one.

    `weight` [G] says how much each sample counts. `focal` plays down the choices that are right already: each counts
    (1 - P(right choice)) ** focal.
    """
    choice = -F.embedding(batch.true_choice, scores.choices[:, None]).squeeze(1)  # [G]
    rewrite = -F.embedding(batch.true_rewrite, scores.rewrites[:, None]).squeeze(1)  # [B]
    if focal:
        choice = choice * (1 - torch.exp(-choice.detach())) ** focal
    if weight is not None:
        choice = choice * weight
        rewrite = rewrite * weight[batch.by_sample.owner[batch.by_location.owner[batch.true_rewrite]]]
    return choice.sum(), rewrite.sum()


def dense_losses(scores: Scores, batch: BugBatch[Tensor]) -> tuple[Tensor, Tensor]:
    """The losses of samples with many bugs: "was this place changed?" at every place, and the repair of each that was.

        location = mean over changed places of -log sigmoid(score) + mean over the others of -log sigmoid(-score)
        repair   = mean over changed places of -log P(repair | place)

    Times the number of samples, as the sums of `losses` are.
    """
    changed = batch.changed
    wrong = F.binary_cross_entropy_with_logits(scores.places, changed.to(scores.places), reduction="none")
    location = (wrong * changed).sum() / changed.sum() + (wrong * ~changed).sum() / (~changed).sum().clamp(
        min=1
    )
    repair = -F.embedding(batch.true_rewrite, scores.rewrites[:, None]).mean()
    return batch.num_samples * location, batch.num_samples * repair
