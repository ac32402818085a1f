"""Scores that are read from the statements around a question, so that entities need no vector of their own.

    h_n  = W_x x_n + W_z z + W_c counts + sum of the marks of n    for every entity n around the question
    h_e  = W_r r_e + W_z z                                         for every statement e around it
    h    = HEAT(LN(h))                                             each question has a graph of its own
    s(n) = w . h_n + v . counts                                    is added to z . x_n

A mark says in which role the question gives an entity. What is near a question is thus told apart by how it is linked to
what the question gives: "the film in whose statement about this award this person stands". The counts of n are the share
of the statements of the given entities that also hold n, in how many statements it is, how often it answered the same
relation, and whether it did; v begins as about the logarithm of the co-occurrence heuristic (heuristic.py), which the
network then corrects.

With `apart`, neither x nor z is read, only what is asked for and how things are linked. Vectors of entities soon know all
training statements by heart, and a network that shares their loss then learns nothing more. So it has a loss of its own, as
if it answered alone; the scores are added when the model is asked.

Around a question are all statements of the entities that it gives, and, with more hops, all statements of what these
reach. Entities in more than `through` statements are reached, but not walked through: they link everything to everything.
Letters: B questions, P (question, entity) pairs, E (question, statement) pairs, Y marks, N entities, R relations, D width.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.neural.candidates import lowest_of_each
from hyperheat.kg.neural.graph_encoders import EdgeGraph, Table, edge_graph
from hyperheat.kg.neural.neighbourhood import StatementIndex
from hyperheat.kg.questions import FIRST_QUALIFIER, SUBJECT, Questions
from hyperheat.kg.statements import Statements, expand
from hyperheat.nn import HeatConfig, HeatLayer
from hyperheat.nn.fast.dropout import Dropout
from hyperheat.tensors.indices import ArrayT, to_tensors

__all__ = [
    "SurroundingGraph",
    "SurroundingsConfig",
    "SurroundingsIndex",
    "SurroundingsReader",
    "add_surroundings",
]

_SHARES = 100.0
"""What shares are multiplied by before their logarithm, so that what is reached always ranks before what is not."""
_HEURISTIC = (1.0, 0.0, 0.0, 1.6)
"""The first value of v: log share, and log 5 for an entity that answered the relation before."""
_AT_ONCE = 16
"""Questions whose surroundings are read at once where no gradient is needed."""


@dataclass(frozen=True, kw_only=True)
class SurroundingsConfig:
    """How far the surroundings of a question go, and the network that reads them."""

    encoder: HeatConfig = HeatConfig(dim=64, layers=2, heads=4, ff=128, final_edges=False)
    hops: int = 1
    """1: the statements of the entities that a question gives; 2: also the statements of what these reach"""
    through: int = 16
    """an entity in more statements than this is not walked through"""
    apart: float | None = None
    """a share of the questions: the network reads only how an answer is linked to what is given, no vectors of entities, and
    learns from these questions with a loss of its own; None: it reads vectors, too, and all scores share one loss"""
    drawn: int | None = 24
    """in training, read at most this many statements of an entity, drawn at random; None: all, as when it is asked"""

    def __post_init__(self) -> None:
        for name in ("hops", "through", "drawn"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name}: expected at least 1, got {value}")
        if self.apart is not None and not 0 < self.apart <= 1:
            raise ValueError(f"apart: expected a share above 0 up to 1, or none, got {self.apart}")


@dataclass(frozen=True, kw_only=True)
class SurroundingGraph(Generic[ArrayT]):
    """The surroundings of several questions, side by side."""

    question: ArrayT
    """[P] of each node, in rising order"""
    entity: ArrayT
    """[P] of each node, in rising order inside a question"""
    counts: ArrayT
    """[P, 4]"""
    marked: ArrayT
    """[Y] nodes that the question gives"""
    mark: ArrayT
    """[Y] their roles: 0 subject, 1 object, 2 + r the qualifier r"""
    asked: ArrayT
    """[B] what each question asks for: r the object of relation r, R + r its subject, 2R + r the value of qualifier r"""
    edge_question: ArrayT
    """[E]"""
    alike: ArrayT
    """[E] 1 for statements with the relation of the question, else 0"""
    graph: EdgeGraph[ArrayT]


class SurroundingsIndex:
    """Finds the surroundings of questions in statements."""

    def __init__(self, config: SurroundingsConfig, statements: Statements) -> None:
        self._config, self._statements = config, statements

    @cached_property
    def _index(self) -> StatementIndex:
        return StatementIndex.of(self._statements)

    def around(
        self, questions: Questions, random: np.random.Generator | None = None
    ) -> SurroundingGraph[np.ndarray]:
        """The surroundings of questions about entities of the same table, which may have more at its end.

        With random numbers, statements are drawn where an entity has many.
        """
        count, most = len(self._statements.entities), max(1, len(self._statements))
        owner, entity, mark = _given(questions, count)
        nodes = given = np.unique(owner * count + entity)
        edges, new = np.zeros(0, np.int64), nodes
        for hop in range(self._config.hops):
            question, place = self._statements_of(new, random, None if hop == 0 else self._config.through)
            found = np.setdiff1d(question * most + self._index.statement[place], edges)
            edges = np.union1d(edges, found)
            new = np.setdiff1d(np.concatenate(self._members(found)), nodes)
            nodes = np.union1d(nodes, new)
        return SurroundingGraph(
            question=nodes // count,
            entity=nodes % count,
            counts=self._counts(questions, nodes, given),
            marked=np.searchsorted(nodes, owner * count + entity),
            mark=mark,
            asked=_answer_keys(questions),
            edge_question=edges // most,
            alike=self._alike(questions, edges),
            graph=self._graph(nodes, edges),
        )

    def _statements_of(
        self, nodes: np.ndarray, random: np.random.Generator | None, through: int | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The question of each node, and the place in the index of each of its statements; not of those in too many."""
        question, entity = np.divmod(nodes, len(self._statements.entities))
        first = self._index.offsets[entity]
        degree = self._index.offsets[entity + 1] - first
        if through is not None:
            degree = np.where(degree <= through, degree, 0)
        owner, place = expand(first, degree)
        if random is not None:
            kept = lowest_of_each(random.random(len(owner)), owner, self._config.drawn)
            owner, place = owner[kept], place[kept]
        return question[owner], place

    def _members(self, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The nodes of statements of questions as subjects, objects and values."""
        question, rows = np.divmod(edges, max(1, len(self._statements)))
        chosen = self._statements[rows]
        base = question * len(self._statements.entities)
        values = np.repeat(base, chosen.num_qualifiers) + chosen.value
        return base + chosen.subject, base + chosen.object, values

    def _graph(self, nodes: np.ndarray, edges: np.ndarray) -> EdgeGraph[np.ndarray]:
        subject, obj, value = (np.searchsorted(nodes, member) for member in self._members(edges))
        chosen = self._statements[edges % max(1, len(self._statements))]
        apart = replace(chosen, entities=("",) * len(nodes), subject=subject, object=obj, value=value)
        return edge_graph(apart, shared_states=False)

    def _alike(self, questions: Questions, edges: np.ndarray) -> np.ndarray:
        question, rows = np.divmod(edges, max(1, len(self._statements)))
        alike = self._statements.relation[rows] == questions.statements.relation[question]
        return alike.astype(np.int64)

    def _counts(self, questions: Questions, nodes: np.ndarray, given: np.ndarray) -> np.ndarray:
        """What is counted of each node [P, 4], mostly as logarithms."""
        entity = nodes % len(self._statements.entities)
        degree = np.diff(self._index.offsets)
        shares = self._shares(nodes, given, degree)
        asked = _answer_keys(questions)[nodes // len(self._statements.entities)]
        answered = self._answered(asked * len(self._statements.entities) + entity)
        columns = (np.log1p(_SHARES * shares), np.log1p(degree[entity]), np.log1p(answered), answered > 0)
        return np.stack(columns, 1).astype(np.float32)

    def _shares(self, nodes: np.ndarray, given: np.ndarray, degree: np.ndarray) -> np.ndarray:
        """For each node n the sum over given entities e of the share of e's statements that hold n."""
        count, most = len(self._statements.entities), max(1, len(self._statements))
        entity = given % count
        owner, place = expand(self._index.offsets[entity], degree[entity])
        rows = self._index.statement[place]
        members = self._members(given[owner] // count * most + rows)
        sizes = self._statements.num_qualifiers[rows]
        asker = np.concatenate([owner, owner, np.repeat(owner, sizes)])
        member = np.concatenate(members)
        node = np.searchsorted(nodes, member).clip(max=len(nodes) - 1)
        counts = (member != given[asker]) & (nodes[node] == member)
        return np.bincount(node[counts], 1 / degree[entity][asker[counts]], len(nodes)).astype(float)

    def _answered(self, keys: np.ndarray) -> np.ndarray:
        """How often an entity answered a relation, or was the value of a qualifier."""
        known, counts = self._answers
        place = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
        return np.where(known[place] == keys, counts[place], 0) if len(known) else np.zeros(len(keys))

    @cached_property
    def _answers(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys of all answers in the statements, and how often each is there."""
        s, count = self._statements, len(self._statements.entities)
        relations = len(s.relations)
        keys = (
            s.relation * np.int64(count) + s.object,
            (relations + s.relation) * np.int64(count) + s.subject,
            (2 * relations + s.qualifier) * np.int64(count) + s.value,
        )
        known, counts = np.unique(np.concatenate(keys), return_counts=True)
        return known, counts


def _given(questions: Questions, entities: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every question, each known entity that it gives, and the role of that."""
    owner, entity = questions.given()
    known = entity < entities
    return owner[known], entity[known].astype(np.int64), questions.given_roles()[known].astype(np.int64)


def _answer_keys(questions: Questions) -> np.ndarray:
    """What each question asks for [B]: the object of a relation, its subject, or the value of a qualifier."""
    asked, relations = questions.statements.relation.astype(np.int64), len(questions.statements.relations)
    keys = np.where(questions.blank == SUBJECT, relations + asked, asked)
    rows = np.flatnonzero(questions.blank >= FIRST_QUALIFIER)
    keys[rows] = 2 * relations + questions.asked_qualifiers(rows)
    return keys


class SurroundingsReader(nn.Module):
    """HEAT over the surroundings of questions, with marks on what they give."""

    def __init__(self, config: SurroundingsConfig, dim: int) -> None:
        super().__init__()
        width = config.encoder.dim
        self.entity = nn.Linear(dim, width) if config.apart is None else None
        self.value = None if config.apart is None else nn.Parameter(torch.randn(dim))
        self.apart = config.apart is not None
        self.question = nn.Linear(dim, width)
        self.name, self.mark_name = nn.Linear(dim, width), nn.Linear(dim, width)
        self.role, self.mark_role = (nn.Parameter(torch.randn(2, width)) for _ in range(2))
        self.counts, self.alike = nn.Linear(len(_HEURISTIC), width), nn.Embedding(2, width)
        self.norm, self.dropout = nn.LayerNorm(width), Dropout(config.encoder.dropout)
        self.layers = nn.ModuleList(HeatLayer(layer) for layer in config.encoder.layer_configs())
        self.out = nn.Linear(width, 1)
        self.direct = nn.Parameter(torch.tensor(_HEURISTIC))

    def forward(self, table: Table, z: Tensor, around: SurroundingGraph[Tensor]) -> Tensor:
        """The table, the vectors [B, D] of questions, and their surroundings -> a score for each node [P]."""
        relations = table.relations[: len(table.relations) // 2]
        names = self.name(relations)
        marks = torch.cat([self.mark_role, self.mark_name(relations)])
        if self.value is not None:
            z = F.embedding(around.asked, torch.cat([table.relations, relations + self.value]))
        asked = self.question(z)
        nodes = self.counts(around.counts) + F.embedding(around.question, asked)
        if self.entity is not None:
            nodes = nodes + F.embedding(around.entity, self.entity(table.entities))
        nodes = nodes.index_add(0, around.marked, F.embedding(around.mark, marks))
        edges = F.embedding(around.graph.state, names) + F.embedding(around.edge_question, asked)
        edges = edges + self.alike(around.alike)
        h = self.dropout(self.norm(torch.cat([nodes, edges])))
        r = self.dropout(torch.cat([self.role, names]))
        for layer in self.layers:
            h = layer(h, r, around.graph.plan)
        return self.out(h[: len(nodes)]).squeeze(1) + around.counts @ self.direct


def add_surroundings(
    scores: np.ndarray,
    reader: SurroundingsReader,
    index: SurroundingsIndex,
    table: Table,
    questions: Questions,
    z: Tensor,
) -> None:
    """Add what is read around questions, whose vectors are z [B, D], to their scores of all entities [B, N]."""
    for start in range(0, len(questions), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        around = index.around(questions[part])
        added = reader(table, z[part], to_tensors(around, z.device))
        scores[part][around.question, around.entity] += added.cpu().numpy()
