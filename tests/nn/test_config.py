import json

import pytest

from hyperheat import VARIANTS, HeatConfig
from hyperheat.nn.aggregate import SumAggregate
from hyperheat.nn.update import KeepState


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_survives_json(name):
    values = json.loads(json.dumps(VARIANTS[name].to_dict()))
    assert HeatConfig.from_dict(values) == VARIANTS[name]


def test_the_defaults_are_the_papers():
    config = HeatConfig()
    assert (config.dim, config.layers, config.heads, config.hidden, config.dropout) == (256, 6, 8, 2048, 0.1)


def test_slots_are_named_by_their_choice():
    values = HeatConfig(aggregate=SumAggregate(), edge_update=KeepState()).to_dict()
    assert (values["aggregate"], values["edge_update"]) == ("SumAggregate", "KeepState")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dimm": 3}, r"got 'dimm'; did you mean 'dim'\?"),
        ({"aggregate": "MinAggregate"}, "aggregate: expected one of MaxAggregate, .*, got 'MinAggregate'"),
        ({"dim": 10, "heads": 4}, "dim: expected an even multiple of heads=4, got 10"),
        ({"dim": 9, "heads": 3}, "dim: expected an even multiple of heads=3, got 9"),
        ({"layers": 0}, "layers: expected an int of at least 1, got 0"),
        ({"dropout": 1.0}, "dropout: expected a number from 0 up to 1, got 1.0"),
        ({"ff": "big"}, "ff: expected an int of at least 1, got 'big'"),
        ({"dropout": "x"}, "dropout: expected a number from 0 up to 1, got 'x'"),
        ({"final_edges": "no"}, "final_edges: expected True or False, got 'no'"),
        ({"aggregate": ["x"]}, r"aggregate: expected one of MaxAggregate, .*, got \['x'\]"),
        ([1], r"config: expected settings by name, got \[1\]"),
    ],
)
def test_bad_values_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        HeatConfig.from_dict(values)


def test_a_slot_takes_only_its_choices():
    with pytest.raises(
        TypeError, match="message: expected one of AttentionMessage, DeepSetMessage, got 'mha'"
    ):
        HeatConfig(message="mha")  # pyright: ignore[reportArgumentType]
