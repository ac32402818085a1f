"""From hypergraphs to arrays: vocabulary, batches and attention layouts. numpy only."""

from hyperheat.tensors.collation import (
    AttentionPlan,
    HypergraphBatch,
    NodeBatch,
    Strings,
    collate,
    plan_incidences,
)
from hyperheat.tensors.indices import PairSums, Segments, pair_sums, segments
from hyperheat.tensors.layout import Group, Layout, by_size, packed
from hyperheat.tensors.pair_batches import (
    HAS_SUBTOKEN,
    BiasPlan,
    MessagePlan,
    PairBatch,
    TokenBatch,
    collate_pairs,
    collate_tokens,
)
from hyperheat.tensors.sampler import BudgetSampler
from hyperheat.tensors.vocabulary import Vocabulary

__all__ = [
    "HAS_SUBTOKEN",
    "AttentionPlan",
    "BiasPlan",
    "BudgetSampler",
    "Group",
    "HypergraphBatch",
    "Layout",
    "MessagePlan",
    "NodeBatch",
    "PairBatch",
    "PairSums",
    "Segments",
    "Strings",
    "TokenBatch",
    "Vocabulary",
    "by_size",
    "collate",
    "collate_pairs",
    "collate_tokens",
    "packed",
    "pair_sums",
    "plan_incidences",
    "segments",
]
