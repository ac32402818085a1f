"""From hypergraphs to arrays: vocabulary, batches and attention layouts. numpy only."""

from hyperheat.tensors.batch import AttentionPlan, HypergraphBatch, collate
from hyperheat.tensors.gather import PairSums, Segments, pair_sums, segments
from hyperheat.tensors.join import NodeBatch, Strings
from hyperheat.tensors.layout import Group, Layout, by_size, packed
from hyperheat.tensors.sampler import BudgetSampler
from hyperheat.tensors.vocabulary import Vocabulary

__all__ = [
    "AttentionPlan",
    "BudgetSampler",
    "Group",
    "HypergraphBatch",
    "Layout",
    "NodeBatch",
    "PairSums",
    "Segments",
    "Strings",
    "Vocabulary",
    "by_size",
    "collate",
    "packed",
    "pair_sums",
    "segments",
]
