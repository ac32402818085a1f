"""Whole runs as functions: what to train, on what, for how long. `RECIPES` lists them by name.

The comparison of encoders gives all of them the same samples in the same batches and about as many parameters.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from hyperheat.bugs.encoders import EncoderConfig
from hyperheat.nn import VARIANTS, AllSetConfig, HeatConfig, RoleConfig
from hyperheat.nn.peers.gnn import GnnConfig
from hyperheat.nn.peers.great import GreatConfig
from hyperheat.pycode.pairs import RELATIONS, TOKEN_RELATIONS
from hyperheat.train import TrainSettings

__all__ = ["RECIPES", "BugSettings"]


@dataclass(frozen=True, kw_only=True)
class BugSettings:
    """What decides a trained detector, beside the data."""

    model: EncoderConfig
    binarise: bool = False
    """Whether HEAT or AllSet reads the hypergraph cut into pairs."""
    labels: int = 10_000
    """The largest number of subtokens with a vector, of node labels and of names each."""
    min_count: int = 5
    """How often a subtoken must occur to have one."""
    budget: int = 5_000
    """Nodes of hypergraphs in a batch; a larger function makes a batch of its own."""
    largest: int | None = None
    """Nodes of the largest function that is trained on; all are unless given."""
    dense_steps: int = 0
    """Steps at the beginning on samples with many bugs at once, with a label at every place."""
    clean_per_real: float = 4.0
    """Clean functions of the corpus beside each real bug, in a training on real bugs."""
    planted_per_real: float = 2.0
    """Samples with a planted bug beside each real bug."""
    unsure_weight: float = 0.5
    """How much a real change counts that may not have fixed a bug."""
    focal: float = 0.0
    """The exponent of the focal loss, which plays down samples that are right already; 0 is the plain loss."""
    forget: float = 0.0
    """Share of the words of names that each batch is read without, so that few functions are not learnt by heart."""
    repair_weight: float = 1.0
    """Of the loss of the rewrite beside that of the location."""
    validation: int = 1_000
    """Samples of the validation split that are looked at during training."""
    validation_largest: int | None = None
    """Nodes of the largest function that is looked at; all are unless given."""
    train: TrainSettings

    def __post_init__(self) -> None:
        for name in ("labels", "min_count", "budget", "validation"):
            value = getattr(self, name)
            if type(value) is not int or value < 1:
                raise ValueError(f"{name}: expected an int of at least 1, got {value!r}")
        if type(self.dense_steps) is not int or self.dense_steps < 0:
            raise ValueError(f"dense_steps: expected an int of at least 0, got {self.dense_steps!r}")
        for name in ("largest", "validation_largest"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"{name}: expected an int of at least 1 or None, got {value!r}")
        if not 0 <= self.forget < 1:
            raise ValueError(f"forget: expected a number from 0 up to 1, got {self.forget!r}")
        for name in ("repair_weight", "clean_per_real", "planted_per_real", "unsure_weight", "focal"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name}: expected a number of at least 0, got {getattr(self, name)!r}")


def heat() -> BugSettings:
    """HEAT, small enough for two cores of a laptop."""
    return BugSettings(model=_sized(VARIANTS["heat"]), train=_training())


def heat_roles() -> BugSettings:
    """HEAT with a matrix for each kind of slot instead of attention, which learns faster."""
    return BugSettings(model=RoleConfig(), train=replace(_training(), lr=1.6e-3))


def gnn() -> BugSettings:
    """PyBugLab's GNN, with about as many parameters as `heat`."""
    return BugSettings(model=GnnConfig(relations=RELATIONS, dim=60), train=_training())


def great() -> BugSettings:
    """GREAT, with about as many parameters as `heat`; one function in a thousand is too long for it."""
    model = GreatConfig(relations=TOKEN_RELATIONS, dim=160, ff=640, max_tokens=2_048)
    return BugSettings(model=model, train=_training())


def allset() -> BugSettings:
    """AllSet, which knows neither relations nor qualifiers."""
    return BugSettings(model=AllSetConfig(dim=128, layers=5, heads=8, ff=512), train=_training())


def binarised() -> BugSettings:
    """HEAT on hypergraphs cut into pairs."""
    return replace(heat(), binarise=True)


def smallest() -> BugSettings:
    """A model for trying things out."""
    model = HeatConfig(dim=32, layers=2, heads=4, ff=64, final_edges=False)
    return BugSettings(model=model, min_count=1, train=replace(_training(), max_steps=300, warmup=30))


def _sized(config: HeatConfig) -> HeatConfig:
    return replace(config, dim=128, layers=4, ff=512, final_edges=False)


def _training() -> TrainSettings:
    return TrainSettings(
        lr=4e-4,
        warmup=300,
        schedule="linear",
        max_steps=3_000,
        clip=0.5,
        validate_every=500,
        watch="loss",
        patience=10,
    )


def _variant(config: HeatConfig) -> Callable[[], BugSettings]:
    return lambda: replace(heat(), model=_sized(config))


RECIPES: dict[str, Callable[[], BugSettings]] = {
    **{name: _variant(config) for name, config in VARIANTS.items()},
    "heat": heat,
    "heat-roles": heat_roles,
    "gnn": gnn,
    "great": great,
    "allset": allset,
    "binarised": binarised,
    "smallest": smallest,
}
"""The recipes by name; every variant of HEAT is one."""
