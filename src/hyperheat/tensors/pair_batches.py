"""Batches of graphs whose every edge joins a source to a target, for the encoders that read pairs.

    collate_pairs    the pairs as messages in both directions, for `nn/peers/gnn.py`
    collate_tokens   the graphs as sequences with pairs between their tokens, for `nn/peers/great.py`

Both number the nodes as `collate` does: node i of graph g is `node_offsets[g] + i`.
Letters: G graphs, N nodes, A added nodes, K kinds of pairs, P pairs, U distinct ends of the pairs of each kind.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Generic, NamedTuple

import numpy as np

from hyperheat.hypergraph import Hypergraph, subtokens
from hyperheat.hypergraph.graph import running_sum
from hyperheat.tensors.collation import NodeBatch, as_strings, check_graphs, join_strings
from hyperheat.tensors.indices import (
    ArrayT,
    PairSums,
    Segments,
    join_columns,
    pair_sums,
    renumber,
    segments,
    to_tensors,
)
from hyperheat.tensors.layout import Group
from hyperheat.tensors.vocabulary import Vocabulary

if TYPE_CHECKING:
    import torch

__all__ = [
    "HAS_SUBTOKEN",
    "BiasPlan",
    "MessagePlan",
    "PairBatch",
    "TokenBatch",
    "collate_pairs",
    "collate_tokens",
]

HAS_SUBTOKEN = "HasSubtoken"
"""The kind of the pairs (token, subtoken of its label) that `collate_pairs` adds on request."""

_NEXT_TOKEN = "NextToken"
_WIDENING = 1.125  # rows of a group are padded to at most this many times the length of the shortest


@dataclass(frozen=True, kw_only=True)
class MessagePlan(Generic[ArrayT]):
    """Where the messages W [source; target] = W_s source + W_t target come from and where they go.

    Each end of the pairs of a kind is projected once, however many of those pairs it has: once for the message
    along the pair and once for the message against it. The table of projections holds these 2U rows (row 2u along,
    2u + 1 against), then one row per node for the message of a node to itself, then a row of zeros.
    """

    sizes: tuple[int, ...]
    """Distinct sources and distinct targets of kind 0, of kind 1, ...: 2K numbers, which sum to U."""
    ends: Segments[ArrayT]
    """Ends [U] to nodes [N+A]."""
    sums: PairSums[ArrayT]
    """Messages [2P+N+A]: along the pairs, against them, and to oneself."""
    receivers: Segments[ArrayT]
    """Messages to nodes [N+A]."""


@dataclass(frozen=True, kw_only=True)
class PairBatch(NodeBatch[ArrayT]):
    """A batch of graphs of pairs; `label` has the N nodes of the graphs, then the A added ones."""

    relations: tuple[str, ...]
    """The kinds of pairs."""
    source: ArrayT
    """The first node of each pair [P], ordered by kind."""
    target: ArrayT
    """The second node of each pair [P]."""
    offsets: tuple[int, ...]
    """Pairs of kind k are offsets[k] .. offsets[k+1]."""
    messages: MessagePlan[ArrayT]

    def to_torch(self, device: "torch.device | str" = "cpu") -> "PairBatch[torch.Tensor]":
        """The same batch with torch tensors on a device."""
        return to_tensors(self, device)


@dataclass(frozen=True, kw_only=True)
class BiasPlan(Generic[ArrayT]):
    """Which scores of the attention the pairs raise: one along each pair and one against it, 2P in all."""

    terms: Segments[ArrayT]
    """Terms [2P] to the kinds seen from each node [N * 2K]: K along the pairs, in which it is the source, K against."""
    scores: Segments[ArrayT]
    """Terms [2P] to the distinct scores [S] they are added to."""
    row: ArrayT
    """The row of each score [S] within its group; scores are ordered by group and row."""
    place: ArrayT
    """The place of each score [S] in its row's matrix: query * width + key."""
    offsets: tuple[int, ...]
    """Scores of row r, counted through all groups, are offsets[r] .. offsets[r+1]."""


@dataclass(frozen=True, kw_only=True)
class TokenBatch(NodeBatch[ArrayT]):
    """A batch of sequences of tokens, arranged in padded rows of similar length."""

    relations: tuple[str, ...]
    """The kinds of pairs."""
    position: ArrayT
    """The position of each node in its graph [N], from 0."""
    groups: tuple[Group, ...]
    node: ArrayT
    """The node in each cell [C] of the groups' rows; padding repeats the first node of the row."""
    padding: ArrayT
    """Whether a cell is padding [C]."""
    cell: ArrayT
    """The cell of each node [N]."""
    bias: BiasPlan[ArrayT]
    waste: float
    """Attention computed over attention needed."""

    def to_torch(self, device: "torch.device | str" = "cpu") -> "TokenBatch[torch.Tensor]":
        """The same batch with torch tensors on a device."""
        return to_tensors(self, device)


