"""Several samples as one batch: what the encoder reads, and the candidates of all samples as index arrays.

Letters: G samples, L locations (distinct rewritten nodes), R rewrites: T that put in a text, V a variable, W that swap
two arguments, in this order, so that each form is a run of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from hyperheat.detector.sample import Sample
from hyperheat.detector.views import View
from hyperheat.tensors import Segments, Vocabulary, segments
from hyperheat.tensors.indices import ArrayT, to_tensors

if TYPE_CHECKING:
    import torch

__all__ = ["BugBatch", "JoinedCandidates", "collate_candidates", "collate_samples"]


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
    """The right one of the choices, for each sample [G]; the last one of a sample with many bugs."""
    true_rewrite: ArrayT
    """The rewrite that repairs each bug [B]."""
    changed: ArrayT
    """Which locations have a bug [L]."""
    candidate: ArrayT
    """The place of each rewrite among the candidates of its sample [R]."""

    def to_torch(self, device: "torch.device | str" = "cpu") -> "BugBatch[torch.Tensor]":
        """The same batch with torch tensors on a device."""
        return to_tensors(self, device)


def collate_samples(samples: Sequence[Sample], view: View, vocab: Vocabulary) -> BugBatch[np.ndarray]:
    """Join samples into a batch that an encoder with this view reads."""
    graphs = view.collate([view.graph(sample) for sample in samples], vocab)
    return collate_candidates(
        graphs,
        JoinedCandidates(
            sizes=np.array([len(sample.candidates) for sample in samples]),
            node=np.concatenate([sample.candidates.location for sample in samples]),
            text=np.concatenate([sample.candidates.text for sample in samples]),
            **{
                name: np.concatenate(
                    [_rows(getattr(sample.candidates, name), sample, view) for sample in samples]
                )
                for name in ("location", "first", "second")
            },
            num_repairs=np.array([len(sample.repairs) for sample in samples]),
            repairs=np.array([repair for sample in samples for repair in sample.repairs], dtype=np.int64),
        ),
    )


def _rows(nodes: np.ndarray, sample: Sample, view: View) -> np.ndarray:
    return np.where(nodes < 0, -1, view.nodes(sample, nodes).astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class JoinedCandidates:
    """The candidates of several samples one after the other."""

    sizes: np.ndarray
    """Candidates of each sample [G]."""
    node: np.ndarray
    """The node that is rewritten [R]; runs of it are the locations."""
    location: np.ndarray
    """What the encoder has a state for in its place [R], numbered in each sample alone; so are `first` and `second`."""
    text: np.ndarray
    first: np.ndarray
    second: np.ndarray
    num_repairs: np.ndarray
    """Repairs of each sample [G]."""
    repairs: np.ndarray
    """Their places among the candidates of their sample."""


def collate_candidates(graphs: Any, joined: JoinedCandidates) -> BugBatch[np.ndarray]:
    """The batch of graphs that are collated already and of their candidates."""
    num_samples = len(joined.sizes)
    sample_of = np.repeat(np.arange(num_samples), joined.sizes)
    starts = np.cumsum(joined.sizes) - joined.sizes
    shift = np.asarray(graphs.node_offsets)[sample_of]
    location, first, second = (
        np.where(nodes < 0, -1, nodes + shift) for nodes in (joined.location, joined.first, joined.second)
    )
    text = joined.text.astype(np.int64)
    candidate = np.arange(len(sample_of)) - starts[sample_of]

    # A location is a run of rewrites of one node of one sample: in some views several nodes have one row.
    begins = np.flatnonzero(np.diff(joined.node, prepend=-1) | np.diff(sample_of, prepend=-1))
    location_of = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(sample_of))))

    form = np.where(text >= 0, 0, np.where(second < 0, 1, 2))
    order = np.argsort(form, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    forms = tuple(np.bincount(form, minlength=3).tolist())
    is_variable, is_swap = form[order] == 1, form[order] == 2
    first, second = first[order], second[order]
    taken = [location[begins], first[is_variable], first[is_swap], second[is_swap]]

    repairs = joined.repairs + np.repeat(starts, joined.num_repairs)
    changed = np.zeros(len(begins), dtype=bool)
    changed[location_of[repairs]] = True
    true_choice = len(begins) + np.arange(num_samples)
    true_choice[np.repeat(np.arange(num_samples), joined.num_repairs)] = location_of[repairs]
    choice_of = np.concatenate([sample_of[begins], np.arange(num_samples)])
    return BugBatch(
        graphs=graphs,
        num_samples=num_samples,
        forms=forms,
        nodes=segments(np.concatenate(taken), graphs.num_nodes),
        text=text[order][: forms[0]],
        by_location=segments(location_of[order], len(begins)),
        by_sample=segments(sample_of[begins], num_samples),
        choices=segments(choice_of, num_samples),
        true_choice=true_choice,
        true_rewrite=place[repairs],
        changed=changed,
        candidate=candidate[order],
    )
