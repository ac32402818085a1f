"""An option that changes nothing is a failing test."""

from dataclasses import fields, replace
from itertools import combinations

import pytest
import torch
from tests.nn.models import example_graph, make_encoder

from hyperheat import VARIANTS, HeatConfig, Vocabulary, collate
from hyperheat.configuration import choices

VOCAB = Vocabulary.build([example_graph()])
BATCH = collate([example_graph()], VOCAB).to_torch()

CHANGES = {
    "dim": 16,
    "layers": 3,
    "heads": 4,
    "ff": 20,
    "dropout": 0.5,
    "final_edges": False,
}


def states_of(config: HeatConfig, *, training: bool = False) -> torch.Tensor:
    sizes = {name: getattr(config, name) for name in ("dim", "layers", "heads", "ff")}
    encoder = make_encoder(config, VOCAB, **sizes).train(training)
    torch.manual_seed(0)
    states = encoder(BATCH)
    return torch.cat([states.nodes, states.edges]).detach()


SMALL = HeatConfig(dim=8, layers=2, heads=2, ff=12)


def test_every_field_is_tried_here():
    assert {field.name for field in fields(HeatConfig)} == set(CHANGES) | set(choices(HeatConfig))


@pytest.mark.parametrize("name", CHANGES)
def test_every_size_changes_the_states(name):
    before = states_of(SMALL, training=name == "dropout")
    after = states_of(replace(SMALL, **{name: CHANGES[name]}), training=name == "dropout")
    assert before.shape != after.shape or not torch.allclose(before, after)


@pytest.mark.parametrize(("one", "other"), list(combinations(VARIANTS, 2)))
def test_every_variant_changes_the_states(one, other):
    sizes = {"dim": 8, "layers": 2, "heads": 2, "ff": 12}
    assert not torch.allclose(
        states_of(replace(VARIANTS[one], **sizes)), states_of(replace(VARIANTS[other], **sizes))
    )


def test_every_choice_of_every_slot_is_a_variant():
    for slot, classes in choices(HeatConfig).items():
        assert set(classes.values()) == {getattr(config, slot) for config in VARIANTS.values()}