def collate_pairs(
    graphs: Sequence[Hypergraph], vocab: Vocabulary, relations: Sequence[str], *, subtokens: bool = False
) -> PairBatch[np.ndarray]:
    """Join graphs of pairs into one batch and plan its messages.

    With `subtokens`, each distinct subtoken of a graph's identifiers is one more node, and pairs of the kind
    `HAS_SUBTOKEN` lead to it from the tokens, which are the nodes with a NextToken. The added nodes of all graphs
    come after all other nodes.
    """
    relations = (*relations, HAS_SUBTOKEN) if subtokens else tuple(relations)
    joined = _join(graphs, relations)
    if subtokens:
        joined = _with_subtokens(joined, relations)
    order = np.argsort(joined.kind, kind="stable")
    kind, source, target = joined.kind[order], joined.source[order], joined.target[order]
    label_used, label = renumber(joined.label, len(joined.strings))
    return PairBatch(
        num_graphs=len(graphs),
        num_nodes=int(joined.node_offsets[-1]),
        vocabulary=vocab.fingerprint,
        node_offsets=joined.node_offsets,
        labels=as_strings([vocab.label_ids(joined.strings[i]) for i in label_used]),
        label=label,
        relations=relations,
        source=source,
        target=target,
        offsets=tuple(running_sum(np.bincount(kind, minlength=len(relations))).tolist()),
        messages=_plan_messages(kind, source, target, len(label), len(relations)),
    )


def collate_tokens(
    graphs: Sequence[Hypergraph], vocab: Vocabulary, relations: Sequence[str]
) -> TokenBatch[np.ndarray]:
    """Join graphs whose nodes are tokens in the order of the text, and plan their attention."""
    relations = tuple(relations)
    joined = _join(graphs, relations)
    node_offsets = joined.node_offsets
    lengths = np.diff(node_offsets)
    groups, row_start, row_of_graph = _padded_rows(lengths)
    position = np.arange(node_offsets[-1]) - np.repeat(node_offsets[:-1], lengths)
    row = np.repeat(row_of_graph, lengths)
    cell = row_start[row] + position
    node = np.repeat(node_offsets[:-1][np.argsort(row_of_graph)], np.diff(row_start))
    node[cell] = np.arange(len(cell))
    padding = np.ones(len(node), dtype=bool)
    padding[cell] = False
    label_used, label = renumber(joined.label, len(joined.strings))
    needed = int((lengths**2).sum())
    return TokenBatch(
        num_graphs=len(graphs),
        num_nodes=len(cell),
        vocabulary=vocab.fingerprint,
        node_offsets=node_offsets,
        labels=as_strings([vocab.label_ids(joined.strings[i]) for i in label_used]),
        label=label,
        relations=relations,
        position=position,
        groups=groups,
        node=node,
        padding=padding,
        cell=cell,
        bias=_plan_bias(joined, groups, row, position, len(relations)),
        waste=sum(group.rows * group.width**2 for group in groups) / needed if needed else 1.0,
    )


class _Joined(NamedTuple):
    """Graphs side by side: labels as rows of a string table, and pairs as (kind, source, target)."""

    strings: list[str]
    label: np.ndarray
    node_offsets: np.ndarray
    kind: np.ndarray
    source: np.ndarray
    target: np.ndarray


def _join(graphs: Sequence[Hypergraph], relations: tuple[str, ...]) -> _Joined:
    check_graphs(graphs)
    if len(set(relations)) < len(relations):
        raise ValueError(f"relations: expected distinct names, got {', '.join(relations)}")
    for index, graph in enumerate(graphs):
        sizes = np.diff(graph.offsets)
        if (sizes != 2).any():
            raise ValueError(
                f"graphs[{index}]: expected edges of two incidences, got one of {sizes[sizes != 2][0]}"
            )
    strings, label, relation, _ = join_strings(graphs)
    kind_of = {name: kind for kind, name in enumerate(relations)}
    kinds = np.array([kind_of.get(name, -1) for name in strings] or [-1], dtype=np.int64)
    unknown = np.flatnonzero(kinds[relation] < 0)
    if len(unknown):
        got = strings[relation[unknown[0]]]
        raise ValueError(f"graphs: expected relations among {', '.join(relations)}, got {got!r}")
    node_offsets = running_sum([graph.num_nodes for graph in graphs])
    node = join_columns([graph.node for graph in graphs], node_offsets)
    return _Joined(strings, label, node_offsets, kinds[relation], node[0::2], node[1::2])


