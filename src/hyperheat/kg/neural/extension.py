"""A trained model with statements that it was not trained on, and entities that it never saw.

A new entity begins as the vector of unknown entities, which a model with `unknown` above 0 has learnt, plus the vector of
its label where labels are read; the encoder tells it from others by the statements around it. All weights stay as they
are.

The same makes a model answer questions about another graph (`other_graph`): it reads the training statements of other data
instead of its own, and its names come first in the tables of that data.
"""

from dataclasses import replace

import torch

from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.statement_model import StatementModel
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel
from hyperheat.kg.statements import Statements, append

__all__ = ["extend_model", "other_graph", "scorer_elsewhere"]

_SHOWN = 5


@torch.no_grad()
def extend_model(trained: TrainedModel, statements: Statements) -> TrainedModel:
    """The model with these statements in its graph; their tables begin with those of the model."""
    _check(trained, statements, "with_statements")
    before, names = trained.model, trained.names
    new = statements.entities[len(names.entities) :]
    names = replace(names, entities=statements.entities)
    model = StatementModel(trained.config, names)
    weights = dict(before.state_dict())
    first = before.entity.new_zeros(1, before.entity.shape[1]) if before.unknown is None else before.unknown
    weights["entity"] = torch.cat([before.entity, first.expand(len(new), -1)])
    model.to(before.entity.dtype).to(before.entity.device).load_state_dict(weights)
    model.eval()
    return replace(trained, names=names, statements=statements.distinct(), model=model)


def _check(trained: TrainedModel, statements: Statements, place: str) -> None:
    """Refuse statements that the model cannot read; their tables begin with those of the model."""
    if new := statements.relations[len(trained.names.relations) :]:
        raise ValueError(f"{place}: the model was not trained on the relations {_listed(new)}")
    new = statements.entities[len(trained.names.entities) :]
    if new and isinstance(trained.config.encoder, NoEncoder):
        raise ValueError(
            f"{place}: a model without an encoder cannot tell new entities from their statements: {_listed(new)}"
        )
    if new and trained.model.unknown is None and trained.model.entity_label is None:
        raise ValueError(
            f"{place}: the model has no vector for entities that it was not trained on: {_listed(new)}; "
            "train it with model.unknown above 0"
        )


def other_graph(trained: TrainedModel, data: StatementDataset) -> StatementDataset:
    """Data with the model's names first in its tables, so that `extend_model` can read its statements."""
    joined = append(trained.statements[:0], data.every())
    _check(trained, joined, data.source)
    first, second = len(data.train), len(data.train) + len(data.valid)
    return replace(data, train=joined[:first], valid=joined[first:second], test=joined[second:])


def scorer_elsewhere(
    trained: TrainedModel, training: Statements, *, without_graph: bool = False
) -> ModelScorer:
    """The scorer of a model that reads these statements instead of its own; their tables begin with those of the model."""
    return ModelScorer(extend_model(trained, training), without_graph=without_graph)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
