"""A model is data: sizes, and for each part of the layer the class that computes it.

To add a part, for example an aggregate:

1. Write its class beside the others in `aggregate.py`. If it reduces segments in a new way, add that to `fast/rows.py`.
   Write its form that takes messages in pieces in `running_aggregates.py`.
2. Name it in the type of its slot below, and in `VARIANTS`. It can now be saved in config.json, chosen on the command
   line, and trained.
3. Add it to `reference.py`, in plain loops, and to `hyperheat/detector/heat_network.py`, in numpy, which the checker runs.
   Both refuse parts that they do not know; the tests compare all variants with them.
4. Describe it in the table of `docs/model.md`.
"""

from dataclasses import dataclass, replace

from hyperheat.configuration import choices
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
    """Whether the last layer updates edge states; False saves the work if only node states are read."""
    qualifier: type[QualifierProjection] | type[NoQualifiers] = QualifierProjection
    message: type[AttentionMessage] | type[DeepSetMessage] = AttentionMessage
    aggregate: (
        type[MaxAggregate] | type[SumAggregate] | type[MeanAggregate] | type[CrossAttentionAggregate]
    ) = MaxAggregate
    feed_forward: type[FeedForward] | type[NoFeedForward] = FeedForward
    edge_update: type[OwnUpdate] | type[TiedUpdate] | type[KeepState] = OwnUpdate

    def __post_init__(self) -> None:
        for name in ("dim", "layers", "heads", "ff"):
            value = getattr(self, name)
            if (name, value) != ("ff", None) and (type(value) is not int or value < 1):
                raise ValueError(f"{name}: expected an int of at least 1, got {value!r}")
        if self.dim % self.heads or self.dim % 2:
            raise ValueError(f"dim: expected an even multiple of heads={self.heads}, got {self.dim}")
        if type(self.final_edges) is not bool:
            raise ValueError(f"final_edges: expected true or false, got {self.final_edges!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 up to 1, got {self.dropout!r}")
        for name, classes in _SLOTS.items():
            if getattr(self, name) not in classes.values():
                raise TypeError(f"{name}: expected one of {', '.join(classes)}, got {getattr(self, name)!r}")

    @property
    def hidden(self) -> int:
        """Hidden width of the feed-forward part."""
        return 8 * self.dim if self.ff is None else self.ff

    def layer_configs(self) -> "list[HeatConfig]":
        """The configuration of each layer: all alike, but for the edge update of the last one."""
        last: HeatConfig = self if self.final_edges else replace(self, edge_update=KeepState)
        return [*([self] * (self.layers - 1)), last]


_SLOTS = choices(HeatConfig)

VARIANTS: dict[str, HeatConfig] = {
    "heat": HeatConfig(),
    "deepset-messages": HeatConfig(message=DeepSetMessage),
    "no-qualifiers": HeatConfig(qualifier=NoQualifiers),
    "crossatt-aggregate": HeatConfig(aggregate=CrossAttentionAggregate),
    "sum-aggregate": HeatConfig(aggregate=SumAggregate),
    "mean-aggregate": HeatConfig(aggregate=MeanAggregate),
    "no-ffn": HeatConfig(feed_forward=NoFeedForward),
    "static-edge-state": HeatConfig(edge_update=KeepState),
    "tied-updates": HeatConfig(edge_update=TiedUpdate),
}
"""The paper's model and its ablations by name; `dataclasses.replace` gives them other sizes."""
