"""HEAT: hyperedge attention networks for typed and qualified hypergraphs.

The public names load on first use, so that `import hyperheat` needs neither torch nor the time it takes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position

__version__ = "0.1.0"

_HOMES = {
    "Hypergraph": "hyperheat.hypergraph",
    "HypergraphBuilder": "hyperheat.hypergraph",
    "Position": "hyperheat.hypergraph",
}

__all__ = ["Hypergraph", "HypergraphBuilder", "Position"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'hyperheat' has no attribute {name!r}; it offers {', '.join(__all__)}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
