"""HEAT: hyperedge attention networks for typed and qualified hypergraphs.

The public names load on first use, so that `import hyperheat` needs neither torch nor the time it takes.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat.check.text import check_text as check
    from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
    from hyperheat.nn import VARIANTS, HeatConfig, HeatEncoder
    from hyperheat.tensors import Vocabulary, collate

__version__ = "0.1.0"

_HOMES = {
    "Hypergraph": "hyperheat.hypergraph",
    "HypergraphBuilder": "hyperheat.hypergraph",
    "Position": "hyperheat.hypergraph",
    "Vocabulary": "hyperheat.tensors",
    "collate": "hyperheat.tensors",
    "HeatConfig": "hyperheat.nn",
    "HeatEncoder": "hyperheat.nn",
    "VARIANTS": "hyperheat.nn",
    "check": "hyperheat.check",
}

__all__ = [
    "VARIANTS",
    "HeatConfig",
    "HeatEncoder",
    "Hypergraph",
    "HypergraphBuilder",
    "Position",
    "Vocabulary",
    "check",
    "collate",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'hyperheat' has no attribute {name!r}; it offers {', '.join(__all__)}")
    try:
        home = import_module(_HOMES[name])
        return home if home.__name__ == f"hyperheat.{name}" else getattr(home, name)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise ModuleNotFoundError(
                f"hyperheat.{name} needs torch: pip install 'hyperheat[train]'", name="torch"
            ) from error
        raise


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