def _with_subtokens(joined: _Joined, relations: tuple[str, ...]) -> _Joined:
    """Add a node per graph and distinct subtoken of its tokens, and the pairs that lead there."""
    if _NEXT_TOKEN not in relations:
        raise ValueError(
            f"relations: expected {_NEXT_TOKEN}, which tells tokens, got {', '.join(relations[:-1])}"
        )
    follows = joined.kind == relations.index(_NEXT_TOKEN)
    is_token = np.zeros(len(joined.label), dtype=bool)
    is_token[joined.source[follows]] = is_token[joined.target[follows]] = True
    tokens = np.flatnonzero(is_token)
    labels, label_of_token = renumber(joined.label[tokens], len(joined.strings))

    index = {string: i for i, string in enumerate(joined.strings)}
    parts = [
        [index.setdefault(part, len(index)) for part in _subtokens(joined.strings[i])]
        for i in labels.tolist()
    ]
    starts = running_sum([len(part) for part in parts])
    flat = np.array([i for part in parts for i in part], dtype=np.int64)

    counts = np.diff(starts)[label_of_token]  # subtokens of each token
    source = np.repeat(tokens, counts)
    within = np.arange(len(source)) - np.repeat(np.cumsum(counts) - counts, counts)
    subtoken = flat[np.repeat(starts[:-1][label_of_token], counts) + within]
    graph = np.searchsorted(joined.node_offsets, source, side="right") - 1
    added, place = np.unique(graph * len(index) + subtoken, return_inverse=True)
    kind = np.full(len(source), relations.index(HAS_SUBTOKEN))
    return _Joined(
        strings=list(index),
        label=np.concatenate([joined.label, added % len(index)]),
        node_offsets=joined.node_offsets,
        kind=np.concatenate([joined.kind, kind]),
        source=np.concatenate([joined.source, source]),
        target=np.concatenate([joined.target, len(joined.label) + place]),
    )


@lru_cache(maxsize=100_000)
def _subtokens(label: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(subtokens.split(label))) if label.isidentifier() else ()


def _plan_messages(
    kind: np.ndarray, source: np.ndarray, target: np.ndarray, num_nodes: int, num_kinds: int
) -> MessagePlan[np.ndarray]:
    keys = np.concatenate([2 * kind * num_nodes + source, (2 * kind + 1) * num_nodes + target])
    ends, place = renumber(keys, 2 * num_kinds * num_nodes)
    along = 2 * np.stack(np.split(place, 2), axis=1)  # [P, 2]
    nodes = np.arange(num_nodes)
    zero = 2 * len(ends) + num_nodes
    to_oneself = np.stack([2 * len(ends) + nodes, np.full(num_nodes, zero)], axis=1)
    sizes = np.bincount(ends // max(num_nodes, 1), minlength=2 * num_kinds)
    return MessagePlan(
        sizes=tuple(sizes.tolist()),
        ends=segments(ends % max(num_nodes, 1), num_nodes),
        sums=pair_sums(np.concatenate([along, along + 1, to_oneself]), zero),
        receivers=segments(np.concatenate([target, source, nodes]), num_nodes),
    )


def _padded_rows(lengths: np.ndarray) -> tuple[tuple[Group, ...], np.ndarray, np.ndarray]:
    """Graphs of similar length share a group: the groups, the first cell of every row, and each graph's row."""
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order].tolist()
    groups: list[Group] = []
    first = 0
    for index, length in enumerate(ascending):
        if index + 1 == len(ascending) or ascending[index + 1] > _WIDENING * ascending[first]:
            groups.append(Group(index + 1 - first, length, None))
            first = index + 1
    row_start = running_sum([group.width for group in groups for _ in range(group.rows)])
    row_of_graph = np.empty(len(lengths), dtype=np.int64)
    row_of_graph[order] = np.arange(len(lengths))
    return tuple(groups), row_start, row_of_graph


def _plan_bias(
    joined: _Joined, groups: tuple[Group, ...], row: np.ndarray, position: np.ndarray, num_kinds: int
) -> BiasPlan[np.ndarray]:
    """`row` and `position` of each node say where its queries and keys stand."""
    query = np.concatenate([joined.source, joined.target])
    key = np.concatenate([joined.target, joined.source])
    kind = np.concatenate([joined.kind, num_kinds + joined.kind])
    rows = np.array([group.rows for group in groups])
    width = np.repeat([group.width for group in groups], rows)
    matrix_start = running_sum(width**2)
    within_group = np.arange(len(width)) - np.repeat(np.cumsum(rows) - rows, rows)
    scores, score_of_term = np.unique(
        matrix_start[row[query]] + position[query] * width[row[query]] + position[key], return_inverse=True
    )
    offsets = np.searchsorted(scores, matrix_start)
    row_of_score = np.repeat(np.arange(len(width)), np.diff(offsets))
    return BiasPlan(
        terms=segments(query * (2 * num_kinds) + kind, len(position) * 2 * num_kinds),
        scores=segments(score_of_term, len(scores)),
        row=within_group[row_of_score],
        place=scores - matrix_start[row_of_score],
        offsets=tuple(offsets.tolist()),
    )
