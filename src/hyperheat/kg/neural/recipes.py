"""Whole runs as functions: which model, on what, for how long. `RECIPES` lists them by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from hyperheat.kg.neural.decoder import MaskDecoder
from hyperheat.kg.neural.graph_encoders import NoEncoder
from hyperheat.kg.neural.labels import BpeLabels
from hyperheat.kg.neural.loss import BinaryLoss, SoftmaxLoss
from hyperheat.kg.neural.stare import StareConfig, StareDecoder
from hyperheat.kg.neural.statement_model import ModelConfig
from hyperheat.kg.neural.surroundings import SurroundingsConfig
from hyperheat.nn import HeatConfig
from hyperheat.nn.aggregate import CrossAttentionAggregate
from hyperheat.train import TrainSettings

__all__ = ["RECIPES", "KgSettings"]


@dataclass(frozen=True, kw_only=True)
class KgSettings:
    """What decides a trained model, beside the data."""

    model: ModelConfig
    loss: SoftmaxLoss | BinaryLoss = SoftmaxLoss()
    train_on: Literal["train", "train+valid"] = "train+valid"
    """With train+valid nothing is held out, and the last model is kept as the best."""
    batch: int = 1024
    """Questions about subjects and objects in a batch; the graph is encoded once for all of them."""
    candidates: Literal["main", "all"] = "main"
    """Entities that a question is trained against: the subjects and objects of the training data, or all."""
    negatives: int | None = None
    """Draw this many candidates for each batch, beside the answers of its questions; None: all candidates."""
    answers: int | None = None
    """Draw at most this many of the answers of a question, the others then count neither way; None: all answers."""
    fan_out: int | None = None
    """Encode only what a batch needs, with at most this many statements per entity and layer; None: the whole graph."""
    hide_asked: bool = True
    """Whether to hide the statements that answer a batch's questions from the encoder."""
    drop_statements: float = 0.0
    """The share of the other statements that is hidden from the encoder at random."""
    drop_qualifiers: float = 0.0
    """The share of qualifiers dropped from questions, for models that will be asked with fewer qualifiers."""
    qualifier_questions: float = 0.0
    """The share of qualifiers whose value is asked for, too, in every epoch."""
    relation_questions: float = 0.0
    """The share of statements whose relation is asked for, too, in every epoch."""
    validation: int = 1_000
    """Validation statements to rank during training; none has its main triple in train."""
    train: TrainSettings

    def __post_init__(self) -> None:
        if self.batch < 1 or self.validation < 1:
            raise ValueError(
                f"expected batch and validation of at least 1, got {self.batch} and {self.validation}"
            )
        for name in ("negatives", "answers", "fan_out"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name}: expected at least 1, or none, got {value}")
        for name in ("negatives", "answers"):
            if getattr(self, name) is not None and isinstance(self.loss, BinaryLoss):
                raise ValueError(f"{name}: must be none with BinaryLoss, which takes all candidates")
        if self.fan_out is not None and isinstance(self.model.encoder, StareConfig):
            raise ValueError("fan_out: must be none with StareConfig, which reads degrees in the whole graph")
        for name in ("negatives", "answers", "fan_out"):
            if getattr(self, name) is not None and self.model.surroundings is not None:
                raise ValueError(f"{name}: must be none with surroundings, which take all candidates")
        for name in ("drop_statements", "drop_qualifiers", "qualifier_questions", "relation_questions"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name}: expected a share from 0 to 1, got {getattr(self, name)}")
        for name in ("qualifier_questions", "relation_questions"):
            if getattr(self, name) and isinstance(self.model.decoder, StareDecoder):
                raise ValueError(f"{name}: must be 0 with StareDecoder, which cannot read such questions")


_SKIP = 0.1
_HEAT = HeatConfig(dim=128, layers=1, heads=4, ff=256, final_edges=False)


def heat() -> KgSettings:
    """HEAT with max aggregation, sized for two cores."""
    return _improved(ModelConfig(encoder=_HEAT, skip=_SKIP))


def heat_large() -> KgSettings:
    """HEAT for graphs of millions of statements: a batch encodes its surroundings, and scores candidates that are drawn."""
    return replace(heat(), negatives=1024, answers=16, fan_out=8)


def heat_crossatt() -> KgSettings:
    """HEAT with cross-attention as aggregation."""
    return _improved(ModelConfig(encoder=replace(_HEAT, aggregate=CrossAttentionAggregate), skip=_SKIP))


def heat_labels() -> KgSettings:
    """HEAT with cross-attention that reads labels, as in the paper's last row."""
    encoder = replace(_HEAT, aggregate=CrossAttentionAggregate)
    return _improved(ModelConfig(encoder=encoder, labels=BpeLabels(), skip=_SKIP))


def heat_unseen() -> KgSettings:
    """HEAT for entities that were not in the training data: two layers, nothing past the encoder, ids replaced at random."""
    return _improved(ModelConfig(encoder=replace(_HEAT, layers=2), unknown=0.5))


