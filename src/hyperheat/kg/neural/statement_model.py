"""A model of statements: an encoder makes a table of entities and relations, a decoder reads questions against it.

    x, r = encoder(x0, r0, graph)                            graph_encoders.py, stare.py
    x    = LN(x0) + g * x                                    with a skip
    z    = decoder(x, r, question)                           decoder.py, stare.py
    score(c) = z . x_c                                       loss.py
             + what is read around the question              surroundings.py, if the model has surroundings

x0 and r0 are learnt per id; with labels the sum of their tokens is added, or stands instead (labels.py). With `unknown`,
some ids are replaced by a shared vector in every training step, so that the encoder learns to tell entities by their
statements. Dropout on x acts on both sides of the product. Letters: N entities, R relations, B questions, D width.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from hyperheat.kg.neural.decoder import MaskDecoder, MaskReader, QuestionTokens
from hyperheat.kg.neural.graph_encoders import HeatGraph, NoEncoder, Table, Tables
from hyperheat.kg.neural.labels import BpeLabels, LabelVectors, NoLabels
from hyperheat.kg.neural.stare import StareConfig, StareDecoder, StareGraph, StareReader
from hyperheat.kg.neural.surroundings import SurroundingsConfig, SurroundingsReader
from hyperheat.kg.statements import Statements
from hyperheat.nn import HeatConfig
from hyperheat.nn.fast.dropout import Dropout

__all__ = ["ModelConfig", "ModelNames", "StatementModel"]

_ENCODERS: dict[type, Any] = {NoEncoder: Tables, HeatConfig: HeatGraph, StareConfig: StareGraph}
_DECODERS: dict[type, Any] = {MaskDecoder: MaskReader, StareDecoder: StareReader}


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """The parts of a model; the encoder sets its width."""

    encoder: NoEncoder | HeatConfig | StareConfig = NoEncoder()
    decoder: MaskDecoder | StareDecoder = MaskDecoder()
    labels: NoLabels | BpeLabels = NoLabels()
    entity_dropout: float = 0.3
    """of the encoded entities, as tokens and as candidates"""
    skip: float | None = None
    """the first value of g, the share of the encoder's output added to an entity's own vector; None: it replaces that"""
    unknown: float = 0.0
    """the share of entities whose id is replaced in a training step by the vector of entities that were never seen"""
    unknown_relations: float = 0.0
    """the share of relations that is replaced likewise, so that rare relations can stay replaced for good"""
    rare: int = 20
    """with unknown relations, those in fewer training statements than this are never told apart"""
    surroundings: SurroundingsConfig | None = None
    """what reads the statements around each question, beside the vectors of entities; None: nothing"""
    most_qualifiers: int | None = None
    """how many qualifiers of a statement the encoder reads, the first ones of it; None: all"""

    def __post_init__(self) -> None:
        if self.encoder.dim % self.decoder.heads:
            raise ValueError(
                f"encoder.dim: expected a multiple of decoder.heads={self.decoder.heads}, got {self.encoder.dim}"
            )
        if not 0 <= self.entity_dropout < 1:
            raise ValueError(f"entity_dropout: expected a number from 0 up to 1, got {self.entity_dropout}")
        if self.most_qualifiers is not None and self.most_qualifiers < 0:
            raise ValueError(f"most_qualifiers: expected at least 0 or None, got {self.most_qualifiers}")
        for name in ("unknown", "unknown_relations"):
            if not 0 <= (share := getattr(self, name)) <= 1:
                raise ValueError(f"{name}: expected a share from 0 to 1, got {share}")
        if self.unknown and isinstance(self.encoder, NoEncoder):
            raise ValueError(
                "unknown: must be 0 without an encoder, which alone could tell such entities apart"
            )


@dataclass(frozen=True, kw_only=True)
class ModelNames:
    """The names that a model knows, the labels of some of them, and the tokenizer of a model that reads labels."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    labels: Mapping[str, str]
    tokenizer: str | None = None


class Skip(nn.Module):
    """Own vectors of entities that skip the encoder, plus a learnt share of its output for each dimension."""

    def __init__(self, dim: int, share: float) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.share = nn.Parameter(torch.full((dim,), share))

    def forward(self, first: Tensor, encoded: Tensor) -> Tensor:
        return self.norm(first) + self.share * encoded


