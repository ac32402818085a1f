"""A trained model as a scorer of queries, for `hyperheat.kg.ranking`."""

import numpy as np
import torch

from hyperheat.kg.neural.folder import TrainedModel
from hyperheat.kg.neural.model import to_torch
from hyperheat.kg.neural.questions import OBJECT, SUBJECT, distinct, tokenise
from hyperheat.kg.ranking import Queries
from hyperheat.kg.statements import Statements

__all__ = ["ModelScorer", "scorer_for"]


class ModelScorer:
    """Scores all entities; the graph is encoded once, when it is made."""

    @torch.no_grad()
    def __init__(self, trained: TrainedModel) -> None:
        self._model, self._statements = trained.model, trained.statements
        self._device = trained.model.entity.device
        graph = to_torch(trained.model.plan(trained.statements), self._device)
        self.table = trained.model.encode(graph)

    def __call__(self, queries: Queries) -> np.ndarray:
        """Scores of all entities: [B, entities]."""
        blank = np.full(len(queries), OBJECT if queries.asks == "object" else SUBJECT)
        statements = Statements(
            entities=self._statements.entities,
            relations=self._statements.relations,
            subject=queries.entity,
            relation=queries.relation,
            object=queries.entity,  # one of the two is the blank and will not be read
            offsets=queries.offsets,
            qualifier=queries.qualifier,
            value=queries.value,
        )
        return self.ask(statements, blank)

    @torch.no_grad()
    def ask(self, statements: Statements, blank: np.ndarray) -> np.ndarray:
        """Scores of all entities for the blank slot of each statement: [B, entities]."""
        tokens, order = tokenise(statements, blank)
        z = self._model.read(self.table, to_torch(tokens, self._device))
        scores = np.empty((len(statements), len(statements.entities)), np.float32)
        scores[order] = (z @ self.table.entities.T).cpu().numpy()
        return scores


def scorer_for(trained: TrainedModel, training: Statements) -> ModelScorer:
    """The scorer, if the model was trained on these statements and no others."""
    known = trained.statements
    if (known.entities, known.relations) != (training.entities, training.relations):
        raise ValueError(
            f"model: expected the names of the data, {len(training.entities):,} entities and "
            f"{len(training.relations):,} relations, got a model of {len(known.entities):,} and {len(known.relations):,}"
        )
    asked = distinct(training)
    if known.digest() != asked.digest():
        raise ValueError(
            f"model: expected one trained on the {len(asked):,} distinct statements of the protocol, got one trained on "
            f"{len(known):,} others; --train-on says on which splits a model was trained"
        )
    return ModelScorer(trained)
