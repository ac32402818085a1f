"""Scores that believe the code: a variable `wrong95` is a bug with a probability of 0.95, shared by all its places.

The repair is the first that is possible.
"""

import re

import numpy as np
from tests.check.scores import scores_of

from hyperheat.detector import SampleScores
from hyperheat.detector.sample import Sample

__all__ = ["believe"]

_WRONG = re.compile(r"wrong(\d\d)")
_LITTLE = 1e-6


def believe(sample: Sample) -> SampleScores:
    """The scores of a function; what does not say that it is wrong is right."""
    graph, columns = sample.graph, sample.candidates
    texts = [graph.names[graph.label[node]] for node in columns.location]
    said = [_WRONG.fullmatch(text) for text in texts]
    wanted = {match[0]: int(match[1]) / 100 for match in said if match}
    weights = np.full(len(texts), _LITTLE)
    _, first = np.unique(columns.location, return_index=True)
    for text, share in wanted.items():
        places = [candidate for candidate in first if texts[candidate] == text]
        weights[places] = share / len(places)
    return scores_of(sample, weights, no_bug=max(1 - sum(wanted.values()), 0.01))