class StatementModel(nn.Module):
    """Entities, relations, encoder and decoder."""

    questions_seen: Tensor
    """How many questions the weights were trained on."""
    rare_relation: Tensor
    """[R] relations that stay unknown, in a model that knows unknown ones"""

    def __init__(self, config: ModelConfig, names: ModelNames) -> None:
        super().__init__()
        dim = config.encoder.dim
        self.entity = nn.Parameter(torch.empty(len(names.entities), dim))
        self.relation = nn.Parameter(torch.empty(2 * len(names.relations), dim))
        self.entity_label = _label_vectors(names, names.entities, dim)
        self.relation_label = _label_vectors(names, names.relations, dim)
        self.encoder = _ENCODERS[type(config.encoder)](config.encoder)
        self.encoder.initialise(self.entity, self.relation)
        self.skip = None if config.skip is None else Skip(dim, config.skip)
        self.dropout = Dropout(config.entity_dropout)
        self.decoder = _DECODERS[type(config.decoder)](config.decoder, dim)
        self._unknown_share, self._most_qualifiers = config.unknown, config.most_qualifiers
        self._beside_ids = isinstance(config.labels, BpeLabels) and config.labels.beside_ids
        self.unknown = (
            nn.Parameter(torch.randn(1, dim) * self.entity.detach().std()) if config.unknown else None
        )
        self._unknown_relations = config.unknown_relations
        self.unknown_relation = (
            nn.Parameter(torch.randn(2, dim) * self.relation.detach().std())
            if config.unknown_relations
            else None
        )
        if config.unknown_relations:
            self.register_buffer("rare_relation", torch.zeros(len(names.relations), dtype=torch.bool))
        self.surroundings = (
            None if config.surroundings is None else SurroundingsReader(config.surroundings, dim)
        )
        self.register_buffer("questions_seen", torch.zeros((), dtype=torch.int64))

    def plan(self, statements: Statements) -> Any:
        """What the encoder reads of statements, on the CPU."""
        return self.encoder.plan(self.cut(statements))

    def cut(self, statements: Statements) -> Statements:
        """The statements without the qualifiers that the encoder does not read."""
        if self._most_qualifiers is None:
            return statements
        return statements.with_qualifiers(statements.qualifier_numbers() < self._most_qualifiers)

    def encode(self, graph: Any, rows: Tensor | None = None) -> Table:
        """The table of all entities [N, D], or of those in some rows, which are the graph's, and of relations [2R, D]."""
        first = self.first(rows)
        entities, relations = self.pass_by(first, self.encoder(first, graph))
        return Table(self.dropout(entities), relations)

    def first(self, rows: Tensor | None = None) -> Table:
        """What the encoder starts from: vectors of all entities, or of those in some rows, and of relations."""
        entities = self.entity if rows is None else F.embedding(rows, self.entity)
        if self.unknown is not None and (self.training or self._unknown_share == 1):
            replaced = torch.rand(len(entities), 1, device=entities.device) < self._unknown_share
            entities = torch.where(replaced, self.unknown, entities)
        if self.entity_label is not None:
            entities = self.entity_label.first(entities, rows, beside_ids=self._beside_ids)
        return Table(entities, self.first_relations())

    def first_relations(self) -> Tensor:
        """The vectors [2R, D] of relations before the encoder."""
        relations = self.relation
        if self.unknown_relation is not None:
            replaced = self.rare_relation
            if self.training:
                drawn = torch.rand(len(replaced), device=replaced.device) < self._unknown_relations
                replaced = replaced | drawn
            unknown = self.unknown_relation.repeat_interleave(len(replaced), 0)
            relations = torch.where(replaced.repeat(2)[:, None], unknown, relations)
        if self.relation_label is None:
            return relations
        return self.relation_label.first(relations, beside_ids=self._beside_ids)

    def pass_by(self, first: Table, encoded: Table) -> Table:
        """The encoded table, to which first vectors are added if the model has a skip."""
        if self.skip is None:
            return encoded
        return Table(self.skip(first.entities, encoded.entities), encoded.relations)

    def read(self, table: Table, tokens: QuestionTokens[Tensor]) -> Tensor:
        """The vector z of each question [B, D]."""
        return self.decoder(table, tokens)


def _label_vectors(names: ModelNames, table: Sequence[str], dim: int) -> LabelVectors | None:
    return None if names.tokenizer is None else LabelVectors(names.tokenizer, table, names.labels, dim)
