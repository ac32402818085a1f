import json

import pytest

from hyperheat import VARIANTS, HeatConfig
from hyperheat.configuration import from_dict, to_dict
from hyperheat.nn.aggregate import CrossAttentionAggregate, SumAggregate
from hyperheat.nn.embedding import NoQualifiers
from hyperheat.nn.message import DeepSetMessage
from hyperheat.nn.update import KeepState, NoFeedForward, TiedUpdate


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_survives_json(name):
    values = json.loads(json.dumps(to_dict(VARIANTS[name])))
    assert from_dict(HeatConfig, values) == VARIANTS[name]


def test_the_defaults_are_the_papers():
    config = HeatConfig()
    assert (config.dim, config.layers, config.heads, config.hidden, config.dropout) == (256, 6, 8, 2048, 0.1)


def test_slots_are_named_by_their_choice():
    values = to_dict(HeatConfig(aggregate=SumAggregate, edge_update=KeepState))
    assert (values["aggregate"], values["edge_update"]) == ("SumAggregate", "KeepState")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"dimm": 3}, r"got 'dimm'; did you mean dim\?"),
        ({"aggregate": "MinAggregate"}, "aggregate: expected one of MaxAggregate, .*, got 'MinAggregate'"),
        ({"dim": 10, "heads": 4}, "dim: expected an even multiple of heads=4, got 10"),
        ({"dim": 9, "heads": 3}, "dim: expected an even multiple of heads=3, got 9"),
        ({"layers": 0}, "layers: expected an int of at least 1, got 0"),
        ({"dropout": 1.0}, "dropout: expected a number from 0 up to 1, got 1.0"),
        ({"ff": "big"}, "ff: expected an int or none, got 'big'"),
        ({"dropout": "x"}, "dropout: expected a number, got 'x'"),
        ({"final_edges": "no"}, "final_edges: expected true or false, got 'no'"),
        ({"aggregate": ["x"]}, r"aggregate: expected one of MaxAggregate, .*, got \['x'\]"),
        ([1], r"HeatConfig: expected settings by name, got \[1\]"),
    ],
)
def test_bad_values_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        from_dict(HeatConfig, values)


def test_a_slot_takes_only_its_choices():
    with pytest.raises(
        TypeError, match="message: expected one of AttentionMessage, DeepSetMessage, got 'mha'"
    ):
        HeatConfig(message="mha")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"ff": "big"}, "ff: expected an int of at least 1, got 'big'"),
        ({"dropout": "x"}, "dropout: expected a number from 0 up to 1, got 'x'"),
        ({"final_edges": "no"}, "final_edges: expected true or false, got 'no'"),
    ],
)
def test_the_constructor_refuses_them_too(values, message):
    with pytest.raises(ValueError, match=message):
        HeatConfig(**values)


OLD = """{
  "dim": 8, "layers": 2, "heads": 2, "ff": null, "dropout": 0.1, "final_edges": false,
  "qualifier": "NoQualifiers", "message": "DeepSetMessage", "aggregate": "CrossAttentionAggregate",
  "feed_forward": "NoFeedForward", "edge_update": "TiedUpdate"
}"""


def test_a_config_json_of_an_old_run_is_read():
    """The names in the file are part of the format: renaming a class must not make old runs unreadable."""
    config = from_dict(HeatConfig, json.loads(OLD))
    assert config == HeatConfig(
        dim=8,
        layers=2,
        heads=2,
        final_edges=False,
        qualifier=NoQualifiers,
        message=DeepSetMessage,
        aggregate=CrossAttentionAggregate,
        feed_forward=NoFeedForward,
        edge_update=TiedUpdate,
    )
    assert to_dict(config) == json.loads(OLD)
