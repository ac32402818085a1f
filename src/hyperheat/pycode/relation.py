"""The value that the semantic analyses produce: one edge of the graph, its ends given as anchors."""

from dataclasses import dataclass

from hyperheat.pycode.anchor import Anchor

__all__ = ["Relation"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One edge `name(qualifier: anchor, ...)`, for example `foo(rval: the call, fzz: its argument)`."""

    name: str
    incidences: tuple[tuple[str, Anchor], ...]
