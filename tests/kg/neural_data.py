"""Small statements and models for the tests of neural models."""

import numpy as np
import torch

from hyperheat.kg import Statement, Statements
from hyperheat.kg.datasets import StatementDataset
from hyperheat.kg.neural.decoder import MaskDecoder
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.stare import StareConfig, StareDecoder
from hyperheat.kg.neural.statement_model import ModelConfig, ModelNames
from hyperheat.kg.neural.trained_model import TrainedModel
from hyperheat.nn import HeatConfig

HEAT = HeatConfig(dim=16, layers=1, heads=4, ff=24, final_edges=False)
DECODER = MaskDecoder(ff=24)


def random_statements(count: int = 60, entities: int = 20, relations: int = 5, seed: int = 0) -> Statements:
    """Distinct statements with none to three qualifiers."""
    random = np.random.default_rng(seed)
    made: dict[Statement, None] = {}
    while len(made) < count:
        s, o, *values = (f"e{i}" for i in random.integers(0, entities, 2 + random.integers(0, 4)))
        r, *names = (f"r{i}" for i in random.integers(0, relations, 1 + len(values)))
        made[Statement(s, r, o, tuple(sorted(set(zip(names, values, strict=True)))))] = None
    return Statements.build(made)


def dataset(train: Statements, valid: Statements, test: Statements) -> StatementDataset:
    return StatementDataset(source="made up", format="none", train=train, valid=valid, test=test, labels={})


def names_of(statements: Statements) -> ModelNames:
    return ModelNames(entities=statements.entities, relations=statements.relations, labels={})


def new_model(
    statements: Statements,
    encoder: NoEncoder | HeatConfig | StareConfig = HEAT,
    decoder: MaskDecoder | StareDecoder = DECODER,
    *,
    skip: float | None = None,
) -> TrainedModel:
    """A model in eval mode whose weights are far from their simple beginnings."""
    torch.manual_seed(0)
    config = ModelConfig(encoder=encoder, decoder=decoder, skip=skip)
    trained = TrainedModel.new(config, names_of(statements), statements)
    with torch.no_grad():
        for parameter in trained.model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    trained.model.eval()
    return trained