def heat_inductive() -> KgSettings:
    """HEAT for graphs of other entities: nothing is known by its id, and the statements around a question are read."""
    model = ModelConfig(
        encoder=replace(_HEAT, dim=64, layers=2, ff=128),
        unknown=1.0,
        unknown_relations=0.9,
        surroundings=SurroundingsConfig(),
    )
    train = replace(_training(), lr=5e-4, max_steps=150, warmup=20, ema=0.98, validate_every=30)
    return KgSettings(model=model, batch=256, drop_statements=0.3, train=train)


def heat_surroundings() -> KgSettings:
    """Vectors of entities and, beside them, HEAT over the statements around each question; the most accurate."""
    return _improved(ModelConfig(encoder=NoEncoder(dim=128), surroundings=SurroundingsConfig(apart=0.25)))


def no_encoder() -> KgSettings:
    """The decoder alone, in the manner of Hy-Transformer."""
    return _improved(ModelConfig(encoder=NoEncoder(dim=128)))


def stare() -> KgSettings:
    """StarE's graph network under the same decoder."""
    return _improved(ModelConfig(encoder=StareConfig(dim=128), skip=_SKIP))


def stare_labels() -> KgSettings:
    """StarE's graph network that reads labels, under the same decoder."""
    return _improved(ModelConfig(encoder=StareConfig(dim=128), labels=BpeLabels(), skip=_SKIP))


def published_stare() -> KgSettings:
    """StarE as published."""
    return _published(_PUBLISHED_STARE, batch=128, lr=1e-4, epochs=401)


def published_stare_labels() -> KgSettings:
    """StarE as published, with labels as first vectors."""
    return _published(replace(_PUBLISHED_STARE, labels=_FIRST_LABELS), batch=128, lr=1e-4, epochs=401)


def published_heat() -> KgSettings:
    """HEAT (max) as in the paper: in StarE's training, with its decoder."""
    return _published(_PUBLISHED_HEAT, batch=512, lr=4e-4, epochs=1000)


def published_heat_crossatt() -> KgSettings:
    """HEAT (cross-attention) as in the paper."""
    return _published(_PUBLISHED_CROSSATT, batch=512, lr=4e-4, epochs=1000)


def published_heat_crossatt_labels() -> KgSettings:
    """HEAT (cross-attention) as in the paper, with labels as first vectors."""
    return _published(replace(_PUBLISHED_CROSSATT, labels=_FIRST_LABELS), batch=512, lr=4e-4, epochs=1000)


def hy_transformer() -> KgSettings:
    """Hy-Transformer as in its code: no graph network, the answer read at a blank, in StarE's training."""
    model = ModelConfig(encoder=NoEncoder(dim=200), decoder=MaskDecoder(layers=2, heads=4, ff=512))
    return _published(model, batch=512, lr=1e-4, epochs=401)


_FIRST_LABELS = BpeLabels(beside_ids=False)
_QUALIFIERS = 6
"""That the published code reads of a statement."""
_PUBLISHED_STARE = ModelConfig(encoder=StareConfig(), decoder=StareDecoder(), most_qualifiers=_QUALIFIERS)
_PUBLISHED_HEAT = ModelConfig(
    encoder=replace(_HEAT, dim=100, ff=512), decoder=StareDecoder(layers=1), most_qualifiers=_QUALIFIERS
)
_PUBLISHED_CROSSATT = replace(
    _PUBLISHED_HEAT, encoder=replace(_HEAT, dim=100, ff=512, aggregate=CrossAttentionAggregate)
)


def smallest() -> KgSettings:
    """A small model for trying things out."""
    model = ModelConfig(encoder=replace(_HEAT, dim=32, ff=64), decoder=MaskDecoder(layers=1, ff=64))
    train = replace(_training(), lr=3e-3, max_steps=300, warmup=20, validate_every=100)
    return KgSettings(model=model, batch=256, train=train)


def _improved(model: ModelConfig) -> KgSettings:
    return KgSettings(model=model, drop_statements=0.3, qualifier_questions=0.1, train=_training())


def _training() -> TrainSettings:
    return TrainSettings(
        lr=2e-3,
        warmup=100,
        schedule="cosine",
        max_steps=1_500,
        clip=1.0,
        ema=0.999,
        validate_every=1_000,
        watch="mrr",
        mode="max",
    )


def _published(model: ModelConfig, *, batch: int, lr: float, epochs: int) -> KgSettings:
    """StarE's training."""
    return KgSettings(
        model=model,
        loss=BinaryLoss(),
        batch=batch,
        candidates="all",
        hide_asked=False,
        train=replace(
            _training(), lr=lr, warmup=0, schedule="steps", max_steps=None, max_epochs=epochs, ema=None
        ),
    )


RECIPES: dict[str, Callable[[], KgSettings]] = {
    "heat": heat,
    "heat-large": heat_large,
    "heat-crossatt": heat_crossatt,
    "heat-labels": heat_labels,
    "heat-unseen": heat_unseen,
    "heat-inductive": heat_inductive,
    "heat-surroundings": heat_surroundings,
    "no-encoder": no_encoder,
    "stare": stare,
    "stare-labels": stare_labels,
    "published-stare": published_stare,
    "published-stare-labels": published_stare_labels,
    "published-heat": published_heat,
    "published-heat-crossatt": published_heat_crossatt,
    "published-heat-crossatt-labels": published_heat_crossatt_labels,
    "hy-transformer": hy_transformer,
    "smallest": smallest,
}
"""The recipes by name."""
