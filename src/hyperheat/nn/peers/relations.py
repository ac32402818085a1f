"""What the encoders that read pairs have in common: a fixed set of relations, each with weights of its own."""

from dataclasses import dataclass, fields

from torch import Tensor

from hyperheat.tensors import PairBatch, TokenBatch

__all__ = ["RelationConfig", "check_relations"]


@dataclass(frozen=True, kw_only=True)
class RelationConfig:
    """Sizes, and the relations that may join two nodes."""

    relations: tuple[str, ...]
    dim: int = 256
    dropout: float = 0.1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (type(value) is not int or value < 1):
                raise ValueError(f"{field.name}: expected an int of at least 1, got {value!r}")
        if not isinstance(self.dropout, int | float) or not 0 <= self.dropout < 1:
            raise ValueError(f"dropout: expected a number from 0 up to 1, got {self.dropout!r}")
        names = self.relations
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"relations: expected a tuple of names, got {names!r}")
        if len(set(names)) < len(names):
            raise ValueError(f"relations: expected distinct names, got {', '.join(names)}")


def check_relations(batch: PairBatch[Tensor] | TokenBatch[Tensor], relations: tuple[str, ...]) -> None:
    """Refuse a batch whose kinds of pairs are not the encoder's."""
    if batch.relations != relations:
        raise ValueError(
            f"batch: expected the relations {', '.join(relations)} (the encoder's), "
            f"got {', '.join(batch.relations)}"
        )
