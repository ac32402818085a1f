"""HEAT, its variants and its peers in PyTorch. Read in this order:

    reference.py    the whole model as plain loops, one edge at a time: ten minutes
    heat.py         the same on batches: layers, `HeatEncoder` (graphs with names), `Heat` (plain tensors)
    config.py       sizes, and the choices for each part of a layer; `VARIANTS`, the paper's ablations
    embedding.py    first states from names, labels and positions
    message.py      messages inside an edge
    aggregate.py    messages to a node -> its update
    update.py       state and update -> new state
    role_heat.py    HEAT with a matrix for each kind of slot instead of attention
    weights.py      safetensors files
    fast/           how gathers, attention and dropout are made fast
    peers/          other encoders with the same interface: AllSet, GNN-MLP, GREAT

The names that most programs need are in `hyperheat` as well: `hyperheat.HeatEncoder`, `hyperheat.HeatConfig`.
"""

from hyperheat.nn.config import VARIANTS, HeatConfig
from hyperheat.nn.heat import Heat, HeatEncoder, HeatLayer, States
from hyperheat.nn.peers.allset import AllSetConfig, AllSetEncoder
from hyperheat.nn.peers.gnn import GnnConfig, GnnEncoder
from hyperheat.nn.peers.great import GreatConfig, GreatEncoder
from hyperheat.nn.role_heat import RoleConfig, RoleEncoder

__all__ = [
    "VARIANTS",
    "AllSetConfig",
    "AllSetEncoder",
    "GnnConfig",
    "GnnEncoder",
    "GreatConfig",
    "GreatEncoder",
    "Heat",
    "HeatConfig",
    "HeatEncoder",
    "HeatLayer",
    "RoleConfig",
    "RoleEncoder",
    "States",
]
