"""A trained model as a scorer: of queries for `hyperheat.kg.ranking`, of any question for `hyperheat.kg.completion`."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from hyperheat.kg.neural.encoders import Table
from hyperheat.kg.neural.folder import TrainedModel
from hyperheat.kg.neural.model import to_torch
from hyperheat.kg.neural.questions import OBJECT, SUBJECT, distinct, tokenise
from hyperheat.kg.neural.stare_decoder import StareDecoder
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
        self.reads_labels = trained.names.tokenizer is not None
        self.asks_values = not isinstance(trained.config.decoder, StareDecoder)

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
        """Scores of the model's entities for the blank slot of each statement: [B, entities].

        Names behind those of the model in the table of the statements are unseen entities, known by their text.
        """
        used, place = np.unique(
            np.concatenate([statements.subject, statements.object, statements.value]), return_inverse=True
        )
        subject, obj, value = np.split(place, [len(statements), 2 * len(statements)])
        few = Statements(
            entities=tuple(statements.entities[i] for i in used.tolist()),
            relations=statements.relations,
            subject=subject,
            relation=statements.relation,
            object=obj,
            offsets=statements.offsets,
            qualifier=statements.qualifier,
            value=value,
        )
        tokens, order = tokenise(few, blank)
        z = self._model.read(self._table_of(few.entities, used), to_torch(tokens, self._device))
        scores = np.empty((len(statements), len(self.table.entities)), np.float32)
        scores[order] = (z @ self.table.entities.T).cpu().numpy()
        return scores

    def _table_of(self, names: Sequence[str], used: np.ndarray) -> Table:
        """The rows of some entities in rising order; the unseen ones are last."""
        known = used[used < len(self.table.entities)]
        rows = self.table.entities[torch.as_tensor(known, dtype=torch.int64, device=self._device)]
        unseen = names[len(known) :]
        if unseen:
            rows = torch.cat([rows, self._encode_unseen(unseen)])
        return Table(rows, self.table.relations)

    def _encode_unseen(self, texts: Sequence[str]) -> Tensor:
        """The vectors of entities that no statement holds and whose label alone is known."""
        model = self._model
        if model.entity_label is None or model.relation_label is None:
            raise ValueError(
                f"expected known entities, got {', '.join(texts)} for a model that reads no labels"
            )
        alone = Statements(
            entities=tuple(texts),
            relations=self._statements.relations,
            **{name: np.zeros(0) for name in ("subject", "relation", "object", "qualifier", "value")},
            offsets=np.zeros(1),
        )
        relations = model.relation + model.relation_label().repeat(2, 1)
        first = Table(model.entity_label.of(texts), relations)
        encoded = model.encoder(first, to_torch(model.plan(alone), self._device))
        return model.pass_by(first, encoded).entities


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
