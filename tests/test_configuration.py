from dataclasses import dataclass, replace
from typing import Literal

import pytest

from hyperheat.configuration import differences, from_dict, override, to_dict
from hyperheat.nn import HeatConfig
from hyperheat.nn.message import DeepSetMessage
from hyperheat.train import TrainSettings


@dataclass(frozen=True, kw_only=True)
class Bag:
    words: tuple[str, ...] = ()
    size: int = 2


@dataclass(frozen=True, kw_only=True)
class Whole:
    encoder: HeatConfig | Bag = HeatConfig()
    bag: Bag = Bag()
    kind: Literal["one", "two"] = "one"
    rate: float | None = None
    betas: tuple[float, float] = (0.9, 0.99)
    quick: bool = False
    name: str


WHOLE = Whole(name="first")


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("kind=two", replace(WHOLE, kind="two")),
        ("rate=1e-3", replace(WHOLE, rate=0.001)),
        ("rate=None", WHOLE),
        ("quick=True", replace(WHOLE, quick=True)),
        ("betas=0.5, 0.75", replace(WHOLE, betas=(0.5, 0.75))),
        ("name=a=b", replace(WHOLE, name="a=b")),
        ("bag.size=1e3", replace(WHOLE, bag=Bag(size=1000))),
        ("bag.words=a,b,c", replace(WHOLE, bag=Bag(words=("a", "b", "c")))),
        ("encoder.layers=2", replace(WHOLE, encoder=HeatConfig(layers=2))),
        ("encoder.message=DeepSetMessage", replace(WHOLE, encoder=HeatConfig(message=DeepSetMessage))),
        ("encoder=Bag", replace(WHOLE, encoder=Bag())),
    ],
)
def test_a_value_is_read_as_its_type(assignment, expected):
    assert override(WHOLE, [assignment]) == expected


def test_fields_that_must_agree_change_together():
    changed = override(WHOLE, ["encoder.dim=18", "encoder.heads=3", "name=second"])
    assert changed == replace(WHOLE, name="second", encoder=HeatConfig(dim=18, heads=3))
    assert override(WHOLE, ["encoder.size=5", "encoder=Bag"]).encoder == Bag(size=5)


@pytest.mark.parametrize(
    ("assignment", "message"),
    [
        ("rote=1", "rote: expected one of .*, got 'rote'; did you mean rate"),
        ("encoder.layer=1", "encoder.layer: .* did you mean layers"),
        ("rate", "rate: expected key=value"),
        ("rate=fast", "rate: expected a number or none, got 'fast'"),
        ("bag.size=2.5", "bag.size: expected an int, got '2.5'"),
        ("bag.size=", "bag.size: expected an int, got ''"),
        ("quick=maybe", "quick: expected true or false, got 'maybe'"),
        ("kind=three", "kind: expected one of one, two, got 'three'"),
        ("betas=0.5", r"betas: expected 2 values separated by commas \(a number, a number\), got '0.5'"),
        ("name.first=1", "name.first: expected a setting that has parts, got 'first'"),
        ("encoder=Sack", "encoder: expected HeatConfig or Bag, got 'Sack'"),
        ("encoder.heads=7", "dim: expected an even multiple of heads=7, got 256"),
    ],
)
def test_a_wrong_assignment_says_what_was_expected(assignment, message):
    with pytest.raises(ValueError, match=message):
        override(WHOLE, [assignment])


@pytest.mark.parametrize("encoder", [HeatConfig(message=DeepSetMessage), Bag(words=("a", "b"))])
def test_plain_values_come_back(encoder):
    whole = replace(WHOLE, encoder=encoder, rate=3.0, quick=True)
    assert from_dict(Whole, to_dict(whole)) == whole


def test_plain_values_are_json():
    assert to_dict(replace(WHOLE, encoder=Bag())) == {
        "encoder": {"Bag": {"words": [], "size": 2}},
        "bag": {"words": [], "size": 2},
        "kind": "one",
        "rate": None,
        "betas": [0.9, 0.99],
        "quick": False,
        "name": "first",
    }


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"name": "a", "rate_": 1}, "Whole: expected one of .*, got 'rate_'; did you mean rate"),
        ({"rate": 1.0}, "Whole: expected a value for name, got none"),
        ({"name": 3}, "name: expected a text, got 3"),
        ({"name": "a", "quick": 1}, "quick: expected true or false, got 1"),
        ({"name": "a", "rate": "1"}, "rate: expected a number or none, got '1'"),
        ({"name": "a", "encoder": {"Sack": {}}}, "encoder: expected HeatConfig or Bag"),
        (["name"], "Whole: expected settings by name"),
        ({"name": "a", "betas": [0.5]}, r"betas: expected 2 values .*, got \[0.5\]"),
        (
            {"name": "a", "bag": {"sizes": 1}},
            "bag: expected one of words, size, got 'sizes'; did you mean size",
        ),
        ({"name": "a", "bag": {"size": "1"}}, "bag.size: expected an int, got '1'"),
        (
            {"name": "a", "encoder": {"HeatConfig": {"message": "Mail"}}},
            "encoder.message: expected one of AttentionMessage, DeepSetMessage, got 'Mail'",
        ),
        ({"name": "x", "rate": 10**400}, "rate: expected a number or none, got 1000"),
    ],
)
def test_wrong_plain_values_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        from_dict(Whole, values)


def test_the_settings_of_the_loop_survive():
    settings = TrainSettings(max_steps=5, ema=0.99, betas=(0.8, 0.9), precision="bfloat16")
    assert from_dict(TrainSettings, to_dict(settings)) == settings


def test_differences_name_the_key():
    one = {"train": {"lr": 1, "seed": 0}, "job": {"size": 2}}
    other = {"train": {"lr": 2, "seed": 0}, "job": {"size": 2, "more": 3}}
    assert differences(one, other) == [("train.lr", 1, 2), ("job.more", None, 3)]
