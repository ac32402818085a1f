"""From hypergraphs to arrays: vocabulary, batches, attention layouts and kinds of slots. numpy only."""

from hyperheat.tensors.collation import (
    AttentionPlan,
    EdgeBatch,
    HypergraphBatch,
    NodeBatch,
    RoleBatch,
    Strings,
    collate,
    collate_roles,
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
from hyperheat.tensors.slot_kinds import OTHER_KINDS, RolePlan, SlotKinds
from hyperheat.tensors.vocabulary import Vocabulary

__all__ = [
    "HAS_SUBTOKEN",
    "OTHER_KINDS",
    "AttentionPlan",
    "BiasPlan",
    "BudgetSampler",
    "EdgeBatch",
    "Group",
    "HypergraphBatch",
    "Layout",
    "MessagePlan",
    "NodeBatch",
    "PairBatch",
    "PairSums",
    "RoleBatch",
    "RolePlan",
    "Segments",
    "SlotKinds",
    "Strings",
    "TokenBatch",
    "Vocabulary",
    "by_size",
    "collate",
    "collate_pairs",
    "collate_roles",
    "collate_tokens",
    "packed",
    "pair_sums",
    "plan_incidences",
    "segments",
]
