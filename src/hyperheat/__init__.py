"""HEAT: hyperedge attention networks for typed and qualified hypergraphs.

Public names and packages load on first use, so `import hyperheat` takes no time and needs no torch.
"""

from typing import TYPE_CHECKING

from hyperheat.lazy_names import lazy_names

if TYPE_CHECKING:
    from hyperheat import detector, hypergraph, kg, nn, pycode, report, rewrites, tensors, train
    from hyperheat.check import CheckPackage
    from hyperheat.hypergraph import Hypergraph, HypergraphBuilder, Position
    from hyperheat.nn import VARIANTS, Heat, HeatConfig, HeatEncoder
    from hyperheat.tensors import Vocabulary, collate

    check: CheckPackage

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
    "report",
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
    "check": "check",
    "detector": "detector",
    "hypergraph": "hypergraph",
    "kg": "kg",
    "nn": "nn",
    "pycode": "pycode",
    "report": "report",
    "rewrites": "rewrites",
    "tensors": "tensors",
    "train": "train",
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(__name__, _HOMES, [*__all__, "__version__"])
