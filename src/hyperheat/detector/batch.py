"""Several samples as one batch: what the encoder reads, and the candidates of all samples as index arrays.

Letters: G samples, L locations (distinct rewritten nodes), R rewrites: T that put in a text, V a variable, W that swap
two arguments, in this order, so that each form is a run of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from hyperheat.detector.sample import NO_BUG, Sample
from hyperheat.detector.views import View
from hyperheat.tensors import Segments, Vocabulary, segments
from hyperheat.tensors.indices import ArrayT, map_arrays

if TYPE_CHECKING:
    import torch

__all__ = ["BugBatch", "collate_samples"]


@dataclass(frozen=True, kw_only=True)
class BugBatch(Generic[ArrayT]):
    """A batch: of numpy arrays as `collate_samples` makes it, or of torch tensors after `to_torch`."""

    graphs: Any
    """What the encoder reads."""
    num_samples: int
    forms: tuple[int, int, int]
    """How many rewrites put in a text, put in a variable, swap arguments."""
    nodes: Segments[ArrayT]
    """The nodes that matter [L + V + W + W]: locations, variables, first arguments, second arguments."""
    text: ArrayT
    """What the text rewrites put in [T]: places in `TEXTS`."""
    by_location: Segments[ArrayT]
    """Rewrites [R] to locations [L]."""
    by_sample: Segments[ArrayT]
    """Locations [L] to samples [G]."""
    choices: Segments[ArrayT]
    """What the location is chosen from [L + G]: the locations and, for each sample, no bug; to samples [G]."""
    true_choice: ArrayT
    """The right one of the choices, for each sample [G]."""
    true_rewrite: ArrayT
    """The right rewrite of each buggy sample [B]."""
    candidate: ArrayT
    """The place of each rewrite among the candidates of its sample [R]."""

    def to_torch(self, device: "torch.device | str" = "cpu") -> "BugBatch[torch.Tensor]":
        """The same batch with torch tensors on a device."""
        import torch

        return map_arrays(self, lambda array: torch.as_tensor(array).to(device, non_blocking=True))


def collate_samples(samples: Sequence[Sample], view: View, vocab: Vocabulary) -> BugBatch[np.ndarray]:
    """Join samples into a batch that an encoder with this view reads."""
    graphs = view.collate([view.graph(sample) for sample in samples], vocab)
    columns = [_columns(sample, view, int(graphs.node_offsets[g])) for g, sample in enumerate(samples)]
    sizes = [len(sample.candidates) for sample in samples]
    sample_of = np.repeat(np.arange(len(samples)), sizes)
    location, text, first, second = np.concatenate(columns, axis=1)
    candidate = np.concatenate([np.arange(size) for size in sizes])
    true = np.array([sample.target for sample in samples]) + np.cumsum([0, *sizes[:-1]])

    # A location is a run of rewrites of one node of one sample: in some views several nodes have one row.
    node = np.concatenate([sample.candidates.location for sample in samples])
    begins = np.flatnonzero(np.diff(node, prepend=-1) | np.diff(sample_of, prepend=-1))
    location_of = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(node))))

    form = np.where(text >= 0, 0, np.where(second < 0, 1, 2))
    order = np.argsort(form, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    forms = tuple(np.bincount(form, minlength=3).tolist())
    is_variable, is_swap = form[order] == 1, form[order] == 2
    first, second = first[order], second[order]
    taken = [location[begins], first[is_variable], first[is_swap], second[is_swap]]

    buggy = np.array([sample.target != NO_BUG for sample in samples])
    no_bug = len(begins) + np.arange(len(samples))
    choice_of = np.concatenate([sample_of[begins], np.arange(len(samples))])
    return BugBatch(
        graphs=graphs,
        num_samples=len(samples),
        forms=forms,
        nodes=segments(np.concatenate(taken), graphs.num_nodes),
        text=text[order][: forms[0]],
        by_location=segments(location_of[order], len(begins)),
        by_sample=segments(sample_of[begins], len(samples)),
        choices=segments(choice_of, len(samples)),
        true_choice=np.where(buggy, location_of[np.where(buggy, true, 0)], no_bug),
        true_rewrite=place[true[buggy]],
        candidate=candidate[order],
    )


def _columns(sample: Sample, view: View, offset: int) -> np.ndarray:
    """Rows of states for location, first and second, and the text [4, R]."""
    candidates = sample.candidates

    def rows(nodes: np.ndarray) -> np.ndarray:
        return np.where(nodes < 0, -1, view.nodes(sample, nodes).astype(np.int64) + offset)

    return np.stack(
        [rows(candidates.location), candidates.text, rows(candidates.first), rows(candidates.second)]
    )
