"""HEAT: hyperedge attention networks for typed and qualified hypergraphs.

Public names and packages load on first use, so `import hyperheat` takes no time and needs no torch.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperheat import detector, hypergraph, kg, nn, pycode, rewrites, tensors, train
    from hyperheat.check.checker import check_text as check
    from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
    from hyperheat.nn import VARIANTS, Heat, HeatConfig, HeatEncoder
    from hyperheat.tensors import Vocabulary, collate

__version__ = "0.1.0"

__all__ = [
    "VARIANTS",
    "Heat",
    "HeatConfig",
    "HeatEncoder",
    "Hypergraph",
    "HypergraphBuilder",
    "Position",
    "Vocabulary",
    "check",
    "collate",
    "detector",
    "hypergraph",
    "kg",
    "nn",
    "pycode",
    "rewrites",
    "tensors",
    "train",
]

_HOMES = {
    "Hypergraph": "hypergraph",
    "HypergraphBuilder": "hypergraph",
    "Position": "hypergraph",
    "Vocabulary": "tensors",
    "collate": "tensors",
    "Heat": "nn",
    "HeatConfig": "nn",
    "HeatEncoder": "nn",
    "VARIANTS": "nn",
}
"""Where the names come from that are not packages themselves."""


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module 'hyperheat' has no attribute {name!r}; it offers {', '.join(__all__)}")
    try:
        home = import_module(f"hyperheat.{_HOMES.get(name, name)}")
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise ModuleNotFoundError(
                f"hyperheat.{name} needs torch: pip install 'hyperheat[train]'", name="torch"
            ) from error
        raise
    return getattr(home, name) if name in _HOMES else home


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
