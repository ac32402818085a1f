"""A trained model with all that is done with one: ask it, measure it, look at its vectors, extend it, save it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyperheat.kg.breakdown import Breakdown
from hyperheat.kg.completion import Completer
from hyperheat.kg.datasets import StatementDataset, TrainingSplits
from hyperheat.kg.neural.extension import extend_model
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel, save_model, scorer_for
from hyperheat.kg.ranking import Protocol, RankEvaluation, evaluate
from hyperheat.kg.statements import Statement, Statements, append
from hyperheat.kg.temperature import Temperature, save_temperature

__all__ = ["Embeddings", "FittedModel", "Neighbour"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """An entity near another one."""

    id: str
    label: str | None
    similarity: float
    """the cosine of the angle between their vectors"""


@dataclass(frozen=True, eq=False, kw_only=True)
class Embeddings:
    """The vectors by which the decoder knows entities [N, D] and relations [R, D], and the ids of their rows."""

    entities: np.ndarray
    relations: np.ndarray
    entity_names: tuple[str, ...]
    relation_names: tuple[str, ...]


class FittedModel(Completer):
    """A trained model of statements; `hyperheat.kg.fit` trains one, and `hyperheat.kg.load` reads one."""

    def __init__(
        self,
        trained: TrainedModel,
        *,
        labels: Mapping[str, str] | None = None,
        temperature: Temperature | None = None,
        data: StatementDataset | None = None,
    ) -> None:
        self._scorer = ModelScorer(trained)
        every_label = {**trained.names.labels, **(labels or {})}
        super().__init__(self._scorer, trained.statements, every_label, temperature=temperature)
        self.trained, self._calibrated, self._data = trained, temperature, data

    def evaluate(
        self,
        data: StatementDataset | None = None,
        protocol: Protocol | None = None,
        *,
        by: Breakdown = "qualifiers",
    ) -> RankEvaluation:
        """Rank the held-out statements of the data that the model was fitted to, or of a data set that it was trained on.

        By default the test split is ranked, or the validation split if that was held out and there is no test split.
        """
        data = self._data if data is None else data
        if data is None:
            raise ValueError("evaluate: a model that was loaded needs the data to evaluate on")
        protocol = protocol or self._protocol(data)
        return evaluate(data, lambda training: scorer_for(self.trained, training), protocol, by)

    def _protocol(self, data: StatementDataset) -> Protocol:
        """The splits that the model was trained on, and one that it was not."""
        splits: tuple[TrainingSplits, ...] = ("train+valid", "train")
        for train_on in splits:
            training = data.training(train_on).distinct()
            if len(training) == len(self.statements) and training.digest() == self.statements.digest():
                break
        else:
            raise ValueError(f"evaluate: the model was not trained on {data.source}")
        if data.test:
            return Protocol(train_on=train_on)
        if data.valid and train_on == "train":
            return Protocol(train_on=train_on, evaluate_on="valid")
        raise ValueError(
            f"evaluate: nothing of {data.source} was held out; fit with hold_out=0.1, or pass other data"
        )

    def neighbours(self, name: str, k: int = 10) -> tuple[Neighbour, ...]:
        """The entities whose vectors are nearest to that of an entity, by cosine, nearest first."""
        if k < 1:
            raise ValueError(f"k: expected at least 1, got {k}")
        index = self.entities.find(name)
        vectors = self.embeddings().entities
        vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        similarity = vectors @ vectors[index]
        similarity[index] = -np.inf
        nearest = np.argsort(-similarity, kind="stable")[: min(k, len(similarity) - 1)]
        return tuple(
            Neighbour(
                id=self.entities.names[i], label=self.entities.label(i), similarity=float(similarity[i])
            )
            for i in nearest.tolist()
        )

    def embeddings(self) -> Embeddings:
        """The vectors of all entities and relations, as arrays."""
        entities, relations = (vectors.cpu().numpy() for vectors in self._scorer.table)
        names = self.trained.names
        return Embeddings(
            entities=entities,
            relations=relations[: len(names.relations)],
            entity_names=names.entities,
            relation_names=names.relations,
        )

    def with_statements(self, statements: Statements | Iterable[Statement]) -> "FittedModel":
        """The same model with more statements in its graph, without training; they may have entities that it never saw.

        New entities are known by their statements: they need an encoder, and training with `model.unknown` above 0 or
        labels.
        """
        trained = extend_model(self.trained, append(self.statements, statements))
        return FittedModel(trained, labels=self.labels, temperature=self._calibrated, data=self._data)

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, which `hyperheat.kg.load` reads; the folder holds no code."""
        save_model(self.trained, folder)
        if self._calibrated is not None:
            save_temperature(self._calibrated, Path(folder))

    def __repr__(self) -> str:
        parts: dict[str, Any] = {
            "statements": len(self.statements),
            "entities": len(self.entities.names),
            "relations": len(self.relations.names),
            "weights": self.trained.parameters,
        }
        return f"FittedModel({', '.join(f'{count:,} {name}' for name, count in parts.items())})"
