"""Detectors in plain numpy: an encoder, and the head in the order of `bugs/model.py`.

    arrays.py          what networks are made of
    heat_network.py    HEAT and its variants
    role_network.py    HEAT with a matrix for each kind of slot

Letters: D width, L locations, G samples, R rewrites.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hyperheat.detector.arrays import Linear, Pool, Weights, relu
from hyperheat.detector.batch import BugBatch
from hyperheat.detector.heat_network import Architecture, HeatNetwork
from hyperheat.detector.role_network import RoleArchitecture, RoleNetwork
from hyperheat.detector.sample import TEXTS
from hyperheat.tensors import Segments, Vocabulary

__all__ = ["ARCHITECTURES", "AnyArchitecture", "Network"]

AnyArchitecture = Architecture | RoleArchitecture

ARCHITECTURES: dict[str, type[Any]] = {"HeatConfig": Architecture, "RoleConfig": RoleArchitecture}
"""What can be run, by the name of its configuration in torch."""


class _Scorer:
    """Joined inputs to hidden features, and a score of these."""

    def __init__(self, weights: Weights, name: str, inputs: int, dim: int) -> None:
        self.hidden = Linear(weights, f"{name}.hidden", inputs * dim, dim)
        self.score = Linear(weights, f"{name}.score", dim, 1)

    def __call__(self, *inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Inputs [*, D] -> features [*, D] and scores [*]."""
        features = relu(self.hidden(np.concatenate(inputs, axis=1)))
        return features, self.score(features)[:, 0]


class _Head:
    """States of the nodes that matter in, scores of locations and rewrites out."""

    def __init__(self, weights: Weights, dim: int) -> None:
        self.text = weights.take("head.text.weight", len(TEXTS), dim)
        self.put_text, self.put_variable, self.swap, self.location = (
            _Scorer(weights, f"head.{name}", inputs, dim)
            for name, inputs in (("put_text", 2), ("put_variable", 2), ("swap", 3), ("location", 3))
        )
        self.summary = Linear(weights, "head.summary", 2 * dim, dim)
        self.no_bug = Linear(weights, "head.no_bug", dim, 1)

    def __call__(self, taken: np.ndarray, batch: BugBatch[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """States of locations, variables, first and second arguments -> scores of choices [L + G], rewrites [R]."""
        texts, variables, swaps = batch.forms
        ends = np.cumsum([len(batch.by_sample.owner), variables, swaps])
        h, variable, first, second = np.split(taken, ends)  # [L, D], ...
        at = h.take(batch.by_location.owner, axis=0)  # [R, D]
        at_text, at_variable, at_swap = np.split(at, [texts, texts + variables])
        scored = (
            self.put_text(at_text, self.text.take(batch.text, axis=0)),
            self.put_variable(at_variable, variable),
            self.swap(at_swap, first, second),
        )
        z = np.concatenate([features for features, _ in scored])  # [R, D]
        rewrites = np.concatenate([score for _, score in scored])  # [R]
        z = _largest(z, batch.by_location)  # [L, D]
        s = _largest(self.summary(np.concatenate([h, z], axis=1)), batch.by_sample)  # [G, D]
        _, pointed = self.location(h, z, s.take(batch.by_sample.owner, axis=0))  # [L]
        return np.concatenate([pointed, self.no_bug(s)[:, 0]]), rewrites


def _largest(x: np.ndarray, segments: Segments[np.ndarray]) -> np.ndarray:
    pool = Pool(segments)
    return pool.reduce(x.take(pool.entries, axis=0), np.maximum)


class Network:
    """A detector: a batch of samples in, scores before normalisation out."""

    def __init__(
        self, tensors: Mapping[str, np.ndarray], architecture: AnyArchitecture, vocab: Vocabulary
    ) -> None:
        weights = Weights(tensors)
        if isinstance(architecture, RoleArchitecture):
            self.encoder: HeatNetwork | RoleNetwork = RoleNetwork(weights, architecture, vocab)
        else:
            self.encoder = HeatNetwork(weights, architecture, vocab)
        self.head = _Head(weights, architecture.dim)
        weights.end()

    def __call__(self, batch: BugBatch[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Scores of the choices of locations [L + G], "no bug" last, and of the rewrites [R]."""
        chosen, place = np.unique(batch.nodes.owner, return_inverse=True)
        with np.errstate(all="ignore"):  # the caller checks for NaN
            return self.head(self.encoder(batch.graphs, chosen).take(place, axis=0), batch)
