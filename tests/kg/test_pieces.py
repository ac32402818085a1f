"""Whole graphs in pieces: the same vectors and ranks, in less memory."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.kg.neural_data import HEAT, new_model, random_statements

from hyperheat.kg.neural.graph_encoders import HeatGraph, NoEncoder
from hyperheat.kg.neural.pieces import encode_in_pieces
from hyperheat.kg.neural.stare import StareConfig
from hyperheat.kg.neural.trained_model import ModelScorer, TrainedModel, encode_all
from hyperheat.kg.ranking import rank
from hyperheat.nn import VARIANTS
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.nn.update import KeepState
from hyperheat.tensors.indices import to_tensors

STATEMENTS = random_statements(80, entities=60)
SIZES = {"dim": 16, "heads": 4, "ff": 24}


@pytest.mark.parametrize("size", [1, 20, 10_000])
@pytest.mark.parametrize("variant", VARIANTS)
def test_pieces_give_the_vectors_of_the_whole_graph(variant, size):
    encoder = replace(VARIANTS[variant], layers=3, final_edges=False, **SIZES)
    known = STATEMENTS[:50]  # some entities are in no statement
    model = new_model(known, encoder).model
    assert isinstance(model.encoder, HeatGraph)
    first = model.first()
    with torch.no_grad():
        expected = model.encoder(first, to_tensors(model.plan(known), "cpu"))
    found = encode_in_pieces(model.encoder, first, known, size=size)
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)
    degree = np.bincount(known.memberships()[1], minlength=len(known.entities))
    assert (degree == 0).any()


@pytest.mark.parametrize(
    "encoder",
    [
        HEAT,
        replace(HEAT, layers=2),
        replace(HEAT, layers=2, edge_update=KeepState),
        replace(HEAT, aggregate=CrossAttentionAggregate),
        NoEncoder(dim=16),
        StareConfig(dim=16),
    ],
    ids=["heat", "heat-2", "heat-keep", "heat-crossatt", "none", "stare"],
)
def test_ranks_are_the_same(encoder, monkeypatch: pytest.MonkeyPatch):
    trained = new_model(STATEMENTS[:60], encoder, skip=0.5)
    everyone = np.ones(len(STATEMENTS.entities), bool)

    def ranks() -> np.ndarray:
        return rank(ModelScorer(trained), STATEMENTS[60:], known=STATEMENTS, candidates=everyone).ranks

    expected = ranks()
    monkeypatch.setattr(encode_all, "__kwdefaults__", {"at_once": 10})
    np.testing.assert_array_equal(ranks(), expected)


def test_pieces_read_no_more_qualifiers_than_the_model_does():
    trained = new_model(STATEMENTS)
    config = replace(trained.config, most_qualifiers=1)
    model = TrainedModel.new(config, trained.names, STATEMENTS).model.eval()
    whole, pieces = (encode_all(model, STATEMENTS, at_once=most).entities for most in (1_000, 10))
    torch.testing.assert_close(pieces, whole, atol=1e-5, rtol=1e-5)
    uncut = encode_in_pieces(model.encoder, model.first(), STATEMENTS).entities
    assert not torch.allclose(uncut, whole, atol=1e-3)
