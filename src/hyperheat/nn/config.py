"""A model is data: sizes, and one choice for each part of the layer. A variant is another value in a slot."""

import difflib
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, get_args, get_type_hints

from hyperheat.nn.aggregate import CrossAttentionAggregate, MaxAggregate, MeanAggregate, SumAggregate
from hyperheat.nn.embedding import NoQualifiers, QualifierProjection
from hyperheat.nn.message import AttentionMessage, DeepSetMessage
from hyperheat.nn.update import FeedForward, KeepState, NoFeedForward, OwnUpdate, TiedUpdate

__all__ = ["VARIANTS", "HeatConfig"]


@dataclass(frozen=True, kw_only=True)
class HeatConfig:
    """The defaults are the paper's bug-detection model."""

    dim: int = 256
    layers: int = 6
    heads: int = 8
    ff: int | None = None
    """Hidden width of the feed-forward part; None is 8 * dim, the paper's ratio."""
    dropout: float = 0.1
    final_edges: bool = True
    """Whether the last layer updates edge states. Where only node states are read, False saves that work."""
    qualifier: QualifierProjection | NoQualifiers = QualifierProjection()
    message: AttentionMessage | DeepSetMessage = AttentionMessage()
    aggregate: MaxAggregate | SumAggregate | MeanAggregate | CrossAttentionAggregate = MaxAggregate()
    feed_forward: FeedForward | NoFeedForward = FeedForward()
    edge_update: OwnUpdate | TiedUpdate | KeepState = OwnUpdate()

    def __post_init__(self) -> None:
        for name in ("dim", "layers", "heads", "ff"):
            value = getattr(self, name)
            if (name, value) != ("ff", None) and (type(value) is not int or value < 1):
                raise ValueError(f"{name}: expected an int of at least 1, got {value!r}")
        if self.dim % self.heads or self.dim % 2:
            raise ValueError(f"dim: expected an even multiple of heads={self.heads}, got {self.dim}")
        if type(self.final_edges) is not bool:
            raise ValueError(f"final_edges: expected True or False, got {self.final_edges!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 up to 1, got {self.dropout!r}")
        for name, choices in _SLOTS.items():
            if not isinstance(getattr(self, name), tuple(choices.values())):
                raise TypeError(f"{name}: expected one of {', '.join(choices)}, got {getattr(self, name)!r}")

    @property
    def hidden(self) -> int:
        """Hidden width of the feed-forward part."""
        return 8 * self.dim if self.ff is None else self.ff

    def layer_configs(self) -> "list[HeatConfig]":
        """The configuration of each layer: all alike, but for the edge update of the last one."""
        last: HeatConfig = self if self.final_edges else replace(self, edge_update=KeepState())
        return [*([self] * (self.layers - 1)), last]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; a slot is the name of its choice."""
        chosen = {name: type(getattr(self, name)).__name__ for name in _SLOTS}
        return {**asdict(self), **chosen}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "HeatConfig":
        """The inverse of `to_dict`; unknown keys and choices are refused."""
        if not isinstance(values, dict):
            raise ValueError(f"config: expected settings by name, got {values!r}")
        known = [f.name for f in fields(cls)]
        for key in values:
            if key not in known:
                raise ValueError(
                    f"config: expected one of {', '.join(known)}, got {key!r}{_nearest(key, known)}"
                )
        built = dict(values)
        for name, choices in _SLOTS.items():
            if name in values:
                if not isinstance(values[name], str) or values[name] not in choices:
                    raise ValueError(f"{name}: expected one of {', '.join(choices)}, got {values[name]!r}")
                built[name] = choices[values[name]]()
        return cls(**built)


def _nearest(word: str, known: list[str]) -> str:
    close = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {close[0]!r}?" if close else ""


_SLOTS: dict[str, dict[str, Any]] = {
    name: {choice.__name__: choice for choice in get_args(hint)}
    for name, hint in get_type_hints(HeatConfig).items()
    if all(hasattr(choice, "build") for choice in get_args(hint) or [None])
}

VARIANTS: dict[str, HeatConfig] = {
    "heat": HeatConfig(),
    "deepset-messages": HeatConfig(message=DeepSetMessage()),
    "no-qualifiers": HeatConfig(qualifier=NoQualifiers()),
    "crossatt-aggregate": HeatConfig(aggregate=CrossAttentionAggregate()),
    "sum-aggregate": HeatConfig(aggregate=SumAggregate()),
    "mean-aggregate": HeatConfig(aggregate=MeanAggregate()),
    "no-ffn": HeatConfig(feed_forward=NoFeedForward()),
    "static-edge-state": HeatConfig(edge_update=KeepState()),
    "tied-updates": HeatConfig(edge_update=TiedUpdate()),
}
"""The paper's model and its ablations by name; `dataclasses.replace` gives them other sizes."""
